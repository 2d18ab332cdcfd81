"""The words of a graph that share the most pairs of letters with a wrong one."""

from __future__ import annotations

import pytest

from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.lookup import most_alike
from rag_assets_tests.graph.small_graphs import graph_of, node

NAMES = ("GetOrder", "SetOrder", "OrderItem", "Item", "Ünlü", "Łódź", "日本語", "𝔘𝔫𝔦", "aaaaaa", "a", "x")


@pytest.fixture(scope="module")
def graph() -> Graph:
    return graph_of([node(f"csharp:Shop.{name}|TYPE") for name in NAMES], [])


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        pytest.param("gettorder", ["getorder", "setorder"], id="a letter too many"),
        pytest.param("itemorder", ["orderitem", "item"], id="parts in another order"),
        pytest.param("aaa", ["aaaaaa"], id="one pair many times"),
        pytest.param("unlü", ["ünlü"], id="a letter of another script"),
        pytest.param("日本", ["日本語"], id="no Latin script"),
        pytest.param("𝔘𝔫", ["𝔘𝔫𝔦"], id="beyond the first plane"),
    ],
)
def test_the_most_alike_come_first(graph: Graph, wanted: str, found: list[str]) -> None:
    assert most_alike(graph, wanted, len(found)) == found


@pytest.mark.parametrize("wanted", ["", "a", "qqqq", "\ud800"])
def test_without_a_pair_in_common_all_are_equally_alike(graph: Graph, wanted: str) -> None:
    assert most_alike(graph, wanted) == sorted(name.casefold() for name in NAMES)


def test_no_words_at_all() -> None:
    assert most_alike(graph_of([], []), "order") == []
