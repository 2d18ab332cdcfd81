"""Comments and docstrings as plain text: what is left when the marks of the language are taken away."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

_LINE_MARK = re.compile(r"(?:/{2,}[!<]?|#+:?|--+) ?")
_BLOCK_LINE_MARK = re.compile(r"[ \t]*\*+(?=[ \t]|$) ?")
_DECORATION = re.compile(r"[\s\-=*#/_~+.]*")
_PRAGMA = re.compile(
    r"!|go:|nolint|eslint|tslint|prettier-|@ts-|istanbul |c8 |noqa|type: ?ignore|pylint:|mypy:|ruff:|pragma:|"
    r"-\*-|rubocop:|frozen_string_literal:|<reference |noinspection|region\b|endregion\b",
)
"""Comments for tools (`#!` among them), not for readers."""

_INLINE_TAG = re.compile(r"\{@\w+\s+([^{}]*)\}")
_HTML_TAG = re.compile(
    r"</?(?:p|br|code|pre|ul|ol|li|b|i|em|strong|a|tt|h[1-6]|blockquote|dl|dt|dd|table|tr|td|th)\b[^<>]{0,200}>",
    re.IGNORECASE,
)
_PARAM_TAG = re.compile(r"@(?:param|arg|argument)\s+(?:\{[^{}]*\}\s*)?\[?([\w$.<>]+)[^\s\]]*\]?\s*(?:-\s*)?(.*)")
_RETURN_TAG = re.compile(r"@returns?\b\s*(?:\{[^{}]*\}\s*)?(?:-\s*)?(.*)")
_OTHER_TAG = re.compile(r"@(\w+)\s*(.*)")

_STRING_PREFIX = re.compile(r"[rRuUbBfFtT]{0,2}(\"\"\"|'''|\"|')")
MAX_DOC_CHARS = 20_000
"""A comment that is longer is commented-out code or data, not documentation; its text stays in the span."""


def plain_comments(raws: Iterable[str]) -> str:
    """The text of adjacent comments, as written in the file, without marks, ASCII art and tool pragmas.

    Javadoc and JSDoc tags become lines: `@param {T} x - text` → `param x: text`, `@returns text` → `returns: text`.
    """
    lines: list[str] = []
    for raw in raws:
        lines.extend(_block_lines(raw) if raw.startswith("/*") else _line_comment(raw))
    return tidy(lines)


def tidy(lines: Iterable[str]) -> str:
    """Lines joined: trailing blanks off, ASCII-art lines and repeated empty lines out."""
    kept: list[str] = []
    for line in lines:
        text = line.rstrip()
        if _DECORATION.fullmatch(text):
            text = ""
        if text or (kept and kept[-1]):
            kept.append(text)
    return "\n".join(kept).strip()[:MAX_DOC_CHARS]


def _line_comment(raw: str) -> list[str]:
    mark = _LINE_MARK.match(raw)
    text = raw[mark.end() :] if mark else raw
    return [] if _PRAGMA.match(text.strip()) else [text]


def _block_lines(raw: str) -> list[str]:
    body = raw.removeprefix("/*").removesuffix("*/").lstrip("*!")
    is_doc = raw.startswith("/**")
    lines = []
    for line in body[: MAX_DOC_CHARS * 2].splitlines():
        mark = _BLOCK_LINE_MARK.match(line)
        text = (line[mark.end() :] if mark else line).strip()
        lines.append(_plain_tags(text) if is_doc else text)
    return [] if _PRAGMA.match("".join(lines).strip()) else lines


def _plain_tags(line: str) -> str:
    text = line
    if "{@" in text:
        text = _INLINE_TAG.sub(r"\1", text)
    if "<" in text:
        text = _HTML_TAG.sub("", text)
    if not text.startswith("@"):
        return text
    if parameter := _PARAM_TAG.match(text):
        return f"param {parameter[1]}: {parameter[2]}"
    if returned := _RETURN_TAG.match(text):
        return f"returns: {returned[1]}"
    if other := _OTHER_TAG.match(text):
        return f"{other[1]}: {other[2]}"
    return text


def plain_docstring(literal: str) -> str:
    """The text of a Python string literal used as documentation, dedented; escapes stay as written."""
    prefix = _STRING_PREFIX.match(literal)
    if prefix is None:
        return ""
    body = literal[prefix.end() :].removesuffix(prefix[1])
    return "\n".join(line.rstrip() for line in inspect.cleandoc(body[:MAX_DOC_CHARS]).splitlines())
