"""Conditions on fields that all points share are settled exactly as they would be for each point."""

from __future__ import annotations

import pytest

from rag_assets.index.vectors.conditions import (
    NOTHING,
    Absent,
    AllOf,
    AnyOf,
    BeginsWith,
    Condition,
    Equal,
    HasId,
    Not,
    OneOf,
    settled,
)

COMMON = {"OrgId": "acme", "IndexLabel": "shop@main"}
OURS, THEIRS, OPEN = Equal("OrgId", "acme"), Equal("OrgId", "globex"), Equal("Kind", "Service")

CASES: dict[str, tuple[Condition, list[Condition]]] = {
    "holds": (OURS, []),
    "does not": (THEIRS, [NOTHING]),
    "another field": (OPEN, [OPEN]),
    "one of": (OneOf("OrgId", ("globex", "acme")), []),
    "none of": (OneOf("OrgId", ()), [NOTHING]),
    "beginning": (BeginsWith("IndexLabel", "shop@"), []),
    "another beginning": (BeginsWith("IndexLabel", "site@"), [NOTHING]),
    "absent": (Absent("OrgId"), [NOTHING]),
    "absent elsewhere": (Absent("Confidentiality"), [Absent("Confidentiality")]),
    "not ours": (Not(OURS), [NOTHING]),
    "not theirs": (Not(THEIRS), []),
    "not open": (Not(OPEN), [Not(OPEN)]),
    "any, one holds": (AnyOf((THEIRS, OURS, OPEN)), []),
    "any, one is left": (AnyOf((THEIRS, OPEN)), [AnyOf((OPEN,))]),
    "any, none": (AnyOf((THEIRS,)), [NOTHING]),
    "any of nothing": (AnyOf(()), [NOTHING]),
    "all, one is left": (AllOf((OURS, OPEN)), [AllOf((OPEN,))]),
    "all, one fails": (AllOf((OPEN, THEIRS)), [NOTHING]),
    "all hold": (AllOf((OURS, OURS)), []),
    "deep": (Not(AnyOf((AllOf((OURS, THEIRS)), OPEN))), [Not(AnyOf((OPEN,)))]),
    "ids": (HasId(frozenset({"a"})), [HasId(frozenset({"a"}))]),
}


@pytest.mark.parametrize(("condition", "left"), CASES.values(), ids=CASES)
def test_a_condition_is_settled(condition: Condition, left: list[Condition]) -> None:
    assert settled([condition], COMMON) == left


def test_one_that_fails_settles_all() -> None:
    assert settled([OPEN, THEIRS, HasId(frozenset({"a"}))], COMMON) == [NOTHING]


def test_without_common_fields_nothing_is_settled() -> None:
    conditions = [OURS, THEIRS, Not(OPEN)]
    assert settled(conditions, {}) == conditions
