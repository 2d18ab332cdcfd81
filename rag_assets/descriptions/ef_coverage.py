"""The guardrail of persistence: every persisted entity has a repository, written or synthetic (domain reference §2).

Works over the stored descriptions of a whole label, in any order. An entity is persisted where a context has a set of
it or names it in its model, where an `IEntityTypeConfiguration<T>` maps it, where `[Table]` stands on it, or where a
LagoVista entity derives from `EntityBase`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.descriptions.kinds.ef_context import EfContextDescription
from rag_assets.descriptions.kinds.interface import InterfaceDescription, InterfaceRole
from rag_assets.descriptions.kinds.service_like import RepositoryDescription
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, simple_name
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE
from rag_assets.languages.csharp.ef.mappings import CONFIGURATION_INTERFACE
from rag_assets.languages.csharp.facts.type_names import is_scalar, parse_type

GAP_CODE = "EF.coverage"
"""The code of a gap as a warning."""


@dataclass(frozen=True, slots=True, order=True)
class PersistedEntity:
    """One place that says that an entity is stored. `symbol` is '' where the type could not be resolved."""

    name: str
    symbol: str
    evidence: str
    path: str
    line: int


@dataclass(frozen=True, slots=True, order=True)
class RepositoryEntry:
    """Something that reads and writes an entity: a repository, its contract, or the set of a context."""

    entity: str
    entity_symbol: str
    name: str


@dataclass(frozen=True, slots=True, order=True)
class CoveredEntity:
    """An entity and what reads and writes it, sorted."""

    entity: str
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class EntityGap:
    """A persisted entity without any repository: nothing in the index tells how it is read and written."""

    entity: str
    evidence: str
    path: str
    line: int

    def __str__(self) -> str:
        return (
            f"{self.path}:{self.line} {self.entity} is persisted ({self.evidence}) and has neither a repository nor a "
            "set in a context; add one, or name the repository after it"
        )


@dataclass(frozen=True, slots=True)
class EfCoverage:
    """All persisted entities of a label, each either covered or a gap; both sorted."""

    covered: tuple[CoveredEntity, ...] = ()
    gaps: tuple[EntityGap, ...] = ()


@dataclass(frozen=True, slots=True)
class CoverageFacts:
    """What some descriptions say of persisted entities, and of what reaches them."""

    entities: list[PersistedEntity]
    repositories: list[RepositoryEntry]


def coverage_facts(descriptions: Iterable[SummaryFacts]) -> CoverageFacts:
    """What belongs to tests does not count."""
    found = CoverageFacts([], [])
    for description in descriptions:
        if isinstance(description, SymbolDescription) and description.kind != SubtypeKind.TEST:
            found.entities.extend(persisted_by(description))
            found.repositories.extend(repositories_in(description))
    return found


def ef_coverage(entities: Iterable[PersistedEntity], repositories: Iterable[RepositoryEntry]) -> EfCoverage:
    """Entities against repositories. Two names mean one type where their symbols are equal, or where one of them is
    unresolved and the simple names are."""
    by_symbol: dict[str, set[str]] = {}
    by_name: dict[str, set[str]] = {}
    open_names: dict[str, set[str]] = {}
    for entry in repositories:
        by_name.setdefault(entry.entity, set()).add(entry.name)
        if entry.entity_symbol:
            by_symbol.setdefault(entry.entity_symbol, set()).add(entry.name)
        else:
            open_names.setdefault(entry.entity, set()).add(entry.name)
    covered: dict[str, set[str]] = {}
    gaps: dict[str, EntityGap] = {}
    for entity in sorted(set(entities)):
        label = entity.symbol or entity.name
        if entity.symbol:
            found = by_symbol.get(entity.symbol, set()) | open_names.get(entity.name, set())
        else:
            found = by_name.get(entity.name, set())
        if found:
            covered.setdefault(label, set()).update(found)
        else:
            gaps.setdefault(label, EntityGap(label, entity.evidence, entity.path, entity.line))
    return EfCoverage(
        tuple(CoveredEntity(name, tuple(sorted(by))) for name, by in sorted(covered.items())),
        tuple(gaps[name] for name in sorted(gaps) if name not in covered),
    )


def persisted_by(description: SymbolDescription) -> Iterator[PersistedEntity]:
    """The entities that one description says are stored."""
    path, line = description.path, description.span.line_start
    if isinstance(description, EfContextDescription):
        for found in description.sets:
            evidence = f"set {found.name} of {description.name}"
            yield PersistedEntity(found.entity, found.entity_symbol, evidence, path, found.span.line_start)
        for mapping in description.mappings:
            evidence = f"{mapping.evidence} in {description.name}"
            yield PersistedEntity(mapping.entity, mapping.entity_symbol, evidence, path, mapping.line)
    for interface in description.interfaces:
        found_type = parse_type(interface)
        if found_type.name == CONFIGURATION_INTERFACE and len(found_type.arguments) == 1:
            entity = found_type.arguments[0].name
            if entity and entity not in description.type_parameters:
                symbol = getattr(description, "entity_symbol", "")
                yield PersistedEntity(entity, symbol, f"configured by {description.name}", path, line)
    evidence = _own_evidence(description)
    if evidence:
        yield PersistedEntity(description.name, description.fqn, evidence, path, line)


def _own_evidence(description: SymbolDescription) -> str:
    """What a type of C# says of itself. `EntityBase` alone is anybody's base class; LagoVista entities are described
    too."""
    if description.code_language != LANGUAGE:  # Eloquent and JPA have tables too, and no contexts
        return ""
    if "abstract" in description.modifiers or not description.declaration.startswith(("class", "record")):
        return ""
    attributes = {attribute_name(attribute) for attribute in description.attributes}
    if "Table" in attributes:
        return "[Table]"
    if "EntityDescription" in attributes and any(simple_name(base) == "EntityBase" for base in description.base_types):
        return "derives from EntityBase"
    return ""


def repositories_in(description: SymbolDescription) -> Iterator[RepositoryEntry]:
    """What one description offers, or asks for, that reads and writes an entity."""
    if isinstance(description, EfContextDescription):
        for found in description.sets:
            yield RepositoryEntry(found.entity, found.entity_symbol, description.entry_name(found))
    elif isinstance(description, RepositoryDescription) or _is_repository(description):
        own = description.entities if isinstance(description, RepositoryDescription) else _of_bases(description)
        for entity in dict.fromkeys((*own, _stem(description.name))):
            yield RepositoryEntry(entity, "", description.fqn)
    elif isinstance(description, InterfaceDescription) and description.role is InterfaceRole.REPOSITORY:
        for entity in dict.fromkeys((description.primary_entity, _stem(description.name[1:]))):
            if entity:
                yield RepositoryEntry(entity, "", description.fqn)
    for asked in description.dependencies:  # an open generic repository is closed where it is asked for
        found_type = parse_type(asked)
        if found_type.name.endswith(_REPOSITORY_ENDS):
            for argument in found_type.arguments[:1]:
                if argument.name and not is_scalar(argument) and argument.name not in description.type_parameters:
                    yield RepositoryEntry(argument.name, "", f"{found_type} of {description.name}")


def _is_repository(description: SymbolDescription) -> bool:
    """By a name or a base, where the rule pack in use made it something else."""
    return description.declaration.startswith("class") and (
        description.name.endswith(_REPOSITORY_ENDS) or bool(_of_bases(description))
    )


def _of_bases(description: SymbolDescription) -> tuple[str, ...]:
    """The entities that repository bases are closed with: `DocumentDBRepoBase<Supplier>`."""
    bases = (parse_type(base) for base in (*description.base_types, *description.interfaces))
    found = (base.arguments[0] for base in bases if base.arguments and base.name.endswith(_BASE_ENDS))
    return tuple(a.name for a in found if a.name and not is_scalar(a) and a.name not in description.type_parameters)


def _stem(name: str) -> str:
    """`OrderRepository` → `Order`; a repository is named after what it stores."""
    return next((name.removesuffix(end) for end in _REPOSITORY_ENDS if name.endswith(end)), name)


_REPOSITORY_ENDS = ("Repository", "Repo")
_BASE_ENDS = (*_REPOSITORY_ENDS, "RepositoryBase", "RepoBase")
