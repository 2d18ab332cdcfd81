"""A scope as conditions on payload fields that every engine knows: equal, one of, begins with, between, absent. Pure.

Engines know prefixes but no globs, so a glob becomes the list of the values it matches: k results stay k (4 ms at 1,000
paths). `settled` folds conditions on fields that all points of a store share; `all_hold` asks them of payloads that are
read one by one, with the engine's own answers and `index.vectors.faiss` as the reference.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, levels_up_to
from rag_assets.index.vectors.filters import METADATA, Period, SearchFilters, SearchScope, has_wildcard, matching_paths

Values = Callable[[str], tuple[str, ...]]
"""Gives all values that a payload field has within the tenant and project of the scope; called only where a pattern
needs them."""


@dataclass(frozen=True, slots=True)
class Equal:
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """Also of a list: one of its elements."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BeginsWith:
    key: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Between:
    """A time of the period, as payloads have it; what has none is in no period."""

    key: str
    period: Period

    @property
    def since(self) -> str | None:
        """Inclusive."""
        return _payload_time(self.period.since)

    @property
    def before(self) -> str | None:
        """Exclusive."""
        return _payload_time(self.period.before)

    def holds(self, value: str) -> bool:
        """Times are compared as texts: their one form has all digits."""
        return (self.since is None or value >= self.since) and (self.before is None or value < self.before)


@dataclass(frozen=True, slots=True)
class Absent:
    """The payload does not have the field."""

    key: str


@dataclass(frozen=True, slots=True)
class HasId:
    """The point is one of these; of none, where there are none."""

    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these holds."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition


Condition = Equal | OneOf | BeginsWith | Between | Absent | HasId | AnyOf | AllOf | Not


