"""Conditions on fields whose values are known before anybody asks: those that all points of a store share. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rag_assets.stores.conditions import Absent, AllOf, AnyOf, BeginsWith, Condition, Equal, HasId, Not, OneOf

NOTHING = HasId(frozenset())
"""Holds for no point."""


def settled(conditions: Iterable[Condition], common: Mapping[str, str]) -> list[Condition]:
    """What is left to ask of each point where all have the values `common`; NOTHING where none can fulfil it all."""
    left = []
    for condition in conditions:
        found = _settled(condition, common)
        if found is False:
            return [NOTHING]
        if found is not True:
            left.append(found)
    return left


def _settled(condition: Condition, common: Mapping[str, str]) -> Condition | bool:
    match condition:
        case Equal() | OneOf() | BeginsWith() | Absent() if condition.key in common:
            return _holds(condition, common[condition.key])
        case AllOf():
            parts = settled(condition.conditions, common)
            return False if parts == [NOTHING] else AllOf(tuple(parts)) if parts else True
        case AnyOf():
            found = [_settled(part, common) for part in condition.conditions]
            parts = [part for part in found if not isinstance(part, bool)]
            return True if True in found else AnyOf(tuple(parts)) if parts else False
        case Not():
            inner = _settled(condition.condition, common)
            return not inner if isinstance(inner, bool) else Not(inner)
    return condition


def _holds(condition: Equal | OneOf | BeginsWith | Absent, value: str) -> bool:
    match condition:
        case Equal():
            return value == condition.value
        case OneOf():
            return value in condition.values
        case BeginsWith():
            return value.startswith(condition.prefix)
    return False  # it is there
