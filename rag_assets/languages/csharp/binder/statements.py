"""Statements and patterns: what they put in scope, and with which type."""

from __future__ import annotations

from collections.abc import Iterable

from tree_sitter import Node

from rag_assets.languages.csharp.binder import bcl_types
from rag_assets.languages.csharp.binder.binder import Binder, Handler, LocalFunction, Value, behind_name, each_part
from rag_assets.languages.csharp.binder.expressions import operator_call
from rag_assets.languages.csharp.binder.lambdas import function_result
from rag_assets.languages.csharp.binder.member_access import access, element_type, refer, views
from rag_assets.languages.csharp.binder.type_syntax import TypeRef


def block(walk: Binder, node: Node, wanted: Value) -> Value:
    mark = walk.mark()
    children = node.named_children
    functions = declare_functions(walk, children)
    for child in children:
        walk.ev(child)
    walk.functions = functions
    walk.leave(mark)
    return None


def declare_functions(walk: Binder, statements: Iterable[Node]) -> dict[str, LocalFunction]:
    """Makes the local functions among some statements known; gives those known before, to be put back."""
    before = walk.functions
    found = [child for child in statements if child.type == "local_function_statement"]
    if found:
        walk.functions = dict(before)
        for child in found:
            name, result, parameters = function_result(walk, child)
            walk.functions[name] = (result, "", parameters)
    return before


def scoped(walk: Binder, node: Node, wanted: Value) -> Value:
    """A statement whose names end with it: `for`, `using`, `fixed`, `catch`, a section of a `switch`."""
    mark = walk.mark()
    for child in node.named_children:
        walk.ev(child)
    walk.leave(mark)
    return None


def arrow(walk: Binder, node: Node, wanted: Value) -> Value:
    mark = walk.mark()
    found: Value = None
    for child in node.named_children:
        found = walk.ev(child, wanted)
    walk.leave(mark)
    return found


def variables(walk: Binder, node: Node, wanted: Value) -> Value:
    """`Order a = …, b`, `var x = …`, `var (a, b) = …`."""
    children = node.named_children
    written = children[0]
    if written.type == "variable_declarator":
        written_type: Value = None
    else:
        inside = written.child_by_field_name("type") if written.type in ("ref_type", "scoped_type") else written
        implicit = inside is None or inside.type == "implicit_type"
        written_type = None if implicit or inside is None else walk.use(inside)
    for child in children:
        if child.type == "variable_declarator":
            _declarator(walk, child, written_type)
    return None


def _declarator(walk: Binder, node: Node, written: Value) -> None:
    children = node.named_children
    if not children:
        return
    name = children[0]
    found: Value = None
    for child in children[1:]:
        if child.type == "bracketed_argument_list":
            walk.each(child)
        else:
            found = walk.ev(child, written)
    if name.type == "tuple_pattern":
        deconstruct(walk, name, found)
    else:
        walk.declare(walk.text(name), written or (found if found != bcl_types.NULL else None))


def deconstruct(walk: Binder, pattern: Node, found: Value) -> None:
    """`(a, (b, c))`: the names of a pattern get the parts of a value."""
    waiting: list[tuple[Node, Value]] = [(pattern, found)]
    while waiting:
        node, value = waiting.pop()
        if node.type == "identifier":
            walk.declare(walk.text(node), value)
            continue
        inside = [child for child in node.named_children if child.type not in ("comment", "discard")]
        parts = parts_of(walk, value, len(inside))
        waiting.extend(zip(inside, parts, strict=True))


def parts_of(walk: Binder, found: Value, count: int) -> tuple[Value, ...]:
    """What a value is taken apart into: a tuple, a pair, a record, what `Deconstruct` gives out."""
    for view in views(walk, found):
        for member in walk.names.find(view.name, "Deconstruct"):
            if len(member.parameters) == count:
                return tuple(parameter.type for parameter in member.parameters)
        for member in walk.names.constructors(view.name):
            if len(member.parameters) == count and not member.key:
                return tuple(parameter.type for parameter in member.parameters)
    return bcl_types.parts_of(found, count)


