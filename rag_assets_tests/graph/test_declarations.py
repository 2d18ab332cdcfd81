"""Declarations of languages without a resolver: the keys of the points, contained in one another."""

from __future__ import annotations

import pytest

from rag_assets.graph.extract.registry import declarations
from rag_assets_tests.descriptions.label import label_of
from rag_assets_tests.graph.chains import edges_by, nodes_by
from rag_assets_tests.sections.windows import window

TEXTS = {
    "pkg/mod.py": "def top(): ...\n\nclass Outer:\n    size: int = 1\n    class Inner:\n        def run(self): ...\n",
    "src/App.java": "package shop;\nclass App { int size; void run(int times) { } void run(String name) { } }\n",
    "web/cart.ts": "export class Cart { total = 1; add(item: string) { } }\nexport function empty() { }\n",
    "main.go": "package shop\n\ntype Cart struct { Total int }\n\nfunc (c Cart) Add(item string) {}\n",
}


@pytest.mark.rule("D18")
@pytest.mark.parametrize("path", TEXTS)
def test_every_key_that_a_point_carries_is_a_node(path: str) -> None:
    carried = {
        key
        for descriptions in label_of({path: TEXTS[path]}).descriptions.values()
        for description in descriptions
        for section in description.use_window(window()).build_summary_sections()
        for key in section.graph_node_keys
    } - {f"file:{path}|FILE"}
    assert carried
    assert carried <= set(nodes_by(declarations, TEXTS))


def test_what_contains_what() -> None:
    assert edges_by(declarations, {"pkg/mod.py": TEXTS["pkg/mod.py"]}) == [
        "file:pkg/mod.py|FILE Contains python:pkg.mod.Outer|TYPE resolved",
        "file:pkg/mod.py|FILE Contains python:pkg.mod.top|METHOD resolved",
        "python:pkg.mod.Outer.Inner|TYPE Contains python:pkg.mod.Outer.Inner.run|METHOD resolved",
        "python:pkg.mod.Outer|TYPE Contains python:pkg.mod.Outer.Inner|TYPE resolved",
        "python:pkg.mod.Outer|TYPE Contains python:pkg.mod.Outer.size|PROPERTY resolved",
    ]


@pytest.mark.parametrize("path", ["a.cs", "a.sql", "a.json", "a.md", "a.resx"])
def test_others_have_an_extractor_of_their_own_or_nothing_to_declare(path: str) -> None:
    assert edges_by(declarations, {path: "class A { }\n"}) == []
