"""`DocumentDescriptionBuilder`: design records, markdown and other documents with id, title, status and headings."""

from __future__ import annotations

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.describing import describe_text
from rag_assets.descriptions.facts.document_header import document_header
from rag_assets.descriptions.kinds.document import DocumentDescription
from rag_assets.languages import SourceType, source_type


class DocumentDescriptionBuilder:
    """Applies to text documents of any format."""

    version = 1

    @property
    def name(self) -> str:
        return "document"

    @property
    def description(self) -> str:
        return (
            "Design records, markdown and text documents: id, title, status and further fields of the header (front "
            "matter, header lines or table, a Status section) and the tree of headings; sections by heading path."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """One description per document; markup, tables of texts and the like are left to the general builder."""
        segment = symbol_text.segment
        if source_type(file_context.language_hint or segment.language) is not SourceType.DOCUMENT:
            return InvokeResult.not_applicable()
        header = document_header(
            symbol_text, segment.members, segment.span.char_start, file_context.relative_path, segment.name
        )
        found = describe_text(
            DocumentDescription,
            file_context,
            symbol_text,
            domain_catalog,
            document_id=header.id,
            title=header.title,
            status=header.status,
            record_type=header.type,
            fields=header.fields,
        )
        return InvokeResult.create(found)
