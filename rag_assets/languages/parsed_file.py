"""A file as extractors and binders read it: its text and segments, parsed at most once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rag_assets.contracts.segment import LineIndex, Segment
from rag_assets.languages.csharp.declaration_ranges import DeclarationRanges
from rag_assets.languages.csharp.syntax.declaration_heads import NodeText
from rag_assets.languages.csharp.syntax.error_recovery import Parsed, parse_csharp
from rag_assets.languages.csharp.syntax.lexer import scan


@dataclass(frozen=True)
class ParsedFile:
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
    def csharp(self) -> NodeText:
        """The text of the nodes of `csharp_parsed`. Raises UnparseableError."""
        return NodeText(self.csharp_parsed.view, len(self.text))

    @cached_property
    def bindings(self) -> dict[object, object]:
        """What the binder made of a C# file, by the symbols of the label that it was bound to."""
        return {}

    @cached_property
    def masked(self) -> str:
        """The text of a C# file without strings and comments, as long as the text."""
        return scan(self.text).code

    @cached_property
    def places(self) -> DeclarationRanges:
        """Which declaration of a C# file holds an offset."""
        return DeclarationRanges(self.path, self.segments)

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)