def _payload_time(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    from rag_assets.contracts.payload import round_trip_time  # start-up budget: most searches name no date

    return round_trip_time(moment)


class KnownValues:
    """The values of payload fields in a store whose points never change, each read once per tenant and clearance."""

    def __init__(self, read: Callable[[str, SearchScope], Iterable[str]]) -> None:
        self._read = read
        self._known: dict[tuple[str, str, str, str], tuple[str, ...]] = {}

    def within(self, scope: SearchScope) -> Values:
        """Those of the tenant and project of `scope` that it may see."""

        def values(key: str) -> tuple[str, ...]:
            asked = (key, scope.org_id, scope.project_id, scope.clearance)
            if asked not in self._known:
                everything = SearchScope(org_id=scope.org_id, project_id=scope.project_id, clearance=scope.clearance)
                self._known[asked] = tuple(self._read(key, everything))
            return self._known[asked]

        return values


def conditions_of(scope: SearchScope, values: Values) -> list[Condition]:
    """What must hold, all of it, before the top k (R17)."""
    must: list[Condition] = [
        Equal("OrgId", scope.org_id),
        Equal("ProjectId", scope.project_id),
        _may_be_seen(scope),
    ]
    if scope.label:
        must.append(Equal("IndexLabel", scope.label))
    if scope.symbol_prefix:
        must.append(BeginsWith("Symbol", scope.symbol_prefix))
    if scope.ids is not None:
        must.append(HasId(scope.ids))
    if scope.files is not None:
        must.append(OneOf("Path", tuple(sorted(scope.files))))
    if scope.masked:
        must.append(Not(OneOf("Path", tuple(sorted(scope.masked)))))
    if scope.changed:
        must.append(Between("UpdatedUtc", scope.changed))
    if scope.names:
        must.append(_named(scope.names, values))
    for filters in scope.required:
        must.extend(_conditions(filters, values))
    must.extend(Not(condition) for condition in _conditions(scope.excluded, values))
    return must


def _may_be_seen(scope: SearchScope) -> Condition:
    """What the levels up to the clearance name, so that a level nobody knows is seen by nobody. A point without one was
    written before there were levels and has the default one."""
    allowed = levels_up_to(scope.clearance)
    known = OneOf("Confidentiality", tuple(level.value for level in allowed))
    return AnyOf((known, Absent("Confidentiality"))) if DEFAULT_LEVEL in allowed else known


def _conditions(wanted: SearchFilters, values: Values) -> Iterable[Condition]:
    """One condition for each field with values; the dates of all filters are one condition of the scope."""
    plain = (("Kind", wanted.kinds), ("CodeLanguage", wanted.languages), ("SourceType", wanted.source_types))
    for key, alternatives in plain:
        if alternatives:
            yield OneOf(key, alternatives)
    for name, known in METADATA.items():
        if written := getattr(wanted, name):
            yield AnyOf(tuple(_spelled(key, written, values) for key in known.keys))
    if wanted.paths:
        yield AnyOf(tuple(found for path in wanted.paths for found in _path_conditions(path, values)))
    if wanted.symbols:
        from rag_assets.languages.detection import SourceType  # start-up budget: most searches name no symbol

        # of these `DeclaredNames` are headings and names of files, no types or members
        documents = tuple(found.value for found in (SourceType.DOCUMENT, SourceType.TRANSCRIPT, SourceType.CONFIG))
        yield AllOf((Not(OneOf("SourceType", documents)), _named(wanted.symbols, values)))


def _spelled(key: str, written: tuple[str, ...], values: Values) -> Condition:
    """One of these values, as payloads spell them."""
    wanted = {value.casefold() for value in written}
    return OneOf(key, tuple(value for value in values(key) if value.casefold() in wanted) or written)


def _path_conditions(path: str, values: Values) -> list[Condition]:
    """Alternatives that together match a path pattern exactly."""
    folder = path.removesuffix("/**").removesuffix("/")
    if has_wildcard(folder) and not _is_literal(folder, values("Path")):
        return [_matching(path, values("Path"))]
    below = BeginsWith("Path", f"{folder}/")
    if folder != path:
        return [below]
    if "/" in folder:
        return [below, Equal("Path", folder)]
    return [below, OneOf("Path", matching_paths(path, values("Path")))]


def _matching(glob: str, paths: tuple[str, ...]) -> Condition:
    """By the paths that match, or by those that do not where these are fewer: engines take 3 µs for each, and `*.cs`
    matches nearly all files of a C# repository."""
    matching = matching_paths(glob, paths)
    if 2 * len(matching) <= len(paths):
        return OneOf("Path", matching)
    wanted = set(matching)
    others = tuple(path for path in paths if path not in wanted)
    return AllOf((Not(Absent("Path")), Not(OneOf("Path", others))))


def _is_literal(folder: str, paths: tuple[str, ...]) -> bool:
    """`app/[id]` is a folder of many web projects, and only then not a pattern."""
    below = f"{folder}/"
    return any(path == folder or path.startswith(below) for path in paths)


def _named(names: tuple[str, ...], values: Values) -> Condition:
    return AnyOf(tuple(found for name in names for found in _symbol_conditions(name, values)))


def _symbol_conditions(written: str, values: Values) -> list[Condition]:
    """Alternatives that together match a name. `A.B` is the type B in A, or what A declares by the name B."""
    wanted = written.strip().lower()
    owner, dot, name = wanted.rpartition(".")
    if not (dot and owner and name):
        return [_declares(wanted, values)]
    whole, of_owner = (_symbols_ending(ending, values("Symbol")) for ending in (wanted, owner))
    return [OneOf("Symbol", whole), AllOf((_declares(name, values), OneOf("Symbol", of_owner)))]


def _declares(name: str, values: Values) -> Condition:
    beginning = name.removesuffix("*")
    if not has_wildcard(name):
        return OneOf("DeclaredNames", (name,))
    if beginning and not has_wildcard(beginning):
        return BeginsWith("DeclaredNames", beginning)
    return OneOf("DeclaredNames", _matching_names(name, values("DeclaredNames")))


@lru_cache(maxsize=64)  # as `matching_paths`
def _matching_names(pattern: str, names: tuple[str, ...]) -> tuple[str, ...]:
    matches = re.compile(fnmatch.translate(pattern)).match
    return tuple(name for name in names if matches(name))


@lru_cache(maxsize=64)
def _symbols_ending(ending: str, symbols: tuple[str, ...]) -> tuple[str, ...]:
    """The symbols that are, or whose last names are, `ending`, which is in lower case and may have `*`; without
    parameters it means those of any."""
    from rag_assets.contracts.identity import plain_symbol  # start-up budget: most searches name no symbol

    matches = re.compile(fnmatch.translate(f"*.{ending}")).match
    cut = "(" not in ending
    plain = ((symbol, f".{_ARITY.sub('', plain_symbol(symbol)).lower()}") for symbol in symbols)
    return tuple(symbol for symbol, name in plain if matches(name.partition("(")[0] if cut else name))


_ARITY = re.compile(r"`\d+")


NOTHING = HasId(frozenset())
"""Holds for no point."""


def settled(conditions: Iterable[Condition], common: Mapping[str, str]) -> list[Condition]:
    """What is left to ask of each point where all have the values `common`, '' for a field that none has; NOTHING where
    none can fulfil it all."""
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
        case Equal() | OneOf() | BeginsWith() | Between() | Absent() if condition.key in common:
            return _holds_for(condition, common[condition.key])
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


def _holds_for(condition: Equal | OneOf | BeginsWith | Between | Absent, value: str) -> bool:
    if not value or isinstance(condition, Absent):
        return not value and isinstance(condition, Absent)
    match condition:
        case Equal():
            return value == condition.value
        case OneOf():
            return value in condition.values
        case BeginsWith():
            return value.startswith(condition.prefix)
        case Between():
            return condition.holds(value)


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
