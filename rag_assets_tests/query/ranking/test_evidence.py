"""What the ranking knows of files beside the scores of their sections, and of whose files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.query import open_index, open_indexes
from rag_assets.query.ranking.asking import WEIGHTS, Asking
from rag_assets.query.ranking.evidence import Asked, Evidence, evidence_of
from rag_assets.stores.home import Home
from rag_assets.stores.keyword.past import Past, write_past
from rag_assets.stores.points import Place
from rag_assets_tests.query.small_index import LABEL, SHOP, build

_BESIDE_SECTIONS = ("from_file_name", "from_past")
PLACES = [Place(LABEL, path) for path in ("RefundPolicy.cs", "Order.cs", "RefundPolicy.cs")]


def found(kind: Asking, directory: Path, *, has_dense: bool) -> Evidence:
    write_past(directory, {"Order.cs": ["Round refunds"]})
    asked = Asked(kind, {"refund": 1.0, "policies": 0.3}, has_dense, forms={"policies": "policy"})
    return evidence_of(PLACES, asked, lambda label: Past(directory), lambda term: 1.0)


@pytest.mark.parametrize(
    ("kind", "has_dense", "past", "names"),
    [
        (Asking.PROSE, True, {"Order.cs": 1.0}, {"RefundPolicy.cs": 1.0}),
        (Asking.DESCRIPTION, True, {"Order.cs": 1.0}, {"RefundPolicy.cs": 1.0}),
        (Asking.TASK, True, {"Order.cs": 1.0}, {}),
        (Asking.TASK, False, {"Order.cs": 1.0}, {"RefundPolicy.cs": 1.0}),
        (Asking.NAME, False, {}, {}),
    ],
)
def test_only_what_counts_for_a_kind_of_question_is_looked_up(
    kind: Asking, has_dense: bool, past: dict[str, float], names: dict[str, float], tmp_path: Path
) -> None:
    """The names of files count for a task where words have to do it alone."""
    evidence = found(kind, tmp_path, has_dense=has_dense)
    assert {place.path: share for place, share in evidence.past.items()} == past
    assert {place.path: share for place, share in evidence.names.items()} == names


def test_what_is_said_are_words_and_their_forms() -> None:
    asked = Asked(Asking.PROSE, {"refund": 1.0, "of": 0.2, "policies": 0.3}, False, forms={"policies": "policy"})
    assert asked.said == {"refund": "refund", "policies": "policy"}


def beside_sections(home: Home, query: str, clearance: str) -> dict[str, dict[str, float]]:
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
    without, with_secret = Home(tmp_path / "without"), Home(tmp_path / "with")
    build(without, SHOP)
    build(with_secret, [*SHOP, secret])
    expected = beside_sections(without, query, "internal")
    assert expected["src/Refunds/RefundPolicy.cs"]["from_file_name"] > 0
    assert beside_sections(with_secret, query, "internal") == expected
    cleared = beside_sections(with_secret, query, "restricted")
    assert cleared.pop(secret.path)["from_file_name"] > 0
    assert cleared != expected


def test_the_file_whose_name_says_the_question_in_another_form_comes_first(tmp_path: Path) -> None:
    """`SmtpClientFactory` says nothing of "ordering"; `Order.cs` and the others do, by a form of it."""
    home = Home(tmp_path)
    build(home, SHOP)
    with open_index(LABEL, home=home.root) as index:
        result = index.search("how does ordering work", mode="bm25", explain=True)
    assert {term.term for term in result.terms} >= {"ordering", "order"}
    named = {hit.path: hit.scores["from_file_name"] for hit in result if "from_file_name" in hit.scores}
    assert max(named, key=lambda path: named[path]) == "src/Orders/Order.cs"
    assert named["src/Orders/Order.cs"] == pytest.approx(WEIGHTS[Asking.PROSE].name_words)


def test_a_form_that_only_one_of_several_labels_has_is_found_there(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for label, sections in (("left@main", SHOP[:1]), ("right@main", SHOP[3:4])):
        build(home, [replace(section, label=label) for section in sections], label=label)
    with open_indexes(["left@main", "right@main"], home=home.root) as group:
        result = group.search("how does ordering work", mode="bm25", explain=True)
        assert group.parts.vocabulary().starting("order") == ["order"]
        assert group.parts.vocabulary().rarity("order") < group.parts.vocabulary().rarity("unheard")
    assert (result[0].label, result[0].path) == ("right@main", "src/Orders/Order.cs")
    assert {term.term: term.sections for term in result.terms}["order"] == 1
