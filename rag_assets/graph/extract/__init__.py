"""What an extractor gives: every part of the graph is found file by file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from rag_assets.contracts.graph import GraphEdge, GraphNode

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

EXTRACTION_VERSION = "70"
"""Raise it when an extractor finds something else in the same files, or the words of a node are others."""


class Extractor(Protocol):
    """Finds nodes and edges of one file. It asks `symbols` for what it must know of other files."""

    def __call__(self, file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]: ...
