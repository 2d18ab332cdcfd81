"""Comments and strings of languages without a grammar: what is no code is blanked, character by character."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from rag_assets.languages.doc_comments import MAX_DOC_CHARS, plain_comments

_QUOTED = r'"(?:[^"\\\n]|\\[\s\S])*+"?'
_APOSTROPHES = r"'(?:[^'\\\n]|\\[\s\S])*+'"
_OF_LISP = r'"(?:[^"\\]|\\[\s\S])*+"?'
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n][^'\n]{0,8})'"  # one character, for a lone apostrophe is a lifetime, a type, a prime
_TRIPLE = r'"""[\s\S]*?(?:"""|\Z)'
_HEREDOC = r"""<<[-~]?(?P<quote>["']?)(?P<heredoc>[A-Z_]\w*)(?P=quote)"""
_SLASHES = r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)"
_HASH = r"(?<![^\s;(){}])\#[^\n]*"

_BRANCHES = r"^[ \t]*\#[ \t]*(?:if|ifdef|ifndef|elif|else|endif|pragma|undef|error)\b[^\n]*"

_STYLES: dict[str, tuple[str, str]] = {
    "c": (_SLASHES, rf'{_BRANCHES}|(?<!\w)(?:u8|[uUL])?R"(?P<raw>\w*)\(|{_QUOTED}|{_CHARACTER}'),
    "clojure": (rf";[^\n]*|(?<=[^\s()\[\]{{}};\"]\n)[ \t]+{_OF_LISP}", rf"\\[\s\S]|{_OF_LISP}"),
    "dart": (_SLASHES, rf"{_TRIPLE}|'''[\s\S]*?(?:'''|\Z)|{_QUOTED}|{_APOSTROPHES}"),
    "elixir": (rf"{_HASH}|@(?:module|type)?doc[ \t]+(?:~[sS])?{_TRIPLE}", rf"(?:~\w)?{_TRIPLE}|{_QUOTED}"),
    "erlang": (r"%[^\n]*", _QUOTED),
    "fsharp": (r"//[^\n]*|\(\*(?!\))[\s\S]*?(?:\*\)|\Z)", rf"{_TRIPLE}|{_QUOTED}|{_CHARACTER}"),
    "go": (_SLASHES, rf"`[^`]*(?:`|\Z)|{_QUOTED}|{_CHARACTER}"),
    "hash": (_HASH, rf"{_TRIPLE}|{_HEREDOC}|{_QUOTED}|{_APOSTROPHES}"),
    "haskell": (r"--+(?![!#$%&*+./<=>?@\\^|~:])[^\n]*|\{-(?!\#)[\s\S]*?(?:-\}|\Z)", rf"{_QUOTED}|{_CHARACTER}"),
    "javascript": (_SLASHES, rf"`(?:[^`\\]|\\[\s\S])*+(?:`|\Z)|{_QUOTED}|{_APOSTROPHES}"),
    "kotlin": (_SLASHES, rf"{_TRIPLE}|{_QUOTED}|{_CHARACTER}"),
    "lua": (r"--\[(=*)\[[\s\S]*?(?:\]\1\]|\Z)|--[^\n]*", rf"\[(=*)\[[\s\S]*?(?:\]\2\]|\Z)|{_QUOTED}|{_APOSTROPHES}"),
    "php": (
        rf"{_SLASHES}|\#(?!\[)[^\n]*",
        rf"<\?(?:php\b|=)?|\?>|<<<(?P<quote>['\"]?)(?P<heredoc>\w+)(?P=quote)\r?\n|{_QUOTED}|{_APOSTROPHES}",
    ),
    "powershell": (
        rf"<\#[\s\S]*?(?:\#>|\Z)|{_HASH}",
        rf"@\"\r?\n[\s\S]*?(?:\n\"@|\Z)|@'\r?\n[\s\S]*?(?:\n'@|\Z)|\"(?:[^\"`\n]|`[\s\S])*+\"?|{_APOSTROPHES}",
    ),
    "python": (_HASH, rf"{_TRIPLE}|'''[\s\S]*?(?:'''|\Z)|{_QUOTED}|{_APOSTROPHES}"),
    "ruby": (
        rf"^=begin\b[\s\S]*?(?:^=end\b[^\n]*|\Z)|{_HASH}",
        rf"{_HEREDOC}|{_QUOTED}|{_APOSTROPHES}",
    ),
    "rust": (_SLASHES, rf'r(\#+)"[\s\S]*?(?:"\1|\Z)|{_QUOTED}|{_CHARACTER}'),
    "slashes_and_hash": (rf"{_SLASHES}|{_HASH}", rf"{_TRIPLE}|{_HEREDOC}|{_QUOTED}"),
    "verilog": (_SLASHES, rf"^[ \t]*`(?!include)\w+[^\n]*|{_QUOTED}"),
    "vb": (r"'[^\n]*|(?<![^\n])[ \t]*REM\b[^\n]*", r'"[^"\n]*"?'),
}
"""Name of a style → what is a comment, what is a string. Strings do not cross lines unless they say so: an apostrophe
in a text must not hide the code below it. Of a string that a word of its own ends, what begins it, up to that word."""
_ENDS = {
    "heredoc": re.compile(r"^[ \t]*(\w+)", re.MULTILINE),
    "raw": re.compile(r"\)(\w*)\""),
}

_NO_BREAK = re.compile(r"[^\n]+")
_OPENING = re.compile(r"<#|\(\*|\{-|--\[=*\[|=begin\b|@\w*doc[ \t]+(?:~[sS])?\"\"\"|'+|%+|;+")
_CLOSING = re.compile(r"(?:#>|\*\)|-\}|\]=*\]|^=end\b.*|\"\"\")\s*\Z", re.MULTILINE)
_XML_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_XML_NAME = re.compile(r"<\w+\s+(?:cref|name|langword)=\"(?:\w:)?([^\"<>\n]{1,200})\"\s*/>")


@dataclass(frozen=True, slots=True)
class Masked:
    """A text whose comments and strings are blanks, of the same length, and where the comments were."""

    code: str
    comments: tuple[tuple[int, int], ...]


@cache
def _scanner(style: str) -> re.Pattern[str]:
    comment, string = _STYLES[style]
    # References to groups are counted from the group around the comments.
    shifted = re.sub(r"\\([12])", lambda ref: rf"\{int(ref[1]) + 1}", rf"(?P<comment>{comment})|{string}")
    return re.compile(shifted, re.MULTILINE)


def masked(text: str, style: str, kept: re.Pattern[str] | None = None) -> Masked:
    """`text` with comments and strings blanked, but for what is `kept` of strings; line ends stay, so that places are
    the same."""
    pieces: list[str] = []
    comments: list[tuple[int, int]] = []
    position = 0
    for is_comment, start, end in _scanned(text, style):
        pieces.append(text[position:start])
        position = start
        if is_comment:
            comments.append((start, end))
        elif kept is not None:
            for code in kept.finditer(text, start, end):
                pieces += _blank(text[position : code.start()]), code[0]
                position = code.end()
        pieces.append(_blank(text[position:end]))
        position = end
    pieces.append(text[position:])
    return Masked("".join(pieces), tuple(comments))


def strings_in(text: str, style: str) -> Iterator[tuple[int, int]]:
    """Where each string of a text begins and ends, with its marks."""
    return ((start, end) for is_comment, start, end in _scanned(text, style) if not is_comment)


def _scanned(text: str, style: str) -> Iterator[tuple[bool, int, int]]:
    """(whether it is a comment, start, end) of each comment and string, in text order."""
    ends: dict[str, dict[str, list[int]]] = {}
    scanner = _scanner(style)
    at = 0
    while found := scanner.search(text, at):
        start, at = found.span()
        kind = found.lastgroup or ""
        if kind in _ENDS:
            if kind not in ends:
                ends[kind] = _words_that_end(text, _ENDS[kind])
            places = ends[kind].get(found[kind], [])
            following = bisect_right(places, at)
            if following == len(places):  # it never ends, so it is none
                at = start + 1
                continue
            at = places[following]
        yield kind == "comment", start, at


def _words_that_end(text: str, pattern: re.Pattern[str]) -> dict[str, list[int]]:
    """The words that may end a string of their own → behind each of them."""
    places: dict[str, list[int]] = {}
    for found in pattern.finditer(text):
        places.setdefault(found[1], []).append(found.end())
    return places


def _blank(text: str) -> str:
    return _NO_BREAK.sub(lambda run: " " * len(run[0]), text)


def plain_text(raws: Iterable[str]) -> str:
    """The text of adjacent comments without marks, whatever the language; tags of XML documentation go too."""
    return plain_comments(line for raw in raws for line in _in_c_style(raw))


def _in_c_style(raw: str) -> list[str]:
    opening = _OPENING.match(raw)
    if opening is None:
        return [_without_tags(raw) if raw.startswith("///") else raw]
    body = _CLOSING.sub("", raw[opening.end() : opening.end() + MAX_DOC_CHARS])
    return [f"// {_without_tags(line).strip()}" for line in body.splitlines()]


def _without_tags(line: str) -> str:
    return _XML_TAG.sub("", _XML_NAME.sub(r"\1", line))
