"""Whether a payload fulfils conditions, for points that are read one by one. Pure; the reference are the engine's own
answers and `stores.field_masks`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rag_assets.stores.conditions import (
    Absent,
    AllOf,
    AnyOf,
    BeginsWith,
    Between,
    Condition,
    Equal,
    HasId,
    Not,
    OneOf,
)

Holds = Callable[[str, Mapping[str, Any]], bool]
"""Whether the point of an id, with its payload, fulfils something."""


def all_hold(conditions: Sequence[Condition]) -> Holds:
    """Made once for a scope: a glob is a list of thousands of paths."""
    parts = [_holds(condition) for condition in conditions]
    return lambda known, payload: all(part(known, payload) for part in parts)


def _holds(condition: Condition) -> Holds:
    match condition:
        case AllOf():
            return all_hold(condition.conditions)
        case AnyOf():
            parts = [_holds(part) for part in condition.conditions]
            return lambda known, payload: any(part(known, payload) for part in parts)
        case Not():
            inner = _holds(condition.condition)
            return lambda known, payload: not inner(known, payload)
        case HasId():
            ids = condition.ids
            return lambda known, payload: known in ids
        case Absent():
            key = condition.key
            return lambda known, payload: not _values(payload, key)
        case Equal():
            return _has(condition.key, condition.value.__eq__)
        case OneOf():
            return _has(condition.key, frozenset(condition.values).__contains__)
        case BeginsWith():
            prefix = condition.prefix
            return _has(condition.key, lambda value: value.startswith(prefix))
        case Between():
            return _has(condition.key, condition.holds)


def _has(key: str, matches: Callable[[str], bool]) -> Holds:
    return lambda known, payload: any(matches(value) for value in _values(payload, key))


def _values(payload: Mapping[str, Any], key: str) -> Sequence[str]:
    """Of a field, which may be a list; None and '' are absent."""
    content = payload.get(key)
    found: Sequence[str] = content if isinstance(content, list) else (content,) if content else ()
    return found
