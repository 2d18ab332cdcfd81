"""The scripts of an SQL file and the objects that they declare: the file itself, and the literals that it executes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.contracts.graph import NodeType, key_kind
from rag_assets.contracts.segment import Segment
from rag_assets.languages.detection import SourceType, source_type
from rag_assets.languages.node_keys import declaration_key
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.sql.dynamic_sql import literal_batches
from rag_assets.languages.sql.pg_copy import without_copied_rows
from rag_assets.languages.sql.segments import segment_sql


@dataclass(frozen=True, slots=True)
class PlacedObject:
    """A declared object. `segment` is how segmentation sees it; its spans count in the text of its script, whose lines
    begin after `line_offset` lines of the file."""

    key: str
    kind: NodeType
    segment: Segment
    line_offset: int


@dataclass(frozen=True, slots=True)
class SqlScript:
    """A text of SQL: a file without the rows of its COPY, or a literal in it that begins at `start`, after
    `line_offset` lines."""

    text: str
    segments: tuple[Segment, ...]
    path: str
    start: int = 0
    line_offset: int = 0

    def objects(self) -> Iterator[PlacedObject]:
        """Those of the segments that are objects with a node of their own: no indexes, no loose statements."""
        for segment in self.segments:
            key = declaration_key("sql", segment.symbol, segment.kind, self.path)
            kind = key_kind(key)
            if kind is not NodeType.FILE:
                yield PlacedObject(key, kind, segment, self.line_offset)


def scripts_of(file: ParsedFile) -> Iterator[SqlScript]:
    """The file and then the literals in it, in order; nothing unless it is SQL."""
    if source_type(file.language) is not SourceType.SQL:
        return
    text = without_copied_rows(file.text)
    yield SqlScript(text, file.segments, file.path)
    for batch in literal_batches(text):
        segments = segment_sql(batch.text, file.path, file.language).segments
        yield SqlScript(batch.text, segments, file.path, batch.start, batch.line - 1)


def objects_in(file: ParsedFile) -> Iterator[PlacedObject]:
    """The objects that `file` declares, in order; none unless it is SQL."""
    for script in scripts_of(file):
        yield from script.objects()
