"""Shared by every tree-sitter language: one parser per thread, exact byte → character offsets, tree health."""

from __future__ import annotations

import importlib
import re
import threading
from bisect import bisect_left
from typing import TYPE_CHECKING

from tree_sitter import Language, Parser

from rag_assets.contracts.segment import LineIndex, Span

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

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

    def text_of(self, node: Node) -> str:
        return self.text[self.char(node.start_byte) : self.char(node.end_byte)]


def parse(language: str, source: SourceText) -> Tree:
    """The syntax tree of `source`. KeyError for a language without grammar."""
    return parser(language).parse(source.utf8)
