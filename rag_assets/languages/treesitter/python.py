"""Python: a segment per top-level class; functions and statements make up the module."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from rag_assets.contracts.segment import Member, MemberKind, Parameter, type_segment
from rag_assets.languages.code_file import CodeFile, Statement
from rag_assets.languages.detection import python_module
from rag_assets.languages.doc_comments import plain_comments, plain_docstring
from rag_assets.languages.treesitter.code_segments import (
    DeclaredNode,
    body_start,
    declarations,
    extent,
    field_text,
    short,
    signature,
    type_parameters,
)
from rag_assets.languages.treesitter.parsing import MAX_NESTED_TYPES, SourceText

_DEFINITIONS = ("class_definition", "function_definition", "decorated_definition")
_COMPOUND = ("if_statement", "try_statement", "with_statement")
_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")
_PROPERTY_DECORATORS = ("property", "cached_property", "functools.cached_property", "abc.abstractproperty")
_ACCESSORS = (".setter", ".getter", ".deleter")


def read_python(root: Node, source: SourceText, path: str) -> CodeFile:
    """The top level of a Python file; `symbol` is the dotted module name."""
    module = python_module(path) or "module"
    found = CodeFile(name=module.rpartition(".")[2], symbol=module, namespace=module.rpartition(".")[0])
    docstring = _docstring(root)
    if docstring is not None:
        found.doc = plain_docstring(source.text_of(docstring))
        found.doc_range = extent(source, docstring)
    for declared in _flattened(declarations(root.named_children)):
        node = _definition(declared.node)
        if node.type == "class_definition":
            member = _class(declared, node, source, 1)
            found.items.append(type_segment(member, f"{module}.{member.name}", module, "python"))
        elif node.type == "function_definition":
            found.items.append(_function(declared, node, source, in_class=False))
        elif node.type in _IMPORTS:
            found.usings.extend(_imported(node, source))
            found.passed.append(extent(source, node))
        elif not _is_string(node) or docstring is None or node.start_byte != docstring.start_byte:
            found.items.append(Statement(source.char(declared.start), source.char(node.end_byte)))
    return found


def _flattened(found: Iterator[DeclaredNode]) -> Iterator[DeclaredNode]:
    """Definitions and imports directly inside an `if`, `try` or `with` count as if they stood outside of it."""
    pending = list(found)[::-1]
    while pending:
        declared = pending.pop()
        inner = list(_block_nodes(declared.node)) if declared.node.type in _COMPOUND else []
        if any(node.type in _DEFINITIONS or node.type in _IMPORTS for node in inner):
            pending.extend(list(declarations(inner))[::-1])
        else:
            yield declared


def _block_nodes(compound: Node) -> Iterator[Node]:
    for child in compound.named_children:
        if child.type == "block":
            yield from child.named_children
        elif child.type.endswith("_clause"):
            for block in child.named_children:
                if block.type == "block":
                    yield from block.named_children


def _definition(node: Node) -> Node:
    if node.type == "decorated_definition":
        return node.child_by_field_name("definition") or node
    return node


def _class(declared: DeclaredNode, node: Node, source: SourceText, depth: int) -> Member:
    return Member(
        name=field_text(source, node, "name"),
        kind=MemberKind.TYPE,
        type="class",
        signature=_signature(node, source),
        span=source.span(declared.start, declared.node.end_byte),
        doc=_doc(declared, node, source),
        attributes=_decorators(declared.node, source),
        type_parameters=type_parameters(node, source),
        base_list=_bases(node, source),
        members=_members(node, source, depth) if depth <= MAX_NESTED_TYPES else (),
    )


def _members(node: Node, source: SourceText, depth: int) -> tuple[Member, ...]:
    body = node.child_by_field_name("body")
    if body is None:
        return ()
    members: list[Member] = []
    field: DeclaredNode | None = None  # the one above: a string literal below it documents it
    for declared in _flattened(declarations(body.named_children)):
        inner = _definition(declared.node)
        if field is not None and _is_string(inner):
            members[-1] = _field(field, source, inner)
            field = None
            continue
        field = None
        if inner.type == "class_definition":
            members.append(_class(declared, inner, source, depth + 1))
        elif inner.type == "function_definition":
            members.append(_function(declared, inner, source, in_class=True))
        elif _assignment(inner) is not None:
            members.append(_field(declared, source))
            field = declared
    return tuple(members)


def _function(declared: DeclaredNode, node: Node, source: SourceText, *, in_class: bool) -> Member:
    name = field_text(source, node, "name")
    attributes = _decorators(declared.node, source)
    kind = MemberKind.METHOD if in_class else MemberKind.FUNCTION
    if in_class and name == "__init__":
        kind = MemberKind.CONSTRUCTOR
    elif in_class and any(a in _PROPERTY_DECORATORS or a.endswith(_ACCESSORS) for a in attributes):
        kind = MemberKind.PROPERTY
    parameters = list(_parameters(node, source))
    if in_class and parameters and "staticmethod" not in attributes and parameters[0].name in ("self", "cls"):
        parameters.pop(0)
    return Member(
        name=name,
        kind=kind,
        signature=_signature(node, source),
        span=source.span(declared.start, declared.node.end_byte),
        doc=_doc(declared, node, source),
        type=field_text(source, node, "return_type"),
        parameters=tuple(parameters),
        attributes=attributes,
        modifiers=("async",) if node.children and node.children[0].type == "async" else (),
        type_parameters=type_parameters(node, source),
    )


def _field(declared: DeclaredNode, source: SourceText, docstring: Node | None = None) -> Member:
    node = declared.node
    assignment = _assignment(node) or node
    end = node.end_byte if docstring is None else docstring.end_byte
    doc = plain_comments(map(source.text_of, declared.comments)) if docstring is None else ""
    return Member(
        name=field_text(source, assignment, "left"),
        kind=MemberKind.FIELD,
        signature=signature(source, node.start_byte, node.end_byte),
        span=source.span(declared.start, end),
        doc=doc if docstring is None else plain_docstring(source.text_of(docstring)),
        type=field_text(source, assignment, "type"),
        value=short(source, assignment.child_by_field_name("right")),
    )


def _assignment(node: Node) -> Node | None:
    if node.type != "expression_statement" or not node.named_children:
        return None
    first = node.named_children[0]
    return first if first.type == "assignment" else None


def _signature(node: Node, source: SourceText) -> str:
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("superclasses")
    return signature(source, node.start_byte, body_start(node), parameters).removesuffix(":").rstrip()


def _doc(declared: DeclaredNode, node: Node, source: SourceText) -> str:
    body = node.child_by_field_name("body")
    docstring = None if body is None else _docstring(body)
    if docstring is not None:
        return plain_docstring(source.text_of(docstring))
    return plain_comments(map(source.text_of, declared.comments))


def _docstring(block: Node) -> Node | None:
    for child in block.named_children:
        if child.type != "comment":
            return child if _is_string(child) else None
    return None


def _is_string(node: Node) -> bool:
    return (
        node.type == "expression_statement" and node.named_child_count == 1 and node.named_children[0].type == "string"
    )


def _decorators(node: Node, source: SourceText) -> tuple[str, ...]:
    if node.type != "decorated_definition":
        return ()
    marks = (child for child in node.named_children if child.type == "decorator")
    return tuple(signature(source, mark.start_byte, mark.end_byte).removeprefix("@").strip() for mark in marks)


def _bases(node: Node, source: SourceText) -> tuple[str, ...]:
    bases = node.child_by_field_name("superclasses")
    if bases is None:
        return ()
    kept = (child for child in bases.named_children if child.type not in ("comment", "keyword_argument"))
    return tuple(signature(source, child.start_byte, child.end_byte) for child in kept)


def _parameters(node: Node, source: SourceText) -> Iterator[Parameter]:
    declared = node.child_by_field_name("parameters")
    for child in () if declared is None else declared.named_children:
        if child.type in ("comment", "keyword_separator", "positional_separator"):
            continue
        name = child.child_by_field_name("name") or (
            child.named_children[0] if child.type == "typed_parameter" else child
        )
        text = source.text_of(name)
        bare = text.lstrip("*")
        yield Parameter(
            name=bare,
            type=field_text(source, child, "type"),
            default=field_text(source, child, "value"),
            modifiers=(text[: len(text) - len(bare)],) if bare != text else (),
        )


def _imported(node: Node, source: SourceText) -> Iterator[str]:
    """The modules an import names: `a.b` of `import a.b as c`, `.x` of `from .x import y`."""
    if node.type == "import_from_statement":
        yield field_text(source, node, "module_name")
    elif node.type == "import_statement":
        for child in node.named_children:
            named = child.child_by_field_name("name") if child.type == "aliased_import" else child
            if named is not None:
                yield source.text_of(named)
