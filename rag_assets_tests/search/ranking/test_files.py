"""From candidates to the final order."""

from __future__ import annotations

import random

import pytest

from rag_assets.index.vectors.vector_api import FileRef, ScoredPoint
from rag_assets.search.fusion import Ranked, merged
from rag_assets.search.ranking import NEXT_SECTION, PLACED, most_promising, rank
from rag_assets.search.ranking.penalties import DEMOTION
from rag_assets.search.ranking.signals import WEIGHTS, FileSignals, QueryFeatures, QueryType, is_named

LABEL = "shop@main"


def ordered(
    dense: dict[str, float],
    keyword: dict[str, float],
    paths: dict[str, str],
    *,
    kind: QueryType = QueryType.PROSE,
    terms: frozenset[str] = frozenset(),
    past: dict[str, float] | None = None,
    named: dict[str, float] | None = None,
    limit: int = 10,
) -> list[Ranked]:
    found = merged([ScoredPoint(*item) for item in dense.items()], [ScoredPoint(*item) for item in keyword.items()])
    places = {name: FileRef(LABEL, path) for name, path in paths.items()}
    shares = [{FileRef(LABEL, path): share for path, share in (given or {}).items()} for given in (past, named)]
    said = {place for place in places.values() if is_named(place.path, terms)}
    return rank(
        found, places, FileSignals(*shares, said), QueryFeatures(kind, dict.fromkeys(terms, 1.0), bool(dense)), limit
    )


def names(ranked: list[Ranked]) -> str:
    return "".join(one.id for one in ranked)


def test_a_file_has_the_best_of_each_search_from_any_of_its_sections() -> None:
    """`a` and `b` share a file: one has the words, the other the meaning. `c` is alone and second in both."""
    ranked = ordered(
        {"a": 0.9, "c": 0.8, "x": 0.1},
        {"b": 10.0, "c": 8.0},
        {"a": "one.cs", "b": "one.cs", "c": "two.cs", "x": "x.cs"},
    )
    assert [one.id for one in ranked].index("b") < [one.id for one in ranked].index("c")
    assert ranked[0].score == pytest.approx(1.0)


def test_the_next_sections_of_a_file_give_way_to_other_files() -> None:
    same = {"a": 10.0, "b": 9.9, "c": 9.8, "d": 8.5}
    ranked = ordered({}, same, {"a": "one.cs", "b": "one.cs", "c": "one.cs", "d": "two.cs"})
    assert names(ranked) == "adbc"
    assert ranked[2].scores["same_file_decay"] == pytest.approx(0.99 * NEXT_SECTION)


def test_of_two_files_the_one_of_which_more_was_found_comes_first() -> None:
    paths = {"a": "one.cs", "b": "two.cs", "c": "two.cs", "d": "two.cs"}
    found = {"a": 10.0, "b": 9.8, "c": 3.0, "d": 3.0}
    many = {f"x{number}": 1.0 for number in range(PLACED)}
    paths |= {name: f"{name}.cs" for name in many}
    assert names(ordered({}, found | many, paths))[0] == "b"
    assert names(ordered({}, found | many, paths, kind=QueryType.NAME))[0] == "a"
    assert names(ordered({}, found, paths))[0] == "a", "there are no others: it is longer, that is all"


def test_scores_say_where_a_score_comes_from() -> None:
    """Every hit: (words + meaning + file name) times its factors is its score."""
    paths = {"a": "src/Order.cs", "b": "src/Order.cs", "c": "tests/Cart.cs"}
    ranked = ordered({"a": 0.9, "b": 0.5, "c": 0.4}, {"b": 5.0, "c": 4.0}, paths, terms=frozenset({"order"}))
    for one in ranked:
        total = sum(value for name, value in one.scores.items() if name.endswith(("_weighted", "_boost")))
        factors = one.scores.get("demotion", 1.0) * one.scores.get("same_file_decay", 1.0)
        assert one.score == pytest.approx(total * factors)
    by_id = {one.id: one.scores for one in ranked}
    weights = WEIGHTS[QueryType.PROSE]
    assert by_id["a"]["filename_boost"] == pytest.approx((1 - weights.dense) * weights.file_name)
    assert "filename_boost" not in by_id["c"]
    assert by_id["c"]["demotion"] == DEMOTION
    assert (by_id["b"]["dense"], by_id["b"]["bm25"]) == (0.5, 5.0)


@pytest.mark.parametrize(("kind", "first"), [(QueryType.PROSE, "b"), (QueryType.TASK, "a"), (QueryType.NAME, "a")])
def test_how_much_a_name_says_counts_for_prose(kind: QueryType, first: str) -> None:
    """A task is seldom done in the file that is called so, and names are found by what is declared."""
    paths = {"a": "one.cs", "b": "two.cs"}
    ranked = ordered({}, {"a": 10.0, "b": 9.0}, paths, named={"two.cs": 0.5}, kind=kind)
    assert names(ranked)[0] == first
    by_id = {one.id: one.scores for one in ranked}
    assert by_id["b"].get("filename_boost", 0.0) == pytest.approx(
        QueryFeatures(kind, {}, False).weights.name_words * 0.5
    )


