"""The declarations inside a node with their comments, and the facts they share: attributes, modifiers, parameters,
bases, signatures.

`#if` nodes and error nodes are opened in place: what is declared in them is declared in the list around them.

Reading text from nodes of a view: slices, one-line forms, spans.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from operator import index
from typing import TYPE_CHECKING, NamedTuple

from rag_assets.contracts.segment import Parameter, Span
from rag_assets.languages.csharp.syntax.xmldoc import is_documentation, plain_comment, plain_documentation

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.csharp.syntax.error_recovery import SourceView


_TOKEN = re.compile(
    r"""(?P<blank>\s++|//[^\r\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/"""
    r"""|\#[ \t]*+(?:if|elif|else|endif|pragma|region|endregion|nullable|line)\b[^\r\n]*+)"""
    r"""|(?P<kept>"{3,}+.*?"{3,}+|[$@]*@[$@]*"(?:[^"]|"")*+"|"(?:[^"\\\r\n]|\\.)*+"|'(?:[^'\\\r\n]|\\.)*+'"""
    r"""|[^\s"'/#@$]++|.)""",
    re.DOTALL,
)


def collapsed(text: str) -> str:
    """`text` on one line: white space, comments and directives become single blanks, literals stay as written."""
    words = text.split()
    if len(words) < 2 or not ('"' in text or "/" in text or "'" in text or "#" in text):
        return " ".join(words)
    pieces: list[str] = []
    for found in _TOKEN.finditer(text):
        kept = found.group("kept")
        if kept is not None:
            pieces.append(kept)
        elif pieces and pieces[-1] != " ":
            pieces.append(" ")
    return "".join(pieces).strip()


class NodeText:
    """The text of one view by node. `text` is the view's, so facts come from the original (see SourceView)."""

    __slots__ = ("_lines", "char", "extensions", "length", "text")

    def __init__(self, view: SourceView, length: int) -> None:
        """`length`: of the original text; spans end there, even if a line end was added for the grammar."""
        self.text = view.text
        source = view.source
        is_ascii = len(source.utf8) == len(source.text)
        self.char: Callable[[int], int] = index if is_ascii else source.char  # `index`: the identity, and fast
        self.extensions = view.extensions
        self.length = length
        self._lines = source.lines

    def text_of(self, node: Node) -> str:
        return self.text[self.char(node.start_byte) : self.char(node.end_byte)]

    def one_line(self, node: Node) -> str:
        text = self.text[self.char(node.start_byte) : self.char(node.end_byte)]
        return text if text.isidentifier() else collapsed(text)

    def span(self, start: int, end: int) -> Span:
        return self._lines.span(start, min(end, self.length))

    def line_of(self, offset: int) -> int:
        return self._lines.line_of(offset)


TYPES = {
    "class_declaration": "class",
    "struct_declaration": "struct",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "record_declaration": "record",
    "delegate_declaration": "delegate",
}
"""Node type → kind of a type declaration; a record is a record whether class or struct (the signature tells)."""

MEMBERS = frozenset(
    {
        "method_declaration",
        "constructor_declaration",
        "destructor_declaration",
        "property_declaration",
        "indexer_declaration",
        "field_declaration",
        "event_declaration",
        "event_field_declaration",
        "operator_declaration",
        "conversion_operator_declaration",
        "enum_member_declaration",
    }
)
_FILE_LEVEL = frozenset(
    {
        "using_directive",
        "extern_alias_directive",
        "global_attribute",
        "namespace_declaration",
        "file_scoped_namespace_declaration",
        "global_statement",
        "shebang_directive",
        "block",
    }
)
_OPENED = frozenset({"preproc_if", "preproc_elif", "preproc_else", "ERROR"})
TRANSPARENT = frozenset(
    {
        "#if",
        "preproc_region",
        "preproc_endregion",
        "preproc_pragma",
        "preproc_nullable",
        "preproc_line",
        "preproc_error",
        "preproc_warning",
        "preproc_define",
        "preproc_undef",
    }
)
"""Nodes that do not part a documentation comment from its declaration."""

_DECLARED, _COMMENT, _COMMA, _PASSED, _PARTING = range(5)
_ROLES = {
    **dict.fromkeys(TYPES, _DECLARED),
    **dict.fromkeys(MEMBERS, _DECLARED),
    **dict.fromkeys(_FILE_LEVEL, _DECLARED),
    **dict.fromkeys(TRANSPARENT, _PASSED),
    "comment": _COMMENT,
    ",": _COMMA,
    "{": _PARTING,
    "}": _PARTING,
}
"""What each node type is in a list of declarations: one look-up per node, there are many."""


