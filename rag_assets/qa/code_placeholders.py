"""Translating prose around code (R28): code, identifiers and citations are taken out and put back. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_KEPT = re.compile(
    r"```.*?(?:```|\Z)"  # fenced code
    r"|`[^`\n]+`"
    r"|\[(?:chunk|source):[^\]\n]*\]"
    r"|https?://\S+"
    r"|\b[\w.-]+(?:/[\w.-]+)+(?::\d+(?:-\d+)?)?"  # paths, with lines
    r"|\b\w+(?:(?:\.|::)\w+)+(?:\(\))?"  # qualified names
    r"|\b[A-Za-z]*[a-z0-9][A-Z]\w*\b|\b[A-Z][A-Z]+[a-z]\w*\b|\b\w*[A-Za-z0-9]_\w+\b"  # camelCase, snake_case
    r"|\b[A-Za-z]\w*\(\)",
    re.DOTALL,
)
_PLACEHOLDER = re.compile(r"⟦(\d+)⟧")


@dataclass(frozen=True, slots=True)
class ProtectedText:
    """`text` has `⟦0⟧`, `⟦1⟧` … in place of `kept`; equal ones share a number."""

    text: str
    kept: tuple[str, ...]


def protect(text: str) -> ProtectedText:
    """Takes out what no translation may change. What reads like a placeholder already is taken out, too."""
    kept: dict[str, int] = {}

    def out(found: re.Match[str]) -> str:
        return f"⟦{kept.setdefault(found.group(), len(kept))}⟧"

    pattern = re.compile(f"{_PLACEHOLDER.pattern}|{_KEPT.pattern}", re.DOTALL)
    made = pattern.sub(out, text)
    return ProtectedText(made, tuple(kept))


def restore(translated: str, protected: ProtectedText) -> str | None:
    """The translation with everything back in its place; None where something is lost or made up."""
    found = [int(number) for number in _PLACEHOLDER.findall(translated)]
    if set(found) != set(range(len(protected.kept))):
        return None
    return _put_back(translated, protected.kept)


def _put_back(text: str, kept: Sequence[str]) -> str:
    return _PLACEHOLDER.sub(lambda found: kept[int(found[1])], text)
