"""reStructuredText: section titles by their adornment, levels in order of first appearance as docutils has it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.contracts.segment import SegmentedFile
from rag_assets.languages.documents.text import Heading, document
from rag_assets.languages.text_lines import numbered_lines

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*$")
_ROLE = re.compile(r":[\w:.-]+:`([^`<]*?)\s*(?:<[^`>]*>)?`")
_SHORTEST = 4  # docutils accepts an underline shorter than its title from four characters on


def segment_rst(text: str, path: str, language: str) -> SegmentedFile:
    """One document with a section per title."""
    return document(text, path, language, _headings(numbered_lines(text)))


def _headings(lines: list[tuple[int, str]]) -> Iterator[Heading]:
    levels: dict[tuple[str, bool], int] = {}
    number = 0
    while number < len(lines):
        found = _overlined(lines, number) or _underlined(lines, number)
        if found is None:
            number += 1
            continue
        style, title, used = found
        level = levels.setdefault(style, len(levels) + 1)
        yield Heading(lines[number][0], level, _plain(title))
        number += used


def _overlined(lines: list[tuple[int, str]], number: int) -> tuple[tuple[str, bool], str, int] | None:
    if number + 2 >= len(lines):
        return None
    over, title, under = (lines[number + i][1].rstrip() for i in range(3))
    if not title or over != under or not _adorns(over, title.strip()) or _ADORNMENT.match(title):
        return None
    return (over[0], True), title, 3


def _underlined(lines: list[tuple[int, str]], number: int) -> tuple[tuple[str, bool], str, int] | None:
    if number + 1 >= len(lines) or (number > 0 and lines[number - 1][1].strip()):
        return None
    title, under = lines[number][1].rstrip(), lines[number + 1][1].rstrip()
    if not title or title[0].isspace() or title.startswith(".. ") or not _adorns(under, title):
        return None
    if _ADORNMENT.match(title):
        return None
    return (under[0], False), title, 2


def _adorns(line: str, title: str) -> bool:
    return bool(_ADORNMENT.match(line)) and len(line) >= min(len(title), _SHORTEST)


def _plain(title: str) -> str:
    return " ".join(_ROLE.sub(r"\1", title.strip()[:300]).replace("``", "").replace("**", "").split())
