"""From the files and lines that a question names (stack traces, compiler messages, `A.cs:42`) to their sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rag_assets.contracts.evidence import owner_name
from rag_assets.contracts.outline import SectionMember
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.index.vectors.vector_api import PointReader
from rag_assets.search import CodePlace

_MOST_ALIKE = 3
"""Files that one written path can mean. `Program.cs:12` of a repository with a dozen programs says nothing."""


def sections_at(places: Sequence[CodePlace], shard: PointReader, scope: SearchScope) -> dict[str, CodePlace]:
    """point id → the place it covers, in the order of `places`, of those that name a line; the smallest section around
    the line. Only points of the scope."""
    with_line = [place for place in places if place.line]
    if not with_line:
        return {}
    known = shard.values("Path", scope)
    found: dict[str, CodePlace] = {}
    for place in with_line:
        for path in meant(place.path, known):
            identifier = _smallest(sections_of([path], shard, scope), place.line)
            if identifier is not None:
                found.setdefault(identifier, place)
    return found


def sections_of(paths: Iterable[str], shard: PointReader, scope: SearchScope) -> Mapping[str, Mapping[str, Any]]:
    """point id → payload of all sections of some files, by their whole paths; only points of the scope."""
    of_files = replace(scope, files=frozenset(paths))
    return shard.retrieve(sorted(shard.ids(of_files)), of_files)


def meant(written: str, known: Iterable[str]) -> tuple[str, ...]:
    """The repository paths that a path can mean which was written on another machine, or relative to some folder: those
    that share the most last names with it, in any letter case; none where these are too many."""
    wanted = _names(written)
    by_shared: dict[int, list[str]] = {}
    for path in known:
        names = _names(path)
        shared = 0
        while shared < min(len(names), len(wanted)) and names[-1 - shared] == wanted[-1 - shared]:
            shared += 1
        if shared:
            by_shared.setdefault(shared, []).append(path)
    best = sorted(by_shared[max(by_shared)]) if by_shared else []
    return tuple(best) if len(best) <= _MOST_ALIKE else ()


def _names(path: str) -> list[str]:
    return [name for name in path.casefold().split("/") if name not in ("", ".")]


def _smallest(payloads: Mapping[str, Mapping[str, Any]], line: int) -> str | None:
    around = [
        (payload["EndLine"] - payload["StartLine"], identifier)
        for identifier, payload in payloads.items()
        if payload.get("StartLine", 0) <= line <= payload.get("EndLine", -1)
    ]
    return min(around)[1] if around else None


def section_members(payload: Mapping[str, Any]) -> list[SectionMember]:
    """The members that a section covers."""
    return [SectionMember.decoded(text) for text in payload.get("Members", ())]


def member_at(line: int, members: Iterable[SectionMember]) -> SectionMember | None:
    return next((one for one in members if one.start_line <= line <= one.end_line), None)


def qualified_name(member: SectionMember | None, payload: Mapping[str, Any]) -> str:
    """A member of a section behind its type, `Order.Cancel`; the type alone without one, '' in a file that declares
    none."""
    symbol = payload.get("Symbol", "")
    owner = "" if symbol == payload.get("Path") else owner_name(symbol.partition("~")[0])
    name = member.name if member is not None else ""
    owner = owner if owner.isidentifier() or not name else ""  # a module is called by its path
    return ".".join(dict.fromkeys(filter(None, (owner, name))))


def named_at(line: int, payload: Mapping[str, Any]) -> str:
    """The type and the member at a line of a section, `Order.Cancel`; '' where nothing is declared."""
    return qualified_name(member_at(line, section_members(payload)), payload)
