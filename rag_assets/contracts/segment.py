"""The output of segmentation: one segment per top-level symbol, or one per text document (IDX-069 §3, A04–A08)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate, count
from operator import add
from typing import Self

_LONE_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")


class ParseHealth(StrEnum):
    """How well a file could be parsed. No file is ever lost."""

    OK = "ok"
    RESCUED = "rescued"  # clean after same-length masking of directives or unsupported syntax
    PARTIAL = "partial"  # some nodes are errors; the rest is used
    TEXT_FALLBACK = "text-fallback"  # no usable tree: plain text windows
    BY_PATTERNS = "by-patterns"  # no grammar here: declarations found by the lines that begin them
    NO_GRAMMAR = "no-grammar"  # neither grammar nor declarations: text windows by design
    REFUSED = "refused"  # segmentation raised, crashed, or took too long or too much memory: no segments


@dataclass(frozen=True, slots=True)
class Span:
    """A range of the decoded text: lines 1-based inclusive, characters 0-based half-open (B10)."""

    line_start: int
    line_end: int
    char_start: int
    char_end: int

    def slice(self, text: str) -> str:
        return text[self.char_start : self.char_end]

    def to(self, last: Span) -> Span:
        """From the beginning of this one to the end of another."""
        return Span(self.line_start, last.line_end, self.char_start, last.char_end)


def moved(inner: Span, origin: Span) -> Span:
    """A span of a slice as a span of the file, where `origin` is the span of the slice."""
    return Span(
        origin.line_start + inner.line_start - 1,
        origin.line_start + inner.line_end - 1,
        origin.char_start + inner.char_start,
        origin.char_start + inner.char_end,
    )


class LineIndex:
    """Character offset → 1-based line of one text (`\\n`, `\\r\\n` and lone `\\r` all end a line)."""

    __slots__ = ("_starts",)

    def __init__(self, text: str) -> None:
        lengths = accumulate(map(len, text.split("\n")))
        starts: list[int] = [0, *map(add, lengths, count(1))]  # + 1 for each line end so far
        starts.pop()  # the last piece has no line end
        if "\r" in text:
            extra = [lone.end() for lone in _LONE_CARRIAGE_RETURN.finditer(text)]
            if extra:
                starts = sorted({*starts, *extra})
        self._starts = starts

    def line_of(self, char: int) -> int:
        return bisect_right(self._starts, char)

    def start_of(self, line: int) -> int:
        return self._starts[line - 1]

    def span(self, char_start: int, char_end: int) -> Span:
        last = max(char_start, char_end - 1)
        return Span(self.line_of(char_start), self.line_of(last), char_start, char_end)


class MemberKind(StrEnum):
    METHOD = "method"
    CONSTRUCTOR = "constructor"
    PROPERTY = "property"
    INDEXER = "indexer"
    FIELD = "field"
    EVENT = "event"
    OPERATOR = "operator"
    DESTRUCTOR = "destructor"
    ENUM_VALUE = "enum-value"
    TYPE = "type"  # a nested type; its own members follow in `members`
    EXTENSION = "extension"  # a C# 14 extension block
    FUNCTION = "function"  # local functions of a Program, functions of other languages
    STATEMENTS = "statements"  # top-level statements of a Program or module
    SECTION = "section"  # a heading section of a document; `signature` is its heading path
    PAGE = "page"  # of a document; `value` is its number
    CUE = "cue"  # of a transcript; `name` is who speaks, `value` the seconds `from-to`
    WINDOW = "window"  # a run of lines of a text without structure


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    type: str = ""
    default: str = ""
    modifiers: tuple[str, ...] = ()  # this, ref, out, in, params …
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a segment, with its own range in the file.

    `signature` is the declaration without body, on one line. `doc` is the plain text of its documentation
    comment. `span` covers documentation and attributes too, so that consecutive members tile the body.
    """

    name: str
    kind: MemberKind
    signature: str
    span: Span
    doc: str = ""
    type: str = ""  # return type, property or field type; nested: class, enum …
    value: str = ""  # enum value or constant/initial value, when short
    parameters: tuple[Parameter, ...] = ()
    attributes: tuple[str, ...] = ()  # source text without brackets: `HttpGet("{id}")`
    modifiers: tuple[str, ...] = ()
    type_parameters: tuple[str, ...] = ()
    base_list: tuple[str, ...] = ()  # of nested types
    explicit_interface: str = ""
    accessors: tuple[str, ...] = ()  # get, set, init, private set …
    members: tuple[Member, ...] = ()
    symbol: str = ""  # of nested types: fully qualified name with arity (``Ns.Outer`1.Inner``)


@dataclass(frozen=True, slots=True)
class Segment:
    """One top-level symbol of a code file, or a whole text document.

    `symbol` is the fully qualified name with arity (``Ns.Repository`1``), `kind` what the declaration says
    (class, interface, enum, struct, record, delegate, program, module, document, window …).
    `ordinal` numbers the segments of the file from 0 in text order.
    """

    name: str
    symbol: str
    kind: str
    span: Span
    language: str
    ordinal: int
    namespace: str = ""
    doc: str = ""
    signature: str = ""
    modifiers: tuple[str, ...] = ()
    type_parameters: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    base_list: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()  # primary constructor, delegate
    members: tuple[Member, ...] = ()
    usings: tuple[str, ...] = ()
    heading_path: tuple[str, ...] = ()  # documents
    health: ParseHealth = ParseHealth.OK

    @property
    def is_partial(self) -> bool:
        return "partial" in self.modifiers


