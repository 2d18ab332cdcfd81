"""The objects that an SQL file declares, with their places: its segments, and what its literal dynamic SQL creates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_assets.contracts.graph import NodeType, key_kind
from rag_assets.contracts.segment import Segment
from rag_assets.descriptions.node_keys import declaration_key
from rag_assets.graph.extraction import GraphFile
from rag_assets.graph.sql.batches import literal_batches
from rag_assets.languages import SourceType, source_type
from rag_assets.segmentation.sql import segment_sql
from rag_assets.segmentation.sql_copied_rows import without_copied_rows


@dataclass(frozen=True, slots=True)
class PlacedObject:
    """A declared object. `segment` is how segmentation sees it; its spans count in `text`, its lines begin after
    `line_offset` lines of the file (0 but for objects in literals)."""

    key: str
    kind: NodeType
    schema: str
    name: str
    segment: Segment
    line_offset: int = 0


def is_sql(file: GraphFile) -> bool:
    return source_type(file.language) is SourceType.SQL


def objects_in(file: GraphFile) -> Iterator[PlacedObject]:
    """The objects that `file` declares, in order; none unless it is SQL."""
    if not is_sql(file):
        return
    yield from placed(file.segments, file.path)
    for batch in literal_batches(without_copied_rows(file.text)):
        yield from placed(segment_sql(batch.text, file.path, file.language).segments, file.path, batch.line - 1)


def placed(segments: Iterable[Segment], path: str, line_offset: int = 0) -> Iterator[PlacedObject]:
    """Those of the segments that are objects with a node of their own: no indexes, no loose statements."""
    for segment in segments:
        key = declaration_key("sql", segment.symbol, segment.kind, path)
        kind = key_kind(key)
        if kind is not NodeType.FILE:
            yield PlacedObject(key, kind, segment.namespace, segment.name, segment, line_offset)