@pytest.mark.parametrize(("dense", "first"), [({}, "b"), ({"c": 0.9, "a": 0.5, "b": 0.5}, "a")], ids=["none", "one"])
def test_how_much_a_name_says_counts_for_a_task_without_an_embedding(dense: dict[str, float], first: str) -> None:
    paths = {"a": "one.cs", "b": "two.cs", "c": "three.cs"}
    ranked = ordered(dense, {"a": 10.0, "b": 9.5}, paths, named={"two.cs": 1.0}, kind=QueryType.TASK)
    assert next(name for name in names(ranked) if name in "ab") == first


@pytest.mark.parametrize(("kind", "first"), [(QueryType.PROSE, "b"), (QueryType.DESCRIPTION, "a")])
def test_a_name_that_a_description_says_is_often_that_of_something_beside(kind: QueryType, first: str) -> None:
    paths = {"a": "one.cs", "b": "Order.cs"}
    assert names(ordered({}, {"a": 10.0, "b": 8.5}, paths, terms=frozenset({"order"}), kind=kind))[0] == first


@pytest.mark.parametrize(("kind", "first"), [(QueryType.PROSE, "b"), (QueryType.TASK, "b"), (QueryType.NAME, "a")])
def test_what_past_commits_say_counts_except_for_names(kind: QueryType, first: str) -> None:
    ranked = ordered({}, {"a": 10.0, "b": 9.0}, {"a": "one.cs", "b": "two.cs"}, past={"two.cs": 1.0}, kind=kind)
    assert names(ranked)[0] == first


def test_files_of_one_path_in_two_labels_are_two_files() -> None:
    found = merged([], [ScoredPoint("a", 10.0), ScoredPoint("b", 9.0)])
    places = {"a": FileRef("shop@main", "Order.cs"), "b": FileRef("shop@next", "Order.cs")}
    ranked = rank(
        found,
        places,
        FileSignals({FileRef("shop@next", "Order.cs"): 1.0}),
        QueryFeatures(QueryType.PROSE, {}, False),
        10,
    )
    assert [(one.id, "same_file_decay" in one.scores) for one in ranked] == [("b", False), ("a", False)]


def test_without_an_embedding_words_are_everything() -> None:
    ranked = ordered({}, {"a": 10.0, "b": 5.0}, {"a": "one.cs", "b": "two.cs"})
    assert [one.score for one in ranked] == pytest.approx([1.0, 0.5])
    assert "dense_weighted" not in ranked[0].scores


def test_a_name_is_found_by_words_rather_than_by_meaning() -> None:
    sides = ({"a": 0.9, "b": 0.5}, {"b": 10.0, "a": 6.0}, {"a": "one.cs", "b": "two.cs"})
    assert names(ordered(*sides, kind=QueryType.NAME)) == "ba"
    assert names(ordered(*sides, kind=QueryType.PROSE)) == "ab"


@pytest.mark.rule("R9")
@pytest.mark.parametrize(
    ("dense", "keyword", "expected"),
    [
        ({"b": 0.5, "a": 0.5}, {"a": 7.0, "b": 7.0}, "ba"),
        ({}, {"b": 7.0, "a": 7.0}, "ba"),
    ],
    ids=["dense rank first", "then keyword rank"],
)
def test_ties_are_broken_by_rank(dense: dict[str, float], keyword: dict[str, float], expected: str) -> None:
    assert names(ordered(dense, keyword, {"a": "one.cs", "b": "two.cs"})) == expected


def test_a_section_without_a_place_is_kept() -> None:
    assert names(ordered({}, {"a": 3.0, "b": 2.0}, {"b": "one.cs"})) == "ab"


def test_limit_cuts_the_end() -> None:
    assert names(ordered({}, {"a": 3.0, "b": 2.0, "c": 1.0}, {}, limit=2)) == "ab"


def test_only_promising_candidates_are_placed() -> None:
    found = merged([], [ScoredPoint(f"{number:03}", 1000.0 - number) for number in range(2 * PLACED)])
    asked = QueryFeatures(QueryType.PROSE, {}, False)
    assert [one.id for one in most_promising(found, asked, 10)] == [f"{number:03}" for number in range(PLACED)]
    assert len(most_promising(found, asked, 2 * PLACED)) == 2 * PLACED


def test_the_order_of_candidates_changes_nothing() -> None:
    """R9: what decides is scores, ranks and ids alone."""
    dice = random.Random(7)
    dense = [ScoredPoint(f"{number:02}", round(dice.random(), 1)) for number in range(40)]
    keyword = [ScoredPoint(f"{number:02}", round(dice.random() * 9, 0)) for number in range(20, 60)]
    for items in (dense, keyword):
        items.sort(key=lambda item: (-item.score, item.id))
    found = merged(dense, keyword)
    places = {one.id: FileRef(LABEL, f"src/{int(one.id) // 3}.cs") for one in found}
    asked = QueryFeatures(QueryType.PROSE, {}, True)
    expected = rank(found, places, FileSignals(), asked, 60)
    for _ in range(20):
        dice.shuffle(found)
        assert rank(found, places, FileSignals(), asked, 60) == expected
