"""Source: a place with the file around it, for a reader who scrolls, and where this text comes from."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.index.generations import Manifest
from rag_assets.search.index import LabelIndex
from rag_assets.search.source_lines import SourceLines, SourceReader, TextVersion
from rag_assets.serving.index_age import IndexAge
from rag_assets.serving.requests import ReadRequest

AROUND = 1500
"""Lines before and after a place: beyond that a browser takes a second to show them."""


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
