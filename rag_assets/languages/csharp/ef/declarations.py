"""What the files of a bucket say of Entity Framework: contexts with their sets, and mapped entities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_assets.contracts.segment import Member, MemberKind, Segment, SymbolText
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE, classes_of, inside
from rag_assets.languages.csharp.ef.mappings import (
    SET_TYPES,
    configured_entity,
    db_sets,
    entity_mappings,
    owned_mappings,
    table_of,
)
from rag_assets.languages.csharp.facts.expressions import arguments_of, literal
from rag_assets.languages.csharp.facts.masked_body import MaskedBody, masked_body_of
from rag_assets.languages.csharp.facts.storage_catalog import BASES, StorageKind
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_names import parse_type
from rag_assets.languages.csharp.simple_names import attribute_name, simple_name
from rag_assets.languages.parsed_file import ParsedFile

_NOBODY = TypeIndex()
"""Names stay as written here: what they mean is known when all files are."""

_INTERFACE = "interface"
_CONTEXT_END = "Context"
_BUILDERS = ("ModelBuilder", "EntityTypeBuilder")
"""Types of parameters of methods that configure a model; `DbModelBuilder` ends with the first one."""

_IDENTITY_PREFIX = "AspNet"
"""Of the tables of the sets that an Identity context brings."""

_DEFAULT_SCHEMA = re.compile(r"\.\s*HasDefaultSchema\s*\(")
_CONFIGURED = re.compile(r"EntityTypeBuilder\s*<")


@dataclass(frozen=True, slots=True)
class WrittenSet:
    """`DbSet<Order> Orders`: the entity as written. `table` is '' where EF names it after the set."""

    name: str
    entity: str
    table: str = ""


@dataclass(frozen=True, slots=True)
class WrittenContext:
    """A context, or an interface with sets that a context implements. `symbol` is fully qualified."""

    symbol: str
    name: str
    is_interface: bool
    bases: tuple[str, ...]
    sets: tuple[WrittenSet, ...]
    default_schema: str = ""


@dataclass(frozen=True, slots=True)
class WrittenMapping:
    """An entity that code maps. `scope` is the type that names it; `table` as the code spells it (`sales.Orders`),
    '' where it does not. `owned`: the navigations whose objects are stored with it, with their tables. `relational`:
    not only a store of documents or blobs keeps it."""

    entity: str
    scope: str
    table: str = ""
    owned: tuple[tuple[str, str], ...] = ()
    relational: bool = True


@dataclass(frozen=True, slots=True)
class EfFile:
    """What one file says."""

    path: str
    contexts: tuple[WrittenContext, ...] = ()
    mappings: tuple[WrittenMapping, ...] = ()


@dataclass(frozen=True, slots=True)
class EfDeclarations:
    """What one bucket of files adds to `EfSymbols`."""

    files: tuple[EfFile, ...] = ()


def declared_in(files: Iterable[ParsedFile]) -> EfDeclarations:
    """The declarations of some files. Texts are read only of those that configure a model. Never raises."""
    found = (_file(file) for file in files if file.language == LANGUAGE)
    return EfDeclarations(tuple(entry for entry in found if entry.contexts or entry.mappings))


def _file(file: ParsedFile) -> EfFile:
    contexts: list[WrittenContext] = []
    mappings: list[WrittenMapping] = []
    for segment in classes_of(file.segments):
        configures = any(_configures(member) for member in segment.members)
        body = code_of(segment, file.text) if configures else None
        if is_context(segment):
            contexts.append(_context(segment, body))
        mappings += _by_declaration(segment)
        if body is not None:
            mappings += _by_code(segment, body)
    return EfFile(file.path, tuple(contexts), tuple(mappings))


def is_context(segment: Segment) -> bool:
    """Whether a class is a context by its base or name, or an interface is one by its sets."""
    if segment.kind == _INTERFACE:
        return _has_sets(segment)
    if any(simple_name(base).endswith("DbContext") for base in segment.base_list):
        return True
    named = segment.name.endswith(_CONTEXT_END) or any(
        simple_name(base).endswith(_CONTEXT_END) for base in segment.base_list
    )
    return named and _has_sets(segment)


def code_of(segment: Segment, text: str) -> MaskedBody:
    return masked_body_of(SymbolText(segment.span.slice(text), segment))


def _has_sets(segment: Segment) -> bool:
    """By properties: a field of such a type is a set that somebody uses."""
    properties = (member for member in segment.members if member.kind is MemberKind.PROPERTY)
    return any(simple_name(member.type) in SET_TYPES for member in properties)


def _context(segment: Segment, body: MaskedBody | None) -> WrittenContext:
    schema = ""
    if body is not None:
        called = _DEFAULT_SCHEMA.search(body.code)
        schema = body.string_at(called.end()) if called else ""
    sets = tuple(
        WrittenSet(found.name, found.entity, f"{_IDENTITY_PREFIX}{found.name}" if found.inherited else "")
        for found in db_sets(segment, _NOBODY)
    )
    is_interface = segment.kind == _INTERFACE
    return WrittenContext(segment.symbol, segment.name, is_interface, segment.base_list, sets, schema)


def _configures(member: Member) -> bool:
    return any(
        simple_name(parameter.type).endswith(_BUILDERS) or "EntityTypeBuilder" in parameter.type
        for parameter in member.parameters
    )


def _by_declaration(segment: Segment) -> Iterator[WrittenMapping]:
    """`[Table]` on the entity itself, and the type arguments of base classes that are stores."""
    for attribute in segment.attributes:
        if attribute_name(attribute) == "Table":
            yield WrittenMapping(segment.symbol, segment.symbol, table_of_attribute(attribute))
    for base in segment.base_list:
        found = parse_type(base)
        if found.name in BASES and found.arguments:
            relational = BASES[found.name] is StorageKind.SQL
            yield WrittenMapping(found.arguments[0].name, inside(segment), relational=relational)


def table_of_attribute(attribute: str) -> str:
    """`sales.Orders` of `Table("Orders", Schema = "sales")`; '' where the name is no literal."""
    arguments = arguments_of(attribute)
    name = literal(next(iter(arguments.positional), arguments.named.get("name", ""))) or ""
    schema = literal(arguments.named.get("Schema", "")) or ""
    return f"{schema}.{name}" if schema and name else name


def _by_code(segment: Segment, body: MaskedBody) -> Iterator[WrittenMapping]:
    end = len(body.code)
    scope = inside(segment)
    for found in entity_mappings(body, 0, end, segment, _NOBODY):
        yield WrittenMapping(found.entity, scope, found.table)
    for entity, start, stop in configured_parts(segment, body):
        owned = tuple((mapping.navigation, mapping.table) for mapping in owned_mappings(body, start, stop))
        yield WrittenMapping(entity, scope, table_of(body, start, stop), owned)


def configured_parts(segment: Segment, body: MaskedBody) -> Iterator[tuple[str, int, int]]:
    """(entity, start, stop) of the parts of a type that configure one entity: a whole `IEntityTypeConfiguration<T>`, or
    each method that is given an `EntityTypeBuilder<T>`."""
    entity = configured_entity(segment)
    if entity:
        yield entity, 0, len(body.code)
        return
    for member in segment.members:
        for parameter in member.parameters:
            if _CONFIGURED.search(parameter.type):
                arguments = parse_type(parameter.type).arguments
                name = arguments[0].name if arguments else ""
                if name and name not in (*segment.type_parameters, *member.type_parameters):
                    yield name, *body.part(member.span)
