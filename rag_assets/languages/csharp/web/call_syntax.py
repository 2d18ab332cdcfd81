"""Calls in the syntax tree of one type or program: receivers, arguments, local variables and their scopes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from rag_assets.contracts.segment import Span
from rag_assets.languages.csharp.syntax.declaration_heads import NodeText
from rag_assets.languages.csharp.syntax.error_recovery import parse_csharp

_SCOPES = frozenset(
    {
        "method_declaration",
        "constructor_declaration",
        "local_function_statement",
        "lambda_expression",
        "anonymous_method_expression",
        "accessor_declaration",
    }
)
_NAMED_FUNCTIONS = ("method_declaration", "local_function_statement")
_INVOCATION = "invocation_expression"
OUTERMOST = -1
"""The scope of top-level statements and of a type itself."""


@dataclass(frozen=True, slots=True)
class Call:
    """`receiver.Name<T>(arguments)`; `receiver` is None for a plain `Name(…)`. `named` are arguments with a name."""

    node: Node
    scope: int
    name: str
    type_argument: str
    receiver: Node | None
    arguments: tuple[Node, ...]
    named: dict[str, Node]
    name_start: int


@dataclass(frozen=True, slots=True)
class Function:
    """A method or local function: its scope and its parameters (name, type)."""

    scope: int
    parameters: tuple[tuple[str, str], ...]
    node: Node

    @property
    def is_local(self) -> bool:
        return self.node.type == "local_function_statement"


@dataclass(slots=True)
class CodeTree:
    """The tree of a text, what its scopes declare, and all its calls in text order."""

    reader: NodeText
    calls: list[Call] = field(default_factory=list)
    variables: dict[tuple[int, str], Node] = field(default_factory=dict)
    parameters: dict[tuple[int, str], str] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    outer: dict[int, int] = field(default_factory=dict)
    by_node: dict[int, Call] = field(default_factory=dict)

    def declaring_scope(self, scope: int, name: str) -> int | None:
        """The nearest scope from `scope` outwards that declares `name`."""
        while True:
            if (scope, name) in self.variables or (scope, name) in self.parameters:
                return scope
            if scope == OUTERMOST:
                return None
            scope = self.outer.get(scope, OUTERMOST)

    def text(self, node: Node) -> str:
        return self.reader.text_of(node)

    def span(self, start_byte: int, end_byte: int) -> Span:
        return self.reader.span(self.reader.char(start_byte), self.reader.char(end_byte))

    def call(self, node: Node) -> Call | None:
        return self.by_node.get(node.id)

    def chained_onto(self, call: Call) -> Iterator[Call]:
        """The calls on the result of `call`, in the order they are made."""
        node = call.node
        while (access := node.parent) is not None and access.type in ("member_access_expression", "await_expression"):
            outer = access.parent
            found = self.call(outer) if outer is not None else None
            if outer is None or found is None or found.receiver is None or found.receiver.id != node.id:
                return
            yield found
            node = outer


def read_calls(text: str) -> CodeTree:
    """Parses a text of C#. Raises UnparseableError for a text beyond the bounds of the parser."""
    view = parse_csharp(text).view
    tree = CodeTree(NodeText(view, len(text)))
    waiting: list[tuple[Node, int]] = [(view.tree.root_node, OUTERMOST)]
    while waiting:
        node, scope = waiting.pop()
        kind = node.type
        if kind in _SCOPES:
            tree.outer[node.id] = scope
            _declare(tree, node, kind)
            scope = node.id
        elif kind == "variable_declarator":
            name, *rest = node.named_children or (None,)
            if name is not None and rest:
                tree.variables.setdefault((scope, tree.text(name)), rest[-1])
        elif kind == "assignment_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None and left.type == "identifier":
                tree.variables.setdefault((scope, tree.text(left)), right)
        elif kind == _INVOCATION:
            found = _call(tree, node, scope)
            if found is not None:
                tree.calls.append(found)
                tree.by_node[node.id] = found
        waiting.extend((child, scope) for child in reversed(node.named_children))
    tree.calls.sort(key=lambda call: call.name_start)
    return tree


def _declare(tree: CodeTree, node: Node, kind: str) -> None:
    """The parameters of a function, and its name."""
    parameters = node.child_by_field_name("parameters")
    found: list[tuple[str, str]] = []
    for child in parameters.named_children if parameters is not None else ():
        name, written = child.child_by_field_name("name"), child.child_by_field_name("type")
        if child.type == "parameter" and name is not None:
            found.append((tree.text(name), tree.text(written) if written is not None else ""))
    tree.parameters.update({(node.id, name): written for name, written in found})
    own_name = node.child_by_field_name("name")
    if kind in _NAMED_FUNCTIONS and own_name is not None:
        tree.functions.setdefault(tree.text(own_name), Function(node.id, tuple(found), node))


def _call(tree: CodeTree, node: Node, scope: int) -> Call | None:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return None
    receiver: Node | None = None
    name: Node | None = function
    if function.type == "member_access_expression":
        receiver, name = function.child_by_field_name("expression"), function.child_by_field_name("name")
    elif function.type == "conditional_access_expression":
        receiver = function.child_by_field_name("condition")
        binding = next((child for child in function.named_children if child.type == "member_binding_expression"), None)
        name = binding.child_by_field_name("name") if binding is not None else None
    if name is None:
        return None
    type_argument = ""
    if name.type == "generic_name":
        arguments_node = name.named_children[-1] if name.named_child_count > 1 else None
        type_argument = tree.text(arguments_node)[1:-1].strip() if arguments_node is not None else ""
        name = name.named_children[0]
    if name.type != "identifier":
        return None
    positional: list[Node] = []
    named: dict[str, Node] = {}
    for argument in arguments.named_children:
        if argument.type != "argument" or not argument.children:
            continue
        value = argument.children[-1]  # `this` has no named node
        label = argument.child_by_field_name("name")
        if label is not None:
            named[tree.text(label)] = value
        else:
            positional.append(value)
    return Call(node, scope, tree.text(name), type_argument, receiver, tuple(positional), named, name.start_byte)
