"""The Markdown of an answer as HTML: paragraphs, lists and code. What is quoted in it may be anybody's, so it makes no
links and no images, and no HTML of its own comes through."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from rag_assets.printable import printable

_CITATION = re.compile(r"\[(\d{1,3})\]")
_NUMBERS = "citations"


def answer_html(text: str, numbers: Collection[int]) -> Markup:
    """`numbers` are those of the footnotes that `[n]` leads to."""
    return Markup(_parser().render(printable(text), {_NUMBERS: frozenset(numbers)}))


@cache
def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False})
    made.disable(["link", "image", "autolink", "reference", "html_block", "html_inline"])
    made.add_render_rule("text", _text)
    return made


def _text(_: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    def linked(mark: re.Match[str]) -> str:
        number = int(mark[1])
        return f'<sup><a href="#source-{number}">{number}</a></sup>' if number in env[_NUMBERS] else mark[0]

    return _CITATION.sub(linked, str(escape(tokens[at].content)))
