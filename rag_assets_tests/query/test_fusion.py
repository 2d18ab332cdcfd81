"""The candidates of both searches on one scale."""

from __future__ import annotations

import pytest

from rag_assets.query.fusion import UNRANKED, as_found, merged
from rag_assets.stores.points import Scored


def candidates(**scores: float) -> list[Scored]:
    return [Scored(name, score) for name, score in scores.items()]


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
    found = as_found(candidates(a=3.0, b=2.0), "dense")
    assert [(one.id, one.score, one.scores) for one in found] == [
        ("a", 3.0, {"dense": 3.0}),
        ("b", 2.0, {"dense": 2.0}),
    ]
