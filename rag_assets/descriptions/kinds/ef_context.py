"""Entity Framework: a context with one synthetic repository entry per set, the configuration of an entity, and what a
migration changes in a database, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from rag_assets.contracts.description import DomainCatalog
from rag_assets.contracts.graph import NodeType, symbol_key
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Segment, Span, first_paragraph
from rag_assets.descriptions.kind_builder import Facts, KindBuilder, Subject, TypeAwareBuilder
from rag_assets.descriptions.symbol_description import SymbolDescription, inline_code, outline_member
from rag_assets.languages.csharp.binder.type_syntax import simple_name
from rag_assets.languages.csharp.declaration_ranges import migration_key
from rag_assets.languages.csharp.ef.mappings import (
    IDENTITY_BASE,
    DbSetFact,
    EntityMapping,
    OwnedMapping,
    RelationMapping,
    applied_configurations,
    configured_entity,
    db_sets,
    entity_mappings,
    implements_configuration,
    is_migration,
    owned_mappings,
    relation_mappings,
    resolved,
    table_of,
)
from rag_assets.languages.csharp.ef.migrations import (
    UP,
    SchemaOperation,
    joined_operations,
    schema_operations,
    summary_of,
)
from rag_assets.languages.csharp.facts.masked_body import MaskedBody, masked_body_of
from rag_assets.languages.csharp.facts.storage import StorageKind
from rag_assets.sections.code import Outline
from rag_assets.sections.snippet import Block, SectionSubject, finder_header, path_words, section_of
from rag_assets.sections.splitter import split

ENTRY_PREFIX = "EfContext:"
ENTRY_SECTION = "repository-overview"
ENTRY_SYMBOL_TYPE = "dbset"


@dataclass(frozen=True, slots=True)
class SetDomain:
    """The domain of the entity of a set."""

    entity: str
    key: str
    title: str
    tagline: str


@dataclass(kw_only=True)
class EfContextDescription(SymbolDescription):
    """A context: its sets, the entities its model names, and what it is derived from.

    Each set also becomes a section of its own, the synthetic repository entry `EfContext:{Context}.{DbSet}`: what
    reads and writes an entity is found even where nobody wrote a repository class. `entry_scope` is the context
    in those names: the simple name, or the full one where the label has several contexts of that name.
    `mappings_elsewhere` are those of the other parts of a partial context; their lines are of other files.
    `set_domains` are the domains of the entities, where they have one.
    """

    sets: tuple[DbSetFact, ...] = ()
    mappings: tuple[EntityMapping, ...] = ()
    mappings_elsewhere: tuple[EntityMapping, ...] = ()
    configurations: tuple[str, ...] = ()
    identity_base: str = ""
    entry_scope: str = ""
    set_domains: tuple[SetDomain, ...] = ()

    def entry_name(self, db_set: DbSetFact) -> str:
        """`EfContext:ShopDbContext.Orders`."""
        return f"{ENTRY_PREFIX}{self.entry_scope}.{db_set.name}"

    def finder_facts(self) -> list[tuple[str, str]]:
        named = {db_set.entity for db_set in self.sets}
        beyond = [mapping.entity for mapping in self.mappings if mapping.entity not in named]
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("StorageBackend", StorageKind.SQL.value),
            ("MapsAlso", ", ".join(beyond)),
            ("Tables", ", ".join(mapping.table for mapping in self.mappings if mapping.table)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        return [
            *super().listed_facts(),
            ("Sets", tuple(f"{db_set.name}: {db_set.entity}" for db_set in self.sets)),
            ("Maps", tuple(f"{m.entity} → {m.table}" if m.table else m.entity for m in self.mappings)),
            ("Applies configurations", self.configurations),
        ]

    def build_summary_sections(self) -> list[SummarySection]:
        """Those of the class, then one repository entry per set. Needs `use_window`."""
        return [*super().build_summary_sections(), *(self._entry(db_set) for db_set in self.sets)]

    def _entry(self, db_set: DbSetFact) -> SummarySection:
        """One synthetic repository entry. Its symbol repeats the `~` suffix of a context with several parts (R1)."""
        name = self.entry_name(db_set)
        _, tilde, suffix = self.symbol.partition("~")
        part = f"{self.entry_scope}{tilde}{suffix}"
        number = self._place_among_namesakes(db_set)
        told_apart = f"~{number}" if number > 1 else ""
        domain = self._domain_of(db_set)
        subject = SectionSubject(
            symbol=f"{ENTRY_PREFIX}{part}.{db_set.name}{told_apart}",
            symbol_type=ENTRY_SYMBOL_TYPE,
            kind=SubtypeKind.REPOSITORY,
            domain_key=domain.key,
            primary_entity=db_set.entity,
        )
        purpose = first_paragraph(db_set.doc)
        generated = f"Reads and writes {db_set.entity} through the set {db_set.name} of {self.name}."
        header = finder_header(
            domain=domain.title,
            domain_summary=domain.tagline,
            kind=subject.kind,
            artifact=name,
            primary_entity=db_set.entity,
            facts=[
                ("StorageBackend", StorageKind.SQL.value),
                ("Context", self.fqn),
                ("Table", self._table_of(db_set)),
                ("Path", path_words(self.path, self.fqn)),
            ],
            purpose=f"{purpose} {generated}" if purpose else generated,
        )
        made = split(header, [], self.window)[0]
        place = self._place(db_set)
        members = (outline_member(db_set.name, f"DbSet<{db_set.entity}> {db_set.name}", place),)
        block = Block("", place, (db_set.name,), self._keys(db_set), members=members)
        artifact = self._entry_markdown(name, db_set, purpose or generated)
        return section_of(subject, ENTRY_SECTION, made.text, made.tokens, [block], artifact)

    def _domain_of(self, db_set: DbSetFact) -> SetDomain:
        """That of the entity, else that of the context."""
        own = SetDomain(db_set.entity, self.domain_key, self.domain_title, self.domain_tagline)
        return next((found for found in self.set_domains if found.entity == db_set.entity), own)

    def populate_additional_rag_properties(self, payload: RagVectorPayload) -> None:
        """The title of the domain of a set."""
        titles = {found.key: found.title for found in self.set_domains}
        payload.domain = titles.get(payload.business_domain_key, payload.domain)

    def _place(self, db_set: DbSetFact) -> Span:
        return self.header if db_set.inherited else db_set.span

    def _keys(self, db_set: DbSetFact) -> tuple[str, ...]:
        keys = [symbol_key(self.code_language, f"{self.fqn}.{db_set.name}", NodeType.DBSET)]
        if db_set.entity_symbol:
            keys.append(symbol_key(self.code_language, db_set.entity_symbol, NodeType.ENTITY))
        return tuple(keys)

    def _table_of(self, db_set: DbSetFact) -> str:
        mappings = (*self.mappings, *self.mappings_elsewhere)
        return next((m.table for m in mappings if m.table and m.entity == db_set.entity), "")

    def _place_among_namesakes(self, db_set: DbSetFact) -> int:
        """1 for the first set of a name, case ignored as symbols ignore it; 2 for the second."""
        same = [other.name for other in self.sets if other.name.lower() == db_set.name.lower()]
        return same.index(db_set.name) + 1

    def _entry_markdown(self, name: str, db_set: DbSetFact, purpose: str) -> str:
        place = self._place(db_set)
        table = self._table_of(db_set)
        origin = f" (of its base {inline_code(self.identity_base)})" if db_set.inherited else ""
        lines = [
            f"# Repository {name}",
            "",
            f"Synthetic entry · set of {inline_code(self.fqn)} · {self.path}:{place.line_start}-{place.line_end}",
            "",
            purpose,
            "",
            f"- Entity: {inline_code(db_set.entity_symbol or db_set.entity)}",
            f"- Set: {inline_code(db_set.name)}{origin}",
            *([f"- Table: {inline_code(table)}"] if table else []),
            "",
        ]
        return "\n".join(lines)


@dataclass(kw_only=True)
class EntityConfigurationDescription(SymbolDescription):
    """`IEntityTypeConfiguration<T>`: which entity it maps, where to, and its relations."""

    entity: str = ""
    entity_symbol: str = ""
    table: str = ""
    relations: tuple[RelationMapping, ...] = ()
    owned: tuple[OwnedMapping, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        return "EntityMapping"

    def finder_facts(self) -> list[tuple[str, str]]:
        relations = [f"{self.entity}.{relation.navigation}" for relation in self.relations if relation.navigation]
        return [
            ("Maps", self.entity),
            ("Table", self.table),
            ("Relations", ", ".join(relations)),
            ("Owns", ", ".join(f"{o.navigation} {o.table}".strip() for o in self.owned)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        relations = (f"{r.navigation} {r.cardinality} {r.inverse}".strip() for r in self.relations)
        return [
            *super().listed_facts(),
            ("Entity", (self.entity_symbol or self.entity,) if self.entity else ()),
            ("Table", (self.table,) if self.table else ()),
            ("Relations", tuple(" ".join(relation.split()) for relation in relations)),
            ("Owns", tuple(f"{o.navigation} → {o.table}" if o.table else o.navigation for o in self.owned)),
        ]


def _set_domains(sets: Iterable[DbSetFact], catalog: DomainCatalog) -> Iterator[SetDomain]:
    for entity in dict.fromkeys(found.entity for found in sets) if catalog.has_domains else ():
        key = catalog.domain_about("", (entity,))
        if key:
            yield SetDomain(entity, key, catalog.title(key), catalog.tagline(key))


class EfContextBuilder(TypeAwareBuilder):
    """Describes contexts; not applicable to a class that only holds a set of another context."""

    name = "ef-context"
    description = (
        "Entity Framework contexts: sets with their entities, entities and tables that the model configuration "
        "names, Identity bases. Each set becomes a synthetic repository entry EfContext:{Context}.{DbSet}."
    )
    describes = EfContextDescription

    def facts(self, subject: Subject) -> Facts | None:
        segment = subject.segment
        sets = db_sets(segment, self.declared_types)
        bases = [simple_name(base) for base in segment.base_list]
        if not sets and not any(base.endswith("Context") for base in bases):
            return None
        body = masked_body_of(subject.text)
        others = ((masked_body_of(text), text.segment) for _, text in subject.text.others)
        return {
            "sets": sets,
            "mappings": self._mappings(body, segment),
            "mappings_elsewhere": tuple(found for other, part in others for found in self._mappings(other, part)),
            "configurations": applied_configurations(body.code),
            "identity_base": next((base for base in bases if base == IDENTITY_BASE), ""),
            "entry_scope": self._entry_scope(segment),
            "set_domains": tuple(_set_domains(sets, subject.domains)),
        }

    def _mappings(self, body: MaskedBody, segment: Segment) -> tuple[EntityMapping, ...]:
        return entity_mappings(body, segment, self.declared_types)

    def _entry_scope(self, segment: Segment) -> str:
        """The simple name of the context, the full one where the label declares several types of that name."""
        namesakes = {found.symbol for found in self.declared_types.named(segment.name, segment.language)}
        return segment.symbol if namesakes - {segment.symbol} else segment.name


class EntityConfigurationBuilder(TypeAwareBuilder):
    """Describes the types of kind Configuration that configure an entity."""

    name = "entity-configuration"
    description = (
        "Implementations of IEntityTypeConfiguration<T>: the entity, its table, relations and owned types as the "
        "configuration spells them out. The flavor is EntityMapping."
    )
    describes = EntityConfigurationDescription

    def facts(self, subject: Subject) -> Facts | None:
        segment = subject.segment
        if not implements_configuration(segment):
            return None
        body = masked_body_of(subject.text)
        end = len(body.code)
        entity = configured_entity(segment)
        return {
            "entity": entity,
            "entity_symbol": resolved(entity, segment, self.declared_types) if entity else "",
            "table": table_of(body, 0, end),
            "relations": relation_mappings(body.code),
            "owned": owned_mappings(body, 0, end),
            "primary_entity": entity,
        }


MIGRATION = "Migration"
"""The kind, which the generic rule pack declares."""


@dataclass(kw_only=True)
class MigrationDescription(SymbolDescription):
    """A migration. `operations` are what `Up` does, in text order: lines of the snippet and of the artifact."""

    operations: tuple[SchemaOperation, ...] = ()

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("Tables", ", ".join(self.tables())),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        return [*super().listed_facts(), ("Tables", self.tables())]

    def tables(self) -> tuple[str, ...]:
        """The tables that it changes, in text order."""
        return tuple(dict.fromkeys(found.table for found in self.operations if found.table))

    def outline(self) -> Outline:
        made = super().outline()
        own = made.self_block
        return replace(made, self_block=replace(own, node_keys=(*own.node_keys, migration_key(self.fqn))))

    def _member_blocks(self, own_key: str) -> list[Block]:
        """`Up` as what it changes; everything else as a member."""
        blocks = super()._member_blocks(own_key)
        at = next((i for i, block in enumerate(blocks) if block.names == (UP,)), None)
        if at is not None and self.operations:
            blocks[at : at + 1] = self._changes(blocks[at])
        return blocks

    def _changes(self, up: Block) -> list[Block]:
        """One block per change; together they have the place of `Up`."""
        changes = list(joined_operations(self.operations))
        found = []
        for number, (text, span) in enumerate(changes):
            first = up.span if number == 0 else span
            last = up.span if number == len(changes) - 1 else span
            names = up.names if number == 0 else ()
            keys, members = (*up.node_keys, migration_key(self.fqn)), (outline_member("", text, span),)
            found.append(Block(text, first.to(last), names, keys, f"- {text}", members=members))
        return found


class MigrationBuilder(KindBuilder):
    """Describes C# classes that derive from a migration."""

    name = "migration"
    description = (
        "Migrations of Entity Framework and FluentMigrator: the tables that Up creates, drops and changes, with their "
        "columns, keys and indexes, as sentences. Names that are computed are not known here."
    )
    describes = MigrationDescription

    def facts(self, subject: Subject) -> Facts | None:
        segment = subject.segment
        if not is_migration(subject.whole):
            return None
        operations = schema_operations(segment, str(subject.text))
        facts: dict[str, Any] = {"operations": operations}
        said = summary_of(operations)
        if said and not first_paragraph(segment.doc):
            facts |= {"summary": said, "documented": True}
        return facts
