"""Read and source: the numbered lines of a place, with those around them, or with its file for who scrolls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rag_assets.index.generations import Manifest
from rag_assets.search.index import LabelIndex
from rag_assets.search.result_objects import lines_object
from rag_assets.search.source_lines import SourceLines, SourceReader, TextVersion, commit_of
from rag_assets.serving.budget import clipped, cost_of, estimated
from rag_assets.serving.index_age import IndexAge
from rag_assets.serving.requests import ReadRequest

_NOW = frozenset({"worktree", "work tree", "work-tree"})
AROUND = 1500
"""Lines before and after a place: beyond that a browser takes a second to show them."""


@dataclass(frozen=True, slots=True)
class ReadReply:
    """Lines, and how old they are."""

    request: ReadRequest
    lines: SourceLines
    age: IndexAge

    def as_object(self) -> dict[str, Any]:
        return lines_object(_fitting(self.lines, self.request.max_tokens))

    def text(self, max_tokens: int) -> str:
        head = self.age.line(self.lines.label)
        fitted = _fitting(self.lines, max_tokens - cost_of(head))
        return clipped("\n".join([head, *fitted.rendered()]), max_tokens)


def read(index: LabelIndex, request: ReadRequest) -> SourceLines:
    """Raises what `Index.read` raises."""
    is_now = (request.commit or "").casefold() in _NOW
    commit = "" if is_now else commit_of(index, request.commit or "")
    reader = SourceReader(index)
    found = reader.read(request.place, commit=commit, work_tree=is_now)
    if not request.context or not found.line_count:
        return _in_words_of_tools(found)
    start, end = max(1, found.start_line - request.context), found.end_line + request.context
    wider = reader.read(f"{found.path}:{start}-{min(end, found.line_count)}", commit=commit, work_tree=is_now)
    return replace(_in_words_of_tools(wider), around=found.around)


def _fitting(lines: SourceLines, tokens: int) -> SourceLines:
    """Of one that is too long what fits, with the note that says how to read on."""
    whole = fitted = "\n".join(lines.rendered())
    kept, most = lines, estimated(tokens, whole)
    while cost_of(fitted) > tokens and most > 1:  # some lines have more tokens than the estimate of all
        kept = lines.within(most)
        fitted, most = "\n".join(kept.rendered()), most * 9 // 10
    return kept


def _in_words_of_tools(lines: SourceLines) -> SourceLines:
    """What the notes of the command line say with its options."""
    notes = [note for note in lines.notes if "rag-assets read" not in note]
    if lines.differs:
        notes.append(f"{lines.path} has changed since this commit; read it as it is now with commit: worktree")
    return replace(lines, notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class SourceReply:
    """`asked` are the lines of the place, `around` those of the file that are shown. `manifest` is of the generation
    that both are read from."""

    asked: SourceLines
    around: SourceLines
    manifest: Manifest
    age: IndexAge

    @property
    def is_whole_file(self) -> bool:
        return (self.asked.start_line, self.asked.end_line) == (min(self.asked.line_count, 1), self.asked.line_count)


def source(index: LabelIndex, request: ReadRequest) -> tuple[SourceLines, SourceLines]:
    """The lines of a place, and those of the file around it. Raises what `Index.read` raises."""
    reader = SourceReader(index)
    asked = reader.read(request.place, commit=request.commit or "")
    if not asked.line_count:
        return asked, asked
    commit = "" if asked.version is TextVersion.INDEXED else asked.commit_sha
    end = min(asked.end_line, asked.start_line + AROUND)
    start, end = max(1, asked.start_line - AROUND), min(end + AROUND, asked.line_count)
    return asked, reader.read(f"{asked.path}:{start}-{end}", commit=commit)
