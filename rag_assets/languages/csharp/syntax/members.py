"""Type declarations and their members: one function per shape, from node to `Member` or segment (A04, A05, R14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tree_sitter import Node

from rag_assets.contracts.segment import Member, MemberKind, Parameter
from rag_assets.languages.csharp.syntax.declaration_heads import (
    TYPES,
    DeclarationHead,
    Item,
    NodeText,
    collapsed,
    items,
    read_bases,
    read_head,
    read_parameters,
    read_type_parameters,
    short_value,
    signature,
)


def read_member(reader: NodeText, item: Item) -> list[Member]:
    """The members that one declaration declares: several for `int a, b;`, none for what is not a member.

    In broken code the parser makes names up, which are empty: such members are left to the text around them.
    """
    read = _READERS.get(item.kind)
    return [member for member in read(reader, item) if member.name] if read is not None else []


def _callable(reader: NodeText, item: Item) -> list[Member]:
    """Methods, constructors, destructors, operators and local functions."""
    node = item.node
    head = read_head(reader, node)
    parts = {child.type: child for child in head.children}  # the name is the last identifier before the parameters
    parameter_list = parts.get("parameter_list")
    body = parts.get("block") or parts.get("arrow_expression_clause")
    kind = _CALLABLES[item.kind]
    end = body.start_byte if body is not None else node.end_byte
    if kind is MemberKind.CONSTRUCTOR and parameter_list is not None:
        end = parameter_list.end_byte  # what it passes to base or this is code
    parameters = read_parameters(reader, parameter_list)
    return [
        Member(
            name=_callable_name(reader, item, parts),
            kind=kind,
            signature=signature(reader, head.start, reader.char(end), parameter_list, parameters),
            span=reader.span(item.start, item.end),
            doc=item.doc(),
            type=_returned(reader, item, head),
            parameters=parameters,
            attributes=head.attributes,
            modifiers=head.modifiers,
            type_parameters=read_type_parameters(reader, parts.get("type_parameter_list")),
            explicit_interface=_explicit_interface(reader, parts),
        )
    ]


def _callable_name(reader: NodeText, item: Item, parts: dict[str, Node]) -> str:
    if item.kind in _OPERATORS:
        # `operator checked +`, `explicit operator Money`; as written, because masking may have changed the node
        first = parts.get("implicit") or parts.get("explicit") or parts.get("operator")
        last = parts.get("parameter_list")
        if first is not None and last is not None:
            return collapsed(reader.text[reader.char(first.start_byte) : reader.char(last.start_byte)])
        return "operator"
    name = parts.get("identifier")
    written = reader.text_of(name) if name is not None else ""
    return "~" + written if item.kind == "destructor_declaration" else written


def _returned(reader: NodeText, item: Item, head: DeclarationHead) -> str:
    if item.kind in _OPERATORS:
        written = item.node.child_by_field_name("type")
        return reader.one_line(written) if written is not None else ""
    if item.kind in ("constructor_declaration", "destructor_declaration") or not head.children:
        return ""
    return reader.one_line(head.children[0])


def _property(reader: NodeText, item: Item) -> list[Member]:
    """Properties, indexers and events with accessors."""
    node = item.node
    head = read_head(reader, node)
    parts = {child.type: child for child in head.children}
    accessor_list, body = parts.get("accessor_list"), parts.get("arrow_expression_clause")
    accessors = ("get",) if body is not None else _accessors(reader, accessor_list)
    inside = accessor_list or body
    end = reader.char(node.end_byte if inside is None else inside.start_byte)
    parameter_list = parts.get("bracketed_parameter_list")
    parameters = read_parameters(reader, parameter_list)
    header = signature(reader, head.start, end, parameter_list, parameters)
    kind = _PROPERTIES[item.kind]
    name = node.child_by_field_name("name")
    written = node.child_by_field_name("type")
    value = ""
    if accessor_list is not None and "=" in parts:
        value = short_value(
            reader.text[reader.char(parts["="].end_byte) : reader.char(node.end_byte)].rstrip("; \t\r\n")
        )
    return [
        Member(
            name="this[]" if kind is MemberKind.INDEXER else reader.text_of(name) if name is not None else "",
            kind=kind,
            signature=f"{header} {{ {'; '.join(accessors)}; }}" if accessors else header,
            span=reader.span(item.start, item.end),
            doc=item.doc(use_trailing=True),
            type=reader.one_line(written) if written is not None else "",
            value=value,
            parameters=parameters,
            attributes=head.attributes,
            modifiers=head.modifiers,
            explicit_interface=_explicit_interface(reader, parts),
            accessors=accessors,
        )
    ]


def _accessors(reader: NodeText, accessor_list: Node | None) -> tuple[str, ...]:
    """`get`, `private set`, `init`: modifiers and keyword, without attributes and body."""
    if accessor_list is None:
        return ()
    start, end = reader.char(accessor_list.start_byte), reader.char(accessor_list.end_byte)
    if end - start <= _LONGEST_USUAL and (usual := _USUAL_ACCESSORS.get(reader.text[start:end])):
        return usual
    found = []
    for child in accessor_list.children:
        if child.type == "accessor_declaration":
            head = read_head(reader, child)
            name = child.child_by_field_name("name")
            if name is not None:
                found.append(" ".join([*head.modifiers, reader.text_of(name)]))
    return tuple(found)


def _field(reader: NodeText, item: Item) -> list[Member]:
    """Fields and field-like events: one member per declarator; their spans tile the declaration."""
    node = item.node
    head = read_head(reader, node)
    declaration = next((child for child in head.children if child.type == "variable_declaration"), None)
    if declaration is None:
        return []
    kind = MemberKind.FIELD if item.kind == "field_declaration" else MemberKind.EVENT
    prefix_end = declaration.start_byte
    written = declaration.child_by_field_name("type")
    if written is not None:
        prefix_end = written.end_byte
    prefix = collapsed(reader.text[head.start : reader.char(prefix_end)])
    doc = item.doc(use_trailing=True)
    type_text = reader.one_line(written) if written is not None else ""
    parts = _declarators(declaration)
    found: list[Member] = []
    start = item.start
    for number, (declarator, after) in enumerate(parts):
        last = number == len(parts) - 1
        end = item.end if last else reader.char(after)
        name, header, value = _declarator(reader, declarator, end if not last else reader.char(node.end_byte))
        found.append(
            Member(
                name=name,
                kind=kind,
                signature=f"{prefix} {header}" + (f" = {value}" if value else ""),
                span=reader.span(start, end),
                doc=doc,
                type=type_text,
                value=value,
                attributes=head.attributes,
                modifiers=head.modifiers,
            )
        )
        if not last:
            start = reader.char(parts[number + 1][0].start_byte)
    return found


def _declarators(declaration: Node) -> list[tuple[Node, int]]:
    """Each declarator with the byte offset after the comma that ends it (or after itself)."""
    found: list[tuple[Node, int]] = []
    for child in declaration.children:
        if child.type == "variable_declarator":
            found.append((child, child.end_byte))
        elif child.type == "," and found:
            found[-1] = (found[-1][0], child.end_byte)
    return found


def _declarator(reader: NodeText, node: Node, end: int) -> tuple[str, str, str]:
    """Name, name with its brackets (`buffer[128]`), short value. `end`: where the value ends, `,` or `;` included."""
    children = node.children
    name = reader.text_of(children[0]) if children else ""
    for child in children:
        if child.type == "=":
            header = collapsed(reader.text[reader.char(node.start_byte) : reader.char(child.start_byte)])
            return name, header, short_value(reader.text[reader.char(child.end_byte) : end].rstrip(",; \t\r\n"))
    return name, reader.one_line(node), ""


def _enum_value(reader: NodeText, item: Item) -> list[Member]:
    node = item.node
    head = read_head(reader, node)
    name = node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    number = short_value(reader.text_of(value)) if value is not None else ""
    written = reader.text_of(name) if name is not None else ""
    return [
        Member(
            name=written,
            kind=MemberKind.ENUM_VALUE,
            signature=f"{written} = {number}" if number else written,
            span=reader.span(item.start, item.end),
            doc=item.doc(use_trailing=True),
            value=number,
            attributes=head.attributes,
        )
    ]


def _explicit_interface(reader: NodeText, parts: dict[str, Node]) -> str:
    specifier = parts.get("explicit_interface_specifier")
    return reader.one_line(specifier).rstrip(".") if specifier is not None else ""


_USUAL_ACCESSORS = {
    "{ get; set; }": ("get", "set"),
    "{ get; }": ("get",),
    "{ get; init; }": ("get", "init"),
    "{ get; private set; }": ("get", "private set"),
    "{ get; protected set; }": ("get", "protected set"),
    "{ get; internal set; }": ("get", "internal set"),
}
"""Nine of ten properties: a look-up instead of a walk."""

_LONGEST_USUAL = max(map(len, _USUAL_ACCESSORS))
_CALLABLES = {
    "method_declaration": MemberKind.METHOD,
    "constructor_declaration": MemberKind.CONSTRUCTOR,
    "destructor_declaration": MemberKind.DESTRUCTOR,
    "operator_declaration": MemberKind.OPERATOR,
    "conversion_operator_declaration": MemberKind.OPERATOR,
    "local_function_statement": MemberKind.FUNCTION,
}
_OPERATORS = frozenset({"operator_declaration", "conversion_operator_declaration"})
_PROPERTIES = {
    "property_declaration": MemberKind.PROPERTY,
    "indexer_declaration": MemberKind.INDEXER,
    "event_declaration": MemberKind.EVENT,
}
_READERS: dict[str, Callable[[NodeText, Item], list[Member]]] = {
    **dict.fromkeys(_CALLABLES, _callable),
    **dict.fromkeys(_PROPERTIES, _property),
    "field_declaration": _field,
    "event_field_declaration": _field,
    "enum_member_declaration": _enum_value,
}


MAX_NESTING = 32
"""How deep nested types are read; deeper ones are text of the type around them. Real code stays below 6."""


def read_type(reader: NodeText, item: Item, scope: str, depth: int = 0) -> Member:
    """A type declared in `scope` (namespace or type), nested types included down to MAX_NESTING."""
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
    body = node.child_by_field_name("body")
    end = node.end_byte if body is None else body.start_byte
    symbol = f"{scope}.{name}" if scope else name
    if type_parameters:
        symbol += f"`{len(type_parameters)}"
    return Member(
        name=name,
        kind=MemberKind.TYPE,
        signature=signature(reader, head.start, reader.char(end), parameter_list, parameters),
        span=reader.span(item.start, item.end),
        doc=item.doc(),
        type=TYPES[item.kind],
        parameters=parameters,
        attributes=head.attributes,
        modifiers=head.modifiers,
        type_parameters=type_parameters,
        base_list=base_list,
        members=read_body(reader, body, symbol, depth) if body is not None else (),
        symbol=symbol,
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
    declared = read_type(reader, item, scope, depth)
    if receiver is None:
        return declared
    parameter = declared.parameters[0] if declared.parameters else Parameter("", receiver)
    written = f"{' '.join(parameter.modifiers)} {parameter.type}".strip()
    return replace(
        declared,
        name=f"extension({written})",
        kind=MemberKind.EXTENSION,
        type="extension",
        parameters=(parameter,),
        modifiers=(),
        base_list=(),
        symbol="",
    )


def _extension_receiver(reader: NodeText, item: Item) -> str | None:
    """The receiver of an extension block (which was parsed as a struct, see constructs), None for any other type."""
    if not reader.extensions or item.kind != "struct_declaration":
        return None
    receiver = reader.extensions.get(reader.char(item.node.start_byte))
    return collapsed(reader.text[receiver[0] : receiver[1]]) if receiver else None
