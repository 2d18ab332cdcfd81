"""Go: a segment per top-level type; functions, methods and statements make up the module.

A method stands outside of the declaration of its type, often in another file. It stays a member of the
module, named `Type.Method`, so that the range of every member lies within its segment. The module's symbol is
the package directory: like the parts of a partial class, the files of a package share it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from rag_assets.contracts.segment import Member, MemberKind, Parameter, Segment
from rag_assets.languages.code_file import CodeFile, Statement
from rag_assets.languages.detection import directory, file_stem
from rag_assets.languages.treesitter.code_segments import (
    DeclaredNode,
    body_start,
    declarations,
    extent,
    field_text,
    one_line,
    signature,
    type_parameters,
)
from rag_assets.languages.treesitter.parsing import SourceText

_KINDS = {"struct_type": "struct", "interface_type": "interface"}


def read_go(root: Node, source: SourceText, path: str) -> CodeFile:
    """The top level of a Go file; `symbol` is the directory of the package, its name at the root."""
    package = directory(path)
    found = CodeFile(name=file_stem(path), symbol=package or file_stem(path))
    for declared in declarations(root.named_children):
        node = declared.node
        if node.type == "package_clause":
            found.namespace = source.text_of(node.named_children[0]) if node.named_children else ""
            found.symbol = package or found.namespace or found.symbol
            found.doc = declared.doc(source)
            if found.doc:
                found.doc_range = Statement(source.char(declared.start), source.char(node.end_byte))
            found.passed.append(extent(source, node))
        elif node.type == "import_declaration":
            found.usings.extend(_imported(node, source))
            found.passed.append(extent(source, node))
        elif node.type == "type_declaration":
            found.items.extend(_types(declared, source, found))
        elif node.type in ("function_declaration", "method_declaration"):
            found.items.append(_function(declared, source))
        else:
            found.items.append(Statement(source.char(declared.start), source.char(node.end_byte)))
    return found


def _imported(node: Node, source: SourceText) -> Iterator[str]:
    specs: list[Node] = []
    for child in node.named_children:
        specs.extend(child.named_children if child.type == "import_spec_list" else [child])
    for spec in specs:
        path = spec.child_by_field_name("path")
        if path is not None:
            yield source.text_of(path).strip('"`')


def _types(declared: DeclaredNode, source: SourceText, found: CodeFile) -> Iterator[Segment]:
    """One segment per specification; a lone one takes the `type` keyword and the comments above it."""
    specs = [child for child in declared.node.named_children if child.type in ("type_spec", "type_alias")]
    grouped = any(child.type == "(" for child in declared.node.children)
    if not grouped and specs:
        yield _type(specs[0], declared, source, found)
        return
    for inner in declarations(declared.node.named_children):
        if inner.node in specs:
            yield _type(inner.node, inner, source, found)


def _type(spec: Node, declared: DeclaredNode, source: SourceText, found: CodeFile) -> Segment:
    name = field_text(source, spec, "name")
    shape = spec.child_by_field_name("type")
    kind = _KINDS.get(shape.type, "type") if shape is not None else "type"
    head_end = shape.start_byte + len(kind) if shape is not None and kind != "type" else spec.end_byte
    return Segment(
        name=name,
        symbol=f"{found.symbol}.{name}",
        kind=kind,
        span=source.span(declared.start, declared.node.end_byte),
        language="go",
        ordinal=0,
        namespace=found.symbol,
        doc=declared.doc(source),
        signature=f"type {one_line(source, spec.start_byte, head_end)}",
        type_parameters=type_parameters(spec, source),
        base_list=tuple(_embedded(shape, source)),
        members=tuple(_members(shape, source)),
    )


def _body(shape: Node | None) -> list[Node]:
    """The declarations inside a struct or interface."""
    if shape is None or shape.type not in _KINDS:
        return []
    if shape.type == "interface_type":
        return shape.named_children
    return [node for holder in shape.named_children for node in holder.named_children]


def _embedded(shape: Node | None, source: SourceText) -> Iterator[str]:
    for node in _body(shape):
        if node.type == "type_elem":
            yield one_line(source, node.start_byte, node.end_byte)
        elif node.type == "field_declaration" and node.child_by_field_name("name") is None:
            yield field_text(source, node, "type")


def _members(shape: Node | None, source: SourceText) -> Iterator[Member]:
    for declared in declarations(_body(shape)):
        node = declared.node
        text = one_line(source, node.start_byte, node.end_byte)
        span = source.span(declared.start, node.end_byte)
        if node.type == "method_elem":
            yield Member(
                name=field_text(source, node, "name"),
                kind=MemberKind.METHOD,
                signature=text,
                span=span,
                doc=declared.doc(source),
                type=field_text(source, node, "result"),
                parameters=tuple(_parameters(node, source)),
            )
        elif node.type == "field_declaration":
            names = [source.text_of(name) for name in node.children_by_field_name("name")]
            if names:
                tag = field_text(source, node, "tag")
                yield Member(
                    name=", ".join(names),  # `A, B int` is one declaration
                    kind=MemberKind.FIELD,
                    signature=text,
                    span=span,
                    doc=declared.doc(source),
                    type=field_text(source, node, "type"),
                    attributes=(tag.strip("`"),) if tag else (),
                )


def _function(declared: DeclaredNode, source: SourceText) -> Member:
    node = declared.node
    name = field_text(source, node, "name")
    receiver = _receiver(node, source)
    return Member(
        name=f"{receiver}.{name}" if receiver else name,
        kind=MemberKind.METHOD if node.type == "method_declaration" else MemberKind.FUNCTION,
        signature=signature(source, node.start_byte, body_start(node), node.child_by_field_name("parameters")),
        span=source.span(declared.start, node.end_byte),
        doc=declared.doc(source),
        type=field_text(source, node, "result"),
        parameters=tuple(_parameters(node, source)),
        type_parameters=type_parameters(node, source),
    )


def _receiver(node: Node, source: SourceText) -> str:
    """`S` of `(s *S[T])`."""
    text = field_text(source, node, "receiver").strip("() ")
    return text.split("[", 1)[0].rpartition(" ")[2].lstrip("*")


def _parameters(node: Node, source: SourceText) -> Iterator[Parameter]:
    declared = node.child_by_field_name("parameters")
    for child in () if declared is None else declared.named_children:
        if child.type not in ("parameter_declaration", "variadic_parameter_declaration"):
            continue
        variadic = "..." if child.type.startswith("variadic") else ""
        type_text = variadic + field_text(source, child, "type")
        names = [source.text_of(name) for name in child.children_by_field_name("name")]
        for name in names or [""]:
            yield Parameter(name=name, type=type_text)