def type_segment(declared: Member, symbol: str, namespace: str, language: str) -> Segment:
    """A type of the top level: what a nested one would be as a member, as a segment."""
    return Segment(
        name=declared.name,
        symbol=symbol,
        kind=declared.type,
        span=declared.span,
        language=language,
        ordinal=0,
        namespace=namespace,
        doc=declared.doc,
        signature=declared.signature,
        modifiers=declared.modifiers,
        type_parameters=declared.type_parameters,
        attributes=declared.attributes,
        base_list=declared.base_list,
        parameters=declared.parameters,
        members=declared.members,
    )


@dataclass(frozen=True, slots=True)
class OtherPart:
    """Another part of a partial type: its place and the signatures of its members. If the part is not indexed,
    `skipped` says why, and only its path is known."""

    path: str
    line_start: int = 0
    line_end: int = 0
    members: tuple[str, ...] = ()
    skipped: str = ""


class SymbolText(str):
    """The `symbolText` of `IDescriptionBuilder.build` (A11): the text of a segment that remembers the segment.

    A builder may read it as plain text, as the seed says, or take the parsed facts from `.segment`, which saves a
    second parse.

    For a partial type, `segment` is the declaration of all parts together, with the members of this part only. `whole`
    has the members of all parts; their spans may lie in other files, and `other_parts` names these. `others` reads the
    texts of the other parts, which takes time: use it only to look into bodies.
    """

    __slots__ = ("_member_paths", "_read_others", "other_parts", "segment", "whole")
    segment: Segment
    whole: Segment
    other_parts: tuple[OtherPart, ...]
    _member_paths: tuple[str, ...]
    _read_others: Callable[[], tuple[tuple[str, SymbolText], ...]] | None

    def __new__(
        cls,
        text: str,
        segment: Segment,
        *,
        whole: Segment | None = None,
        other_parts: tuple[OtherPart, ...] = (),
        member_paths: tuple[str, ...] = (),
        read_others: Callable[[], tuple[tuple[str, SymbolText], ...]] | None = None,
    ) -> Self:
        """`member_paths` are the files of the members that only `whole` has."""
        made = super().__new__(cls, text)
        made.segment = segment
        made.whole = whole or segment
        made.other_parts = other_parts
        made._member_paths = member_paths
        made._read_others = read_others
        return made

    def part(self, span: Span) -> str:
        """The text of a span of the file that is inside of the segment."""
        origin = self.segment.span.char_start
        return self[span.char_start - origin : span.char_end - origin]

    @property
    def others(self) -> tuple[tuple[str, SymbolText], ...]:
        """(path, text) of the other indexed parts; empty if there is no reader for them."""
        return self._read_others() if self._read_others is not None else ()

    def placed_members(self) -> Iterator[tuple[Member, str]]:
        """The members of all parts with their file, '' for this one. A partial method comes once."""
        own = self.segment.members
        seen = {_called(member) for member in own if "partial" in member.modifiers}
        for member in own:
            yield member, ""
        for member, path in zip(self.whole.members[len(own) :], self._member_paths, strict=True):
            if "partial" in member.modifiers and member.kind is not MemberKind.TYPE:
                if _called(member) in seen:
                    continue
                seen.add(_called(member))
            yield member, path


def _called(member: Member) -> tuple[str, tuple[str, ...]]:
    return member.name, tuple(parameter.type for parameter in member.parameters)


@dataclass(frozen=True, slots=True)
class SegmentedFile:
    """All segments of one file, with its parse health."""

    segments: tuple[Segment, ...]
    health: ParseHealth
    detail: str = ""
    masked: tuple[str, ...] = field(default=())  # what masking removed: `#if A at 10-14`


def walk_members(members: tuple[Member, ...]) -> list[Member]:
    """Members and the members of nested types, level by level, without recursion."""
    found = list(members)
    for member in found:
        if member.members:
            found.extend(member.members)
    return found


@dataclass(frozen=True, slots=True)
class MemberRange:
    """A member and the dotted names of the nested types around it. A nested type is a leaf too (its header)."""

    member: Member
    owner: str = ""

    @property
    def path(self) -> str:
        """Its name behind those of the nested types around it."""
        return f"{self.owner}.{self.member.name}" if self.owner else self.member.name

    def owner_in(self, symbol: str) -> str:
        """The symbol of the type or module that has it, of the symbol of its segment."""
        return f"{symbol}.{self.owner}" if self.owner else symbol


def leaves_of(members: tuple[Member, ...]) -> list[MemberRange]:
    """All members in text order, those of nested types after their type. Without recursion: nesting has no limit."""
    found: list[MemberRange] = []
    stack = [MemberRange(member) for member in sorted(members, key=_start, reverse=True)]
    while stack:
        leaf = stack.pop()
        found.append(leaf)
        if leaf.member.members:
            stack.extend(
                MemberRange(member, leaf.path) for member in sorted(leaf.member.members, key=_start, reverse=True)
            )
    return found


def _start(member: Member) -> int:
    return member.span.char_start


_TAG_LINE = re.compile(
    r"^(?:(?:param|typeparam|exception|seealso)\b[^\n:]*|returns?|remarks|value|example|inheritdoc)\s*:", re.MULTILINE
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def one_line(text: str) -> str:
    return " ".join(text.split())


def first_paragraph(doc: str) -> str:
    """The summary of a documentation text on one line: up to a blank line or the first `param x:`-like line."""
    if not doc:
        return ""
    head = _BLANK_LINE.split(doc.strip(), maxsplit=1)[0]
    tag = _TAG_LINE.search(head)
    return one_line(head[: tag.start()] if tag else head)
