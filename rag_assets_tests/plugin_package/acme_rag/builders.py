"""One builder for a kind that rag_assets does not know, one beside the built-in builders of a kind it does."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.kind_builder import describe_symbol
from rag_assets.descriptions.symbol_description import SymbolDescription


@dataclass(kw_only=True)
class WorkflowDescription(SymbolDescription):
    """A workflow and its steps."""

    steps: tuple[str, ...] = ()

    def finder_facts(self) -> list[tuple[str, str]]:
        return [*super().finder_facts(), ("Steps", " → ".join(self.steps))]


@dataclass(kw_only=True)
class FlagsDescription(SymbolDescription):
    """An enum whose values are combined."""

    @property
    def subtype_flavor(self) -> str:
        return "Flags"

    @property
    def section_prefix(self) -> str:
        return "acme-flags"


class WorkflowBuilder:
    """Describes Acme's workflows."""

    @property
    def name(self) -> str:
        return "acme-workflow"

    @property
    def description(self) -> str:
        return "Workflows: the methods marked [Step] are its steps, in the order they are declared."

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        steps = tuple(member.name for member in symbol_text.segment.members if "Step" in member.attributes)
        return InvokeResult.create(
            describe_symbol(WorkflowDescription, file_context, symbol_text, domain_catalog, steps=steps)
        )


class FlagsBuilder:
    """Describes enums marked [Flags]; the others are not its business."""

    @property
    def name(self) -> str:
        return "acme-flags"

    @property
    def description(self) -> str:
        return "Enums marked [Flags], as sets of options that combine."

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        if "Flags" not in symbol_text.segment.attributes:
            return InvokeResult.not_applicable()
        return InvokeResult.create(describe_symbol(FlagsDescription, file_context, symbol_text, domain_catalog))