def foreach(walk: Binder, node: Node, wanted: Value) -> Value:
    mark = walk.mark()
    written, left = node.child_by_field_name("type"), node.child_by_field_name("left")
    right, body = node.child_by_field_name("right"), node.child_by_field_name("body")
    found = element_type(walk, walk.ev(right)) if right is not None else None
    if written is not None and written.type != "implicit_type":
        found = walk.use(written)
    if left is not None:
        if left.type == "identifier":
            walk.declare(walk.text(left), found)
        elif left.type == "tuple_pattern":
            deconstruct(walk, left, found)
        else:
            walk.ev(left)
    if body is not None:
        walk.ev(body)
    walk.leave(mark)
    return None


def declared_here(walk: Binder, node: Node, wanted: Value) -> Value:
    """`out var x`, `out Order x`, `(var a, Order b)`."""
    children = node.named_children
    written = children[0]
    found = wanted if written.type == "implicit_type" else walk.use(written)
    name = children[-1]
    if name.type == "identifier":
        walk.declare(walk.text(name), found)
    elif len(children) > 1:
        deconstruct(walk, name, found)
    return found


def assignment(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    left, right = children[0], children[-1]
    if left.type == "tuple_expression":
        found = walk.ev(right)
        entries = [child for child in left.named_children if child.type == "argument"]
        for entry, part in zip(entries, parts_of(walk, found, len(entries)), strict=True):
            for inner in entry.named_children:
                walk.ev(inner, part)
        return found
    target = walk.ev(left)
    found = walk.ev(right, target)
    operator = node.child_by_field_name("operator")
    if operator is not None and operator.type != "=":  # `a += b`
        operator_call(walk, operator.type.removesuffix("="), (target, found), operator)
    return target or found


def returning(walk: Binder, node: Node, wanted: Value) -> Value:
    for child in node.named_children:
        found = walk.ev(child, walk.wanted)
        if walk.returned is not None:
            walk.returned.append(found)
    return None


def catch(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    found = walk.use(children[0]) if children else None
    if len(children) > 1:
        walk.declare(walk.text(children[-1]), found)
    return None


# patterns: `wanted` is the type of what is matched


def is_pattern(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    found = walk.ev(children[0])
    for child in children[1:]:
        walk.ev(child, found)
    return bcl_types.BOOL


def typed_pattern(walk: Binder, node: Node, wanted: Value) -> Value:
    """`Order order`, and `var order`, which the grammar reads as a type as well."""
    children = node.named_children
    if not children:
        return None
    found = wanted if children[0].type == "implicit_type" else walk.use(children[0])
    if len(children) > 1 and children[-1].type == "identifier":
        walk.declare(walk.text(children[-1]), found)
    return found


def var_pattern(walk: Binder, node: Node, wanted: Value) -> Value:
    for child in node.named_children:
        if child.type == "identifier":
            walk.declare(walk.text(child), wanted)
        elif child.type != "implicit_type":
            deconstruct(walk, child, wanted)
    return None


def recursive_pattern(walk: Binder, node: Node, wanted: Value) -> Value:
    """`Order { Customer.Name: "x", Lines: [var first] } order`."""
    written, name = node.child_by_field_name("type"), node.child_by_field_name("name")
    found = walk.use(written) if written is not None else wanted
    for child in node.named_children:
        if child.type == "property_pattern_clause":
            for part in child.named_children:
                _subpattern(walk, part, found)
        elif child.type == "positional_pattern_clause":
            entries = [part for part in child.named_children if part.type == "subpattern"]
            for entry, hope in zip(entries, parts_of(walk, found, len(entries)), strict=True):
                for inner in entry.named_children:
                    walk.ev(inner, hope)
    if name is not None:
        walk.declare(walk.text(name), found)
    return found


def _subpattern(walk: Binder, node: Node, found: Value) -> None:
    children = node.named_children
    if len(children) < 2:
        walk.each(node)
        return
    value = found
    for name in children[0].named_children or [children[0]]:
        value = access(walk, value, walk.text(name), name, None) if name.type == "identifier" else None
    for child in children[1:]:
        walk.ev(child, value)


def constant_pattern(walk: Binder, node: Node, wanted: Value) -> Value:
    """A constant or, as the grammar cannot know, a type."""
    for child in node.named_children:
        if child.type == "identifier" and wanted is not None and wanted.declared:
            members = walk.names.find(wanted.name, walk.text(child))
            if members and members[0].is_static and walk.text(child) not in walk.locals:
                refer(walk, members, child, None)
                continue
        walk.ev(child, wanted)
    return None


def list_pattern(walk: Binder, node: Node, wanted: Value) -> Value:
    found = element_type(walk, wanted)
    for child in node.named_children:
        walk.ev(child, found)
    return None


def type_pattern(walk: Binder, node: Node, wanted: Value) -> Value:
    for child in node.named_children:
        walk.use(child)
    return None


def switch(walk: Binder, node: Node, wanted: Value) -> Value:
    value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
    found = walk.ev(value) if value is not None else None
    if body is not None:
        mark = walk.mark()  # what one section declares is in scope in the others, too
        for section in body.named_children:
            for child in section.named_children:
                walk.ev(child, found if child.type.endswith("_pattern") else None)
        walk.leave(mark)
    return None


def switch_value(walk: Binder, node: Node, wanted: Value) -> Value:
    children = node.named_children
    found = walk.ev(children[0])
    result: Value = None
    for arm in children[1:]:
        inside = [child for child in arm.named_children if child.type != "comment"]
        if arm.type != "switch_expression_arm" or not inside:
            walk.ev(arm)
            continue
        mark = walk.mark()
        walk.ev(inside[0], found)
        for child in inside[1:-1]:
            walk.ev(child)
        value = walk.ev(inside[-1], wanted) if len(inside) > 1 else None
        if result is None and value != bcl_types.NULL:
            result = value
        walk.leave(mark)
    return result or wanted


# queries


def query(walk: Binder, node: Node, wanted: Value) -> Value:
    """`from o in orders where … select o.Total`."""
    mark = walk.mark()
    selected: Value = None
    for child in node.named_children:
        kind = child.type
        inside = child.named_children
        if kind == "from_clause" or kind == "join_clause":
            selected = _source(walk, child)
        elif kind == "let_clause" and len(inside) > 1:
            walk.declare(walk.text(inside[0]), walk.ev(inside[-1]))
        elif kind == "select_clause":
            selected = next((walk.ev(part) for part in inside), None)
        elif kind == "identifier":  # `into group`
            walk.declare(walk.text(child), None)
        else:
            for part in inside:
                walk.ev(part)
    walk.leave(mark)
    return TypeRef("IEnumerable", (selected,)) if selected is not None else None


def _source(walk: Binder, node: Node) -> Value:
    """The variable of `from Type x in source` or `join x in source on … equals …`."""
    name = node.child_by_field_name("name")
    written = node.child_by_field_name("type")
    found: Value = None
    into: Node | None = None
    for child in node.named_children:
        if name is not None and child.start_byte <= name.start_byte:
            continue
        if child.type == "join_into_clause":
            into = child
            continue
        value = walk.ev(child)
        if found is None:
            found = element_type(walk, value)
            found = walk.use(written) if written is not None else found
            if name is None and child.type == "identifier":
                name = child
            if name is not None:
                walk.declare(walk.text(name), found)
    if into is not None:
        for child in into.named_children:
            walk.declare(walk.text(child), TypeRef("IEnumerable", (found,)) if found is not None else None)
    return found


HANDLERS: dict[str, Handler] = {
    "block": block,
    "for_statement": scoped,
    "using_statement": scoped,
    "fixed_statement": scoped,
    "catch_clause": scoped,
    "arrow_expression_clause": arrow,
    "variable_declaration": variables,
    "foreach_statement": foreach,
    "declaration_expression": declared_here,
    "assignment_expression": assignment,
    "return_statement": returning,
    "catch_declaration": catch,
    "labeled_statement": behind_name,
    "is_pattern_expression": is_pattern,
    "declaration_pattern": typed_pattern,
    "var_pattern": var_pattern,
    "recursive_pattern": recursive_pattern,
    "constant_pattern": constant_pattern,
    "and_pattern": each_part,
    "or_pattern": each_part,
    "negated_pattern": each_part,
    "parenthesized_pattern": each_part,
    "list_pattern": list_pattern,
    "type_pattern": type_pattern,
    "switch_statement": switch,
    "switch_expression": switch_value,
    "query_expression": query,
}
