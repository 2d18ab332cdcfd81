"""Markup with code in it: Razor pages and components with `@code` blocks, Vue and Svelte components with scripts.

The file stays one segment. What its code declares are members with their own lines, the rest is windows. Each block is
read by the segmenter of its language, in a text of the same length that is blank around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.languages.csharp.syntax import segment_csharp
from rag_assets.languages.csharp.syntax.lexer import blank, brackets, scan
from rag_assets.languages.documents.text import segment_windows
from rag_assets.languages.sliding_window import window_members

_RAZOR_BLOCK = re.compile(r"@(?:code|functions)\b\s*\{")
_HEAD = "class A{"  # what a block is the inside of
_SCRIPT = re.compile(r"<script\b(?P<attributes>[^>]{0,500})>(?P<code>.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
_IS_TYPESCRIPT = re.compile(r"\blang\s*=\s*[\"']?tsx?\b")
_MARKS = re.compile(r"</?script\b[^>]*>|@(?:code|functions)\b", re.IGNORECASE)
_LINE_REST = re.compile(r"[ \t]*(?:\r\n|\r|\n)")
_NOT_DECLARED = frozenset({MemberKind.STATEMENTS, MemberKind.WINDOW})
_MOST_BLOCKS = 10  # each is read in a text as long as the file
_WORD = re.compile(r"\w\w")


def segment_with_code(text: str, path: str, language: str) -> SegmentedFile:
    """A Razor file with C#, or a component of Vue or Svelte with JavaScript or TypeScript; windows without members."""
    declared = _of_razor(text) if language == "razor" else _of_scripts(text, path)
    return _with_members(text, segment_windows(text, path, language), declared)


def _of_razor(text: str) -> Iterator[Member]:
    end = 0
    for block in islice(_RAZOR_BLOCK.finditer(text), _MOST_BLOCKS):
        opening = block.end() - 1
        if block.start() < end or block.end() < len(_HEAD):
            continue
        closing = brackets(scan(text[opening:]).code).get(0)
        if closing is None:
            return
        end = opening + closing + 1
        source = f"{blank(text[: block.end() - len(_HEAD)])}{_HEAD}{text[block.end() : end]}"
        for segment in segment_csharp(source, "A.cs").segments:
            if segment.name == "A":
                yield from segment.members  # the head of the class may take the place of a line end


def _placed(member: Member, lines: LineIndex) -> Member:
    """The member with the lines that its characters have in the whole file."""
    span = lines.span(member.span.char_start, member.span.char_end)
    return replace(member, span=span, members=tuple(_placed(inner, lines) for inner in member.members))


def _of_scripts(text: str, path: str) -> Iterator[Member]:
    from rag_assets.languages.other_code import segment  # start-up budget: few repositories have such components

    for script in islice(_SCRIPT.finditer(text), _MOST_BLOCKS):
        start, end = script.span("code")
        language = "typescript" if _IS_TYPESCRIPT.search(script["attributes"]) else "javascript"
        for found in segment(f"{blank(text[:start])}{text[start:end]}", path, language).segments:
            if found.kind == "module":
                yield from (member for member in found.members if member.kind not in _NOT_DECLARED)
            elif found.kind != "file":
                yield _as_member(found)


def _as_member(declared: Segment) -> Member:
    return Member(
        name=declared.name,
        kind=MemberKind.TYPE,
        signature=declared.signature,
        span=declared.span,
        doc=declared.doc,
        type=declared.kind,
        symbol=declared.symbol,
        members=declared.members,
    )


def _with_members(text: str, file: SegmentedFile, declared: Iterator[Member]) -> SegmentedFile:
    """The file with these members, and windows of what is between them where it says something."""
    members: list[Member] = []
    lines = LineIndex(text)
    position = 0
    for member in sorted(declared, key=lambda one: one.span.char_start):
        members += _windows(text, lines, position, member.span.char_start)
        members.append(_placed(member, lines))
        position = member.span.char_end
    if not members:
        return file
    members += _windows(text, lines, position, len(text))
    (segment,) = file.segments
    return SegmentedFile((replace(segment, members=tuple(members), health=ParseHealth.OK),), ParseHealth.OK)


def _windows(text: str, lines: LineIndex, start: int, end: int) -> Iterator[Member]:
    begin = _LINE_REST.match(text, start, end)
    stop = start + len(text[start:end].rstrip(" \t"))
    for window in window_members(text, lines, begin.end() if begin else start, stop):
        if _WORD.search(_MARKS.sub("", window.span.slice(text))):
            yield window
