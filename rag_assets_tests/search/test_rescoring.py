"""SEMANTIC_RERANK: candidates of the vector search, put in order with keyword scores of their texts (D14)."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets import Index, Mode
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.index.vectors.vector_api import ScoredPoint
from rag_assets.search.reranking import rescored
from rag_assets.search.retrieve import widened


def payload(symbol: str, snippet: str = "", path: str = "src/A.cs") -> dict[str, Any]:
    return {"Symbol": symbol, "DeclaredNames": [symbol.lower()], "Path": path, "FinderSnippet": snippet}


def ordered(query: str, texts: dict[str, dict[str, Any]], *, alpha: float = 1.0, beta: float = 0.3) -> list[str]:
    """The ids, of which each is .01 less near than the one before."""
    dense = [ScoredPoint(name, 0.5 - 0.01 * rank) for rank, name in enumerate(texts)]
    return [one.id for one in rescored(query, dense, texts, len(dense), alpha=alpha, beta=beta)]


@pytest.mark.rule("D14")
@pytest.mark.parametrize(("limit", "expected"), [(1, 50), (10, 50), (16, 50), (17, 51), (100, 300)])
def test_three_times_the_hits_are_looked_at_and_fifty_at_least(limit: int, expected: int) -> None:
    assert widened(limit) == expected


@pytest.mark.rule("D14")
def test_the_score_is_that_of_both_and_the_raw_ones_are_kept() -> None:
    texts = {"a": payload("Cart"), "b": payload("Refund", "refund refund"), "c": payload("Refund")}
    found = rescored(
        "refund", [ScoredPoint("a", 0.9), ScoredPoint("b", 0.6), ScoredPoint("c", 0.5)], texts, 3, alpha=0.5, beta=2.0
    )
    by_id = {one.id: one for one in found}
    assert [one.id for one in found] == ["b", "c", "a"]
    assert by_id["a"].scores == {
        "dense": 0.9,
        "keyword": 0.0,
        "keyword_normalised": 0.0,
        "dense_weighted": 0.45,
        "sparse_weighted": 0.0,
    }
    assert by_id["b"].scores["keyword_normalised"] == 1.0
    assert by_id["b"].score == pytest.approx(0.5 * 0.6 + 2.0)
    assert by_id["c"].scores["sparse_weighted"] == pytest.approx(2.0 * by_id["c"].scores["keyword_normalised"])
    assert 0 < by_id["c"].scores["keyword"] < by_id["b"].scores["keyword"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("OrderService", "b"),
        ("order service", "b"),
        ("orders", "b"),
        ("what is the cart for", "c"),
        ("the", "a"),
        ("nothing of this", "a"),
        ("", "a"),
    ],
)
def test_words_are_those_of_identifiers_and_prose_alike(query: str, first: str) -> None:
    texts = {
        "a": payload("Mail", "The letters of a shop."),
        "b": payload("OrderService", "Sells."),
        "c": payload("Cart", "Holds what is bought."),
    }
    assert ordered(query, texts)[0] == first


def test_a_word_of_all_candidates_does_not_count_against_them() -> None:
    """The idf of Okapi is negative for a word that more than half of the texts have."""
    texts = {"a": payload("Letter", "mail"), "b": payload("OrderMail", "order"), "c": payload("Order", "order")}
    found = rescored("order", [ScoredPoint(name, 0.5) for name in texts], texts, 3, alpha=1.0, beta=0.3)
    assert found[-1].id == "a"
    assert all(one.scores["keyword"] >= 0 for one in found)


@pytest.mark.rule("R9")
def test_equal_scores_keep_the_order_of_the_vector_search() -> None:
    texts = {name: payload("Order") for name in "dacb"}
    found = rescored("order", [ScoredPoint(name, 0.5) for name in texts], texts, 4, alpha=1.0, beta=0.3)
    assert [one.id for one in found] == list("dacb")


@pytest.mark.parametrize(
    "texts",
    [{}, {"a": {}}, {"a": payload("", path="")}, {"a": payload("Order")}],
    ids=["no payloads", "empty payload", "empty texts", "one is missing"],
)
def test_candidates_without_words_are_as_near_as_they_are(texts: dict[str, Any]) -> None:
    found = rescored("order", [ScoredPoint("a", 0.5), ScoredPoint("b", 0.4)], texts, 2, alpha=1.0, beta=0.3)
    assert [one.id for one in found] == ["a", "b"]


def test_without_candidates_nothing_is_found() -> None:
    assert rescored("order", [], {}, 5, alpha=1.0, beta=0.3) == []


@pytest.mark.rule("D14")
def test_a_search_finds_what_the_vectors_find_in_another_order(shop: Index) -> None:
    near = shop.search("orders OrderServiceTests", mode=Mode.SEMANTIC, limit=8)
    found = shop.search("orders OrderServiceTests", mode=Mode.SEMANTIC_RERANK, limit=8)
    assert (found.mode, found.warnings) == (Mode.SEMANTIC_RERANK, ())
    assert {hit.point_id for hit in found} == {hit.point_id for hit in near}
    assert found[0].symbol == "Shop.Tests.OrderServiceTests"
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    cosines = {hit.point_id: hit.scores["dense"] for hit in near}
    assert {hit.point_id: hit.scores["dense"] for hit in found} == cosines
    assert set(found.timings) == {"open", "embed", "dense", "rescore", "fetch", "members", "total"}


@pytest.mark.rule("R17")
def test_filters_hold_before_the_candidates_are_taken(shop: Index) -> None:
    found = shop.search("creates an order", mode="semantic_rerank", limit=1, filters=SearchFilters(kinds=("Test",)))
    assert [hit.kind for hit in found] == ["Test"]
