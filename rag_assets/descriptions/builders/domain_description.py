"""`DomainDescriptionBuilder`: classes with `[DomainDescriptor]` and `[DomainDescription(key)]` properties. [L]"""

from __future__ import annotations

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.declared_domains import DeclaredDomains
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.domain_survey import DomainSurvey, description_members, is_descriptor
from rag_assets.descriptions.kinds.domain_description import DomainDescriptorDescription
from rag_assets.sections.snippet import first_paragraph


class DomainDescriptionBuilder:
    """Applies to C# classes that declare business domains."""

    version = 1

    def __init__(self, declared_domains: DeclaredDomains) -> None:
        self._declared = declared_domains

    @property
    def name(self) -> str:
        return "domain-description"

    @property
    def description(self) -> str:
        return (
            "Classes that declare business domains: key, title, description and clusters of each domain as written in "
            "its [DomainDescription] property, and the models of the label whose [EntityDescription] names it."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """One description per class. A domain whose key is not known is left out with a warning."""
        segment = symbol_text.segment
        if (file_context.language_hint or segment.language) != "csharp" or not is_descriptor(segment):
            return InvokeResult.not_applicable()
        declared = self._declared
        if not declared.of_type(segment.symbol):  # the label was not surveyed: what the class says by itself
            survey = DomainSurvey()
            survey.add(file_context.relative_path, [segment], lambda: file_context.contents)
            declared = survey.declared()
        domains = declared.of_type(segment.symbol)
        by_line = {member.span.line_start: member.span for member in description_members(segment)}
        places = tuple(by_line.get(int(d.declared_at.rpartition(":")[2]), segment.span) for d in domains)
        told = " ".join(domain.description for domain in domains if domain.description)
        summary = " ".join(text for text in (first_paragraph(segment.doc), told) if text)
        facts = {"summary": summary, "documented": True} if summary else {}
        found = describe_symbol(
            DomainDescriptorDescription,
            file_context,
            symbol_text,
            domain_catalog,
            domains=domains,
            places=places,
            **facts,
        )
        mine = f"{file_context.relative_path}:"
        warnings = [m for m in declared.problems if m.code == "DOMAIN.unknown-key" and m.text.startswith(mine)]
        return InvokeResult.create(found, warnings)
