"""What the receivers of calls are declared as, by the declarations around them: fields, parameters, plain locals.

Read from the code without strings and comments. It is less than a compiler knows, and enough for what people pass
around by name: contexts, repositories, mediators, buses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.descriptions.facts.types import TypeName, parse_type, unwrapped
from rag_assets.graph.call_text import LINK, chain_from, path_before
from rag_assets.graph.code_places import Places, inside
from rag_assets.graph.csharp.references import TypeRef
from rag_assets.graph.csharp.symbols import Place

if TYPE_CHECKING:
    from rag_assets.graph.extraction import GraphFile
    from rag_assets.graph.symbols import Symbols

_ACCESS = re.compile(r"(?<![\w.@])(?:(?:this|base)\s*\.\s*)?@?([A-Za-z_]\w*)\s*[?!]?\s*\.\s*([A-Za-z_]\w*)")
_CALL = re.compile(r"(?<![\w.@])(?:(?:this|base)\s*\.\s*)?([A-Za-z_]\w*)\s*(?=[<(])")
_TYPED = re.compile(
    r"([A-Za-z_](?<![\w.].)(?:\w*+\s*+\.\s*+(?:[A-Za-z_]\w*+\s*+\.\s*+){0,5}[A-Z]\w*+|(?<=[A-Z])\w*+)"
    r"(?:<[^;(){}=]{1,200}?>)?\??)\s++([a-z_@]\w*)\s*+(?=[=;,)]|in\b)",
)
"""`Order order =`, `List<Order> orders in`. Begins with letters, and looks at what stands before them afterwards: the
engine skips to letters fast. No possessive part could give back anything that the next one takes."""
_VAR = re.compile(r"v(?<!\wv)ar\s+(\w+)\s*=(?![=>])\s*(?:await\s+)?|f(?<!\wf)oreach\s*\(\s*var\s+(\w+)\s+in\s+")
_NEW = re.compile(r"new\s+((?:\w+\s*\.\s*)*\w+(?:\s*<[^;(){}=]{1,200}?>)?)\s*[({\[]")
_GENERIC_CALL = re.compile(r"(?:[\w.!?\s]|\(\)){0,200}?\b(\w+)\s*<\s*([^;(){}=]{1,200}?)\s*>\s*\(")
_PLAIN_CALL = re.compile(r"(?:this\s*\.\s*|base\s*\.\s*)?(\w+)\s*\(")
_SERVICE_CALLS = ("Get", "Create", "Resolve", "Require")
"""How calls begin that give what their type argument says: `GetRequiredService<T>()`, `CreateInstance<T>()`."""
_FIELD_STARTS = "_"
"""How names begin that nobody gives to locals; those of locals are not in upper case either."""
_ONE = ("First", "Single", "Last", "Find", "GetBy", "Get", "ElementAt", "Add", "Create")
"""How calls on a set or repository begin that give one of what it keeps …"""
_MANY = ("ToList", "ToArray", "List", "GetAll", "Where")
"""… or several."""
_FACTORY = re.compile(r"I?(?:Pooled)?DbContextFactory\Z")
_NAME = re.compile(r"@?\w+")
_ARITY = re.compile(r"`\d+")


@dataclass(frozen=True, slots=True)
class Access:
    """`receiver.member` at an offset; `receiver` is '' for a plain call. `type` is what the receiver is declared as,
    None where that is not known. `end` is the offset after the member's name."""

    receiver: str
    member: str
    start: int
    end: int
    key: str
    segment: Segment
    holder: Member | None
    type: TypeName | None


MemberTypes = Callable[[Segment, str, str], str]
"""The type of a member by its name, '' for unknown: (place, type as written there or '' for the place itself, name)."""


def code_of(file: GraphFile, symbols: Symbols) -> Code:
    """A C# file as `Code` that knows inherited members."""

    def member_type(segment: Segment, written: str, name: str) -> str:
        csharp = symbols.csharp
        if written:
            symbol = csharp.resolve_type(written, Place(file.path, inside(segment), segment.type_parameters))
        else:
            symbol = csharp.declared_at(segment.symbol, file.path)
        members = csharp.find_members(symbol.id, name) if symbol is not None else ()
        return _written(members[0].type) if members else ""

    return Code(file.masked, file.places, member_type)


def _written(found: TypeRef) -> str:
    """A bound type as text that resolves anywhere: its qualified name without arity, with arguments."""
    name = _ARITY.sub("", found.name)
    arguments = ", ".join(_written(argument) for argument in found.arguments)
    return f"{name}<{arguments}>" if arguments else name


