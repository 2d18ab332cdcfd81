"""Type declarations: as segments at the top level, as members inside other types (A04, A05, R14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rag_assets.contracts.segment import Member, MemberKind, Parameter
from rag_assets.languages.csharp.syntax.child_nodes import TYPES, Item, items
from rag_assets.languages.csharp.syntax.declaration_heads import (
    read_bases,
    read_head,
    read_parameters,
    read_type_parameters,
    signature,
)
from rag_assets.languages.csharp.syntax.members import read_member
from rag_assets.languages.csharp.syntax.node_text import collapsed

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.csharp.syntax.node_text import NodeText

MAX_NESTING = 32
"""How deep nested types are read; deeper ones are text of the type around them. Real code stays below 6."""


class TypeFacts(NamedTuple):
    """What a type declaration says. `symbol`: fully qualified name with arity; `returns`: of a delegate."""

    name: str
    symbol: str
    kind: str
    signature: str
    doc: str
    modifiers: tuple[str, ...]
    type_parameters: tuple[str, ...]
    attributes: tuple[str, ...]
    base_list: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    returns: str
    members: tuple[Member, ...]


def read_type(reader: NodeText, item: Item, scope: str, depth: int = 0) -> TypeFacts:
    """The facts of a type declared in `scope` (namespace or type), nested types included down to MAX_NESTING."""
    node = item.node
    head = read_head(reader, node)
    name_node = node.child_by_field_name("name")
    name = reader.text_of(name_node) if name_node is not None else ""
    type_parameters: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    parameter_list: Node | None = None
    base_list: tuple[str, ...] = ()
    for child in head.children:
        kind = child.type
        if kind == "type_parameter_list":
            type_parameters = read_type_parameters(reader, child)
        elif kind == "parameter_list":
            parameter_list, parameters = child, read_parameters(reader, child)
        elif kind == "base_list":
            base_list += read_bases(reader, child)
    returns = node.child_by_field_name("type") if item.kind == "delegate_declaration" else None
    body = node.child_by_field_name("body")
    end = node.end_byte if body is None else body.start_byte
    symbol = f"{scope}.{name}" if scope else name
    if type_parameters:
        symbol += f"`{len(type_parameters)}"
    return TypeFacts(
        name=name,
        symbol=symbol,
        kind=TYPES[item.kind],
        signature=signature(reader, head.start, reader.char(end), parameter_list, parameters),
        doc=item.doc(),
        modifiers=head.modifiers,
        type_parameters=type_parameters,
        attributes=head.attributes,
        base_list=base_list,
        parameters=parameters,
        returns=reader.one_line(returns) if returns is not None else "",
        members=read_body(reader, body, symbol, depth) if body is not None else (),
    )


def read_body(reader: NodeText, body: Node, symbol: str, depth: int) -> tuple[Member, ...]:
    """The members of a type body, in text order."""
    found: list[Member] = []
    for item in items(reader, body):
        if item.kind in TYPES:
            nested = _nested(reader, item, symbol, depth + 1)
            if nested.name:
                found.append(nested)
        else:
            found += read_member(reader, item)
    return tuple(found)


def _nested(reader: NodeText, item: Item, scope: str, depth: int) -> Member:
    if depth > MAX_NESTING:
        name = item.node.child_by_field_name("name")
        written = reader.text_of(name) if name is not None else ""
        kind, span = TYPES[item.kind], reader.span(item.start, item.end)
        return Member(written, MemberKind.TYPE, f"{kind} {written}", span, type=kind, symbol=f"{scope}.{written}")
    receiver = _extension_receiver(reader, item)
    facts = read_type(reader, item, scope, depth)
    if receiver is None:
        return _type_member(reader, item, facts)
    parameter = facts.parameters[0] if facts.parameters else Parameter("", receiver)
    written = f"{' '.join(parameter.modifiers)} {parameter.type}".strip()
    return Member(
        name=f"extension({written})",
        kind=MemberKind.EXTENSION,
        signature=facts.signature,
        span=reader.span(item.start, item.end),
        doc=facts.doc,
        type="extension",
        parameters=(parameter,),
        attributes=facts.attributes,
        type_parameters=facts.type_parameters,
        members=facts.members,
    )


def _type_member(reader: NodeText, item: Item, facts: TypeFacts) -> Member:
    return Member(
        name=facts.name,
        kind=MemberKind.TYPE,
        signature=facts.signature,
        span=reader.span(item.start, item.end),
        doc=facts.doc,
        type=facts.kind,
        parameters=facts.parameters,
        attributes=facts.attributes,
        modifiers=facts.modifiers,
        type_parameters=facts.type_parameters,
        base_list=facts.base_list,
        members=facts.members,
        symbol=facts.symbol,
    )


def _extension_receiver(reader: NodeText, item: Item) -> str | None:
    """The receiver of an extension block (which was parsed as a struct, see constructs), None for any other type."""
    if not reader.extensions or item.kind != "struct_declaration":
        return None
    receiver = reader.extensions.get(reader.char(item.node.start_byte))
    return collapsed(reader.text[receiver[0] : receiver[1]]) if receiver else None
