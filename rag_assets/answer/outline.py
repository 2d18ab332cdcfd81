"""The parts of a piece of source: its types, members, paragraphs, each with where its body begins. Pure.

Sections can begin and end inside a type, and be of any language, so this reads marks and never a grammar: what it takes
for a part is always an exact range of the text, and whatever it does not understand stays in one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.contracts.time_codes import PAGE_BREAK, TRANSCRIPTS

BRACES = frozenset({"csharp", "java", "typescript", "javascript", "tsx", "go", "rust", "cpp", "c", "kotlin", "php"})
PROSE = frozenset({"markdown", "rst", "text", "html", "pdf", "docx", *TRANSCRIPTS})


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """`text[start:end]`; `body` is where what a signature leaves out begins, `end` where there is nothing of that kind.
    `inside` counts the types around it."""

    start: int
    end: int
    body: int
    inside: int = 0


_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
    r'|(?P<text>\$*"""+.*?"""+|[$@]*@[$]*"(?:[^"]|"")*"|\$?"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,8}\'|`[^`]*`)'
    r"|(?P<directive>^[ \t]*#\w[^\n]*)"
    r"|(?P<mark>=>|[{}();\[\]])",
    re.DOTALL | re.MULTILINE,
)
_TYPE_HEAD = re.compile(r"\b(?:class|struct|interface|record|namespace|module|impl|trait|object)\b")
_STRIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|^\s*\[[^\n]*\]\s*$", re.DOTALL | re.MULTILINE)
_AFTER_BODY = re.compile(r"\s*=[^;{}]*;|\s*;")
_OPEN, _CLOSE = {"(": ")", "[": "]"}, {")", "]"}

_DEFINITION = re.compile(r"^[ \t]*(?:async\s+def|def|class)\s+\w+[^\n]*", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n\s*|\s*\f\s*")  # a form feed ends a page
_FENCED = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t]*```", re.MULTILINE)
_SQL_BODY = re.compile(r"^\s*AS\b|^\s*BEGIN\b", re.IGNORECASE | re.MULTILINE)
_SQL_ROUTINE = re.compile(r"\b(?:PROC(?:EDURE)?|FUNCTION|TRIGGER|VIEW)\b", re.IGNORECASE)


@lru_cache(maxsize=1_024)  # packing and quoting look at the same texts, and so does the next turn of a conversation
def outline(text: str, language: str) -> tuple[OutlinePart, ...]:
    """The parts of a text in their order, without blanks around them; together they have every word of it but the heads
    of types, which are parts of their own. O(length)."""
    if language in BRACES:
        found = list(_in_braces(text))
    elif language == "python":
        found = list(_by_definitions(text))
    elif language == "sql":
        found = [_sql_part(text)]
    else:
        found = list(_paragraphs(text))
    return tuple(part for part in (_trimmed(text, part) for part in found) if part.end > part.start)


def _in_braces(text: str) -> Iterator[OutlinePart]:
    """Types are gone into; every other `{ … }` and `=> …;` is the body of a member."""
    start, depth, at = 0, 0, 0
    round_depth = 0
    while (found := _TOKEN.search(text, at)) is not None:
        at = found.end()
        mark = found["mark"]
        if mark is None:
            continue
        if mark in _OPEN:
            round_depth += 1
        elif mark in _CLOSE:
            round_depth = max(0, round_depth - 1)
        elif round_depth:
            continue
        elif mark == ";":
            yield OutlinePart(start, at, at, depth)
            start = at
        elif mark == "}":
            if text[start : found.start()].strip():
                yield OutlinePart(start, found.start(), found.start(), depth)
            depth, start = max(0, depth - 1), at
        elif mark == "{" and _is_type(text[start : found.start()]):
            yield OutlinePart(start, found.start(), found.start(), depth)
            depth, start = depth + 1, at
        else:
            at = _end_of_body(text, found.start(), mark)
            yield OutlinePart(start, at, found.start(), depth)
            start = at
    if text[start:].strip():
        yield OutlinePart(start, len(text), len(text), depth)


def _is_type(head: str) -> bool:
    bare = _STRIPPED.sub("", head)
    return _TYPE_HEAD.search(bare) is not None and "=" not in bare.partition("where")[0].partition(":")[0]


def _end_of_body(text: str, opened: int, mark: str) -> int:
    """Behind the brace that closes the one at `opened`, or behind the semicolon that ends an expression."""
    depth, at = 0, opened
    while (found := _TOKEN.search(text, at)) is not None:
        at = found.end()
        if found["mark"] in ("{", "(", "["):
            depth += 1
        elif found["mark"] in ("}", ")", "]"):
            depth -= 1
            if depth < 0:  # the text ends inside of what surrounds it
                return found.start()
            if depth == 0 and found["mark"] == "}" and mark == "{":
                after = _AFTER_BODY.match(text, at)  # `{ get; } = new();`
                return after.end() if after else at
        elif found["mark"] == ";" and depth == 0 and mark == "=>":
            return at
    return len(text)


def _by_definitions(text: str) -> Iterator[OutlinePart]:
    starts = [found.start() for found in _DEFINITION.finditer(text)]
    if not starts:
        yield from _paragraphs(text)
        return
    if text[: starts[0]].strip():
        yield OutlinePart(0, starts[0], starts[0])
    for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
        head = text.find("\n", begin)
        yield OutlinePart(begin, end, min(end, head + 1) if head >= 0 else end)


def _sql_part(text: str) -> OutlinePart:
    """A routine without its body is its name and parameters; a table is all signature."""
    body = _SQL_BODY.search(text)
    routine = _SQL_ROUTINE.search(text[:200])
    return OutlinePart(0, len(text), body.start() if body and routine else len(text))


def _paragraphs(text: str) -> Iterator[OutlinePart]:
    """At blank lines outside of fenced code."""
    begins_inside = len(_FENCE_LINE.findall(text)) % 2
    fences = [found.span() for found in _FENCED.finditer(text)] if not begins_inside else []
    at = 0
    for found in _BLANK.finditer(text):
        if any(start < found.start() < end for start, end in fences):
            continue
        yield OutlinePart(at, found.start(), found.start())
        at = found.end()
    yield OutlinePart(at, len(text), len(text))


def _trimmed(text: str, part: OutlinePart) -> OutlinePart:
    start, end = part.start, part.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    line = max(text.rfind("\n", 0, start), text.rfind(PAGE_BREAK, 0, start)) + 1
    if not text[line:start].strip():
        start = line  # with its indentation, so that the text stays one that can be compared
    return OutlinePart(start, end, min(max(part.body, start), end), part.inside)
