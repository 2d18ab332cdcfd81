"""The `#if` branches that the view of a file leaves out: read once more, with the other choice."""

from __future__ import annotations

from collections.abc import Sequence

from rag_assets.languages.csharp.syntax.error_recovery import SourceView, parse_csharp
from rag_assets.languages.csharp.syntax.lexer import scan
from rag_assets.languages.csharp.syntax.masks import Mask, in_order, masked_text
from rag_assets.languages.csharp.syntax.preprocessor import choose, find_groups
from rag_assets.languages.treesitter.parsing import UnparseableError

Ranges = Sequence[tuple[int, int]]
"""Character ranges."""


def left_out(view: SourceView) -> Ranges:
    """The dropped branches of a view that hold text."""
    text = view.source.text
    return [(start, end) for start, end, _ in view.dropped if not text[start:end].isspace()]


def other_view(text: str, view: SourceView) -> SourceView | None:
    """The file as it reads with the other branches; None where that does not show them either. Offsets stay."""
    found = scan(text)
    groups = find_groups(found)
    wanted = left_out(view)
    for defined in (False, True):
        choice = choose(groups, defined)
        hidden = [(start, end) for start, end, _ in choice.dropped]
        if any(start < last and first < end for start, end in wanted for first, last in hidden):
            continue
        ranges = [*choice.directives, *hidden]
        masked = masked_text(text, in_order([Mask(start, end) for start, end in ranges]))
        try:
            return parse_csharp(masked).view
        except UnparseableError:
            return None
    return None


def is_within(ranges: Ranges, char: int) -> bool:
    return any(start <= char < end for start, end in ranges)
