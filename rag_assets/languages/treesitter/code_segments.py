"""What every language with a tree-sitter grammar shares: parsing with its limits, and reading declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from rag_assets.contracts.segment import ParseHealth, SegmentedFile
from rag_assets.languages.code_file import MAX_SIGNATURE_CHARS, CodeFile, Statement, assemble, rescue_gaps
from rag_assets.languages.doc_comments import plain_comments
from rag_assets.languages.sliding_window import window_segment
from rag_assets.languages.treesitter.parsing import SourceText, UnparseableError, error_lines, error_share, parse

_MAX_ERROR_SHARE = 0.5  # with more of a file unexplained, its few good nodes mislead more than windows do
MAX_VALUE_CHARS = 120  # initial values up to a line: constants, not tables

Reader = Callable[["Node", SourceText, str], CodeFile]


def segment_code(text: str, path: str, language: str, read: Reader) -> SegmentedFile:
    """Parses `text` and assembles what `read` finds; a file that cannot be parsed comes back as windows."""
    source = SourceText(text)
    try:
        root = parse(language, source).root_node
    except UnparseableError as error:
        return segment_unparsed(text, path, language, str(error))
    if not root.has_error:
        return assemble(read(root, source, path), text, source.lines, language, ParseHealth.OK)
    share = error_share(root)
    if share > _MAX_ERROR_SHARE:
        return segment_unparsed(text, path, language, f"no rule of the grammar fits {share:.0%} of the file")
    found = read(root, source, path)
    rescue_gaps(found, text)
    lines = ", ".join(map(str, error_lines(root, source)))
    return assemble(
        found, text, source.lines, language, ParseHealth.PARTIAL, f"syntax errors, the first at line {lines}"
    )


def segment_unparsed(text: str, path: str, language: str, detail: str) -> SegmentedFile:
    """A file of code that no tree can be had of, as windows; `detail` says why."""
    segment = window_segment(text, path, language, ParseHealth.TEXT_FALLBACK)
    return SegmentedFile((segment,), ParseHealth.TEXT_FALLBACK, detail)


# reading declarations


@dataclass(frozen=True, slots=True)
class DeclaredNode:
    """A node of a declaration list with the comments and decorators that stand directly above it."""

    node: Node
    start: int  # byte offset of the first of them
    comments: tuple[Node, ...] = ()
    decorators: tuple[Node, ...] = ()

    def doc(self, source: SourceText) -> str:
        """The documentation comment: the last `/** */` if there is one, else all the comments."""
        texts = [source.text_of(comment) for comment in self.comments]
        documented = [text for text in texts if text.startswith("/**")]
        return plain_comments(documented[-1:] or texts)


def declarations(nodes: Iterable[Node]) -> Iterator[DeclaredNode]:
    """The nodes that are not comments or decorators, each with those attached to it.

    A comment belongs to the declaration below it when no blank line separates them and it does not trail
    other code on its line.
    """
    leading: list[Node] = []
    above: Node | None = None
    for node in nodes:
        row = node.start_point.row
        if leading and row > leading[-1].end_point.row + 1:
            leading.clear()
        if "comment" in node.type:
            trails = (
                above is not None and row == above.end_point.row and above is not (leading[-1] if leading else None)
            )
            if not trails:
                leading.append(node)
        elif node.type == "decorator":
            leading.append(node)
        else:
            comments = tuple(n for n in leading if n.type != "decorator")
            decorators = tuple(n for n in leading if n.type == "decorator")
            yield DeclaredNode(node, leading[0].start_byte if leading else node.start_byte, comments, decorators)
            leading.clear()
        above = node


def extent(source: SourceText, node: Node) -> Statement:
    return Statement(source.char(node.start_byte), source.char(node.end_byte))


def one_line(source: SourceText, start: int, end: int, comments: Sequence[Node] = ()) -> str:
    """The source of a byte range on one line, without the given comments inside it."""
    pieces = []
    position = start
    for comment in comments:
        if position <= comment.start_byte and comment.end_byte <= end:
            pieces.append(source.slice(position, comment.start_byte))
            position = comment.end_byte
    pieces.append(source.slice(position, end))
    return " ".join(" ".join(pieces).split())[:MAX_SIGNATURE_CHARS]


def signature(source: SourceText, start: int, end: int, parameters: Node | None = None) -> str:
    """A declaration without its body, on one line; comments between parameters are left out."""
    inside = [] if parameters is None else [c for c in parameters.named_children if "comment" in c.type]
    return one_line(source, start, end, inside)


def short(source: SourceText, node: Node | None) -> str:
    """The source of a value when it fits a line, else nothing."""
    if node is None or node.end_byte - node.start_byte > 4 * MAX_VALUE_CHARS:
        return ""
    text = " ".join(source.text_of(node).split())
    return text if len(text) <= MAX_VALUE_CHARS else ""


def type_parameters(node: Node, source: SourceText) -> tuple[str, ...]:
    declared = node.child_by_field_name("type_parameters")
    if declared is None:
        return ()
    return tuple(one_line(source, c.start_byte, c.end_byte) for c in declared.named_children if "comment" not in c.type)


def field_text(source: SourceText, node: Node, name: str) -> str:
    """The source of a field of `node` on one line; empty without that field."""
    child = node.child_by_field_name(name)
    return "" if child is None else one_line(source, child.start_byte, child.end_byte)


def body_start(node: Node) -> int:
    """Where the body of a declaration begins; its end when it has none."""
    body = node.child_by_field_name("body")
    return node.end_byte if body is None else body.start_byte
