"""The two views of a model: `ModelStructureBuilder` for its data, `ModelMetadataBuilder` for its forms [L]."""

from __future__ import annotations

from typing import Any

from rag_assets.classification.facts import attribute_name
from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_type
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.entity_attributes import EntityFacts, entity_facts, form_fields, form_layouts
from rag_assets.descriptions.facts.expressions import arguments_of
from rag_assets.descriptions.facts.properties import properties_of
from rag_assets.descriptions.facts.relationships import child_objects, relationships_of
from rag_assets.descriptions.facts.texts import AttributeTexts
from rag_assets.descriptions.kinds.model import ModelStructure
from rag_assets.descriptions.kinds.model_metadata import ModelMetadata
from rag_assets.sections.snippet import first_paragraph


class ModelStructureBuilder:
    """Applies to declarations of types; relationships need the types of the label."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "model-structure"

    @property
    def description(self) -> str:
        return (
            "Data of a model as declared: properties with types, keys, limits and documentation, relationships to "
            "other declared types, child objects, and the texts and addresses that its attributes give."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """The structure of one type, of all its parts; warnings for texts that no resource has."""
        whole = symbol_text.whole
        if not is_type(file_context, whole):
            return InvokeResult.not_applicable()
        texts = AttributeTexts(resource_dictionary, file_context.relative_path)
        entity = entity_facts(whole, texts) or EntityFacts()
        properties = properties_of(whole, texts)
        relationships = relationships_of(whole, properties, self._declared_types)
        title, about = _described(whole, texts)
        found = describe_symbol(
            ModelStructure,
            file_context,
            symbol_text,
            domain_catalog,
            properties=properties,
            relationships=relationships,
            child_objects=child_objects(whole, relationships),
            title=entity.title or title,
            help=entity.help,
            about=entity.description or about,
            entity_domain=entity.domain,
            urls=entity.urls,
            entity_values=entity.values,
            **_summary(symbol_text.segment, texts.first_known(entity.description, about, entity.help)),
        )
        return InvokeResult.create(found, texts.warnings)


class ModelMetadataBuilder:
    """Applies to C# types with `[EntityDescription]` or `[FormField]`, whatever else they are. [L]"""

    version = 1

    @property
    def name(self) -> str:
        return "model-metadata"

    @property
    def description(self) -> str:
        return (
            "User interface of a model: label, help, watermark, field type and necessity of each [FormField], texts "
            "looked up in resources, and the field lists of its form layouts."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """The forms of one type; warnings for texts of fields that no resource has."""
        segment = symbol_text.segment
        if not is_type(file_context, segment):
            return InvokeResult.not_applicable()
        of_entity = AttributeTexts(resource_dictionary, file_context.relative_path)
        of_fields = AttributeTexts(resource_dictionary, file_context.relative_path)
        entity = entity_facts(segment, of_entity)
        fields = form_fields(segment, of_fields)
        if entity is None and not fields:
            return InvokeResult.not_applicable()
        entity = entity or EntityFacts()
        found = describe_symbol(
            ModelMetadata,
            file_context,
            symbol_text,
            domain_catalog,
            title=entity.title,
            help=entity.help,
            about=entity.description,
            fields=fields,
            layouts=form_layouts(segment, symbol_text),
            unresolved=tuple(warning.text for warning in (*of_entity.warnings, *of_fields.warnings)),
            **_summary(segment, of_entity.first_known(entity.description, entity.help)),
        )
        return InvokeResult.create(found, of_fields.warnings)  # the other view reports those of the entity


def _described(segment: Segment, texts: AttributeTexts) -> tuple[str, str]:
    """(title, description) of the attributes that .NET itself has for them."""
    title = about = ""
    for attribute in segment.attributes:
        name = attribute_name(attribute)
        if name not in ("Display", "DisplayName", "Description"):
            continue
        arguments = arguments_of(attribute)
        first = (*arguments.positional, "")[0]
        resource_type = arguments.named.get("ResourceType", "")
        if name == "Description":
            about = about or texts.text(first, place=segment.name)
        else:
            title = title or texts.text(arguments.named.get("Name", first), resource_type, segment.name)
            about = about or texts.text(arguments.named.get("Description", ""), resource_type, segment.name)
    return title, about


def _summary(segment: Segment, text: str) -> dict[str, Any]:
    """A purpose for what has no documentation of its own: what its attributes say."""
    return {} if first_paragraph(segment.doc) or not text else {"summary": text, "documented": True}