class Item:
    """A declaration or statement with its comments, from the first of them to the `,` or comment on its last line."""

    __slots__ = ("comments", "end", "in_error", "kind", "lost_namespace", "node", "start", "trailing")

    def __init__(
        self, kind: str, node: Node, comments: list[str], start: int, end: int, in_error: bool, lost_namespace: str = ""
    ) -> None:
        self.kind = kind
        self.node = node
        self.comments = comments
        self.start = start  # character offset of the first comment, or of the node
        self.end = end  # character offset
        self.in_error = in_error
        self.lost_namespace = lost_namespace  # of a block that the parser could not close
        self.trailing = ""

    @property
    def is_statement(self) -> bool:
        return self.kind.endswith("_statement") or self.kind == "block"

    def doc(self, use_trailing: bool = False) -> str:
        """Plain text of the documentation comment, else of the ordinary one above, else of the one that follows."""
        if self.comments:
            documentation = [comment for comment in self.comments if is_documentation(comment)]
            return plain_documentation(documentation) if documentation else plain_comment(self.comments)
        if not (self.trailing and use_trailing):
            return ""
        read = plain_documentation if is_documentation(self.trailing) else plain_comment
        return read([self.trailing])


_NAMES = frozenset({"identifier", "qualified_name"})


def items(reader: NodeText, parent: Node) -> list[Item]:
    """All declarations and top-level statements directly in `parent`."""
    text, char = reader.text, reader.char
    found: list[Item] = []
    pending: list[Node] = []
    current: Item | None = None
    before = namespace = ""
    for kind, node, in_error in _flattened(parent):
        if in_error and before == "namespace" and kind in _NAMES:  # the header of a block that could not be closed
            namespace = reader.one_line(node).replace(" ", "")
        before = kind
        role = _ROLES.get(kind)
        if role is None:  # bare statements inside `#if` at the top level have many types
            role = _DECLARED if kind.endswith("_statement") else _PARTING
        if role == _COMMENT:
            if current is None or pending or not _same_line(text, current.end, char(node.start_byte)):
                pending.append(node)
            else:
                current.end = char(node.end_byte)
                current.trailing = text[char(node.start_byte) : current.end]
        elif role == _DECLARED:
            start = char(node.start_byte)
            comments: list[str] = []
            if pending:
                start, comments = _attached(reader, pending, start)
                pending = []
            current = Item(kind, node, comments, start, char(node.end_byte), in_error, namespace if in_error else "")
            found.append(current)
        elif role == _COMMA:
            if current is not None and current.kind == "enum_member_declaration":
                current.end = char(node.end_byte)
        elif role == _PARTING:
            pending = []
            current = None
    return found


def _flattened(parent: Node) -> Iterable[tuple[str, Node, bool]]:
    """Type, node and whether it is in an error, of the children of `parent`; see the module for what is opened."""
    children = parent.children
    kinds = [node.type for node in children]
    if _OPENED.isdisjoint(kinds):
        return zip(kinds, children, repeat(parent.type == "ERROR"))
    return _opened(parent)


def _opened(parent: Node) -> Iterator[tuple[str, Node, bool]]:
    """Children of `parent`, those of `#if` branches and error nodes in their place. No recursion."""
    open_lists: list[tuple[Iterator[Node], bool]] = [(iter(parent.children), parent.type == "ERROR")]
    while open_lists:
        children, in_error = open_lists[-1]
        for node in children:
            kind = node.type
            if kind in _OPENED:
                if kind in ("preproc_elif", "preproc_else"):
                    yield "#else", node, in_error  # comments do not cross from one branch to the next
                open_lists.append((islice(node.children, _HEADER_TOKENS[kind], None), in_error or kind == "ERROR"))
                break
            yield kind, node, in_error
        else:
            open_lists.pop()


_HEADER_TOKENS = {"preproc_if": 2, "preproc_elif": 2, "preproc_else": 1, "ERROR": 0}
"""How many children of an opened node are its directive and condition."""


def _same_line(text: str, end: int, start: int) -> bool:
    return "\n" not in (gap := text[end:start]) and "\r" not in gap


def _attached(reader: NodeText, pending: list[Node], start: int) -> tuple[int, list[str]]:
    """Where a declaration begins with its comments, and these: documentation, or no blank line between."""
    text, char = reader.text, reader.char
    comments: list[str] = []
    for node in reversed(pending):
        comment_start, comment_end = char(node.start_byte), char(node.end_byte)
        comment = text[comment_start:comment_end]
        if not comment.startswith("///"):  # most comments are, and always belong
            gap = text[comment_end:start]
            if max(gap.count("\n"), gap.count("\r")) > 1 and not is_documentation(comment):
                break
        start = comment_start
        comments.append(comment)
    comments.reverse()
    return start, comments


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
