"""Markdown of the description artifacts: code spans, code blocks, lists of facts (C07, C08)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_BACKTICKS = re.compile(r"`+")


def facts_markdown(facts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A list of facts and an empty line; '' where there are none. Facts without value are left out."""
    lines = [f"- {label}: {', '.join(map(inline_code, values))}" for label, values in facts if values]
    return "".join(f"{line}\n" for line in [*lines, ""]) if lines else ""


def inline_code(text: str) -> str:
    """A code span that also holds the backtick of an arity, as CommonMark wants it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def fenced_code(text: str, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
