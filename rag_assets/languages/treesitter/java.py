"""Java: a segment per top-level class, interface, enum, record and annotation type."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from rag_assets.contracts.segment import Member, MemberKind, Parameter, type_segment
from rag_assets.languages.code_file import CodeFile, Statement
from rag_assets.languages.detection import file_stem
from rag_assets.languages.treesitter.code_segments import (
    DeclaredNode,
    body_start,
    declarations,
    extent,
    field_text,
    one_line,
    short,
    signature,
    type_parameters,
)
from rag_assets.languages.treesitter.parsing import MAX_NESTED_TYPES, SourceText

_KINDS = {
    "class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "record_declaration": "record",
    "annotation_type_declaration": "annotation",
}
_CALLABLES = {
    "method_declaration": MemberKind.METHOD,
    "annotation_type_element_declaration": MemberKind.METHOD,
    "constructor_declaration": MemberKind.CONSTRUCTOR,
    "compact_constructor_declaration": MemberKind.CONSTRUCTOR,
}
_FIELDS = ("field_declaration", "constant_declaration")
_BASE_CLAUSES = ("superclass", "super_interfaces", "extends_interfaces")


def read_java(root: Node, source: SourceText, path: str) -> CodeFile:
    """The top level of a Java file; `symbol` is the package and the stem of the file."""
    package = ""
    found = CodeFile(name=file_stem(path), symbol=file_stem(path))
    for declared in declarations(root.named_children):
        node = declared.node
        if node.type == "package_declaration":
            package = _path_of(node, source)
            found.namespace = package
            found.symbol = f"{package}.{found.name}"
            found.passed.append(extent(source, node))
        elif node.type == "import_declaration":
            found.usings.append(one_line(source, node.start_byte, node.end_byte).removeprefix("import ").rstrip("; "))
            found.passed.append(extent(source, node))
        elif node.type in _KINDS:
            member = _type(declared, source, 1)
            symbol = f"{package}.{member.name}" if package else member.name
            found.items.append(type_segment(member, symbol, package, "java"))
        elif node.type == "method_declaration":  # a compact source file: `void main() { … }` without a class
            found.items.append(_callable(declared, source, MemberKind.FUNCTION))
        else:
            found.items.append(Statement(source.char(declared.start), source.char(node.end_byte)))
    return found


def _path_of(package: Node, source: SourceText) -> str:
    named = [child for child in package.named_children if child.type in ("scoped_identifier", "identifier")]
    return "".join(source.text_of(named[0]).split()) if named else ""


def _type(declared: DeclaredNode, source: SourceText, depth: int) -> Member:
    node = declared.node
    return Member(
        name=field_text(source, node, "name"),
        kind=MemberKind.TYPE,
        type=_KINDS[node.type],
        signature=_signature(node, source),
        span=source.span(declared.start, node.end_byte),
        doc=declared.doc(source),
        attributes=_annotations(node, source),
        modifiers=_modifiers(node),
        type_parameters=type_parameters(node, source),
        base_list=tuple(_bases(node, source)),
        parameters=tuple(_parameters(node, source)),
        members=tuple(_members(node, source, depth)) if depth <= MAX_NESTED_TYPES else (),
    )


def _members(node: Node, source: SourceText, depth: int) -> Iterator[Member]:
    body = node.child_by_field_name("body")
    if body is None:
        return
    nodes = []
    for child in body.named_children:  # of an enum: its constants, then the declarations after `;`
        nodes.extend(child.named_children if child.type == "enum_body_declarations" else [child])
    for declared in declarations(nodes):
        inner = declared.node
        if inner.type in _CALLABLES:
            yield _callable(declared, source, _CALLABLES[inner.type])
        elif inner.type in _FIELDS:
            yield from _fields(declared, source)
        elif inner.type in _KINDS:
            yield _type(declared, source, depth + 1)
        elif inner.type == "enum_constant":
            yield _enum_constant(declared, source)


def _callable(declared: DeclaredNode, source: SourceText, kind: MemberKind) -> Member:
    node = declared.node
    return Member(
        name=field_text(source, node, "name"),
        kind=kind,
        signature=_signature(node, source),
        span=source.span(declared.start, node.end_byte),
        doc=declared.doc(source),
        type=field_text(source, node, "type"),
        value=short(source, node.child_by_field_name("value")),
        parameters=tuple(_parameters(node, source)),
        attributes=_annotations(node, source),
        modifiers=_modifiers(node),
        type_parameters=type_parameters(node, source),
    )


def _fields(declared: DeclaredNode, source: SourceText) -> Iterator[Member]:
    """One member per declarator; the first carries the leading comment and the type in its range."""
    node = declared.node
    declarators = node.children_by_field_name("declarator")
    kind = field_text(source, node, "type")
    start = declared.start
    for position, declarator in enumerate(declarators):
        end = node.end_byte if position == len(declarators) - 1 else declarator.end_byte
        own = one_line(source, declarator.start_byte, declarator.end_byte)
        modifiers = _modifiers(node)
        yield Member(
            name=field_text(source, declarator, "name"),
            kind=MemberKind.FIELD,
            signature=" ".join([*modifiers, kind, own]),
            span=source.span(start, end),
            doc=declared.doc(source),
            type=kind + field_text(source, declarator, "dimensions"),
            value=short(source, declarator.child_by_field_name("value")),
            attributes=_annotations(node, source),
            modifiers=modifiers,
        )
        start = end


def _enum_constant(declared: DeclaredNode, source: SourceText) -> Member:
    node = declared.node
    return Member(
        name=field_text(source, node, "name"),
        kind=MemberKind.ENUM_VALUE,
        signature=one_line(source, _after_annotations(node), body_start(node)),
        span=source.span(declared.start, node.end_byte),
        doc=declared.doc(source),
        value=short(source, node.child_by_field_name("arguments")),
        attributes=_annotations(node, source),
    )


def _modifier_nodes(node: Node) -> list[Node]:
    return [child for holder in node.children if holder.type == "modifiers" for child in holder.children]


def _modifiers(node: Node) -> tuple[str, ...]:
    return tuple(child.type for child in _modifier_nodes(node) if not child.is_named)


def _annotations(node: Node, source: SourceText) -> tuple[str, ...]:
    marks = (child for child in _modifier_nodes(node) if child.type.endswith("annotation"))
    return tuple(one_line(source, mark.start_byte, mark.end_byte).removeprefix("@") for mark in marks)


def _after_annotations(node: Node) -> int:
    """Annotations stand first by convention; those between modifiers stay in the signature."""
    start = node.start_byte
    for child in _modifier_nodes(node):
        if not child.type.endswith("annotation"):
            return child.start_byte
        start = child.end_byte
    return start


def _signature(node: Node, source: SourceText) -> str:
    parameters = node.child_by_field_name("parameters")
    return signature(source, _after_annotations(node), body_start(node), parameters).rstrip(" ;")


def _bases(node: Node, source: SourceText) -> Iterator[str]:
    for clause in node.named_children:
        if clause.type in _BASE_CLAUSES:
            listed = [child for child in clause.named_children if child.type == "type_list"]
            for base in listed[0].named_children if listed else clause.named_children:
                if "comment" not in base.type:
                    yield one_line(source, base.start_byte, base.end_byte)


def _parameters(node: Node, source: SourceText) -> Iterator[Parameter]:
    declared = node.child_by_field_name("parameters")
    for child in () if declared is None else declared.named_children:
        if child.type == "formal_parameter":
            type_text, name = field_text(source, child, "type"), field_text(source, child, "name")
        elif child.type == "spread_parameter":  # `String... rest`: its parts have no field names
            named = [c for c in child.named_children if c.type != "modifiers"]
            type_text = source.text_of(named[0]) + "..." if named else ""
            name = source.text_of(named[-1]) if named else ""
        else:
            continue
        yield Parameter(name=name, type=type_text, modifiers=_modifiers(child), attributes=_annotations(child, source))
