"""`GeneralDescriptionBuilder`: the facts of any segment; no kind is silently without points."""

from __future__ import annotations

from typing import Literal

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import MemberKind, Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.describing import describe_symbol, describe_text
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.descriptions.text import TextDescription
from rag_assets.languages import SourceType, source_type

Layout = Literal["code", "text"]

_TEXT_TYPES = frozenset(
    {SourceType.DOCUMENT, SourceType.TRANSCRIPT, SourceType.SQL, SourceType.CONFIG, SourceType.MARKUP}
)


class GeneralDescriptionBuilder:
    """Describes what a segment declares by the facts of segmentation; applies to every symbol of every kind."""

    @property
    def name(self) -> str:
        return "general"

    @property
    def description(self) -> str:
        return (
            "Any kind: names, documentation, base types, dependencies and members with signatures of code; "
            "headings and text of documents. Takes the declaration as it is and infers nothing."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """Always a description. Reads the segment of `symbol_text` and nothing else; resources are not needed here."""
        segment = symbol_text.segment
        kind_of_source = source_type(file_context.language_hint or segment.language)
        if layout_of(segment, kind_of_source) == "text":
            return InvokeResult.create(describe_text(TextDescription, file_context, symbol_text, domain_catalog))
        return InvokeResult.create(describe_symbol(SymbolDescription, file_context, symbol_text, domain_catalog))


def layout_of(segment: Segment, kind_of_source: SourceType) -> Layout:
    """Running text for everything but code, and for code that no parser could read; declarations for the rest."""
    if kind_of_source in _TEXT_TYPES:
        return "text"
    runs = (MemberKind.WINDOW, MemberKind.SECTION)
    return "text" if segment.members and all(member.kind in runs for member in segment.members) else "code"
