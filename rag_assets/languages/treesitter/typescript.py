"""TypeScript, TSX and JavaScript: a segment per top-level type; functions and statements make up the module."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from tree_sitter import Node

from rag_assets.contracts.segment import Member, MemberKind, Parameter, type_segment
from rag_assets.languages.code_file import CodeFile, Statement
from rag_assets.languages.detection import file_stem, without_extension
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

_WORD = re.compile(r"\w\w")
TYPE_KINDS = {
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "class": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "type_alias_declaration": "type",
    "internal_module": "namespace",
    "module": "namespace",
}
FUNCTION_VALUES = ("arrow_function", "function_expression", "generator_function")

_METHODS = ("method_definition", "method_signature", "abstract_method_signature")
_FIELDS = ("public_field_definition", "field_definition", "property_signature")
_UNNAMED = {"call_signature": "()", "construct_signature": "new"}
_KEYWORDS = frozenset(
    {"export", "default", "declare", "abstract", "async", "static", "readonly", "get", "set", "accessor"}
)


@dataclass(frozen=True, slots=True)
class MemberContext:
    """Where a declaration stands: its whole byte range, and the comments and decorators above it."""

    source: SourceText
    start: int
    end: int
    declared: DeclaredNode

    def within(self, node: Node) -> MemberContext:
        return MemberContext(self.source, node.start_byte, node.end_byte, self.declared)

    @property
    def statement(self) -> Statement:
        return Statement(self.source.char(self.start), self.source.char(self.end))

    @property
    def doc(self) -> str:
        return self.declared.doc(self.source)

    @property
    def signature_start(self) -> int:
        """After comments and decorators, so that `export default` counts and attributes do not."""
        return max([self.start, self.declared.node.start_byte, *(d.end_byte for d in self._decorators())])

    def attributes(self) -> tuple[str, ...]:
        texts = (one_line(self.source, d.start_byte, d.end_byte) for d in self._decorators())
        return tuple(text.removeprefix("@").strip() for text in texts)

    def modifiers(self, node: Node) -> tuple[str, ...]:
        outer = self.declared.node
        tokens = [*(outer.children if outer.type.endswith(("_statement", "_declaration")) else ()), *node.children]
        kept = (
            self.source.text_of(token)
            for token in tokens
            if token.type in _KEYWORDS or token.type.endswith("_modifier")
        )
        return tuple(dict.fromkeys(kept))

    def _decorators(self) -> list[Node]:
        node = self.declared.node
        inside = [child for child in node.named_children if child.type == "decorator"]
        return [*self.declared.decorators, *inside]


def type_member(node: Node, place: MemberContext, name: str, depth: int = 1) -> Member:
    """A class, interface, enum, type alias or namespace; kind TYPE, `type` says which."""
    return Member(
        name=name,
        kind=MemberKind.TYPE,
        type=TYPE_KINDS[node.type],
        signature=signature(place.source, place.signature_start, body_start(node)).rstrip(" ;"),
        span=place.source.span(place.start, place.end),
        doc=place.doc,
        attributes=place.attributes(),
        modifiers=place.modifiers(node),
        type_parameters=type_parameters(node, place.source),
        base_list=tuple(_bases(node, place.source)),
        members=tuple(_members(node, place.source, depth)) if depth <= MAX_NESTED_TYPES else (),
    )


def function_member(node: Node, place: MemberContext, name: str) -> Member:
    """A function of a module or namespace: declared, or the value of a variable."""
    return _callable(node, place, name, MemberKind.FUNCTION)


def unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'`" else text


def _callable(node: Node, place: MemberContext, name: str, kind: MemberKind) -> Member:
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    head = signature(place.source, place.signature_start, body_start(node), parameters)
    return Member(
        name=name,
        kind=kind,
        signature=head.removesuffix("=>").rstrip(" ;"),
        span=place.source.span(place.start, place.end),
        doc=place.doc,
        type=_type_text(node, place.source, "return_type"),
        parameters=tuple(_parameters(parameters, place.source)),
        attributes=place.attributes(),
        modifiers=place.modifiers(node),
        type_parameters=type_parameters(node, place.source),
    )


def _members(node: Node, source: SourceText, depth: int) -> Iterator[Member]:
    body = node.child_by_field_name("body") or node.child_by_field_name("value")
    if body is None:
        return
    for declared in declarations(body.named_children):
        place = MemberContext(source, declared.start, declared.node.end_byte, declared)
        yield from _member(declared.node, place, depth)


def _member(node: Node, place: MemberContext, depth: int) -> Iterator[Member]:
    source = place.source
    if node.type in _METHODS:
        yield _method(node, place)
    elif node.type in _FIELDS:
        yield _field(node, place)
    elif node.type in _UNNAMED:
        yield _callable(node, place, _UNNAMED[node.type], MemberKind.METHOD)
    elif node.type == "index_signature":
        text = one_line(source, node.start_byte, node.end_byte)
        span = source.span(place.start, place.end)
        yield Member(name="[]", kind=MemberKind.INDEXER, signature=text, span=span, doc=place.doc)
    elif node.type == "enum_assignment":
        name = field_text(source, node, "name")
        yield _enum_value(place, name, short(source, node.child_by_field_name("value")))
    elif node.type in ("property_identifier", "string"):
        yield _enum_value(place, source.text_of(node), "")
    elif node.type in ("export_statement", "ambient_declaration"):
        inner = node.child_by_field_name("declaration")
        if inner is not None:
            yield from _member(inner, place, depth)
    elif node.type in TYPE_KINDS:
        yield type_member(node, place, unquoted(field_text(source, node, "name")) or "default", depth + 1)
    elif node.type in ("function_declaration", "function_signature"):
        yield function_member(node, place, field_text(source, node, "name"))


def _method(node: Node, place: MemberContext) -> Member:
    name = unquoted(field_text(place.source, node, "name"))
    accessors = tuple(token.type for token in node.children if token.type in ("get", "set"))
    kind = MemberKind.PROPERTY if accessors else MemberKind.METHOD
    made = _callable(node, place, name, MemberKind.CONSTRUCTOR if name == "constructor" else kind)
    if not accessors:
        return made
    modifiers = tuple(modifier for modifier in made.modifiers if modifier not in accessors)
    return replace(made, parameters=(), type_parameters=(), modifiers=modifiers, accessors=accessors)


def _field(node: Node, place: MemberContext) -> Member:
    """A field of a class or a property of an interface; `m = () => …` is a method in all but syntax."""
    name = unquoted(field_text(place.source, node, "name") or field_text(place.source, node, "property"))
    value = node.child_by_field_name("value")
    if value is not None and value.type in FUNCTION_VALUES:
        return _callable(value, place, name, MemberKind.METHOD)
    return Member(
        name=name,
        kind=MemberKind.PROPERTY if node.type == "property_signature" else MemberKind.FIELD,
        signature=signature(place.source, place.signature_start, place.end).rstrip(" ;"),
        span=place.source.span(place.start, place.end),
        doc=place.doc,
        type=_type_text(node, place.source, "type"),
        value=short(place.source, value),
        attributes=place.attributes(),
        modifiers=place.modifiers(node),
    )


def _enum_value(place: MemberContext, name: str, value: str) -> Member:
    return Member(
        name=unquoted(name),
        kind=MemberKind.ENUM_VALUE,
        signature=one_line(place.source, place.declared.node.start_byte, place.end),
        span=place.source.span(place.start, place.end),
        doc=place.doc,
        value=value,
    )


def _type_text(node: Node, source: SourceText, field: str) -> str:
    return field_text(source, node, field).removeprefix(":").strip()


def _bases(node: Node, source: SourceText) -> Iterator[str]:
    """Types as written: `extends C<T>` and each of `implements D, E`."""
    for child in node.named_children:
        clauses = child.named_children if child.type == "class_heritage" else [child]
        for clause in clauses:
            if clause.type in ("implements_clause", "extends_type_clause"):
                for base in clause.named_children:
                    if "comment" not in base.type:
                        yield one_line(source, base.start_byte, base.end_byte)
            elif clause.type == "extends_clause" or child.type == "class_heritage":
                yield one_line(source, clause.start_byte, clause.end_byte).removeprefix("extends").strip()


def _parameters(declared: Node | None, source: SourceText) -> Iterator[Parameter]:
    if declared is None:
        return
    if declared.type == "identifier":  # `x => x + 1`
        yield Parameter(name=source.text_of(declared))
        return
    for child in declared.named_children:
        if "comment" in child.type or child.type == "decorator":
            continue
        pattern = child.child_by_field_name("pattern") or child.child_by_field_name("left") or child
        text = one_line(source, pattern.start_byte, pattern.end_byte)
        value = child.child_by_field_name("value") or child.child_by_field_name("right")
        marks = [source.text_of(token) for token in child.children if token.type.endswith("_modifier")]
        marks += [token.type for token in child.children if token.type in ("readonly", "?")]
        yield Parameter(
            name=text.removeprefix("..."),
            type=_type_text(child, source, "type"),
            default=short(source, value),
            modifiers=(*marks, *(("...",) if text.startswith("...") else ())),
            attributes=tuple(
                one_line(source, c.start_byte, c.end_byte).removeprefix("@")
                for c in child.named_children
                if c.type == "decorator"
            ),
        )


_WRAPPERS = ("export_statement", "ambient_declaration", "expression_statement")
_FUNCTIONS = ("function_declaration", "generator_function_declaration", "function_signature")
_VARIABLES = ("lexical_declaration", "variable_declaration")


def typescript_reader(language: str) -> Callable[[Node, SourceText, str], CodeFile]:
    """The reader for `typescript`, `tsx` or `javascript`: three grammars, one shape."""
    return partial(_read, language)


def _read(language: str, root: Node, source: SourceText, path: str) -> CodeFile:
    """The top level of a file; `symbol` is its path without extension."""
    module = without_extension(path)
    found = CodeFile(name=file_stem(path), symbol=module, namespace=module)
    for declared in declarations(root.named_children):
        origin = declared.node.child_by_field_name("source")  # of an import or a re-export
        if origin is not None:
            found.usings.append(unquoted(source.text_of(origin)))
        if declared.node.type == "import_statement":
            found.passed.append(extent(source, declared.node))
        elif declared.node.type != "hash_bang_line":
            for item in _items(declared, source):
                if isinstance(item, Member) and item.kind is MemberKind.TYPE:
                    found.items.append(type_segment(item, f"{module}.{item.name}", module, language))
                else:
                    found.items.append(item)
    return found


def _items(declared: DeclaredNode, source: SourceText) -> Iterator[Member | Statement]:
    """The symbols of one top-level statement, or its range when it declares none."""
    place = MemberContext(source, declared.start, declared.node.end_byte, declared)
    node = _unwrapped(declared.node)
    if node.type in TYPE_KINDS:
        yield type_member(node, place, _name(node, source))
    elif node.type in _FUNCTIONS:
        yield function_member(node, place, _name(node, source))
    elif node.type in _VARIABLES:
        yield from _variables(node, place)
    elif node.type == "assignment_expression":
        yield from _valued(node, "left", "right", place)  # `exports.f = function …`, `A.prototype.m = …`
    elif declared.node.type == "export_statement" and node.type in FUNCTION_VALUES:
        yield function_member(node, place, "default")
    elif declared.node.type == "export_statement" and (options := _options(node)) is not None:
        yield from _with_rest(place.statement, list(_functions_of(options, source, MAX_NESTED_TYPES)), source.text)
    else:
        yield place.statement


def _with_rest(whole: Statement, inside: list[Member], text: str) -> Iterator[Member | Statement]:
    """A statement with members in it: those, and what is between them where it says something."""
    at = whole.start
    for member in inside:
        if _WORD.search(text, at, member.span.char_start):
            yield Statement(at, member.span.char_start)
        yield member
        at = member.span.char_end
    if not inside or _WORD.search(text, at, whole.end):
        yield Statement(at, whole.end)


def _options(node: Node) -> Node | None:
    """The object that a module exports, itself or through a call: `defineComponent({ … })` of Vue."""
    if node.type == "call_expression":
        arguments = node.child_by_field_name("arguments")
        named = arguments.named_children if arguments is not None else []
        node = next((one for one in named if one.type == "object"), node)
    return node if node.type == "object" else None


def _functions_of(options: Node, source: SourceText, depth: int) -> Iterator[Member]:
    """The methods of an object and of objects in it; of `setup`, which Vue runs, the functions that it declares."""
    for declared in declarations(options.named_children):
        node = declared.node
        place = MemberContext(source, declared.start, node.end_byte, declared)
        value = node.child_by_field_name("value") if node.type == "pair" else node
        if value is None:
            continue
        if value.type == "object" and depth:
            yield from _functions_of(value, source, depth - 1)
        elif value.type == "method_definition" or value.type in FUNCTION_VALUES:
            name = unquoted(field_text(source, node, "name") or field_text(source, node, "key"))
            yield from (_declared_in(value, source) if name == "setup" else []) or [function_member(value, place, name)]


def _declared_in(function: Node, source: SourceText) -> list[Member]:
    body = function.child_by_field_name("body")
    found = (_items(one, source) for one in declarations(body.named_children)) if body is not None else ()
    return [item for items in found for item in items if isinstance(item, Member)]


def _unwrapped(node: Node) -> Node:
    """What `export`, `declare` and the expression statement around a namespace or assignment hold."""
    while node.type in _WRAPPERS:
        inner = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        if inner is None and node.type != "export_statement":
            named = [child for child in node.named_children if "comment" not in child.type]
            inner = named[0] if named else None
        if inner is None:
            return node
        node = inner
    return node


def _name(node: Node, source: SourceText) -> str:
    return unquoted(field_text(source, node, "name")) or "default"


def _variables(node: Node, place: MemberContext) -> Iterator[Member | Statement]:
    """`const f = () => …` declares a function, `const C = class …` a type; other variables are statements."""
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    symbols = [declarator for declarator in declarators if _value_type(declarator) is not None]
    if not symbols:
        yield place.statement
        return
    for declarator in declarators:
        own = place if len(declarators) == 1 else place.within(declarator)
        yield from _valued(declarator, "name", "value", own)


def _value_type(holder: Node, field: str = "value") -> str | None:
    value = holder.child_by_field_name(field)
    return value.type if value is not None and (value.type in FUNCTION_VALUES or value.type in TYPE_KINDS) else None


def _valued(holder: Node, name_field: str, value_field: str, place: MemberContext) -> Iterator[Member | Statement]:
    value = holder.child_by_field_name(value_field)
    if value is None or _value_type(holder, value_field) is None:
        yield place.statement
        return
    name = field_text(place.source, holder, name_field).removeprefix("module.").removeprefix("exports.")
    if value.type in TYPE_KINDS:
        yield type_member(value, place, field_text(place.source, value, "name") or name)
    else:
        yield function_member(value, place, name)
