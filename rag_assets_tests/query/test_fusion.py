"""Blending two candidate lists: scores, order, ties."""

from __future__ import annotations

import pytest

from rag_assets.query.fusion import DENSE_WEIGHT, blend
from rag_assets.stores.vectors import Scored


def candidates(**scores: float) -> list[Scored]:
    return [Scored(name, score) for name, score in scores.items()]


def test_the_blend_is_a_weighted_sum_of_normalised_scores() -> None:
    found = blend(candidates(a=0.9, b=0.7, c=0.5), candidates(d=30.0, b=20.0, c=10.0), 10)
    keyword = 1 - DENSE_WEIGHT
    assert {ranked.id: ranked.score for ranked in found} == pytest.approx(
        {"a": DENSE_WEIGHT, "d": keyword, "b": 0.5 * DENSE_WEIGHT + 0.5 * keyword, "c": 0.0}
    )
    assert [ranked.id for ranked in found] == sorted("abcd", key=lambda i: -{r.id: r.score for r in found}[i])
    by_id = {ranked.id: ranked.scores for ranked in found}
    assert by_id["b"] == pytest.approx({"dense": 0.7, "dense_normalised": 0.5, "bm25": 20.0, "bm25_normalised": 0.5})
    assert by_id["a"] == pytest.approx({"dense": 0.9, "dense_normalised": 1.0})


@pytest.mark.parametrize("side", ["dense", "bm25"])
def test_one_side_alone_keeps_its_raw_scores_and_order(side: str) -> None:
    found = candidates(a=3.0, b=2.0, c=2.0)
    ranked = blend(found, [], 10) if side == "dense" else blend([], found, 10)
    assert [(r.id, r.score, r.scores[side]) for r in ranked] == [("a", 3.0, 3.0), ("b", 2.0, 2.0), ("c", 2.0, 2.0)]


@pytest.mark.parametrize(
    ("dense", "keyword", "expected"),
    [
        (candidates(b=0.5, a=0.5), candidates(a=7.0, b=7.0), "ba"),
        (candidates(x=0.5), candidates(b=7.0, a=7.0, x=7.0), "xba"),
        (candidates(z=0.0), [], "z"),
        ([], [], ""),
    ],
    ids=["dense rank first", "then keyword rank", "a score of zero", "nothing"],
)
def test_ties_are_broken_by_rank(dense: list[Scored], keyword: list[Scored], expected: str) -> None:
    """R9."""
    assert "".join(ranked.id for ranked in blend(dense, keyword, 10)) == expected


def test_limit_cuts_the_end() -> None:
    assert [ranked.id for ranked in blend(candidates(a=3, b=2, c=1), [], 2)] == ["a", "b"]
