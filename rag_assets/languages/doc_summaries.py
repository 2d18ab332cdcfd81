"""The summary of a documentation comment."""

from __future__ import annotations

import re

_TAG_LINE = re.compile(
    r"^(?:(?:param|typeparam|exception|seealso)\b[^\n:]*|returns?|remarks|value|example|inheritdoc)\s*:", re.MULTILINE
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def one_line(text: str) -> str:
    return " ".join(text.split())


def first_paragraph(doc: str) -> str:
    """The summary of a documentation text on one line: up to a blank line or the first `param x:`-like line."""
    if not doc:
        return ""
    head = _BLANK_LINE.split(doc.strip(), maxsplit=1)[0]
    tag = _TAG_LINE.search(head)
    return one_line(head[: tag.start()] if tag else head)
