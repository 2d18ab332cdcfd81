"""The member accesses and calls of a C# file, as the binder met them: what stands before the dot, and its type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Member, Segment
from rag_assets.languages.csharp.binder.file_binding import BoundCode, binding_of
from rag_assets.languages.csharp.binder.type_syntax import TypeRef
from rag_assets.languages.csharp.declaration_ranges import PlacedDeclaration
from rag_assets.languages.csharp.facts.type_names import TypeName, parse_type

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

MAX_LINKS = 100
"""Of one chain of calls; what is longer is data, not a query."""

_ARITY = re.compile(r"`\d+")


@dataclass(frozen=True, slots=True)
class MemberAccess:
    """`receiver.member`; `receiver` is '' for a plain call. `type` is that of the receiver, None where it is not known.
    `start` is the offset where the path to the member begins, `end` the one behind the name and its type arguments."""

    receiver: str
    member: str
    start: int
    end: int
    type: TypeName | None
    place: PlacedDeclaration
    code: BoundCode
    expression: Node  # the receiver, or the whole function of a plain call
    name: Node

    @property
    def key(self) -> str:
        """The node of the declaration around it."""
        return self.place.key

    @property
    def segment(self) -> Segment:
        return self.place.segment

    @property
    def holder(self) -> Member | None:
        return self.place.member

    def chain(self) -> tuple[str, ...]:
        """The members behind this one: `Where`, `Select` of `Orders.Where(…).Select(…)`."""
        links = self.code.links.get(self.expression.start_byte, ())
        behind = (link for link in links if link.start_byte > self.name.start_byte)
        return tuple(_name(self.code, link) for link, _ in zip(behind, range(MAX_LINKS), strict=False))

    def type_arguments(self) -> tuple[str, ...]:
        """`Order` of `Set<Order>()`, as written."""
        listed = self.name.named_children[-1].named_children if self.name.type == "generic_name" else ()
        return tuple(" ".join(self.code.reader.text_of(node).split()) for node in listed)

    def first_argument_type(self) -> TypeName | None:
        """The type of the first argument of a call, None where it is not known."""
        text, bracket = self.code.reader.text, self.end
        while text[bracket : bracket + 1].isspace():
            bracket += 1
        found = self.code.first_arguments.get(bracket)
        return parse_type(_written(found)) if found is not None else None


def member_accesses(
    file: ParsedFile,
    symbols: LabelDeclarations,
    member_wanted: Callable[[str], bool],
    receiver_wanted: Callable[[str], bool] = lambda _: True,
) -> Iterator[MemberAccess]:
    """The `path.receiver.Member` of a file in text order whose member and receiver are wanted. Receivers that are no
    names (`Make().Member`) are left out."""
    decided: dict[str, bool] = {}
    for code in binding_of(file, symbols.csharp).codes:
        for receiver, name, found in code.accesses:
            member = _name(code, name)
            if member not in decided:
                decided[member] = member_wanted(member)
            last = _last_of_path(code, receiver) if decided[member] else ""
            if last and receiver_wanted(last):
                yield from _access(file, code, (last, member), receiver, name, found)


def plain_calls(file: ParsedFile, symbols: LabelDeclarations) -> Iterator[MemberAccess]:
    """All calls in members without a receiver, and those on `this` and `base`."""
    for code in binding_of(file, symbols.csharp).codes:
        for function, name in code.calls:
            for call in _access(file, code, ("", _name(code, name)), function, name, None):
                if call.holder is not None:
                    yield call


def _access(
    file: ParsedFile, code: BoundCode, names: tuple[str, str], expression: Node, name: Node, found: TypeRef | None
) -> Iterator[MemberAccess]:
    start, end = code.reader.char(expression.start_byte), code.reader.char(name.end_byte)
    place = file.places.at(start) if code.holds(start) else None
    if place is not None:
        type_ = parse_type(_written(found)) if found is not None else None
        yield MemberAccess(*names, start, end, type_, place, code, expression, name)


def _name(code: BoundCode, node: Node) -> str:
    return code.reader.text_of(node.named_children[0] if node.type == "generic_name" else node)


def _last_of_path(code: BoundCode, node: Node) -> str:
    """The last name of a receiver that is nothing but names, `this` and `base` apart; '' for anything else."""
    last = ""
    while True:
        kind, inner = node.type, node.named_children
        if kind == "identifier":
            return last or code.reader.text_of(node)
        if kind == "postfix_unary_expression" and inner:  # the `!` that quiets the compiler
            node = inner[0]
            continue
        if kind == "conditional_access_expression" and inner and inner[-1].type == "member_binding_expression":
            inner = [inner[0], *inner[-1].named_children]
        elif kind != "member_access_expression":
            return ""
        if not inner or inner[-1].type != "identifier":
            return ""
        last = last or code.reader.text_of(inner[-1])
        if len(inner) == 1:
            return last
        node = inner[0]


def _written(found: TypeRef) -> str:
    """A bound type as text that resolves anywhere: its qualified name without arity, with arguments."""
    arguments = ", ".join(map(_written, found.arguments))
    if found.is_array:
        return f"{arguments}[]"
    if found.is_tuple:
        return f"({arguments})"
    name = _ARITY.sub("", found.name)
    return f"{name}<{arguments}>" if arguments else name
