"""The receivers of chained calls with the types that the binder found, in code without strings and comments.

Every scan is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, Segment
from rag_assets.languages.csharp.binder.file_binding import FileBinding, binding_of
from rag_assets.languages.csharp.binder.type_syntax import TypeRef
from rag_assets.languages.csharp.declaration_ranges import DeclarationRanges
from rag_assets.languages.csharp.facts.type_names import TypeName, parse_type

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile


MAX_CHAIN_CHARS = 8_000
"""Of one chain of calls; what is longer is data, not a query."""

MAX_PATH = 8
"""Names of a path `a.b.c` before a member; longer ones are namespaces."""

LINK = re.compile(r"\.\s*([A-Za-z_]\w*)")
"""A member of something; begins with a literal, which is fast to look for."""

_NEXT = re.compile(r"\s*[?!]?\s*\.\s*([A-Za-z_]\w*)")
"""The next member of a chain."""
_SELVES = ("this", "base")
_BLANKS_AT_ONCE = 64
"""What is masked is blank: a comment between two links of a chain is long."""
_TYPE_ARGUMENTS = re.compile(r"\s*<([^;(){}=]{1,300}?)>(?=\s*[(.])")
_ARGUMENT_LIST = re.compile(r"\s*(?:<[^;(){}=]{1,300}?>)?\s*(?=\()")
_ARGUMENTS = re.compile(r"\s*[!]?\s*([(\[])")
_OPENERS, _CLOSERS = "([{", ")]}"
_BRACKET = re.compile(r"[()\[\]{};]")


def chain_from(code: str, at: int) -> tuple[str, ...]:
    """`Where`, `Select` of `Orders.Where(…).Select(…)`, from the offset after `Orders`; what is open ends there."""
    names: list[str] = []
    stop = min(len(code), at + MAX_CHAIN_CHARS)
    position = _after_arguments(code, at, stop)
    while position < stop and (link := _NEXT.match(code, position, stop)) is not None:
        names.append(link[1])
        position = _after_arguments(code, link.end(), stop)
    return tuple(names)


def path_before(code: str, at: int) -> tuple[tuple[str, ...], int]:
    """(`a`, `b`) of `a.b` that ends at the dot at `at`, without `this` and `base`, and the offset where it begins; ()
    where something else than names stands there, such as the result of a call."""
    names: list[str] = []
    while True:
        end = _back_over_blanks(code, at)
        if end and code[end - 1] in "?!":
            end = _back_over_blanks(code, end - 1)
        start = end
        while start and (code[start - 1].isalnum() or code[start - 1] == "_"):
            start -= 1
        if start == end or code[start].isdigit():
            return (), start
        names.append(code[start:end])
        before = _back_over_blanks(code, start)
        if not before or code[before - 1] != "." or len(names) > MAX_PATH:
            break
        at = before - 1
    names.reverse()
    return tuple(names[1:] if names[0] in _SELVES else names), start


def _back_over_blanks(code: str, at: int) -> int:
    while at and code[at - 1].isspace():
        first = max(0, at - _BLANKS_AT_ONCE)
        at = first + len(code[first:at].rstrip())
    return at


def type_argument_at(code: str, at: int) -> str:
    """`Order` of `Set<Order>()` from the offset after `Set`; '' without one."""
    found = _TYPE_ARGUMENTS.match(code, at)
    return " ".join(found[1].split()) if found else ""


def argument_list(code: str, at: int) -> int:
    """The offset of the `(` after the name of a call that ends at `at`; -1 where nothing is called."""
    found = _ARGUMENT_LIST.match(code, at)
    return found.end() if found else -1


def receiver_ends(code: str, at: int) -> tuple[int, int]:
    """The offsets where the receiver before the dot at `at` may end: with and without the `!` or `?` after it."""
    end = _back_over_blanks(code, at)
    return end, _back_over_blanks(code, end - 1) if end and code[end - 1] in "?!" else end


def statement_end(code: str, at: int) -> int:
    """The offset of the `;` that ends the expression at `at`, or of the bracket that closes around it."""
    depth = 0
    for found in _BRACKET.finditer(code, at, min(len(code), at + MAX_CHAIN_CHARS)):
        character = found[0]
        if character in _OPENERS:
            depth += 1
        elif character == ";":
            if depth == 0:
                return found.start()
        else:
            depth -= 1
            if depth < 0:
                return found.start()
    return min(len(code), at + MAX_CHAIN_CHARS)


def _after_arguments(code: str, at: int, stop: int) -> int:
    """The offset after type arguments, argument lists and indexers that directly follow."""
    generic = _TYPE_ARGUMENTS.match(code, at, stop)
    position = generic.end() if generic else at
    while True:
        opened = _ARGUMENTS.match(code, position, stop)
        if opened is None:
            return position
        closed = _closing(code, opened.start(1), stop)
        if closed < 0:
            return stop
        position = closed + 1


def _closing(code: str, at: int, stop: int) -> int:
    depth = 0
    for found in _BRACKET.finditer(code, at, stop):
        if found[0] in _OPENERS:
            depth += 1
        elif found[0] in _CLOSERS:
            depth -= 1
            if depth == 0:
                return found.start()
    return -1


_CALL = re.compile(r"(?<![\w.@])(?:(?:this|base)\s*\.\s*)?([A-Za-z_]\w*)\s*(?=[<(])")
_ARITY = re.compile(r"`\d+")


@dataclass(frozen=True, slots=True)
class MemberAccess:
    """`receiver.member` at an offset; `receiver` is '' for a plain call. `type` is that of the receiver, None
    where it is not known. `end` is the offset after the member's name."""

    receiver: str
    member: str
    start: int
    end: int
    key: str
    segment: Segment
    holder: Member | None
    type: TypeName | None