class Code:
    """One C# file as masked code with the declarations around each place."""

    __slots__ = ("_fields", "_locals", "_member_type", "_missing", "masked", "places")

    def __init__(self, masked: str, places: Places, member_type: MemberTypes) -> None:
        self.masked = masked
        self.places = places
        self._member_type = member_type
        self._fields: dict[str, dict[str, str]] = {}
        self._locals: dict[tuple[int, str], dict[str, TypeName]] = {}
        self._missing: dict[tuple[str, str], TypeName | None] = {}

    def accesses(
        self, member_wanted: Callable[[str], bool], receiver_wanted: Callable[[str], bool] = lambda _: True
    ) -> Iterator[Access]:
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
            typed = self.type_of(path[0], place.segment, place.member)
            for name in path[1:]:
                typed = self._property_type(typed, name, place.segment)
            yield Access(path[-1], member, start, found.end(), place.key, place.segment, place.member, typed)

    def plain_calls(self) -> Iterator[Access]:
        """All calls without a receiver, and those on `this` and `base`."""
        for found in _CALL.finditer(self.masked):
            place = self.places.at(found.start())
            if place is not None and place.member is not None:
                at = (found.start(), found.end())
                yield Access("", found[1], *at, place.key, place.segment, place.member, None)

    def type_of(self, name: str, segment: Segment, member: Member | None) -> TypeName | None:
        """What a name is declared as: a local or parameter, a member of its type, an inherited member."""
        written = self._fields_of(segment).get(name)
        is_field = bool(written) and name[:1] in _FIELD_STARTS
        if member is not None and not is_field and not name[:1].isupper():
            for parameter in member.parameters:
                if parameter.name == name:
                    return parse_type(parameter.type)
            known = self._locals_of(segment, member).get(name)
            if known is not None:
                return known
        if written:
            return parse_type(written)
        if not segment.base_list or (name[:1].isupper() and name in segment.type_parameters):
            return None
        place = (segment.symbol, name)
        if place not in self._missing:
            written = self._member_type(segment, "", name)
            self._missing[place] = parse_type(written) if written else None
        return self._missing[place]

    def _property_type(self, owner: TypeName | None, name: str, segment: Segment) -> TypeName | None:
        """The type of a property of a type of the label."""
        if owner is None or not owner.name:
            return None
        place = (f"{segment.symbol} {owner}", name)
        if place not in self._missing:
            written = self._member_type(segment, str(owner).rstrip("?"), name)
            self._missing[place] = parse_type(written) if written else None
        return self._missing[place]

    def expression_type(self, start: int, segment: Segment, member: Member | None) -> TypeName | None:
        """The type of the simple expression at an offset: `new X(…)`, a name, a call with a known result."""
        locals_ = self._locals_of(segment, member) if member is not None else {}
        return self._value_type(start, segment, locals_)

    def _fields_of(self, segment: Segment) -> dict[str, str]:
        known = self._fields.get(segment.symbol)
        if known is None:
            known = {parameter.name: parameter.type for parameter in segment.parameters}
            for member in segment.members:
                if member.kind in (MemberKind.FIELD, MemberKind.PROPERTY) and member.type:
                    known.setdefault(member.name, member.type)
            self._fields[segment.symbol] = known
        return known

    def _locals_of(self, segment: Segment, member: Member) -> dict[str, TypeName]:
        place = (member.span.char_start, segment.symbol)
        known = self._locals.get(place)
        if known is not None:
            return known
        known = self._locals[place] = {}
        start, stop = member.span.char_start, member.span.char_end
        for parameter in member.parameters:
            known[parameter.name] = parse_type(parameter.type)
        for found in _TYPED.finditer(self.masked, start, stop):
            known.setdefault(found[2].lstrip("@"), parse_type(found[1]))
        for found in _VAR.finditer(self.masked, start, stop):
            made = self._value_type(found.end(), segment, known)
            if made is not None:
                known.setdefault(found[1] or found[2], _element(made) if found[2] else made)
        return known

    def _value_type(self, at: int, segment: Segment, known: dict[str, TypeName]) -> TypeName | None:
        code = self.masked
        made = _NEW.match(code, at)
        if made is not None:
            return parse_type(made[1])
        generic = _GENERIC_CALL.match(code, at)
        if generic is not None and generic[1].startswith(_SERVICE_CALLS):
            return parse_type(generic[2])
        called = _ACCESS.match(code, at)
        if called is not None:
            receiver = known.get(called[1]) or self._declared(called[1], segment)
            return self._result_type(receiver, called, segment) if receiver is not None else None
        plain = _PLAIN_CALL.match(code, at)
        if plain is not None:
            returned = next((m.type for m in segment.members if m.name == plain[1] and m.kind is MemberKind.METHOD), "")
            returned = returned or (self._member_type(segment, "", plain[1]) if segment.base_list else "")
            return unwrapped(parse_type(returned)) if returned else None
        name = _NAME.match(code, at)
        return known.get(name[0]) or self._declared(name[0], segment) if name is not None else None

    def _result_type(self, receiver: TypeName, called: re.Match[str], segment: Segment) -> TypeName | None:
        """What `receiver.Member…` gives: a context from its factory, an entity or a list of them from what keeps
        them."""
        member = called[2]
        if _FACTORY.match(receiver.name) and member.startswith("CreateDbContext"):
            return receiver.arguments[0] if receiver.arguments else None
        names = (member, *chain_from(self.masked, called.end()))
        held = receiver
        if not (len(receiver.arguments) == 1 and names[-1].startswith((*_ONE, *_MANY))):
            found = self._property_type(receiver, member, segment)
            if found is None or len(names) == 1:
                return unwrapped(found) if found is not None else None
            held = found
        if len(held.arguments) != 1:
            return None
        if names[-1].startswith(_ONE):
            return held.arguments[0]
        return TypeName("List", held.arguments) if names[-1].startswith(_MANY) else None

    def _declared(self, name: str, segment: Segment) -> TypeName | None:
        written = self._fields_of(segment).get(name)
        return parse_type(written) if written else None


def _element(found: TypeName) -> TypeName:
    return found.arguments[0] if len(found.arguments) == 1 else found
