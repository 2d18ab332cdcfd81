"""The Markdown of an answer as HTML: paragraphs, lists and code. What is quoted in it may be anybody's, so it makes no
links and no images, and no HTML of its own comes through."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from rag_assets.printable import printable
from rag_assets.serving.page.coloring import colored_lines

_CITATION = re.compile(r"\[(\d{1,3})\]")
_NUMBERS, _LINES = "citations", "lines"


def answer_html(text: str, numbers: Collection[int], lines: Mapping[int, int]) -> Markup:
    """`numbers` are those of the footnotes that `[n]` leads to, `lines` which line of its file a line of `text` is."""
    return Markup(_parser().render(printable(text), {_NUMBERS: frozenset(numbers), _LINES: lines}))


@cache
def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False})
    made.disable(["link", "image", "autolink", "reference", "html_block", "html_inline"])
    made.add_render_rule("text", _text)
    made.add_render_rule("fence", _code)
    return made


def _text(_: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    def linked(mark: re.Match[str]) -> str:
        number = int(mark[1])
        return f'<sup><a href="#source-{number}">{number}</a></sup>' if number in env[_NUMBERS] else mark[0]

    return _CITATION.sub(linked, str(escape(tokens[at].content)))


def _code(_: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Quoted code in colours, with the numbers of its lines."""
    token = tokens[at]
    first = (token.map or [0])[0] + 1
    rows = (
        f'<span class="row"><span class="no">{env[_LINES].get(first + number, "")}</span>{line}\n</span>'
        for number, line in enumerate(colored_lines(token.content.removesuffix("\n"), token.info.strip()))
    )
    return f'<pre class="code" tabindex="0" role="group" aria-label="Quoted code">{"".join(rows)}</pre>\n'
