"""Builders of what travels: requests, responses, results and messages; rows of list views [L]."""

from __future__ import annotations

from rag_assets.classification.facts import simple_name
from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_type
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.entity_attributes import EntityFacts, entity_facts
from rag_assets.descriptions.facts.properties import properties_of
from rag_assets.descriptions.facts.texts import AttributeTexts
from rag_assets.descriptions.facts.types import parse_type
from rag_assets.descriptions.kinds.contracts import ContractDescription, SummaryListDescription
from rag_assets.sections.snippet import first_paragraph
from rag_assets.text import identifier_words


class ContractBuilder:
    """Applies to types of every language; what they are is said by their kind, what for by name and base."""

    version = 1

    @property
    def name(self) -> str:
        return "contract"

    @property
    def description(self) -> str:
        return (
            "Requests, responses, results and messages: the data they carry with documentation, Command, Query or "
            "Event by base type or last word of the name, and the answer that a base like IRequest<T> states."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """The contract of one type, of all its parts; warnings for texts that no resource has."""
        whole = symbol_text.whole
        if not is_type(file_context, whole):
            return InvokeResult.not_applicable()
        texts = AttributeTexts(resource_dictionary, file_context.relative_path)
        found = describe_symbol(
            ContractDescription,
            file_context,
            symbol_text,
            domain_catalog,
            properties=properties_of(whole, texts),
            flavor=flavor_of(whole),
            answer=answer_of(whole),
        )
        return InvokeResult.create(found, texts.warnings)


class SummaryListModelBuilder:
    """Applies to C# types that are rows of a list view; their entity is the one their name without Summary names."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "summary-list-model"

    @property
    def description(self) -> str:
        return (
            "Rows of list views: columns with types, texts and addresses of [EntityDescription] looked up in "
            "resources, and the entity that the name without Summary means where it is declared."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """The row of one type; warnings for texts that no resource has."""
        whole = symbol_text.whole
        if not is_type(file_context, whole):
            return InvokeResult.not_applicable()
        texts = AttributeTexts(resource_dictionary, file_context.relative_path)
        entity = entity_facts(whole, texts) or EntityFacts()
        said = texts.first_known(entity.description, entity.help)
        facts = {"summary": said, "documented": True} if said and not first_paragraph(whole.doc) else {}
        found = describe_symbol(
            SummaryListDescription,
            file_context,
            symbol_text,
            domain_catalog,
            properties=properties_of(whole, texts),
            primary_entity=self._entity_of(whole),
            title=entity.title,
            help=entity.help,
            about=entity.description,
            urls=entity.urls,
            **facts,
        )
        return InvokeResult.create(found, texts.warnings)

    def _entity_of(self, segment: Segment) -> str:
        for ending in ("Summary", "SummaryData", "ListItem"):
            stem = segment.name.removesuffix(ending)
            if stem and stem != segment.name:
                found = self._declared_types.resolve(stem, segment.namespace, segment.usings, segment.language)
                if found is not None:
                    return found.name
        return ""


def flavor_of(segment: Segment) -> str:
    """Command, Query, Event or '': by a base type or interface, else by the last word of the name."""
    for base in segment.base_list:
        flavor = _FLAVORS.get(_last_word(simple_name(base)))
        if flavor:
            return flavor
    return _FLAVORS.get(_last_word(segment.name), "")


def answer_of(segment: Segment) -> str:
    """The type that a base says the message is answered with, as written; '' where none does."""
    for base in segment.base_list:
        found = parse_type(base)
        if found.name in _ANSWERED and found.arguments:
            return str(found.arguments[-1])
    return ""


def _last_word(name: str) -> str:
    words = identifier_words(name)
    return words[-1] if words else ""


_FLAVORS = {
    "Command": "Command",
    "Query": "Query",
    "Event": "Event",
    "Notification": "Event",
    "Args": "Event",  # EventArgs
}
_ANSWERED = frozenset({"IRequest", "ICommand", "IQuery", "IStreamRequest", "Request", "Command", "Query"})
"""Base types whose last type argument is the type of the answer."""
