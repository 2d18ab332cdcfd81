"""`EnumBuilder`: enums with the numbers of their values."""

from __future__ import annotations

from rag_assets.classification.facts import attribute_name, simple_name
from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_code
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.enum_values import enum_values
from rag_assets.descriptions.facts.texts import AttributeTexts
from rag_assets.descriptions.kinds.enum import EnumDescription


class EnumBuilder:
    """Applies to enums of every language that have values."""

    version = 1

    @property
    def name(self) -> str:
        return "enum"

    @property
    def description(self) -> str:
        return (
            "Enums: every value with its number, written, implied or computed from flags and other values, its "
            "documentation and the text that people see."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """The values of one enum; warnings for texts that no resource has."""
        segment = symbol_text.segment
        if segment.kind not in ("enum", "class") or not is_code(file_context, segment):
            return InvokeResult.not_applicable()
        texts = AttributeTexts(resource_dictionary, file_context.relative_path)
        base = simple_name(segment.base_list[0]) if segment.kind == "enum" and segment.base_list else ""
        found = describe_symbol(
            EnumDescription,
            file_context,
            symbol_text,
            domain_catalog,
            values=enum_values(symbol_text, texts),
            flags=any(attribute_name(attribute) == "Flags" for attribute in segment.attributes),
            underlying=base,
        )
        return InvokeResult.create(found, texts.warnings)
