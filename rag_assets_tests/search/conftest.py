"""One index of the small shop for all tests that only read, with the real model where it is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index, open_index
from rag_assets.index.layout import IndexHome
from rag_assets.models import ModelMissing
from rag_assets.models.minilm.embedder import MiniLmEmbedder
from rag_assets_tests.search.small_index import FOREIGN, LABEL, SHOP, build


@pytest.fixture(scope="session")
def shop_home(tmp_path_factory: pytest.TempPathFactory) -> IndexHome:
    """Embedded with the local model. Points of two other tenants and of another label lie in the same shard."""
    home = IndexHome(tmp_path_factory.mktemp("shop"))
    try:
        embedder = MiniLmEmbedder.load(home.cache)
    except ModelMissing as error:
        pytest.skip(f"semantic search needs the model: {error}")
    build(home, [*SHOP, *FOREIGN], embedder=embedder)
    return home


@pytest.fixture(scope="session")
def shop(shop_home: IndexHome) -> Iterator[Index]:
    with open_index(LABEL, home=shop_home.root) as index:
        yield index


@pytest.fixture(scope="session")
def lexical_home(tmp_path_factory: pytest.TempPathFactory) -> IndexHome:
    home = IndexHome(tmp_path_factory.mktemp("lexical"))
    build(home, [*SHOP, *FOREIGN])
    return home


@pytest.fixture(scope="session")
def lexical(lexical_home: IndexHome) -> Iterator[Index]:
    with open_index(LABEL, home=lexical_home.root) as index:
        yield index
