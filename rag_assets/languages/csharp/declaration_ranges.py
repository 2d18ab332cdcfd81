"""The types of one C# file as segments, nested ones too, and the node that holds a place of the text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rag_assets.contracts.graph import NodeType, declaration_key, file_key, member_keys, symbol_key
from rag_assets.contracts.segment import Member, MemberKind, Segment, type_segment
from rag_assets.languages.csharp.facts.type_index import TypeIndex

LANGUAGE = "csharp"

_CLASSES = ("class", "struct", "record", "interface")
"""Declarations with members that have bodies."""

_HOLDING = frozenset({MemberKind.TYPE, MemberKind.EXTENSION})
"""Members that hold other members."""

_NESTED = -1
"""The ordinal of a nested type, which is no segment of its file."""


def types_of(segments: Iterable[Segment]) -> Iterator[Segment]:
    """All types and programs of a file, each as a segment: nested ones after the type around them, whose symbol is
    their namespace, for names in them are looked up there first."""
    for segment in segments:
        yield segment
        waiting = [(segment.symbol, member) for member in reversed(segment.members) if member.kind in _HOLDING]
        while waiting:
            around, member = waiting.pop()
            if member.kind is MemberKind.EXTENSION:
                symbol = around
            else:
                symbol = member.symbol or f"{around}.{member.name}"
                nested = type_segment(member, symbol, around, segment.language)
                yield replace(nested, ordinal=_NESTED, usings=segment.usings, health=segment.health)
            waiting += [(symbol, inner) for inner in reversed(member.members) if inner.kind in _HOLDING]


def classes_of(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Those of `types_of` that are classes, structs, records or interfaces."""
    return (segment for segment in types_of(segments) if segment.kind.startswith(_CLASSES))


def whole(segment: Segment, declared: TypeIndex) -> Segment:
    """A partial type with the bases and attributes of all its parts, its own first; others as they are."""
    if not segment.is_partial:
        return segment
    parts = declared.parts(segment.symbol)
    bases = dict.fromkeys((*segment.base_list, *(base for part in parts for base in part.base_list)))
    attributes = dict.fromkeys((*segment.attributes, *(text for part in parts for text in part.attributes)))
    return replace(segment, base_list=tuple(bases), attributes=tuple(attributes))


def type_key(symbol: str) -> str:
    return symbol_key(LANGUAGE, symbol, NodeType.TYPE)


def own_symbol(segment: Segment) -> str:
    """The symbol in the keys of a type and its members: that of a nested type has no arity, as in points."""
    return f"{segment.namespace}.{segment.name}" if segment.ordinal == _NESTED else segment.symbol


def entity_key(symbol: str) -> str:
    return symbol_key(LANGUAGE, symbol, NodeType.ENTITY)


def migration_key(symbol: str) -> str:
    return symbol_key(LANGUAGE, symbol, NodeType.MIGRATION)


def inside(segment: Segment) -> str:
    """Where the names in a type are looked up first: the type itself, then outwards."""
    return segment.symbol if segment.kind.startswith(_CLASSES) else segment.namespace


@dataclass(frozen=True, slots=True)
class PlacedDeclaration:
    """A type or member by its characters. `key` is its node, or that of the type for a member without one."""

    start: int
    end: int
    key: str
    segment: Segment
    member: Member | None


class DeclarationRanges:
    """Which declaration of a file holds an offset, and its node."""

    __slots__ = ("_file", "_places", "_starts")

    def __init__(self, path: str, segments: Iterable[Segment]) -> None:
        self._file = file_key(path)
        found: list[PlacedDeclaration] = []
        for segment in types_of(segments):
            own = declaration_key(LANGUAGE, own_symbol(segment), segment.kind, path)
            found.append(PlacedDeclaration(segment.span.char_start, segment.span.char_end, own, segment, None))
            found += _members(segment, own)
        found.sort(key=lambda place: (place.start, -place.end))
        self._places = found
        self._starts = [place.start for place in found]

    def at(self, offset: int) -> PlacedDeclaration | None:
        """The innermost declaration around an offset."""
        index = bisect_right(self._starts, offset) - 1
        while index >= 0:
            if offset < self._places[index].end:
                return self._places[index]
            index -= 1
        return None

    def key_at(self, offset: int) -> str:
        """The node of the innermost declaration with one: a member, a type, else the file."""
        place = self.at(offset)
        return place.key if place is not None else self._file

    def __iter__(self) -> Iterator[PlacedDeclaration]:
        """The members, in text order."""
        return (place for place in self._places if place.member is not None)


def _members(segment: Segment, own: str) -> Iterator[PlacedDeclaration]:
    for member in segment.members:
        if member.kind is MemberKind.TYPE:
            continue
        owner = own_symbol(segment)
        is_block = member.kind is MemberKind.EXTENSION
        if is_block:
            owner = f"{owner}.{member.name}"
        for found in member.members if is_block else (member,):
            key = next(iter(member_keys(LANGUAGE, owner, found)), own)
            yield PlacedDeclaration(found.span.char_start, found.span.char_end, key, segment, found)
