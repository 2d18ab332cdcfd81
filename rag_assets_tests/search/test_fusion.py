"""The candidates of both searches on one scale."""

from __future__ import annotations

import pytest

from rag_assets import Index
from rag_assets.contracts.retrieval import SearchPolicy
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.vector_api import ScoredPoint
from rag_assets.search.fusion import UNRANKED, as_found, merged, reciprocal_ranks


def candidates(**scores: float) -> list[ScoredPoint]:
    return [ScoredPoint(name, score) for name, score in scores.items()]


@pytest.mark.rule("E10")
def test_a_section_that_both_sides_find_is_one_candidate() -> None:
    found = {one.id: one for one in merged(candidates(a=0.9, b=0.7, c=0.5), candidates(d=30.0, b=20.0))}
    assert sorted(found) == ["a", "b", "c", "d"]
    both = found["b"]
    assert (both.dense, both.bm25, both.ranks) == (0.7, 20.0, (2, 2))
    assert (found["a"].bm25, found["a"].bm25_scaled, found["a"].ranks) == (None, 0.0, (1, UNRANKED))
    assert (found["d"].dense, found["d"].dense_scaled, found["d"].ranks) == (None, 0.0, (UNRANKED, 1))


def test_keyword_scores_are_shares_of_the_best_and_cosines_are_spread() -> None:
    found = {one.id: one for one in merged(candidates(a=0.9, b=0.7, c=0.5), candidates(a=30.0, b=15.0, c=10.0))}
    assert [found[name].dense_scaled for name in "abc"] == pytest.approx([1.0, 0.5, 0.0])
    assert [found[name].bm25_scaled for name in "abc"] == pytest.approx([1.0, 0.5, 1 / 3])


@pytest.mark.parametrize("scores", [{"a": 0.4}, {"a": 0.4, "b": 0.4}, {"a": 0.0}], ids=["one", "equal", "zero"])
def test_what_cannot_be_told_apart_is_worth_all(scores: dict[str, float]) -> None:
    assert {one.dense_scaled for one in merged(candidates(**scores), [])} == {1.0}
    assert {one.bm25_scaled for one in merged([], candidates(**scores))} == {1.0}


def test_nothing_found_is_nothing() -> None:
    assert merged([], []) == []


def test_one_side_alone_keeps_its_order_and_its_raw_scores() -> None:
    found = as_found(candidates(a=3.0, b=2.0))
    assert [(one.id, one.score, one.scores) for one in found] == [
        ("a", 3.0, {"dense": 3.0}),
        ("b", 2.0, {"dense": 2.0}),
    ]


@pytest.mark.rule("D16", "R9")
def test_ranks_are_fused_with_the_constant_of_the_contract() -> None:
    found = reciprocal_ranks(candidates(a=0.9, b=0.7, c=0.5), candidates(d=30.0, b=20.0), 10)
    assert {one.id: one.score for one in found} == pytest.approx(
        {"a": 1 / 61, "b": 1 / 62 + 1 / 62, "c": 1 / 63, "d": 1 / 61}
    )
    assert [one.id for one in found] == ["b", "a", "d", "c"]
    assert found[0].scores == pytest.approx(
        {
            "dense": 0.7,
            "dense_normalised": 0.5,
            "bm25": 20.0,
            "bm25_normalised": 2 / 3,
            "dense_weighted": 1 / 62,
            "sparse_weighted": 1 / 62,
        }
    )
    assert set(found[1].scores) == {"dense", "dense_normalised", "dense_weighted"}


@pytest.mark.rule("R9")
@pytest.mark.parametrize(
    ("dense", "keyword", "order"),
    [
        ("ab", "ba", "ab"),  # equal sums: the semantic rank decides
        ("a", "b", "ab"),
        ("xa", "yb", "xyab"),
        ("", "cab", "cab"),
        ("cab", "", "cab"),
        ("", "", ""),
    ],
)
def test_ties_of_ranks_go_by_the_semantic_one(dense: str, keyword: str, order: str) -> None:
    near, words = ([ScoredPoint(name, 1.0 - 0.1 * rank) for rank, name in enumerate(side)] for side in (dense, keyword))
    found = reciprocal_ranks(near, words, 10)
    assert "".join(one.id for one in found) == order
    assert "".join(one.id for one in reciprocal_ranks(near, words, 1)) == order[:1]


@pytest.mark.rule("D16")
@pytest.mark.parametrize("fusion", ["blend", "rrf"])
def test_hybrid_search_joins_as_the_setting_says(shop: Index, shop_home: IndexHome, fusion: str) -> None:
    with Index(shop_home, shop.generation, policy=SearchPolicy(fusion=fusion)) as index:  # type: ignore[arg-type]
        found = index.search("order service of a customer", mode="hybrid", limit=5)
        sides = [index.search("order service of a customer", mode=mode, limit=50) for mode in ("semantic", "bm25")]
    assert found.mode == "hybrid" and found.warnings == ()
    if fusion == "blend":
        assert max(hit.score for hit in found) > 2 / 61
        return
    by_side = zip(sides, ("dense", "bm25"), strict=True)
    raw = [sorted(side, key=lambda hit: -hit.scores[name]) for side, name in by_side]
    ranks = [{hit.point_id: rank for rank, hit in enumerate(side, 1)} for side in raw]
    expected = {
        known: sum(1 / (60 + side[known]) for side in ranks if known in side) for known in {*ranks[0], *ranks[1]}
    }
    assert [hit.score for hit in found] == pytest.approx([expected[hit.point_id] for hit in found])
    assert [hit.score for hit in found] == pytest.approx(sorted(expected.values(), reverse=True)[:5])
