"""What the points of the example label carry as graph node keys."""

from __future__ import annotations

import pytest

from rag_assets_tests.descriptions.label import SHOP, label_of
from rag_assets_tests.sections.windows import window


@pytest.fixture(scope="session")
def shop_texts() -> dict[str, str]:
    """The C# files, documents and resource files of the example shop by path, generated ones left out."""
    return {
        path.relative_to(SHOP).as_posix(): path.read_text("utf-8-sig")
        for path in sorted(SHOP.rglob("*"))
        if path.suffix in (".cs", ".md", ".resx") and not path.name.endswith((".Designer.cs", ".g.cs"))
    }


@pytest.fixture(scope="session")
def shop_keys(shop_texts: dict[str, str]) -> set[str]:
    """The graph node keys of all sections of the example shop."""
    found = label_of(shop_texts)
    return {
        key
        for descriptions in found.descriptions.values()
        for description in descriptions
        for section in description.use_window(window()).build_summary_sections()
        for key in section.graph_node_keys
    }
