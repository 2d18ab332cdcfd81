"""The words most like one by pairs of letters: arrays against the sets that they stand for."""

from __future__ import annotations

import heapq
import random

import pytest

from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.lookup import most_alike
from rag_assets_tests.graph.small_graphs import graph_of, node

SYLLABLES = ("get", "Set", "order", "Order", "s", "item", "Ünlü", "Ł", "日本", "𝔘", "aa", "a", "_", "x")


@pytest.fixture(scope="module")
def graph() -> Graph:
    chance = random.Random(7)
    names = {"".join(chance.choices(SYLLABLES, k=chance.randint(1, 6))) for _ in range(400)} | {
        "a",
        "x",
        "日",
        "aaaaaa",
    }
    return graph_of([node(f"csharp:Shop.{name}|TYPE") for name in sorted(names)], [])


def pairs(word: str) -> frozenset[str]:
    return frozenset(word[at : at + 2] for at in range(len(word) - 1)) or frozenset(word)


def compared_with_all(graph: Graph, wanted: str, count: int) -> list[str]:
    words = [graph.words[number] for number in range(len(graph.words))]
    asked = pairs(wanted)

    def shared(word: str) -> float:
        return 2 * len(asked & pairs(word)) / (len(asked) + len(pairs(word)))

    return [word for _, word in heapq.nlargest(count, ((shared(word), word) for word in words))]


@pytest.mark.parametrize("count", [1, 7, 60, 10_000])
@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param("ordergetitem", id="of known parts"),
        pytest.param("aaaaa", id="one pair many times"),
        pytest.param("a", id="one letter"),
        pytest.param("日", id="one letter beyond ASCII"),
        pytest.param("ünlü日本", id="other scripts"),
        pytest.param("𝔘𝔘", id="beyond the first plane"),
        pytest.param("qqqq", id="nothing in common"),
    ],
)
def test_arrays_find_what_sets_of_pairs_find(graph: Graph, wanted: str, count: int) -> None:
    assert most_alike(graph, [wanted], count)[wanted] == compared_with_all(graph, wanted, count)


def test_several_at_once_and_none(graph: Graph) -> None:
    found = most_alike(graph, ["order", "", "item"], 5)
    assert list(found) == ["order", "item"]
    assert found == {word: compared_with_all(graph, word, 5) for word in ("order", "item")}
    assert most_alike(graph_of([], []), ["order"]) == {"order": []}