def masked_file(file: ParsedFile, symbols: LabelDeclarations) -> MaskedFile:
    """A C# file bound to the symbols of its label."""
    return MaskedFile(file.masked, file.places, binding_of(file, symbols.csharp))


def _written(found: TypeRef) -> str:
    """A bound type as text that resolves anywhere: its qualified name without arity, with arguments."""
    arguments = ", ".join(map(_written, found.arguments))
    if found.is_array:
        return f"{arguments}[]"
    if found.is_tuple:
        return f"({arguments})"
    name = _ARITY.sub("", found.name)
    return f"{name}<{arguments}>" if arguments else name


class MaskedFile:
    """One C# file as masked code with the declarations around each place and the types of receivers."""

    __slots__ = ("_binding", "masked", "places")

    def __init__(self, masked: str, places: DeclarationRanges, binding: FileBinding) -> None:
        self.masked = masked
        self.places = places
        self._binding = binding

    def accesses(
        self, member_wanted: Callable[[str], bool], receiver_wanted: Callable[[str], bool] = lambda _: True
    ) -> Iterator[MemberAccess]:
        """The `path.receiver.Member` of the file in text order whose member and receiver are wanted: what a receiver
        is declared as costs more than to ask that first. Receivers that are no names (`Make().Member`) are left out."""
        code, decided = self.masked, dict[str, bool]()
        for found in LINK.finditer(code):
            member = found[1]
            if member not in decided:
                decided[member] = member_wanted(member)
            path, start = path_before(code, found.start()) if decided[member] else ((), 0)
            if not path or not receiver_wanted(path[-1]):
                continue
            place = self.places.at(start)
            if place is None:
                continue
            typed = self._receiver_type(found.start())
            yield MemberAccess(path[-1], member, start, found.end(), place.key, place.segment, place.member, typed)

    def plain_calls(self) -> Iterator[MemberAccess]:
        """All calls without a receiver, and those on `this` and `base`."""
        for found in _CALL.finditer(self.masked):
            place = self.places.at(found.start())
            if place is not None and place.member is not None:
                at = (found.start(), found.end())
                yield MemberAccess("", found[1], *at, place.key, place.segment, place.member, None)

    def first_argument_type(self, access: MemberAccess) -> TypeName | None:
        """The type of the first argument of a call, None where it is not known."""
        at = argument_list(self.masked, access.end)
        found = self._binding.arguments.get(at)
        return parse_type(_written(found)) if found is not None else None

    def _receiver_type(self, dot: int) -> TypeName | None:
        for end in receiver_ends(self.masked, dot):
            found = self._binding.receivers.get(end)
            if found is not None:
                return parse_type(_written(found))
        return None
