"""Names of relations, allow-lists, and what they warn of (R27)."""

from __future__ import annotations

import pytest

from rag_assets.contracts.graph import Confidence, Relation
from rag_assets.graph.relations import (
    ALL_STEPS,
    TRUST,
    WORTH,
    Direction,
    UnknownRelation,
    WalkStep,
    allow_list,
    check_against,
    named_relation,
)


@pytest.mark.rule("R27")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("FK", (Relation.FOREIGN_KEY, False)),
        ("ForeignKey", (Relation.FOREIGN_KEY, False)),
        ("foreign_key", (Relation.FOREIGN_KEY, False)),
        ("Calls", (Relation.CALLS, False)),
        ("CALLS", (Relation.CALLS, False)),
        ("cs_dep", (Relation.CALLS, False)),
        ("CalledBy", (Relation.CALLS, True)),
        ("ReferencedBy(C#)", (Relation.REFERENCES, True)),
        ("referencedby", (Relation.REFERENCES, True)),
        ("ImplementedBy", (Relation.IMPLEMENTS, True)),
        ("Reads", (Relation.READS_FROM, False)),
        ("Writes", (Relation.WRITES_TO, False)),
    ],
)
def test_aliases(name: str, expected: tuple[Relation, bool]) -> None:
    assert named_relation(name) == expected


@pytest.mark.rule("R27")
@pytest.mark.parametrize("relation", Relation)
def test_every_relation_is_its_own_name_and_has_a_worth(relation: Relation) -> None:
    assert named_relation(relation.value) == (relation, False)
    assert 0 < WORTH[relation].along < 1
    assert 0 < WORTH[relation].against < 1


def test_a_guess_is_worth_less_than_two_proven_steps() -> None:
    assert TRUST[Confidence.RESOLVED] == 1 > TRUST[Confidence.PROBABLE] > TRUST[Confidence.NAME_ONLY]


@pytest.mark.rule("R27")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("Cals", "did you mean Calls", id="near"),
        pytest.param("ForeinKey", "ForeignKey", id="near one of many"),
        pytest.param("日本", "valid: Contains, Inherits", id="nothing near"),
        pytest.param("", "valid: Contains", id="empty"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_nearest_ones(name: str, said: str) -> None:
    with pytest.raises(UnknownRelation, match="is no relation") as caught:
        allow_list([name])
    assert said in str(caught.value)


@pytest.mark.rule("D20", "R27")
def test_the_default_allow_list_of_the_seeds() -> None:
    assert allow_list(["FK", "Calls", "ReferencedBy(C#)"]) == (
        WalkStep(Relation.CALLS),
        WalkStep(Relation.FOREIGN_KEY),
        WalkStep(Relation.REFERENCES, Direction.IN),
    )


@pytest.mark.parametrize(
    ("names", "direction", "expected"),
    [
        pytest.param(["Calls"], Direction.OUT, [WalkStep(Relation.CALLS, Direction.OUT)], id="as the direction says"),
        pytest.param(["Calls", "CalledBy"], None, [WalkStep(Relation.CALLS)], id="both names of one relation"),
        pytest.param(["CalledBy"], Direction.IN, [WalkStep(Relation.CALLS, Direction.IN)], id="backwards and in agree"),
        pytest.param(["Calls", "calls"], None, [WalkStep(Relation.CALLS)], id="twice"),
        pytest.param([], None, list(ALL_STEPS), id="none means all"),
        pytest.param([], Direction.IN, [WalkStep(r, Direction.IN) for r in Relation], id="all, one way"),
    ],
)
def test_steps(names: list[str], direction: Direction | None, expected: list[WalkStep]) -> None:
    assert allow_list(names, direction) == tuple(expected)


def test_a_name_against_the_direction_is_an_error() -> None:
    with pytest.raises(UnknownRelation, match="'CalledBy' is Calls walked inwards"):
        allow_list(["CalledBy"], Direction.OUT)


@pytest.mark.rule("R27")
@pytest.mark.parametrize(
    ("names", "present", "said"),
    [
        pytest.param(["FK"], {Relation.CALLS: 3}, "match nothing in this index: ForeignKey; it has: Calls", id="none"),
        pytest.param(["FK", "Calls"], {Relation.CALLS: 3}, "no edges of ForeignKey", id="some"),
        pytest.param(["FK"], {}, "it has: none", id="an empty graph"),
        pytest.param(["FK"], {Relation.FOREIGN_KEY: 0, Relation.CALLS: 1}, "match nothing", id="a count of zero"),
    ],
)
def test_an_allow_list_that_the_index_cannot_meet_is_a_warning(
    names: list[str], present: dict[Relation, int], said: str
) -> None:
    (warning,) = check_against(allow_list(names), present)
    assert said in warning


def test_nothing_to_warn_of() -> None:
    assert check_against(allow_list(["Calls"]), {Relation.CALLS: 1}) == ()
    assert check_against(ALL_STEPS, {Relation.CALLS: 1}) == ()
