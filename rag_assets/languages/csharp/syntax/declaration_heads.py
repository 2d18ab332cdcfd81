"""Facts that several declarations share: attributes, modifiers, parameters, bases, signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rag_assets.contracts.segment import Parameter
from rag_assets.languages.csharp.syntax.child_nodes import TRANSPARENT
from rag_assets.languages.csharp.syntax.node_text import collapsed

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.csharp.syntax.node_text import NodeText

MAX_VALUE_CHARS = 120
"""Longest initial value that counts as short: a line. Longer ones are code to read in the slice."""

_ATTRIBUTE_LISTS = frozenset({"attribute_list", "preproc_if_in_attribute_list"})
_BETWEEN = TRANSPARENT | {"comment", "preproc_if", "preproc_elif", "preproc_else"}
_NOT_A_TYPE = frozenset({":", ",", "argument_list", "comment", "ERROR"})
_PARAMETER_WORDS = ("scoped ", "ref ", "readonly ")  # the grammar counts them to the type in some positions


class DeclarationHead(NamedTuple):
    """What every declaration begins with. `children`: the nodes after attributes and modifiers, in order."""

    attributes: tuple[str, ...]
    modifiers: tuple[str, ...]
    start: int  # character offset of the declaration without attributes: where the signature begins
    children: list[Node]


def read_head(reader: NodeText, node: Node) -> DeclarationHead:
    attributes: list[str] = []
    modifiers: list[Node] = []
    children = node.children
    rest = 0
    for rest, child in enumerate(children):  # noqa: B007 - used after the loop
        kind = child.type
        if kind == "modifier":
            modifiers.append(child)
        elif kind in _ATTRIBUTE_LISTS:
            attributes += read_attributes(reader, child)
        elif kind not in _BETWEEN:
            break
    if not modifiers:
        start = reader.char(children[rest].start_byte if children else node.start_byte)
        return DeclarationHead(tuple(attributes), (), start, children[rest:])
    start = reader.char(modifiers[0].start_byte)
    words = reader.text[start : reader.char(modifiers[-1].end_byte)].split()
    if len(words) != len(modifiers):  # a comment or directive between them
        words = [reader.text_of(modifier) for modifier in modifiers]
    return DeclarationHead(tuple(attributes), tuple(words), start, children[rest:])


def read_attributes(reader: NodeText, attribute_list: Node) -> list[str]:
    """Source text of each attribute without brackets, with its target if it has one: `return: NotNull`."""
    found: list[str] = []
    target = ""
    open_nodes = [attribute_list]
    for node in open_nodes:  # grows while it is read: `#if` around attributes opens more lists
        for child in node.children:
            kind = child.type
            if kind == "attribute":
                found.append(target + reader.one_line(child))
            elif kind == "attribute_target_specifier":
                target = reader.one_line(child).rstrip(": ") + ": "
            elif kind in ("assembly", "module"):
                target = kind + ": "
            elif kind in ("attribute_list", "preproc_else", "preproc_elif"):
                open_nodes.append(child)
    return found


def read_parameters(reader: NodeText, parameter_list: Node | None) -> tuple[Parameter, ...]:
    if parameter_list is None or parameter_list.child_count <= 2:
        return ()
    found: list[Parameter] = []
    loose: list[Node] = []  # a `params` array has no node of its own
    attributes: list[str] = []
    for child in parameter_list.children:
        kind = child.type
        if kind == "parameter":
            found.append(_parameter(reader, child))
        elif kind in _ATTRIBUTE_LISTS:
            attributes += read_attributes(reader, child)
        elif kind in (",", ")"):
            if loose:
                found.append(_params_array(reader, loose, attributes))
            loose, attributes = [], []
        elif kind not in ("(", "[", "]", "comment", "params", "ERROR"):
            loose.append(child)
    if loose:
        found.append(_params_array(reader, loose, attributes))
    return tuple(found)


def _parameter(reader: NodeText, node: Node) -> Parameter:
    attributes: list[str] = []
    modifiers: list[str] = []
    type_and_name: list[Node] = []
    default = ""
    for child in node.children:
        kind = child.type
        if kind == "modifier":
            modifiers.append(reader.text_of(child))
        elif kind in _ATTRIBUTE_LISTS:
            attributes += read_attributes(reader, child)
        elif kind == "=":
            default = collapsed(reader.text[reader.char(child.end_byte) : reader.char(node.end_byte)])
            break
        elif kind not in ("comment", "ERROR"):
            type_and_name.append(child)
    if not type_and_name:
        return Parameter("", reader.one_line(node))
    written = reader.one_line(type_and_name[0]) if len(type_and_name) > 1 else ""
    while written.startswith(_PARAMETER_WORDS):
        word, written = written.split(" ", 1)
        modifiers.append(word)
    name = reader.text_of(type_and_name[-1])
    return Parameter(name, written, default, tuple(modifiers), tuple(attributes))


def _params_array(reader: NodeText, loose: list[Node], attributes: list[str]) -> Parameter:
    written = reader.one_line(loose[0]) if len(loose) > 1 else ""
    return Parameter(reader.text_of(loose[-1]), written, "", ("params",), tuple(attributes))


def read_type_parameters(reader: NodeText, type_parameter_list: Node | None) -> tuple[str, ...]:
    """Names only; variance is in the signature."""
    if type_parameter_list is None:
        return ()
    names = (child.child_by_field_name("name") for child in type_parameter_list.children)
    return tuple(reader.text_of(name) for name in names if name is not None)


def read_bases(reader: NodeText, base_list: Node | None) -> tuple[str, ...]:
    """Base types as written; arguments of a primary constructor base are not part of the type."""
    if base_list is None:
        return ()
    found = []
    for child in base_list.children:
        kind = child.type
        if kind == "primary_constructor_base_type":
            written = child.child_by_field_name("type")
            found.append(reader.one_line(written if written is not None else child))
        elif kind not in _NOT_A_TYPE:
            found.append(reader.one_line(child))
    return tuple(found)


def signature(
    reader: NodeText,
    start: int,
    end: int,
    parameter_list: Node | None = None,
    parameters: tuple[Parameter, ...] = (),
) -> str:
    """The header between two character offsets on one line, without the `;` that ends it and without attributes.

    `parameters`: what was read from `parameter_list`; tells whether there are attributes to leave out.
    """
    if parameter_list is None or not any(parameter.attributes for parameter in parameters):
        return _tidy(collapsed(reader.text[start:end]))
    pieces: list[str] = []
    for child in parameter_list.children:  # those of a `params` array stand beside it
        for inner in (child, *child.children) if child.type == "parameter" else (child,):
            if inner.type in _ATTRIBUTE_LISTS:
                pieces.append(reader.text[start : reader.char(inner.start_byte)])
                start = reader.char(inner.end_byte)
                while reader.text[start : start + 1].isspace():
                    start += 1
    pieces.append(reader.text[start:end])
    return _tidy(collapsed("".join(pieces)))


def _tidy(header: str) -> str:
    """Without the final `;`, and without the blanks that line breaks leave inside parentheses and before commas."""
    if '"' not in header and ("( " in header or " )" in header or " ," in header):
        header = header.replace("( ", "(").replace(" )", ")").replace(" ,", ",")
    return header.rstrip("; ")


def short_value(text: str) -> str:
    """An initial value as written if it is one short line, else empty."""
    stripped = text.strip()
    if len(stripped) > MAX_VALUE_CHARS or "\n" in stripped or "\r" in stripped:
        return ""
    return collapsed(stripped)
