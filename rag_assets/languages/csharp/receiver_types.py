"""The receivers of calls with the types that the binder found, in the code without strings and comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, Segment
from rag_assets.languages.csharp.binder.bound_types import TypeRef
from rag_assets.languages.csharp.binder.file_binding import FileBinding, binding_of
from rag_assets.languages.csharp.declaration_ranges import DeclarationRanges
from rag_assets.languages.csharp.facts.type_names import TypeName, parse_type
from rag_assets.languages.csharp.masked_call_chains import LINK, argument_list, path_before, receiver_ends

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

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
