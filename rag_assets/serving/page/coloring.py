"""Source in colours: comments, strings, numbers and keywords, in one pass that takes linear time on any text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

from rag_assets.printable import printable

_MOST_CHARS = 400_000
_STRING = r"\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?"
_SLASHES = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
_HASH = r"#[^\n]*+"
_COMMENTS = {
    **dict.fromkeys(("csharp", "java", "go", "javascript", "typescript", "tsx"), _SLASHES),
    **dict.fromkeys(("python", "yaml", "toml", "shell", "dockerfile"), _HASH),
    "sql": r"--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?",
}
_KEYWORDS = """
abstract alter and as async await base begin bool boolean break byte case catch char class const constructor continue
create declare def default delete do double else end enum except export extends false final finally float for foreach
from func function get go if implements import in index insert int interface internal into is join key lambda let long
match namespace new nil none not null object of on or order out override package params partial pass primary private
protected public raise readonly record ref return sealed select self set static string struct super switch table this
throw throws true try type typeof union update using values var view virtual void when where while with yield
"""
_WORDS = frozenset(_KEYWORDS.split())


def colored_lines(text: str, language: str) -> Iterator[Markup]:
    """Each line of a text as HTML; without colours where the language is not known, or the text is very long."""
    comments = _COMMENTS.get(language)
    if comments is None or len(text) > _MOST_CHARS:
        yield from (escape(printable(line)) for line in text.split("\n"))
        return
    line = Markup()
    for kind, part in _pieces(text, comments):
        first, *others = part.split("\n")
        line += _marked(kind, first)
        for other in others:
            yield line
            line = _marked(kind, other)
    yield line


def _pieces(text: str, comments: str) -> Iterator[tuple[str, str]]:
    pattern = re.compile(rf"(?P<comment>{comments})|(?P<string>{_STRING})|(?P<word>[^\W\d]\w*+)|(?P<number>\d[\w.]*+)")
    at = 0
    for found in pattern.finditer(text):
        yield "", text[at : found.start()]
        kind = found.lastgroup or ""
        if kind == "word":
            word = found[0].lower() if found[0].isupper() else found[0]  # as SQL is often written
            kind = "keyword" if word in _WORDS else ""
        yield kind, found[0]
        at = found.end()
    yield "", text[at:]


def _marked(kind: str, text: str) -> Markup:
    safe = escape(printable(text))
    return Markup(f'<span class="{kind}">{safe}</span>') if kind and text else safe
