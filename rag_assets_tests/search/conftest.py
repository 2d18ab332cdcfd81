"""One index of the small shop for all tests that only read, with the embedding model of the package."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index, open_index
from rag_assets.index.layout import IndexHome
from rag_assets.models.static_code.embedder import StaticEmbedder
from rag_assets_tests.search.small_index import FOREIGN, LABEL, SHOP, build


@pytest.fixture(scope="session")
def shop_home(tmp_path_factory: pytest.TempPathFactory) -> IndexHome:
    """With the vectors of the package. Points of two other tenants and of another label lie in the same shard."""
    home = IndexHome(tmp_path_factory.mktemp("shop"))
    build(home, [*SHOP, *FOREIGN], embedder=StaticEmbedder.load(home.cache))
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
