"""From the declarations of one code file to its segments: what every language with a grammar shares.

A language reads the top level of a tree and lists what it found in text order: a type (a `Segment` of its own,
A04), a function (`Member`), or the range of a statement. Functions and runs of statements become the members of
one `module` segment. Its span reaches from the first to the last of them and may therefore enclose types that
stand between; the members carry the exact ranges. No range is ever part of two members of a file's top level.

Comments and docstrings as plain text: what is left when the marks of the language are taken away.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from rag_assets.contracts.segment import Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.languages.sliding_window import statement_members, window_members, window_segment
from rag_assets.languages.treesitter.parsing import SourceText, UnparseableError, error_lines, error_share, parse

_LINE_MARK = re.compile(r"(?:/{2,}[!<]?|#+:?|--+) ?")
_BLOCK_LINE_MARK = re.compile(r"[ \t]*\*+(?=[ \t]|$) ?")
_DECORATION = re.compile(r"[\s\-=*#/_~+.]*")
_PRAGMA = re.compile(
    r"!|go:|nolint|eslint|tslint|prettier-|@ts-|istanbul |c8 |noqa|type: ?ignore|pylint:|mypy:|ruff:|pragma:|"
    r"-\*-|<reference |noinspection|region\b|endregion\b",
)
"""Comments for tools (`#!` among them), not for readers."""

_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}]*)\}")
_HTML_TAG = re.compile(
    r"</?(?:p|br|code|pre|ul|ol|li|b|i|em|strong|a|tt|h[1-6]|blockquote|dl|dt|dd|table|tr|td|th)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_PARAM_TAG = re.compile(r"@(?:param|arg|argument)\s+(?:\{[^{}]*\}\s*)?\[?([\w$.<>]+)[^\s\]]*\]?\s*(?:-\s*)?(.*)")
_RETURN_TAG = re.compile(r"@returns?\b\s*(?:\{[^{}]*\}\s*)?(?:-\s*)?(.*)")
_OTHER_TAG = re.compile(r"@(\w+)\s*(.*)")

_STRING_PREFIX = re.compile(r"[rRuUbBfFtT]{0,2}(\"\"\"|'''|\"|')")
MAX_DOC_CHARS = 20_000
"""A comment that is longer is commented-out code or data, not documentation; its text stays in the span."""


def plain_comments(raws: Iterable[str]) -> str:
    """The text of adjacent comments, as written in the file, without marks, ASCII art and tool pragmas.

    Javadoc and JSDoc tags become lines: `@param {T} x - text` → `param x: text`, `@returns text` → `returns: text`.
    """
    lines: list[str] = []
    for raw in raws:
        lines.extend(_block_lines(raw) if raw.startswith("/*") else _line_comment(raw))
    return tidy(lines)


def tidy(lines: Iterable[str]) -> str:
    """Lines joined: trailing blanks off, ASCII-art lines and repeated empty lines out."""
    kept: list[str] = []
    for line in lines:
        text = line.rstrip()
        if _DECORATION.fullmatch(text):
            text = ""
        if text or (kept and kept[-1]):
            kept.append(text)
    return "\n".join(kept).strip()[:MAX_DOC_CHARS]


def _line_comment(raw: str) -> list[str]:
    mark = _LINE_MARK.match(raw)
    text = raw[mark.end() :] if mark else raw
    return [] if _PRAGMA.match(text.strip()) else [text]


def _block_lines(raw: str) -> list[str]:
    body = raw.removeprefix("/*").removesuffix("*/").lstrip("*!")
    is_doc = raw.startswith("/**")
    lines = []
    for line in body[: MAX_DOC_CHARS * 2].splitlines():
        mark = _BLOCK_LINE_MARK.match(line)
        text = (line[mark.end() :] if mark else line).strip()
        lines.append(_plain_tags(text) if is_doc else text)
    return [] if _PRAGMA.match("".join(lines).strip()) else lines


def _plain_tags(line: str) -> str:
    text = line
    if "{@" in text:
        text = _INLINE_TAG.sub(r"\1", text)
    if "<" in text:
        text = _HTML_TAG.sub("", text)
    if not text.startswith("@"):
        return text
    if parameter := _PARAM_TAG.match(text):
        return f"param {parameter[1]}: {parameter[2]}"
    if returned := _RETURN_TAG.match(text):
        return f"returns: {returned[1]}"
    if other := _OTHER_TAG.match(text):
        return f"{other[1]}: {other[2]}"
    return text


def plain_docstring(literal: str) -> str:
    """The text of a Python string literal used as documentation, dedented; escapes stay as written."""
    prefix = _STRING_PREFIX.match(literal)
    if prefix is None:
        return ""
    body = literal[prefix.end() :].removesuffix(prefix[1])
    return "\n".join(line.rstrip() for line in inspect.cleandoc(body[:MAX_DOC_CHARS]).splitlines())


_MAX_ERROR_SHARE = 0.5  # with more of a file unexplained, its few good nodes mislead more than windows do
MAX_SIGNATURE_CHARS = 1_000  # a default value may be a data table; names and types come first anyway
MAX_VALUE_CHARS = 120  # initial values up to a line: constants, not tables

_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Statement:
    """A character range of the top level that declares no symbol."""

    start: int
    end: int


@dataclass(slots=True)
class CodeFile:
    """What a language found on the top level of a file, in text order.

    `passed` are the ranges that need no symbol (imports, the package clause); `symbol`, `namespace` and
    `doc` describe the module as a whole, `doc_range` is where its documentation stands.
    """

    name: str
    symbol: str
    namespace: str = ""
    doc: str = ""
    doc_range: Statement | None = None
    usings: list[str] = field(default_factory=list)
    items: list[Segment | Member | Statement] = field(default_factory=list)
    passed: list[Statement] = field(default_factory=list)


Reader = Callable[["Node", SourceText, str], CodeFile]


def segment_code(text: str, path: str, language: str, read: Reader) -> SegmentedFile:
    """Parses `text` and assembles what `read` finds; a file that cannot be parsed comes back as windows."""
    source = SourceText(text)
    try:
        root = parse(language, source).root_node
    except UnparseableError as error:
        return segment_unparsed(text, path, language, str(error))
    if not root.has_error:
        return _assemble(read(root, source, path), source, language, ParseHealth.OK, "")
    share = error_share(root)
    if share > _MAX_ERROR_SHARE:
        return segment_unparsed(text, path, language, f"no rule of the grammar fits {share:.0%} of the file")
    found = read(root, source, path)
    _rescue_gaps(found, source)
    lines = ", ".join(map(str, error_lines(root, source)))
    return _assemble(found, source, language, ParseHealth.PARTIAL, f"syntax errors, the first at line {lines}")


def segment_unparsed(text: str, path: str, language: str, detail: str) -> SegmentedFile:
    """A file of code that no tree can be had of, as windows; `detail` says why."""
    segment = window_segment(text, path, language, ParseHealth.TEXT_FALLBACK)
    return SegmentedFile((segment,), ParseHealth.TEXT_FALLBACK, detail)


# assembling


def _assemble(found: CodeFile, source: SourceText, language: str, health: ParseHealth, detail: str) -> SegmentedFile:
    usings = tuple(dict.fromkeys(found.usings))
    types = [item for item in found.items if isinstance(item, Segment)]
    members = list(_module_members(found.items, source))
    segments = list(types)
    if members or found.doc or not types:
        segments.append(_module(found, members, source, language))
    segments.sort(key=lambda segment: (segment.span.char_start, segment.span.char_end))
    numbered = (
        replace(segment, ordinal=i, usings=usings, health=health, members=_qualified(segment.members, segment.symbol))
        for i, segment in enumerate(segments)
    )
    return SegmentedFile(tuple(numbered), health, detail)


def _qualified(members: tuple[Member, ...], owner: str) -> tuple[Member, ...]:
    """Gives nested types their fully qualified name."""
    if not any(member.kind is MemberKind.TYPE for member in members):
        return members
    return tuple(
        replace(member, symbol=f"{owner}.{member.name}", members=_qualified(member.members, f"{owner}.{member.name}"))
        if member.kind is MemberKind.TYPE
        else member
        for member in members
    )


def _module(found: CodeFile, members: list[Member], source: SourceText, language: str) -> Segment:
    starts = [member.span.char_start for member in members]
    ends = [member.span.char_end for member in members]
    if found.doc_range is not None:
        starts.append(found.doc_range.start)
        ends.append(found.doc_range.end)
    if not starts:  # imports or comments only: the file itself, so that it is not silently absent
        members = list(window_members(source.text, source.lines))
        starts, ends = [0], [len(source.text)]
    return Segment(
        name=found.name,
        symbol=found.symbol,
        kind="module",
        span=source.lines.span(min(starts), max(ends)),
        language=language,
        ordinal=0,
        namespace=found.namespace,
        doc=found.doc,
        members=tuple(members),
    )


def _module_members(items: Iterable[Segment | Member | Statement], source: SourceText) -> Iterator[Member]:
    run: Statement | None = None
    for item in items:
        if isinstance(item, Statement):
            run = item if run is None else Statement(run.start, max(run.end, item.end))
            continue
        if run is not None:
            yield from statement_members(source.text, source.lines, run.start, run.end)
            run = None
        if isinstance(item, Member):
            yield item
    if run is not None:
        yield from statement_members(source.text, source.lines, run.start, run.end)


def _rescue_gaps(found: CodeFile, source: SourceText) -> None:
    """In a file with errors every word that no item covers becomes a statement: nothing is lost."""
    covered = [(statement.start, statement.end) for statement in found.passed]
    if found.doc_range is not None:
        covered.append((found.doc_range.start, found.doc_range.end))
    keyed: list[tuple[int, Segment | Member | Statement]] = []
    for item in found.items:
        extent = (item.start, item.end) if isinstance(item, Statement) else (item.span.char_start, item.span.char_end)
        covered.append(extent)
        keyed.append((extent[0], item))
    covered.sort()
    position = 0
    for start, end in [*covered, (len(source.text), len(source.text))]:
        if start > position and _WORD.search(source.text, position, start):
            keyed.append((position, Statement(position, start)))
        position = max(position, end)
    keyed.sort(key=lambda pair: pair[0])
    found.items = [item for _, item in keyed]


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
