"""Reading text from nodes of a view: slices, one-line forms, spans."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING

from rag_assets.contracts.segment import Span

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
