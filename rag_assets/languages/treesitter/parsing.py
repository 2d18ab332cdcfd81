"""Shared by every tree-sitter language: one parser per thread, exact byte → character offsets, tree health."""

from __future__ import annotations

import importlib
import re
import threading
from bisect import bisect_left

from tree_sitter import Language, Node, Parser, Point, Tree

from rag_assets.contracts.segment import LineIndex, Span

MAX_NESTED_TYPES = 16
"""Types nested deeper keep their place and signature but lose their members: no recursion error on hostile input."""

_GRAMMARS: dict[str, tuple[str, str]] = {
    "csharp": ("tree_sitter_c_sharp", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "python": ("tree_sitter_python", "language"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
"""Language → module of its wheel and the function that returns the grammar; imported on first use."""

_CONTINUATION_RUN = re.compile(rb"[\x80-\xbf]+")
_thread = threading.local()


class UnparseableError(ValueError):
    """A text that would take the parser unbounded time or memory; the message says why. Use text windows."""


def parser(language: str) -> Parser:
    """The parser of this thread for `language`, for a parser cannot be shared. KeyError without a grammar."""
    parsers: dict[str, Parser] | None = getattr(_thread, "parsers", None)
    if parsers is None:
        parsers = _thread.parsers = {}
    made = parsers.get(language)
    if made is None:
        module, function = _GRAMMARS[language]
        made = parsers[language] = Parser(Language(getattr(importlib.import_module(module), function)()))
    return made


class SourceText:
    """A text, its UTF-8 bytes as tree-sitter sees them, and the way back from byte to character offsets.

    Lone surrogates (which discovery replaces, but nothing here relies on it) become `?` in the bytes, one
    byte for one character, so that offsets stay exact.
    """

    __slots__ = ("_continuation", "_lines", "text", "utf8")

    def __init__(self, text: str) -> None:
        self.text = text
        self.utf8 = text.encode("utf-8", "replace")
        self._continuation: list[int] = []
        if len(self.utf8) != len(text):
            for run in _CONTINUATION_RUN.finditer(self.utf8):
                self._continuation.extend(range(run.start(), run.end()))
        self._lines: LineIndex | None = None

    @property
    def lines(self) -> LineIndex:
        if self._lines is None:
            self._lines = LineIndex(self.text)
        return self._lines

    def char(self, byte_offset: int) -> int:
        """Character offset of a byte offset: minus the continuation bytes before it; the identity for ASCII."""
        continuation = self._continuation
        return byte_offset - bisect_left(continuation, byte_offset) if continuation else byte_offset

    def span(self, start_byte: int, end_byte: int) -> Span:
        return self.lines.span(self.char(start_byte), self.char(end_byte))

    def slice(self, start_byte: int, end_byte: int) -> str:
        return self.text[self.char(start_byte) : self.char(end_byte)]

    def text_of(self, node: Node) -> str:
        return self.slice(node.start_byte, node.end_byte)


# What keeps a parse bounded. tree-sitter reports its progress about once per 100 operations; real files of all
# seven grammars take one report per 13 to 160 bytes. Some malformed texts (`lambda x: ` 4,000 times as JavaScript)
# need quadratically many: 40 KB took 8.6 s.
_BYTES_PER_REPORT = 4
_FREE_REPORTS = 1_000
_CHUNK = 1 << 16  # what is read again when the parser goes back; the first read takes the whole text uncopied

# Others need memory quadratic in the length of one ambiguous run: 6 KB of `a=>` as Java took 1.4 GB, 8 KB of
# `A<` as C# 250 MB. At these limits the same runs stay under 60 MB.
_MAX_OPEN_ANGLES = 400
_MAX_JAVA_FAT_ARROWS = 100  # Java has no such token; a few in a broken file are harmless
_ANGLE_LANGUAGES = frozenset({"csharp", "java", "typescript", "tsx"})

_QUOTED_OR_COMMENT = re.compile(
    r""""(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)""",
)


def parse(language: str, source: SourceText) -> Tree:
    """The syntax tree of `source`, in time and memory bounded by its size.

    Raises UnparseableError where tree-sitter would exceed the bounds (deterministically: operations are
    counted, not seconds) and KeyError for a language without grammar.
    """
    refuse_runaway(language, source.text)
    left = _FREE_REPORTS + len(source.utf8) // _BYTES_PER_REPORT
    utf8 = source.utf8

    def read(offset: int, _: Point) -> bytes:
        return utf8[offset : offset + _CHUNK] if offset else utf8  # bytes: a memoryview crashes `Node.text`

    def over_budget(_offset: int, _has_error: bool) -> bool:
        nonlocal left
        left -= 1
        return left < 0

    made = parser(language)
    try:
        return made.parse(read, progress_callback=over_budget)
    except ValueError:
        made.reset()  # otherwise the next parse of this thread would go on with this text
        raise UnparseableError("the parser gave up: too many ambiguities for its size") from None


def refuse_runaway(language: str, text: str) -> None:
    """Raises UnparseableError for a text that would take tree-sitter memory out of all proportion."""
    if language == "java" and text.count("=>") > _MAX_JAVA_FAT_ARROWS:
        arrows = _QUOTED_OR_COMMENT.sub("", text).count("=>")
        if arrows > _MAX_JAVA_FAT_ARROWS:
            raise UnparseableError(f"{arrows} times `=>`, which is not Java")
    if language in _ANGLE_LANGUAGES and text.count("<") > _MAX_OPEN_ANGLES:
        for statement in re.split(r"[;}]", _QUOTED_OR_COMMENT.sub("", text)):
            closed = statement.count(">") - statement.count("=>") - statement.count("->")
            unclosed = statement.count("<") - closed
            if unclosed > _MAX_OPEN_ANGLES:
                raise UnparseableError(f"{unclosed} unclosed `<` in one statement")


_WHOLE_NODE = ("_definition", "_declaration", "_statement", "comment")
"""How the four grammars that use `error_share` name complete statements below a root that is itself an error."""


def error_share(root: Node) -> float:
    """The share (0–1) of the bytes below `root` that no top-level rule of the grammar could explain."""
    size = root.end_byte - root.start_byte
    if size == 0:
        return 0.0
    children = root.named_children
    if root.type == "ERROR":
        good = sum(c.end_byte - c.start_byte for c in children if c.type.endswith(_WHOLE_NODE))
        return 1 - good / size
    return sum(c.end_byte - c.start_byte for c in children if c.is_error) / size


def error_lines(root: Node, source: SourceText, limit: int = 5) -> list[int]:
    """1-based lines of the first errors, at most `limit`, without walking the parts that are clean."""
    lines: dict[int, None] = {}
    stack = [root]
    while stack and len(lines) < limit:
        node = stack.pop()
        inner = []
        if node.has_error and not node.is_error:
            inner = [child for child in reversed(node.children) if child.has_error or child.is_missing]
        if node.is_missing or (node.has_error and not inner):  # a missing line end is no node of its own
            lines[source.lines.line_of(source.char(node.start_byte))] = None
        stack.extend(inner)
    return list(lines)
