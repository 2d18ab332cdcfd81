"""What an extractor gives: every part of the graph is found file by file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from rag_assets.contracts.graph import GraphEdge, GraphNode, Relation, key_kind

if TYPE_CHECKING:
    from rag_assets.contracts.segment import Member, Segment
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

EXTRACTION_VERSION = "18"
"""Raise it when an extractor finds something else in the same files, or the words of a node are others."""


class Extractor(Protocol):
    """Finds nodes and edges of one file. It asks `symbols` for what it must know of other files."""

    def __call__(self, file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]: ...


def declaration(file: ParsedFile, key: str, found: Segment | Member, *, holder: str) -> Iterator[GraphNode | GraphEdge]:
    """The node of a declaration of a file, and the edge from what it stands in."""
    span = found.span
    yield GraphNode(
        key, key_kind(key), found.name, file.path, span.line_start, span.line_end, file.language, found.signature
    )
    yield GraphEdge(holder, Relation.CONTAINS, key, path=file.path, line=span.line_start)
