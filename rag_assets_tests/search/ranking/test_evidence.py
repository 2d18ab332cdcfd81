"""What the ranking knows of files beside the scores of their sections, and of whose files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets import open_index, open_indexes
from rag_assets.index.keyword.commit_subjects import CommitSubjects, write_past
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.vector_api import FileRef
from rag_assets.search.ranking.signals import WEIGHTS, FileSignals, QueryFeatures, QueryType, file_signals
from rag_assets_tests.search.small_index import LABEL, SHOP, build

_BESIDE_SECTIONS = ("filename_boost", "history_boost")
PLACES = [FileRef(LABEL, path) for path in ("RefundPolicy.cs", "Order.cs", "RefundPolicy.cs")]


def found(kind: QueryType, directory: Path, *, has_dense: bool) -> FileSignals:
    write_past(directory, {"Order.cs": ["Round refunds"]})
    asked = QueryFeatures(kind, {"refund": 1.0, "policies": 0.3}, has_dense, forms={"policies": "policy"})
    declared = {PLACES[0]: 1.0}
    return file_signals(PLACES, asked, lambda label: CommitSubjects(directory), lambda term: 1.0, lambda: declared)


@pytest.mark.parametrize(
    ("kind", "has_dense", "past", "names"),
    [
        (QueryType.PROSE, True, {"Order.cs": 1.0}, {"RefundPolicy.cs": 1.0}),
        (QueryType.DESCRIPTION, True, {"Order.cs": 1.0}, {"RefundPolicy.cs": 1.0}),
        (QueryType.TASK, True, {"Order.cs": 1.0}, {}),
        (QueryType.TASK, False, {"Order.cs": 1.0}, {"RefundPolicy.cs": 1.0}),
        (QueryType.NAME, False, {}, {}),
    ],
)
def test_only_what_counts_for_a_kind_of_question_is_looked_up(
    kind: QueryType, has_dense: bool, past: dict[str, float], names: dict[str, float], tmp_path: Path
) -> None:
    """The names of files count for a task where words have to do it alone."""
    evidence = found(kind, tmp_path, has_dense=has_dense)
    assert {place.path: share for place, share in evidence.past.items()} == past
    assert {place.path: share for place, share in evidence.names.items()} == names
    assert bool(evidence.declared) is (kind is QueryType.NAME)


def test_what_is_said_are_words_and_their_forms() -> None:
    asked = QueryFeatures(
        QueryType.PROSE, {"refund": 1.0, "of": 0.2, "policies": 0.3}, False, forms={"policies": "policy"}
    )
    assert asked.said == {"refund": "refund", "policies": "policy"}


def beside_sections(home: IndexHome, query: str, clearance: str) -> dict[str, dict[str, float]]:
    with open_index(LABEL, home=home.root, clearance=clearance) as index:
        hits = index.search(query, mode="bm25", limit=20).hits
    return {hit.path: {key: hit.scores.get(key, 0.0) for key in _BESIDE_SECTIONS} for hit in hits}


@pytest.mark.rule("B02", "R17")
def test_a_file_that_may_not_be_seen_moves_no_score(tmp_path: Path) -> None:
    """A restricted file whose name says more of the question than any other: who may not see it gets the scores of its
    absence, who may see it others."""
    query = "which policy approves refunds"
    secret = replace(
        SHOP[0],
        path="src/Refunds/RefundPolicyApprover.cs",
        symbol="Shop.Refunds.RefundPolicyApprover",
        level="restricted",
    )
    without, with_secret = IndexHome(tmp_path / "without"), IndexHome(tmp_path / "with")
    build(without, SHOP)
    build(with_secret, [*SHOP, secret])
    expected = beside_sections(without, query, "internal")
    assert expected["src/Refunds/RefundPolicy.cs"]["filename_boost"] > 0
    assert beside_sections(with_secret, query, "internal") == expected
    cleared = beside_sections(with_secret, query, "restricted")
    assert cleared.pop(secret.path)["filename_boost"] > 0
    assert cleared != expected


def test_the_file_whose_name_says_the_question_in_another_form_comes_first(tmp_path: Path) -> None:
    """`SmtpClientFactory` says nothing of "ordering"; `Order.cs` and the others do, by a form of it."""
    home = IndexHome(tmp_path)
    build(home, SHOP)
    with open_index(LABEL, home=home.root) as index:
        result = index.search("how does ordering work", mode="bm25", explain=True)
    assert {term.term for term in result.terms} >= {"ordering", "order"}
    named = {hit.path: hit.scores["filename_boost"] for hit in result if "filename_boost" in hit.scores}
    assert max(named, key=lambda path: named[path]) == "src/Orders/Order.cs"
    assert named["src/Orders/Order.cs"] == pytest.approx(WEIGHTS[QueryType.PROSE].name_words)


def test_a_form_that_only_one_of_several_labels_has_is_found_there(tmp_path: Path) -> None:
    home = IndexHome(tmp_path)
    for label, sections in (("left@main", SHOP[:1]), ("right@main", SHOP[3:4])):
        build(home, [replace(section, label=label) for section in sections], label=label)
    with open_indexes(["left@main", "right@main"], home=home.root) as group:
        result = group.search("how does ordering work", mode="bm25", explain=True)
        assert group.parts.vocabulary().starting("order") == ["order"]
        assert group.parts.vocabulary().rarity("order") < group.parts.vocabulary().rarity("unheard")
    assert (result[0].label, result[0].path) == ("right@main", "src/Orders/Order.cs")
    assert {term.term: term.sections for term in result.terms}["order"] == 1
