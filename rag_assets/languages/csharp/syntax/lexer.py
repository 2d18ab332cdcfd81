"""What is code and what is not in a C# text: the linear scanner that everything about masking stands on.

Comments, string contents and preprocessor directives become blanks of the same length, so that whoever looks for
a keyword or a bracket afterwards cannot find one inside a string, and every offset stays valid. Every pattern is
possessive or bounded by its line: the cost is linear whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_START = re.compile(r"""//|/\*|"|'|\#""")  # alternatives that begin with a literal: sre skips to them fast
_LITERAL_PREFIX = frozenset("$@")
_LINE_REST = re.compile(r"[^\r\n]*+")
_DIRECTIVE = re.compile(r"#[ \t]*+(\w++|[:!])?+[ \t]*+([^\r\n]*+)")
_QUOTES = re.compile(r'"++')
_STRING = re.compile(r'"[^"\\\r\n]*+(?:\\.[^"\\\r\n]*+)*+"?+')
_CHAR = re.compile(r"'[^'\\\r\n]*+(?:\\.[^'\\\r\n]*+)*+'?+")
_VERBATIM = re.compile(r'"[^"]*+(?:""[^"]*+)*+"?+')
_INTERPOLATED_TEXT = re.compile(r'(?:[^"\\{\r\n]++|\\.|\{\{)*+')
_INTERPOLATED_VERBATIM_TEXT = re.compile(r'(?:[^"{]++|""|\{\{)*+')
_HOLE_TOKEN = re.compile(r"""//|/\*|"|'|\{|\}""")
_CONDITIONAL = frozenset({"if", "elif", "else", "endif"})
_VISIBLE = re.compile(r"[^\r\n]")
_BRACKET = re.compile(r"[(){}\[\]]")
_CLOSER = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Directive:
    """One preprocessor line: `word` is `if`, `region`, … (`:` and `!` for file-based programs), `rest` what follows."""

    word: str
    rest: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scan:
    """`code` is as long as the text: comments, directives and string contents are blank, quotes and line ends stay."""

    code: str
    directives: tuple[Directive, ...]


def scan(text: str) -> Scan:
    """Blanks what is not code. Pure; linear in the length of `text`; malformed text is scanned to its end."""
    pieces: list[str] = []
    directives: list[Directive] = []
    strings = _Strings(text)
    done = 0
    found = _START.search(text, 0)
    while found:
        start, token = found.start(), found.group()
        if token == "#":
            if not _begins_line(text, start):
                found = _START.search(text, start + 1)
                continue
            end, content = _directive(text, start, directives), (start, 0)
        elif token == "//":
            end, content = _LINE_REST.match(text, start).end(), (start, 0)  # type: ignore[union-attr] # matches always
        elif token == "/*":
            end, content = _comment_end(text, start), (start, 0)
        else:
            end = strings.end_of(start, _prefix(text, start, done) + token)
            content = (found.end(), 1 if end > found.end() and text[end - 1] in "\"'" else 0)
        pieces.append(text[done : content[0]])
        pieces.append(blank(text[content[0] : end - content[1]]))
        pieces.append(text[end - content[1] : end])
        done = end
        found = _START.search(text, done)
    pieces.append(text[done:])
    return Scan("".join(pieces), tuple(directives))


def blank(text: str) -> str:
    """Spaces for everything but line ends."""
    if "\n" in text or "\r" in text:
        return _VISIBLE.sub(" ", text)
    return " " * len(text)


def brackets(code: str) -> dict[int, int]:
    """Position of each opening bracket of `code` (of a Scan) → that of its closing one; unmatched ones are absent."""
    matches: dict[int, int] = {}
    open_at: list[tuple[str, int]] = []
    for found in _BRACKET.finditer(code):
        character = found.group()
        opener = _CLOSER.get(character)
        if opener is None:
            open_at.append((character, found.start()))
        elif open_at and open_at[-1][0] == opener:
            matches[open_at.pop()[1]] = found.start()
        elif character == "}":
            # A brace outranks what is open inside it: `{ f( }` closes the block.
            while open_at and open_at[-1][0] != "{":
                open_at.pop()
            if open_at:
                matches[open_at.pop()[1]] = found.start()
    return matches


