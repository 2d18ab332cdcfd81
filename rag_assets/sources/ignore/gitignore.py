"""The pattern language of `.gitignore`, exactly as git matches it (dir.c and wildmatch.c), in linear time.

This is our own code because the common library matches whole paths as files. It differs from git for `*` followed by
`!*/`, and for `foo/**` and the directory `foo`. A hostile pattern can make its regular expressions backtrack for
minutes. The tests compare this module with `git check-ignore`. One difference is intended: `?` and `[…]` match a
character here, and a byte of its UTF-8 form in git.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_SKIP = "**"  # a segment that stands for any number of directories
_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}

Segment = str | re.Pattern[str]  # a literal name, `**`, or a regular expression for one name


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file. `segments` has one item if the pattern matches the name alone."""

    text: str
    line: int
    negated: bool
    directories_only: bool
    anchored: bool
    segments: tuple[Segment, ...]

    def matches(self, parts: Sequence[str], is_directory: bool) -> bool:
        """True if the pattern matches the path of these components, relative to the pattern's directory."""
        if self.directories_only and not is_directory:
            return False
        if not self.anchored:
            return _matches_name(self.segments[0], parts[-1])
        return _matches_path(self.segments, parts)


def parse_patterns(text: str) -> tuple[Pattern, ...]:
    """The patterns of an ignore file, without comments, blank lines and patterns that can never match, as in git."""
    lines = text.removeprefix("\ufeff").split("\n")
    found = (parse_pattern(line.removesuffix("\r"), number) for number, line in enumerate(lines, start=1))
    return tuple(pattern for pattern in found if pattern is not None)


def parse_pattern(line: str, number: int = 0) -> Pattern | None:
    """The pattern of one line of an ignore file; None if it matches nothing."""
    if line.startswith("#"):
        return None
    text = _without_trailing_spaces(line)
    negated = text.startswith("!")
    glob = text[1:] if negated else text
    directories_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    anchored = "/" in glob
    try:
        segments = _segments(glob.removeprefix("/")) if anchored else (_one_segment(glob),)
    except _NeverMatches:
        return None
    if segments[0] == "":
        return None
    return Pattern(text, number, negated, directories_only, anchored, segments)


def last_match(patterns: Sequence[Pattern], parts: Sequence[str], is_directory: bool) -> Pattern | None:
    """The pattern that decides about a path: the last match."""
    for pattern in reversed(patterns):
        if pattern.matches(parts, is_directory):
            return pattern
    return None


class _NeverMatches(Exception):
    """A glob that git discards: an unterminated class, a backslash at the end."""


def _without_trailing_spaces(line: str) -> str:
    """Removes spaces at the end, except escaped ones."""
    stripped = line.rstrip(" ")
    if stripped == line:
        return line
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if backslashes % 2 else stripped


def _matches_name(segment: Segment, name: str) -> bool:
    return segment == name if isinstance(segment, str) else segment.fullmatch(name) is not None


def _matches_path(segments: Sequence[Segment], parts: Sequence[str]) -> bool:
    """Wildcard matching over components: on a mismatch, only the last `**` must take one more component."""
    at = part = 0
    skip = resume = -1
    while part < len(parts):
        if at < len(segments) and segments[at] is _SKIP:
            skip, resume = at, part
            at += 1
        elif at < len(segments) and _matches_name(segments[at], parts[part]):
            at += 1
            part += 1
        elif skip >= 0:
            resume += 1
            at, part = skip + 1, resume
        else:
            return False
    while at < len(segments) and segments[at] is _SKIP:
        at += 1
    return at == len(segments)


def _segments(glob: str) -> tuple[Segment, ...]:
    made: list[Segment] = []
    names = list(_split(glob))
    for index, name in enumerate(names):
        if len(name) > 1 and not name.strip("*"):
            made.append(_SKIP)
            if index == len(names) - 1:
                made.append(_ANY_NAME)  # a trailing `**` matches everything inside, not the directory itself
        else:
            made.append(_one_segment(name))
    return tuple(made)


_ANY_NAME = re.compile(r".*", re.DOTALL)


def _split(glob: str) -> Iterator[str]:
    """The names between slashes; a slash within `[…]` does not separate."""
    start = position = 0
    while position < len(glob):
        character = glob[position]
        if character == "\\":
            if glob[position + 1 : position + 2] == "/":
                yield glob[start:position]
                start = position + 2
            position += 2
        elif character == "[":
            position = _class_end(glob, position)
        elif character == "/":
            yield glob[start:position]
            position += 1
            start = position
        else:
            position += 1
    yield glob[start:]


def _one_segment(glob: str) -> Segment:
    """A literal name, or the expression of one with wildcards."""
    if not any(character in glob for character in "*?[\\"):
        return glob
    # `*` takes as little as the next fixed part allows and never gives it back (atomic groups). That suffices for
    # names and is linear. Only the part after the last `*` is anchored at the end.
    fixed: list[str] = [""]
    position = 0
    while position < len(glob):
        character = glob[position]
        position += 1
        if character == "*":
            fixed.append("")
        elif character == "?":
            fixed[-1] += "."
        elif character == "[":
            end = _class_end(glob, position - 1)
            fixed[-1] += _class(glob[position : end - 1])
            position = end
        elif character == "\\":
            if position == len(glob):
                raise _NeverMatches
            fixed[-1] += re.escape(glob[position])
            position += 1
        else:
            fixed[-1] += re.escape(character)
    first, *rest = fixed
    middle = "".join(f"(?>.*?{part})" for part in rest[:-1] if part)
    last = f".*{rest[-1]}" if rest else ""
    return re.compile(first + middle + last, re.DOTALL)


def _class_end(glob: str, start: int) -> int:
    """The position after the `]` that closes the class opened at `start`."""
    position = start + 1
    if glob[position : position + 1] in ("!", "^"):
        position += 1
    first = position
    while position < len(glob):
        if glob[position] == "]" and position > first:
            return position + 1
        if glob[position] == "\\":
            position += 2
        elif posix := _posix_class(glob, position):
            position += len(posix) + 4
        else:
            position += 1
    raise _NeverMatches


def _class(body: str) -> str:
    """The expression for the text between `[` and `]`."""
    negated = body[:1] in ("!", "^")
    members = _class_members(body[1:] if negated else body)
    if not members:
        return "." if negated else r"(?!)"
    return f"[{'^' if negated else ''}{members}]"


def _class_members(body: str) -> str:
    made = ""
    position = 0
    while position < len(body):
        if posix := _posix_class(body, position):
            if posix not in _POSIX_CLASSES:
                raise _NeverMatches
            made += _POSIX_CLASSES[posix]
            position += len(posix) + 4
            continue
        low, position = _class_character(body, position)
        if body[position : position + 1] == "-" and position + 1 < len(body):
            high, position = _class_character(body, position + 1)
            if low <= high:
                made += f"{re.escape(low)}-{re.escape(high)}"
        else:
            made += re.escape(low)
    return made


def _posix_class(text: str, position: int) -> str:
    """`alpha` if `[:alpha:]` is at `position`, else empty."""
    if not text.startswith("[:", position):
        return ""
    close = text.find("]", position + 2)
    return text[position + 2 : close - 1] if close > position + 2 and text[close - 1] == ":" else ""


def _class_character(body: str, position: int) -> tuple[str, int]:
    if body[position] == "\\" and position + 1 < len(body):
        return body[position + 1], position + 2
    return body[position], position + 1
