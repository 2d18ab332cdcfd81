"""Builders of Entity Framework contexts and entity configurations."""

from __future__ import annotations

from rag_assets.classification.facts import simple_name
from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_type
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.bodies import body_of
from rag_assets.descriptions.facts.ef import (
    IDENTITY_BASE,
    applied_configurations,
    configured_entity,
    db_sets,
    entity_mappings,
    implements_configuration,
    owned_mappings,
    relation_mappings,
    resolved,
    table_of,
)
from rag_assets.descriptions.kinds.ef_context import EfContextDescription, EntityConfigurationDescription


class EfContextBuilder:
    """Classes of kind EfDataContext."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "ef-context"

    @property
    def description(self) -> str:
        return (
            "Entity Framework contexts: sets with their entities, entities and tables that the model configuration "
            "names, Identity bases. Each set becomes a synthetic repository entry EfContext:{Context}.{DbSet}."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """An EfContextDescription; not applicable to a class that only holds a set of somebody's context."""
        segment = symbol_text.segment
        if not is_type(file_context, segment):
            return InvokeResult.not_applicable()
        sets = db_sets(segment, self._declared_types)
        bases = [simple_name(base) for base in segment.base_list]
        if not sets and not any(base.endswith("Context") for base in bases):
            return InvokeResult.not_applicable()
        body = body_of(symbol_text)
        end = len(body.code)
        others = [(body_of(text), text.segment) for _, text in symbol_text.others]
        description = describe_symbol(
            EfContextDescription,
            file_context,
            symbol_text,
            domain_catalog,
            sets=sets,
            mappings=entity_mappings(body, 0, end, segment, self._declared_types),
            mappings_elsewhere=tuple(
                mapping
                for other, part in others
                for mapping in entity_mappings(other, 0, len(other.code), part, self._declared_types)
            ),
            configurations=applied_configurations(body.code, 0, end),
            identity_base=next((base for base in bases if base == IDENTITY_BASE), ""),
            entry_scope=self._entry_scope(segment),
        )
        return InvokeResult.create(description)

    def _entry_scope(self, segment: Segment) -> str:
        """The simple name of the context, the full one where the label declares several types of that name."""
        namesakes = {found.symbol for found in self._declared_types.named(segment.name, segment.language)}
        return segment.symbol if namesakes - {segment.symbol} else segment.name


class EntityConfigurationBuilder:
    """Classes of kind Configuration that configure an entity."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "entity-configuration"

    @property
    def description(self) -> str:
        return (
            "Implementations of IEntityTypeConfiguration<T>: the entity, its table, relations and owned types as the "
            "configuration spells them out. The flavor is EntityMapping."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """An EntityConfigurationDescription; not applicable to any other configuration."""
        segment = symbol_text.segment
        if not is_type(file_context, segment) or not implements_configuration(segment):
            return InvokeResult.not_applicable()
        body = body_of(symbol_text)
        end = len(body.code)
        entity = configured_entity(segment)
        description = describe_symbol(
            EntityConfigurationDescription,
            file_context,
            symbol_text,
            domain_catalog,
            entity=entity,
            entity_symbol=resolved(entity, segment, self._declared_types) if entity else "",
            table=table_of(body, 0, end),
            relations=relation_mappings(body.code, 0, end),
            owned=owned_mappings(body, 0, end),
            primary_entity=entity,
        )
        return InvokeResult.create(description)