def _begins_line(text: str, position: int) -> bool:
    """Whether only blanks stand before `position` on its line."""
    while position and text[position - 1] in " \t":
        position -= 1
    return position == 0 or text[position - 1] in "\r\n\ufeff"


def _prefix(text: str, quote: int, lowest: int) -> str:
    """The `$` and `@` before a quote, not before offset `lowest`."""
    start = quote
    while start > lowest and text[start - 1] in _LITERAL_PREFIX:
        start -= 1
    return text[start:quote]


def _directive(text: str, start: int, directives: list[Directive]) -> int:
    found = _DIRECTIVE.match(text, start)
    if found is None:  # cannot happen: the pattern matches a lone #
        return start + 1
    rest = found.group(2).split("//", 1)[0].strip()
    directives.append(Directive(found.group(1) or "", rest, start, found.end()))
    return found.end()


def _comment_end(text: str, start: int) -> int:
    end = text.find("*/", start + 2)
    return len(text) if end == -1 else end + 2


class _Strings:
    """Finds where string and character literals end. Remembers that holes are broken, which keeps the scan linear."""

    __slots__ = ("_holes_broken", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._holes_broken = False

    def end_of(self, quote: int, token: str) -> int:
        """The offset after the literal whose first quote is at `quote`; `token` is its prefix and that quote."""
        if token[-1] == "'":
            return _end(_CHAR, self._text, quote)
        if "@" not in token:
            quotes = _QUOTES.match(self._text, quote).end() - quote  # type: ignore[union-attr] # one quote is there
            if quotes >= 3:
                return self._raw_end(quote, quotes)
        if "$" in token and not self._holes_broken:
            end = self._interpolated_end(quote, "@" in token)
            if end != -1:
                return end
            self._holes_broken = True
        return _end(_VERBATIM if "@" in token else _STRING, self._text, quote)

    def _raw_end(self, quote: int, quotes: int) -> int:
        closing = self._text.find('"' * quotes, quote + quotes)
        if closing == -1:
            return len(self._text)
        return _end(_QUOTES, self._text, closing)

    def _interpolated_end(self, quote: int, verbatim: bool) -> int:
        """The offset after the closing quote, -1 if a hole is never closed. No recursion: holes nest without limit."""
        text, length = self._text, len(self._text)
        modes = [verbatim]  # of the strings that are open, outermost first
        depths: list[int] = []  # open braces in the hole of each string but the last
        position = quote + 1
        in_text = True
        while position < length:
            if in_text:
                pattern = _INTERPOLATED_VERBATIM_TEXT if modes[-1] else _INTERPOLATED_TEXT
                position = _end(pattern, text, position)
                if text[position : position + 1] == "{":
                    depths.append(0)
                    in_text = False
                    position += 1
                    continue
                if text[position : position + 1] in ('"', "\\"):
                    position += 1
                modes.pop()  # closed, or cut off at the end of its line
                if not modes:
                    return position
                in_text = False
                continue
            found = _HOLE_TOKEN.search(text, position)
            if found is None:
                return -1
            token = found.group()
            quote = found.start()
            position = found.end()
            if token == '"':
                token = _prefix(text, quote, 0) + token
            if token == "{":
                depths[-1] += 1
            elif token == "}":
                if depths[-1]:
                    depths[-1] -= 1
                else:
                    depths.pop()
                    in_text = True
            elif token == "//":
                position = _end(_LINE_REST, text, position)
            elif token == "/*":
                position = _comment_end(text, quote)
            elif "$" in token and ("@" in token or not text.startswith('""', position)):
                modes.append("@" in token)
                in_text = True
            else:
                position = self.end_of(quote, token)
        return -1


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position + 1


def code_directives(found: Scan) -> Iterator[Directive]:
    """The directives that decide what is compiled, in order: if, elif, else, endif."""
    return (directive for directive in found.directives if directive.word in _CONDITIONAL)
