"""What an extractor reads and what it gives: every part of the graph is found file by file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.contracts.segment import LineIndex, Segment
from rag_assets.graph.code_places import Places
from rag_assets.segmentation.csharp.lexer import scan
from rag_assets.segmentation.csharp.reader import Reader
from rag_assets.segmentation.csharp.rescue import Parsed, parse_csharp

if TYPE_CHECKING:
    from rag_assets.graph.symbols import Symbols


EXTRACTION_VERSION = "4"
"""Raise it when an extractor finds something else in the same files, or the words of a node are others."""


@dataclass(frozen=True)
class GraphFile:
    """One indexed file: its redacted text and the segments that segmentation made of it. What several extractors want
    of it is made once."""

    path: str
    language: str
    text: str
    segments: tuple[Segment, ...] = ()

    @cached_property
    def csharp_parsed(self) -> Parsed:
        """The syntax tree of a C# file, parsed once for all extractors. Raises UnparseableError beyond the bounds of
        the parser."""
        return parse_csharp(self.text)

    @cached_property
    def csharp(self) -> Reader:
        """The text of the nodes of `csharp_parsed`. Raises UnparseableError."""
        return Reader(self.csharp_parsed.view, len(self.text))

    @cached_property
    def masked(self) -> str:
        """The text of a C# file without strings and comments, as long as the text."""
        return scan(self.text).code

    @cached_property
    def places(self) -> Places:
        """Which declaration of a C# file holds an offset."""
        return Places(self)

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)


class Extractor(Protocol):
    """Finds nodes and edges of one file. Whatever it must know of other files it asks `symbols`."""

    def __call__(self, file: GraphFile, symbols: Symbols) -> Iterable[GraphNode | GraphEdge]: ...
