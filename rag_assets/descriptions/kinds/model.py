"""The two views of a model: `ModelStructure` for its data, `ModelMetadata` for its forms [L]."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rag_assets.contracts.graph import NodeType, symbol_key
from rag_assets.contracts.segment import MemberRange, Segment, Span, leaves_of
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, TypeAwareBuilder, is_whole_type
from rag_assets.descriptions.kinds.data_type import DataDescription, attribute_summary
from rag_assets.descriptions.symbol_description import SymbolDescription, inline_code, outline_member
from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.facts.expressions import LocalizedAttributes, arguments_of
from rag_assets.languages.csharp.facts.properties import (
    EntityFacts,
    FormField,
    FormLayout,
    NamedValue,
    entity_facts,
    form_fields,
    form_layouts,
    properties_of,
)
from rag_assets.languages.csharp.facts.relationships import Relationship, child_objects, relationships_of
from rag_assets.sections.snippet import Block

PROPERTIES = "properties"
RELATIONSHIPS = "relationships"

FIELDS = "fields"

LAYOUTS = "layouts"


@dataclass(kw_only=True)
class ModelStructure(DataDescription):
    """`title`, `help` and `about` are what attributes say of the model, texts of resources resolved. `urls` and
    `entity_values` are the arguments of `[EntityDescription]`, `entity_domain` its domain as written. [L]"""

    title: str = ""
    help: str = ""
    about: str = ""
    entity_domain: str = ""
    urls: tuple[NamedValue, ...] = ()
    entity_values: tuple[NamedValue, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    child_objects: tuple[str, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        return "ModelStructured"

    @property
    def section_prefix(self) -> str:
        return "model-structure"

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the properties that make the key."""
        return tuple(fact.name for fact in self.properties if fact.key)

    def property_group(self) -> str:
        return PROPERTIES

    def kind_facts(self) -> list[tuple[str, str]]:
        related = dict.fromkeys(found.target for found in self.relationships)
        return [
            ("Title", self.title),
            ("Help", self.help if self.help != self.summary else ""),
            ("Key", ", ".join(self.keys)),
            ("RelatedTo", ", ".join(related)),
            ("Routes", ", ".join(dict.fromkeys(url.value for url in self.urls))),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        texts = (("Title", self.title), ("Help", self.help), ("About", self.about), ("Domain", self.entity_domain))
        named = [(value.name, (value.value,)) for value in (*self.urls, *self.entity_values)]
        return [
            *((label, (text,)) for label, text in texts if text),
            ("Key", self.keys),
            ("Child objects", self.child_objects),
            *super().listed_facts(),
            *named,
        ]

    def extra_blocks(self) -> list[Block]:
        """One block per relationship, placed at its property; those of other parts of a partial type are theirs."""
        places = self._places()
        return [
            Block(
                text=found.line(),
                span=places[found.property],
                names=(found.property,),
                node_keys=(
                    symbol_key(self.code_language, f"{self.fqn}.{found.property}", NodeType.PROPERTY),
                    symbol_key(self.code_language, found.target_symbol, NodeType.TYPE),
                ),
                markdown=f"- {inline_code(found.target_symbol)}: {found.line()}",
                group=RELATIONSHIPS,
                members=(outline_member(found.property, found.line(), places[found.property]),),
            )
            for found in self.relationships
            if found.property in places
        ]

    def _places(self) -> dict[str, Span]:
        own = zip(leaves_of(self.members), self.tiles, strict=True)
        places = {leaf.member.name: tile for leaf, tile in own if self._fact_of(leaf) is not None}
        return {**{fact.name: self.header for fact in self.properties if fact.parameter}, **places}


@dataclass(kw_only=True)
class ModelMetadata(SymbolDescription):
    """`title`, `help` and `about` of the model and the texts of its fields are resolved; a key without text stands
    for itself. `unresolved` are the warnings about such keys."""

    title: str = ""
    help: str = ""
    about: str = ""
    fields: tuple[FormField, ...] = ()
    layouts: tuple[FormLayout, ...] = ()
    unresolved: tuple[str, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        return "ModelMetadata"

    @property
    def section_prefix(self) -> str:
        return "model-metadata"

    def finder_facts(self) -> list[tuple[str, str]]:
        labels = (found.label for found in self.fields if found.says_more())
        return [
            ("Title", self.title),
            ("Help", self.help if self.help != self.summary else ""),
            ("FieldLabels", ", ".join(dict.fromkeys(labels))),
            ("Layouts", ", ".join(layout.name for layout in self.layouts)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        texts = (("Title", self.title), ("Help", self.help), ("About", self.about))
        unresolved = [("Unresolved text", (text,)) for text in self.unresolved]
        return [*((label, (text,)) for label, text in texts if text), *unresolved]

    def group_of(self, leaf: MemberRange) -> str:
        if leaf.owner:
            return ""
        if leaf.member.name in {found.property for found in self.fields}:
            return FIELDS
        return LAYOUTS if leaf.member.name in {layout.method for layout in self.layouts} else ""

    def _member_blocks(self, own_key: str) -> list[Block]:
        """Fields and layouts only: `ModelStructure` has everything else that the class declares."""
        fields = {found.property: found for found in self.fields}
        layouts = {layout.method: layout for layout in self.layouts}
        blocks: list[Block] = []
        for leaf, tile in zip(leaves_of(self.members), self.tiles, strict=True):
            if leaf.owner:
                continue
            name = leaf.member.name
            if name in fields and leaf.member.attributes:
                blocks.append(self._field_block(leaf, tile, fields[name]))
            elif name in layouts and not leaf.member.parameters:
                block = self._member_block(leaf, tile)
                line = layouts[name].line()
                blocks.append(replace(block, text=line, markdown=f"- {line}", group=LAYOUTS))
        return blocks

    def _field_block(self, leaf: MemberRange, tile: Span, found: FormField) -> Block:
        block = self._member_block(leaf, tile)
        lines = [f"- {inline_code(found.property)}: {found.type}", f"  {found.line()}"]
        lines += [f"  {value.name}: {inline_code(value.value)}" for value in found.values if value.value]
        return replace(block, text=found.line(), markdown="\n".join(lines), group=FIELDS)


class ModelStructureBuilder(TypeAwareBuilder):
    """Describes the data of types; relationships need the types of the label."""

    name = "model-structure"
    description = (
        "Data of a model as declared: properties with types, keys, limits and documentation, relationships to "
        "other declared types, child objects, and the texts and addresses that its attributes give."
    )
    describes = ModelStructure
    applies = staticmethod(is_whole_type)

    def facts(self, subject: Subject) -> Facts:
        whole, texts = subject.whole, subject.texts
        entity = entity_facts(whole, texts) or EntityFacts()
        properties = properties_of(whole, texts)
        relationships = relationships_of(whole, properties, self.declared_types)
        title, about = _described(whole, texts)
        return {
            "properties": properties,
            "relationships": relationships,
            "child_objects": child_objects(whole, relationships),
            "title": entity.title or title,
            "help": entity.help,
            "about": entity.description or about,
            "entity_domain": entity.domain,
            "urls": entity.urls,
            "entity_values": entity.values,
            **attribute_summary(subject.segment, texts.first_known(entity.description, about, entity.help)),
        }


class ModelMetadataBuilder(KindBuilder):
    """Describes C# types with `[EntityDescription]` or `[FormField]`, whatever else they are. [L]"""

    name = "model-metadata"
    description = (
        "User interface of a model: label, help, watermark, field type and necessity of each [FormField], texts "
        "looked up in resources, and the field lists of its form layouts."
    )
    describes = ModelMetadata

    def facts(self, subject: Subject) -> Facts | None:
        """Warns of the texts of fields; `ModelStructureBuilder` reports those of the entity."""
        segment, of_fields = subject.segment, subject.texts
        of_entity = LocalizedAttributes(of_fields.resources, of_fields.near)
        entity = entity_facts(segment, of_entity)
        fields = form_fields(segment, of_fields)
        if entity is None and not fields:
            return None
        entity = entity or EntityFacts()
        return {
            "title": entity.title,
            "help": entity.help,
            "about": entity.description,
            "fields": fields,
            "layouts": form_layouts(segment, subject.text),
            "unresolved": tuple(warning.text for warning in (*of_entity.warnings, *of_fields.warnings)),
            **attribute_summary(segment, of_entity.first_known(entity.description, entity.help)),
        }


def _described(segment: Segment, texts: LocalizedAttributes) -> tuple[str, str]:
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
