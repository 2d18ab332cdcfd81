"""What Entity Framework code says of persistence: contexts with their sets, mapped entities, tables, relations.

Read from the text alone. That a property of type `DbSet<T>` persists T is the contract of the framework; which
declared type T is, `DeclaredTypes` resolves, or nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_assets.contracts.segment import Member, MemberKind, Segment, Span, SymbolText
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, simple_name
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE, classes_of, inside
from rag_assets.languages.csharp.facts.expressions import arguments_of, literal
from rag_assets.languages.csharp.facts.masked_body import MaskedBody, masked_body_of, type_arguments
from rag_assets.languages.csharp.facts.storage import BASES, StorageKind
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_names import parse_type
from rag_assets.languages.parsed_file import ParsedFile

SET_TYPES = frozenset({"DbSet", "IDbSet", "DbQuery"})
CONFIGURATION_INTERFACE = "IEntityTypeConfiguration"
IDENTITY_BASE = "IdentityDbContext"
MIGRATION_BASES = frozenset({"Migration", "DbMigration", "AutoReversingMigration", "ForwardOnlyMigration"})
"""Of Entity Framework Core, Entity Framework 6 and FluentMigrator."""


@dataclass(frozen=True, slots=True)
class DbSetFact:
    """One set of a context. `entity` is the simple name, `entity_symbol` the resolved one ('' where open).

    `inherited`: it comes from the type arguments of an Identity base context. `span` is its declaration.
    """

    name: str
    entity: str
    span: Span
    entity_symbol: str = ""
    doc: str = ""
    inherited: bool = False


@dataclass(frozen=True, slots=True)
class EntityMapping:
    """An entity that a model configuration names, with its table where that is spelled out (`sales.Orders`)."""

    entity: str
    evidence: str
    line: int
    entity_symbol: str = ""
    table: str = ""


@dataclass(frozen=True, slots=True)
class OwnedMapping:
    """A navigation whose objects live and die with their owner."""

    navigation: str
    table: str = ""


@dataclass(frozen=True, slots=True)
class RelationMapping:
    """A relation as the configuration says it: `HasOne Customer WithMany Orders`."""

    navigation: str
    inverse: str
    cardinality: str  # OneToMany, ManyToOne, OneToOne, ManyToMany; '' where the inverse side is not said


def resolved(name: str, segment: Segment, declared_types: TypeIndex) -> str:
    """The symbol of a type named in `segment`; '' where it is unknown or ambiguous."""
    found = declared_types.resolve(name, segment.namespace, segment.usings, segment.language)
    return found.symbol if found is not None else ""


def db_sets(segment: Segment, declared_types: TypeIndex) -> tuple[DbSetFact, ...]:
    """The sets a context declares, then those its Identity base takes from type arguments."""
    found: list[DbSetFact] = []
    seen: set[str] = set()
    for member in segment.members:
        entity = _set_entity(member)
        if entity and entity not in segment.type_parameters and member.name not in seen:
            seen.add(member.name)
            symbol = resolved(entity, segment, declared_types)
            found.append(DbSetFact(member.name, entity, member.span, symbol, member.doc))
    for name, entity in _identity_sets(segment):
        if name not in seen:
            seen.add(name)
            symbol = resolved(entity, segment, declared_types)
            found.append(DbSetFact(name, entity, segment.span, symbol, inherited=True))
    return tuple(found)


def _set_entity(member: Member) -> str:
    if member.kind not in (MemberKind.PROPERTY, MemberKind.FIELD):
        return ""
    found = parse_type(member.type)
    if found.name not in SET_TYPES or len(found.arguments) != 1:
        return ""
    return found.arguments[0].name


def _identity_sets(segment: Segment) -> list[tuple[str, str]]:
    """(set, entity) of the entities an Identity context is given; its defaults are framework types."""
    for base in segment.base_list:
        found = parse_type(base)
        if segment.is_partial and found.name not in segment.signature:
            continue  # another part says it
        if found.name == IDENTITY_BASE and len(found.arguments) in _IDENTITY_SETS:
            names = _IDENTITY_SETS[len(found.arguments)]
            pairs = zip(names, found.arguments, strict=True)
            return [(name, argument.name) for name, argument in pairs if name and _is_own_type(argument.name, segment)]
    return []


def _is_own_type(name: str, segment: Segment) -> bool:
    return bool(name) and name not in segment.type_parameters and not name.startswith("Identity")


_IDENTITY_SETS: dict[int, tuple[str, ...]] = {
    1: ("Users",),
    3: ("Users", "Roles", ""),
    8: ("Users", "Roles", "", "UserClaims", "UserRoles", "UserLogins", "RoleClaims", "UserTokens"),
}
"""What the type arguments of `IdentityDbContext<…>` are for, by their number ('': the type of the key)."""


def entity_mappings(body: MaskedBody, segment: Segment, declared_types: TypeIndex) -> tuple[EntityMapping, ...]:
    """The entities that `modelBuilder.Entity<T>()` names, each once."""
    calls: list[tuple[int, int, str]] = []
    for match in _ENTITY_CALL.finditer(body.code):
        if match.group(1):
            calls.append((match.start(), match.end(), match.group(1)))
            continue
        arguments, end = type_arguments(body.code, match.end() - 1)
        if len(arguments) == 1:
            calls.append((match.start(), end, arguments[0]))
    found: dict[str, EntityMapping] = {}
    for index, (at, end, written) in enumerate(calls):
        entity = parse_type(written).name
        if not entity or entity in _method_type_parameters(segment):
            continue
        limit = calls[index + 1][0] if index + 1 < len(calls) else len(body.code)
        table = _table(body, end, _before_owned(body.code, end, limit))
        known = found.get(entity)
        if known is None or (table and not known.table):
            symbol = resolved(entity, segment, declared_types)
            line = known.line if known else body.line_at(at)
            found[entity] = EntityMapping(entity, f"Entity<{entity}>()", line, symbol, table)
    return tuple(found.values())


def _method_type_parameters(segment: Segment) -> set[str]:
    inner = (name for member in segment.members for name in member.type_parameters)
    return {*segment.type_parameters, *inner}


def configured_entity(segment: Segment) -> str:
    """T of `IEntityTypeConfiguration<T>`; '' for other classes and for open configurations of any T."""
    for base in segment.base_list:
        found = parse_type(base)
        if found.name == CONFIGURATION_INTERFACE and len(found.arguments) == 1:
            entity = found.arguments[0].name
            return "" if entity in segment.type_parameters else entity
    return ""


def implements_configuration(segment: Segment) -> bool:
    return any(simple_name(base) == CONFIGURATION_INTERFACE for base in segment.base_list)


def is_migration(segment: Segment) -> bool:
    """Whether a class is a migration by its base."""
    return any(simple_name(base) in MIGRATION_BASES for base in segment.base_list)


def applied_configurations(code: str) -> tuple[str, ...]:
    """Names of the configuration classes that `ApplyConfiguration` is given; `assembly` where it takes them all."""
    found = [match.group(1) or "assembly" for match in _APPLIED.finditer(code)]
    return tuple(dict.fromkeys(simple_name(name) for name in found))


def table_of(body: MaskedBody, start: int, stop: int) -> str:
    """The table that an entity configuration maps to, not that of a type it owns."""
    return _table(body, start, _before_owned(body.code, start, stop))


def owned_mappings(body: MaskedBody, start: int, stop: int) -> tuple[OwnedMapping, ...]:
    """`OwnsOne`/`OwnsMany` with their tables, in text order."""
    calls = list(_OWNS.finditer(body.code, start, stop))
    found = []
    for index, match in enumerate(calls):
        limit = calls[index + 1].start() if index + 1 < len(calls) else stop
        end = body.code.find(";\n", match.end(), limit)
        nested = _LAMBDA_BODY.match(body.code, match.end())
        table = _table(body, match.end(), limit if nested or end == -1 else end)
        found.append(OwnedMapping(match.group(1), table))
    return tuple(found)


def relation_mappings(code: str) -> tuple[RelationMapping, ...]:
    """`HasOne/HasMany … WithOne/WithMany`, in text order."""
    found = []
    for match in _RELATION.finditer(code):
        side, navigation, inverse_side, inverse = match.groups()
        cardinality = f"{inverse_side}To{side}" if inverse_side else ""
        found.append(RelationMapping(navigation or "", inverse or "", cardinality))
    return tuple(found)


def _table(body: MaskedBody, start: int, stop: int) -> str:
    match = _TO_TABLE.search(body.code, start, stop)
    if match is None:
        return ""
    strings = body.strings_at(match.end(), 2)
    if not strings and (named := _NAMEOF.match(body.code, match.end())):
        return simple_name(named.group(1))
    return ".".join(reversed(strings))


def _before_owned(code: str, start: int, stop: int) -> int:
    """Where the configuration of owned types begins: tables beyond it are theirs."""
    owned = _OWNS.search(code, start, stop)
    return owned.start() if owned else stop


_TYPE_CHARS = r"[\w.:]{1,200}"
_ENTITY_CALL = re.compile(
    rf"\.\s*Entity\s*(?:\(\s*typeof\s*\(\s*({_TYPE_CHARS})\s*\)|<)"  # .Entity(typeof(T)) or .Entity<T>
)
_APPLIED = re.compile(
    rf"\.\s*(?:ApplyConfiguration\s*(?:<[^;(){{}}]{{0,200}}>\s*)?\(\s*new\s+({_TYPE_CHARS})"
    r"|ApplyConfigurationsFromAssembly\s*\()"
)
_TO_TABLE = re.compile(r"\.\s*To(?:Table|View)\s*\(")
_NAMEOF = re.compile(rf"\s*nameof\s*\(\s*({_TYPE_CHARS})\s*\)\s*[,)]")
_OWNS = re.compile(r"\.\s*Owns(?:One|Many)\s*(?:<[^;(){}]{0,200}>\s*)?\(\s*\w+\s*=>\s*\w+!?\.(\w+)")
_LAMBDA_BODY = re.compile(r"\s*,\s*\w+\s*=>\s*\{")
_NAVIGATION = r"(?:<[^;(){}]{0,200}>\s*)?\(\s*(?:\w+\s*=>\s*\w+[!?]?\.(\w+))?[^();]{0,80}\)"
_RELATION = re.compile(rf"\.\s*Has(One|Many)\s*{_NAVIGATION}(?:\s*\.\s*With(One|Many)\s*{_NAVIGATION})?")


_NOBODY = TypeIndex()
"""Names stay as written here: what they mean is known when all files are."""

_INTERFACE = "interface"
_CONTEXT_END = "Context"
_BUILDERS = ("ModelBuilder", "EntityTypeBuilder")
"""Types of parameters of methods that configure a model; `DbModelBuilder` ends with the first one."""

_IDENTITY_PREFIX = "AspNet"
"""How the tables of the sets begin that an Identity context brings."""

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
        body = code_of(segment, file.text) if configures_model(segment) else None
        if is_context(segment):
            contexts.append(_context(segment, body))
        mappings += _by_declaration(segment)
        if body is not None:
            mappings += mapped_by_code(segment, body)
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
    is_interface = segment.kind == _INTERFACE
    return WrittenContext(segment.symbol, segment.name, is_interface, segment.base_list, written_sets(segment), schema)


def written_sets(segment: Segment) -> tuple[WrittenSet, ...]:
    """The sets that a type declares, or its Identity base has."""
    return tuple(
        WrittenSet(found.name, found.entity, f"{_IDENTITY_PREFIX}{found.name}" if found.inherited else "")
        for found in db_sets(segment, _NOBODY)
    )


def configures_model(segment: Segment) -> bool:
    """Whether a type has methods that are given the builder of a model."""
    return any(
        simple_name(parameter.type).endswith(_BUILDERS) or "EntityTypeBuilder" in parameter.type
        for member in segment.members
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
    """`sales.Orders` of `Table("Orders", Schema = "sales")`, or of FreeSql and LINQ to SQL `Table(Name = "Orders")`; ''
    where the name is no literal."""
    arguments = arguments_of(attribute)
    named = arguments.named.get("Name", arguments.named.get("name", ""))
    name = literal(next(iter(arguments.positional), named)) or ""
    schema = literal(arguments.named.get("Schema", "")) or ""
    return f"{schema}.{name}" if schema and name else name


def mapped_by_code(segment: Segment, body: MaskedBody) -> Iterator[WrittenMapping]:
    """The entities that the code of a type configures."""
    scope = inside(segment)
    for found in entity_mappings(body, segment, _NOBODY):
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
