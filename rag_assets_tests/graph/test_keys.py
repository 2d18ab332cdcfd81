"""One key space for points and nodes (domain reference §5)."""

from __future__ import annotations

import pytest

from rag_assets.graph.extract import Extractor
from rag_assets.graph.extract.documents import documents, resources
from rag_assets.graph.extract.ef_model import ef_model
from rag_assets.graph.extract.endpoints import endpoints
from rag_assets_tests.graph.chains import nodes_by


@pytest.mark.rule("D18")
@pytest.mark.parametrize(
    ("extractor", "begins", "ends"),
    [
        (endpoints, "http:", "|ENDPOINT"),
        (ef_model, "csharp:", "|DBSET"),
        (ef_model, "csharp:", "|ENTITY"),
        (documents, "doc:", "|SECTION"),
        (resources, "resx:", "|PROPERTY"),
    ],
    ids=["endpoints", "sets", "entities", "sections", "texts"],
)
def test_every_key_that_a_point_carries_is_a_node(
    extractor: Extractor, begins: str, ends: str, shop_keys: set[str], shop_texts: dict[str, str]
) -> None:
    carried = {key for key in shop_keys if key.startswith(begins) and key.endswith(ends)}
    assert carried
    assert carried <= set(nodes_by(extractor, shop_texts))
