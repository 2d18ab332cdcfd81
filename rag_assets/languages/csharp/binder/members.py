"""From a file to the bodies of its members: whose code is read, and what is in scope where it begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tree_sitter import Node

from rag_assets.languages.csharp.binder.bcl_types import awaited
from rag_assets.languages.csharp.binder.binder import (
    IMPLEMENTS,
    INHERITS,
    INJECTS,
    PROBABLE,
    RESOLVED,
    USES_TYPE,
    Binder,
    Handler,
    TypeContext,
    Value,
    behind_name,
)
from rag_assets.languages.csharp.binder.constructions import chain_to
from rag_assets.languages.csharp.binder.declarations import DeclaredMember, TypeDeclaration
from rag_assets.languages.csharp.binder.lambdas import declare_parameters
from rag_assets.languages.csharp.binder.member_access import may_use
from rag_assets.languages.csharp.binder.overloads import read_arguments
from rag_assets.languages.csharp.binder.statements import declare_functions
from rag_assets.languages.csharp.binder.type_syntax import TypeRef

_WRAPPERS = frozenset({"Lazy", "Func", "IEnumerable", "IReadOnlyList", "IReadOnlyCollection", "IList", "ICollection",
                       "IOptions", "IOptionsMonitor", "IOptionsSnapshot", "[]"})  # fmt: skip
"""What a container gives out around the service that is wanted."""
_SERVICES = frozenset({"interface", "class"})
_SETTERS = frozenset({"set", "init", "add", "remove"})


def compilation_unit(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    statements = [inner for child in children if child.type == "global_statement" for inner in child.named_children]
    declare_functions(walk, statements)
    for name, (result, _, parameters) in list(walk.functions.items()):
        at = next(child for child in statements if _is_function(walk, child, name))
        member = walk.owners.member_at(walk.reader.char(at.start_byte))
        walk.functions[name] = (result, member.key if member is not None else "", parameters)
    for child in children:
        walk.ev(child)
    walk.finish()
    return None


def _is_function(walk: Binder, node: Node, name: str) -> bool:
    written = node.child_by_field_name("name") if node.type == "local_function_statement" else None
    return written is not None and walk.text(written) == name


def global_statement(walk: Binder, node: Node, wanted: Value) -> Value:
    """A statement of a program counts to the file, a function of it to its own node."""
    source = walk.source
    for child in node.named_children:
        if child.type == "local_function_statement":
            member = walk.owners.member_at(walk.reader.char(child.start_byte))
            walk.source = member.key if member is not None and member.key else source
        walk.ev(child)
        walk.source = source
    return None


def type_declaration(walk: Binder, node: Node, wanted: Value) -> Value:
    name = node.child_by_field_name("name")
    declared = walk.owners.type_at(walk.reader.char((name or node).start_byte))
    if declared is None:
        walk.each(node)
        return None
    outer, source, parameters = walk.type, walk.source, walk.parameters
    constraints, known_names, functions = walk.constraints, walk.locals, walk.functions
    if declared.symbol != outer.symbol:  # an extension block is read as a type, but is none
        walk.type = _context(walk, declared)
        if "partial" in declared.modifiers and not declared.has_parameter_list:
            walk.type = _with_parameters(walk, _given_elsewhere(walk))
        walk.functions = {}
        walk.source = declared.key or source
    walk.parameters = walk.type.type_parameters
    walk.constraints = walk.type.constraints
    walk.begin(walk.type.given)
    for child in node.named_children:
        kind = child.type
        if kind == "base_list":
            _bases(walk, child, declared)
        elif kind == "parameter_list":
            declare_parameters(walk, child)
            if declared.kind != "delegate":
                walk.type = _with_parameters(walk, walk.locals, is_block=declared.symbol == outer.symbol)
            if declared.kind == "class":
                _inject(walk, declared, [parameter.name for parameter in declared.parameters], child)
        elif kind == "declaration_list":
            walk.begin(walk.type.captured)
            walk.ev(child)
        elif kind in _TYPE_PARTS:
            walk.ev(child)
        elif kind != "identifier" and kind != "modifier":  # what a delegate returns
            walk.use(child)
    if node.type == "delegate_declaration":
        returns = node.child_by_field_name("type")
        if returns is not None and returns.type == "identifier":
            walk.use(returns)
    walk.type, walk.source, walk.parameters = outer, source, parameters
    walk.constraints, walk.functions = constraints, functions
    walk.begin(known_names)
    return None


_TYPE_PARTS = frozenset(
    {
        "attribute_list", "declaration_list", "enum_member_declaration_list", "type_parameter_constraints_clause",
        "type_parameter_list", "comment", "ERROR", "preproc_if", "preproc_if_in_attribute_list", "preproc_region",
        "preproc_endregion", "preproc_pragma", "preproc_nullable",
    }
)  # fmt: skip


def _context(walk: Binder, declared: TypeDeclaration) -> TypeContext:
    symbol = walk.names.symbols.declared_at(declared.symbol, walk.names.path)
    around = (symbol.id,) if symbol is not None else ()
    bounds: dict[str, list[TypeRef]] = {}
    for name, constraint in walk.names.symbols.constraints(symbol.id) if symbol is not None else ():
        bounds.setdefault(name, []).append(constraint)
    outer = walk.type
    return TypeContext(
        symbol=declared.symbol,
        key=declared.key,
        around=(*around, *outer.around),
        type_parameters=(*declared.type_parameters, *outer.type_parameters),
        own_parameters=declared.type_parameters,
        constraints={**outer.constraints, **{name: tuple(found) for name, found in bounds.items()}},
    )


def _bases(walk: Binder, node: Node, declared: TypeDeclaration) -> None:
    """Inherits and Implements edges, and the call of a base constructor that a primary one makes."""
    scope = declared.outer or declared.namespace
    base: Value = None
    for child in node.named_children:
        if child.type == "argument_list":
            chain_to(walk, base, read_arguments(walk, child), child)
            continue
        written: Node | None = child
        if child.type == "primary_constructor_base_type":
            written = child.child_by_field_name("type")
        if written is None or written.type == "comment":
            continue
        found, keys = walk.names.bind(walk.text(written), scope, walk.parameters)
        symbol = walk.names.declared(found.name) if found.declared else None
        base = base or found
        for key in keys:
            if symbol is not None and key == symbol.key:
                implements = symbol.kind == "interface" and declared.kind != "interface"
                walk.edge(IMPLEMENTS if implements else INHERITS, key, child)
            else:
                walk.edge(USES_TYPE, key, child)
        for part in child.named_children if written is not child else ():
            if part.type == "argument_list":
                chain_to(walk, found, read_arguments(walk, part), part)


def _inject(walk: Binder, declared: TypeDeclaration, names: Iterable[str], node: Node) -> None:
    """What a class gets handed by its constructor: the types of the label among its parameters."""
    for name in names:
        found = walk.locals.get(name)
        if found is not None and not found.declared and found.name in _WRAPPERS and found.arguments:
            found = found.arguments[-1]
        symbol = walk.names.declared(found.name) if found is not None and found.declared else None
        if symbol is not None and symbol.kind in _SERVICES and declared.key != symbol.key:
            confidence = RESOLVED if symbol.kind == "interface" else PROBABLE
            walk.edges.add(declared.key, INJECTS, symbol.key, node.start_byte, confidence)


def member(walk: Binder, node: Node, wanted: Value) -> Value:
    """Methods, constructors, operators, properties, indexers, events with accessors."""
    declared = walk.owners.member_at(walk.reader.char(node.start_byte))
    source, parameters, constraints = walk.source, walk.parameters, walk.constraints
    mark, hope = walk.mark(), walk.wanted
    if declared is not None:
        walk.source = declared.key or source
        if declared.type_parameters:
            walk.parameters = (*declared.type_parameters, *parameters)
            walk.constraints = _constrained(walk, declared)
    is_async = False
    written = node.child_by_field_name("returns") or node.child_by_field_name("type")
    type_at = written.start_byte if written is not None else -1
    name = node.child_by_field_name("name")
    name_at = name.start_byte if name is not None else -1
    found: Value = None
    for child in node.named_children:
        kind = child.type
        if kind == "block" or kind == "arrow_expression_clause":
            walk.wanted = awaited(found) if is_async else found
            walk.ev(child, walk.wanted)
        elif kind == "modifier":
            is_async = is_async or walk.text(child) == "async"
        elif kind == "comment" or kind == "type_parameter_list":
            continue
        elif child.start_byte == type_at:
            found = walk.use(child)
        elif child.start_byte == name_at:
            continue
        elif kind == "parameter_list" or kind == "bracketed_parameter_list":
            declare_parameters(walk, child)
            if node.type == "constructor_declaration" and declared is not None:
                owner = walk.owners.type_at(walk.reader.char(node.start_byte))
                if owner is not None and owner.kind == "class":
                    _inject(walk, owner, [parameter.name for parameter in declared.parameters], child)
        elif kind == "explicit_interface_specifier":
            for part in child.named_children:
                walk.use(part)
        elif kind == "accessor_list":
            walk.wanted = found
            walk.each(child)
        elif kind == "attribute_list":
            walk.each(child)
            if node.type == "property_declaration" and walk.text(child) in _INJECTED:
                _inject_property(walk, node)
        elif node.type == "property_declaration":  # its initialiser
            walk.begin(walk.type.given)
            walk.ev(child, found)
        else:
            walk.ev(child, found)
    walk.leave(mark)
    walk.finish()
    walk.source, walk.parameters, walk.constraints, walk.wanted = source, parameters, constraints, hope
    return None


_INJECTED = frozenset({"[Inject]", "[Dependency]", "[Import]", "[Autowired]"})


def _inject_property(walk: Binder, node: Node) -> None:
    written = node.child_by_field_name("type")
    if written is None or not walk.type.key:
        return
    found, keys = walk.names.bind(walk.text(written), walk.type.symbol, walk.parameters)
    if found.declared and keys:
        walk.edges.add(walk.type.key, INJECTS, keys[0], written.start_byte)


def _constrained(walk: Binder, declared: DeclaredMember) -> Mapping[str, tuple[TypeRef, ...]]:
    bounds: dict[str, list[TypeRef]] = {}
    for name, written in declared.constraints:
        found, _ = walk.names.bind(written, walk.type.symbol, walk.parameters)
        bounds.setdefault(name, []).append(found)
    return {**walk.constraints, **{name: tuple(found) for name, found in bounds.items()}}


def accessor(walk: Binder, node: Node, wanted: Value) -> Value:
    mark = walk.mark()
    name = node.child_by_field_name("name")
    if name is not None and name.type in _SETTERS:
        walk.declare("value", walk.wanted)
    for child in node.named_children:
        if child.type in ("block", "arrow_expression_clause"):
            walk.ev(child, walk.wanted)
        elif child.type == "attribute_list":
            walk.each(child)
    walk.leave(mark)
    return None


def fields(walk: Binder, node: Node, wanted: Value) -> Value:
    """Fields and field-like events: each declarator is a member of its own."""
    source = walk.source
    for child in node.named_children:
        if child.type == "attribute_list":
            first = walk.owners.member_at(walk.reader.char(node.start_byte))
            walk.source = first.key if first is not None and first.key else source
            walk.each(child)
        elif child.type == "variable_declaration":
            walk.begin(walk.type.given)
            _field_declarators(walk, child, source)
    walk.source = source
    walk.finish()
    return None


def _field_declarators(walk: Binder, node: Node, source: str) -> None:
    written: Node | None = None
    for child in node.named_children:
        if child.type != "variable_declarator":
            written = written or child
            continue
        declared = walk.owners.member_at(walk.reader.char(child.start_byte))
        walk.source = declared.key if declared is not None and declared.key else source
        found = walk.use(written) if written is not None else None
        for part in child.named_children[1:]:
            walk.ev(part, found)


def constraint(walk: Binder, node: Node, wanted: Value) -> Value:
    for child in node.named_children:
        if child.type == "type_parameter_constraint":
            for written in child.named_children:
                if written.type != "constructor_constraint":
                    walk.use(written)
    return None


def conditional_branch(walk: Binder, node: Node, wanted: Value) -> Value:
    """`#if`: what stands in all branches, not the condition."""
    condition = node.child_by_field_name("condition")
    at = condition.start_byte if condition is not None else -1
    for child in node.named_children:
        if child.start_byte != at:
            walk.ev(child, wanted)
    return None


def namespace(walk: Binder, node: Node, wanted: Value) -> Value:
    body = node.child_by_field_name("body")
    if body is not None:
        walk.each(body)
    return None


def skipped(walk: Binder, node: Node, wanted: Value) -> Value:
    return None


# primary constructors and extension blocks: parameters that all members of a type may use


def _with_parameters(walk: Binder, known: Mapping[str, Value], is_block: bool = False) -> TypeContext:
    """The type whose code is read, with the parameters (name → type) that all of it may use: those of its primary
    constructor or, where `is_block`, the receiver of an extension block. In bodies a member hides a parameter of the
    same name, in initialisers it is the other way round (C# 12, primary constructors, simple names)."""
    captured = {name: found for name, found in known.items() if is_block or not _is_member(walk, name)}
    return replace(walk.type, given=dict(known), captured=captured)


def _given_elsewhere(walk: Binder) -> dict[str, Value]:
    """The parameters of the primary constructor that another part of the type declares; none where no part does."""
    this = walk.type.this
    constructors = walk.names.constructors(this.name) if this is not None else ()
    primary = next((found for found in constructors if not found.key), None)
    return {entry.name: entry.type if entry.type.name else None for entry in primary.parameters} if primary else {}


def _is_member(walk: Binder, name: str) -> bool:
    this = walk.type.this
    return this is not None and any(may_use(walk, found) for found in walk.names.find(this.name, name))


HANDLERS: dict[str, Handler] = {
    "compilation_unit": compilation_unit,
    "global_statement": global_statement,
    "namespace_declaration": namespace,
    "file_scoped_namespace_declaration": skipped,
    "using_directive": skipped,
    "extern_alias_directive": skipped,
    "preproc_if": conditional_branch,
    "preproc_elif": conditional_branch,
    **dict.fromkeys(
        ("preproc_region", "preproc_endregion", "preproc_line", "preproc_pragma", "preproc_nullable", "preproc_error",
         "preproc_warning", "preproc_define", "preproc_undef"),
        skipped,
    ),
    **dict.fromkeys(
        ("class_declaration", "struct_declaration", "interface_declaration", "record_declaration", "enum_declaration",
         "delegate_declaration"),
        type_declaration,
    ),
    **dict.fromkeys(
        ("method_declaration", "constructor_declaration", "destructor_declaration", "operator_declaration",
         "conversion_operator_declaration", "property_declaration", "indexer_declaration", "event_declaration"),
        member,
    ),
    "field_declaration": fields,
    "event_field_declaration": fields,
    "accessor_declaration": accessor,
    "enum_member_declaration": behind_name,
    "type_parameter_constraints_clause": constraint,
}  # fmt: skip
