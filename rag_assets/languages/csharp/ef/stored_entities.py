"""The stored entities of a label: which types they are, their sets, tables and links."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from rag_assets.contracts.segment import MemberKind, Segment
from rag_assets.dependency_trace import tracked
from rag_assets.languages.csharp.binder.label_symbols import CSharpSymbols, NamePosition
from rag_assets.languages.csharp.binder.type_syntax import TypeRef, is_interface_name, simple_name
from rag_assets.languages.csharp.declaration_ranges import classes_of
from rag_assets.languages.csharp.ef.mappings import (
    EfDeclarations,
    EfFile,
    WrittenContext,
    code_of,
    configures_model,
    declared_in,
    mapped_by_code,
    written_sets,
)
from rag_assets.languages.csharp.facts.storage import BASES
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_names import parse_type

__all__ = ["EfDeclarations", "EfSymbols", "EntityLink", "SetSymbol", "StoredEntity", "declared_in"]

MAX_BASES = 8
"""Contexts whose sets one context has; more is a cycle of interfaces."""

_AGGREGATES = frozenset({"IAggregateRoot", "AggregateRoot", "AggregateRootBase"})
"""Bases of what is loaded and stored as a whole, in the words of domain-driven design."""


_SINGLE = frozenset({"Nullable", "Lazy", "Task", "ValueTask"})
"""Wrappers around one value."""


@dataclass(frozen=True, slots=True, order=True)
class SetSymbol:
    """A set of a context: `Ns.ShopContext.Orders`. `entity` is '' if the label does not declare the type."""

    symbol: str
    entity: str
    context: str


@dataclass(frozen=True, slots=True, order=True)
class EntityLink:
    """A property of an entity that leads to other entities; `many`: it is a collection."""

    property: str
    target: str
    many: bool


@dataclass(frozen=True, slots=True, order=True)
class StoredEntity:
    """An entity. `tables` are those that code names (`sales.Orders`), sorted; `table` is the one that only convention
    names, '' beside the others. `owner` is the entity that an owned one is stored with."""

    symbol: str
    tables: tuple[str, ...] = ()
    table: str = ""
    owner: str = ""


@dataclass(slots=True)
class _Entity:
    symbol: str
    id: str
    tables: set[str] = field(default_factory=set)
    sets: set[SetSymbol] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)
    schemas: set[str] = field(default_factory=set)
    relational: bool = False
    names: set[str] = field(default_factory=set)  # that convention gives the table


class EfSymbols:
    """Answers about contexts and entities, by the symbols of their types. Picklable; equal declarations in any order
    give equal answers."""

    __slots__ = ("_contexts", "_csharp", "_entities", "_extensions", "_named")

    def __init__(self, declarations: Iterable[EfDeclarations], csharp: CSharpSymbols) -> None:
        """`csharp` are the declarations of the same label: they say what names mean."""
        files = sorted((file for bucket in declarations for file in bucket.files), key=lambda file: file.path)
        self._csharp = csharp
        self._contexts: dict[str, list[WrittenContext]] = {}
        self._entities: dict[str, _Entity] = {}
        self._named: dict[str, set[SetSymbol]] = {}
        self._extensions: dict[str, tuple[str, ...]] | None = None  # made when first asked for
        for file in files:
            self._add_contexts(file)
        for file in files:
            for mapping in file.mappings:
                entity = self._entity_named(mapping.entity, mapping.scope, file.path)
                if entity is not None:
                    entity.tables.update({mapping.table} - {""})
                    entity.relational = entity.relational or mapping.relational
        for file in files:
            self._add_owned(file)

    @tracked("ef.is_empty")
    def is_empty(self) -> bool:
        """Whether the label stores no entity that is known here."""
        return not (self._entities or self._contexts)

    @tracked("ef.entity")
    def entity(self, symbol: str) -> StoredEntity | None:
        """What is known of a type as an entity, None for any other type."""
        found = self._entities.get(symbol)
        if found is None:
            return None
        tables = tuple(sorted(_in_schema(table, found) for table in found.tables))
        owner = min(found.owners, default="") if not found.sets else ""
        unnamed = found.relational and not (tables or owner)
        return StoredEntity(symbol, tables, self._by_convention(found) if unnamed else "", owner)

    @tracked("ef.stored_as")
    def stored_as(self, symbol: str) -> str:
        """The entity that a type is, or that stores it: the only one of its name that is derived from it, as where the
        classes of persistence extend those of the domain. '' for any other type."""
        if symbol in self._entities:
            return symbol
        if self._extensions is None:
            self._extensions = self._extending()
        found = self._extensions.get(symbol, ())
        return found[0] if len(found) == 1 else ""

    def _extending(self) -> dict[str, tuple[str, ...]]:
        """Base class → the entities of the same name that extend it."""
        found: dict[str, set[str]] = {}
        for entity in self._entities.values():
            for type_id in self._hierarchy(entity.id)[1:]:
                base, own = self._csharp.declared(type_id), self._csharp.declared(entity.id)
                if base is not None and own is not None and base.name == own.name:
                    found.setdefault(base.symbol, set()).add(entity.symbol)
        return {base: tuple(sorted(entities)) for base, entities in found.items()}

    @tracked("ef.table")
    def table(self, symbol: str, written: str) -> str:
        """The table that a mapping of an entity means: in the default schema of its context if written without one."""
        found = self._entities.get(symbol)
        return _in_schema(written, found) if found is not None else written

    @tracked("ef.links")
    def links(self, symbol: str) -> tuple[EntityLink, ...]:
        """The properties of an entity, also of its bases, that lead to entities; sorted."""
        found: set[EntityLink] = set()
        entity = self._entities.get(symbol)
        for type_id in self._hierarchy(entity.id) if entity is not None else ():
            for name in self._csharp.member_names(type_id):
                for member in self._csharp.members(type_id, name):
                    if member.kind is MemberKind.PROPERTY and not member.is_static:
                        target, many = _held(member.type)
                        declared = self._csharp.declared(target) if target else None
                        if declared is not None and declared.symbol in self._entities:
                            found.add(EntityLink(name, declared.symbol, many))
        return tuple(sorted(found))

    @tracked("ef.parts")
    def parts(self, symbol: str) -> tuple[str, ...]:
        """What is stored together with an aggregate root: the entities of its collections, sorted; () for others.

        A root says so itself (`IAggregateRoot`): of any other entity a collection may as well be a list of neighbours.
        """
        entity = self._entities.get(symbol)
        if entity is None:
            return ()
        above = (base for type_id in self._hierarchy(entity.id) for base in self._csharp.bases(type_id))
        if not any(base.name.rpartition(".")[2] in _AGGREGATES for base in above):
            return ()
        return tuple(sorted({link.target for link in self.links(symbol) if link.many} - {symbol}))

    def everything(self) -> tuple[object, ...]:
        """All that can be asked: what members of types and of their bases say is in it."""
        known = sorted(self._entities)
        contexts = sorted(self._contexts)
        return (
            [(self.entity(symbol), self.stored_as(symbol), self.links(symbol), self.parts(symbol)) for symbol in known],
            [sorted(entity.schemas) for _, entity in sorted(self._entities.items())],
            [(symbol, self._contexts[symbol], self._owners(symbol)) for symbol in contexts],
            [self.sets_named(name) for name in self.set_names()],
        )

    @tracked("ef.context_names")
    def context_names(self) -> tuple[str, ...]:
        """The simple names of all contexts and of the interfaces with sets, sorted."""
        return tuple(sorted({context.name for found in self._contexts.values() for context in found}))

    @tracked("ef.set_names")
    def set_names(self) -> tuple[str, ...]:
        """The names of all sets of contexts, sorted."""
        return tuple(sorted(self._named))

    @tracked("ef.is_context")
    def is_context(self, symbol: str) -> bool:
        return symbol in self._contexts

    @tracked("ef.set")
    def set_of(self, context: str, name: str) -> SetSymbol | None:
        """The set that a member of a context is: its own, that of a base, or for an interface that of a context that
        implements it."""
        named = sorted(self._named.get(name, ()))
        return next((found for owner in self._owners(context) for found in named if found.context == owner), None)

    @tracked("ef.sets_named")
    def sets_named(self, name: str) -> tuple[SetSymbol, ...]:
        """The sets of contexts (not of interfaces) with this name, sorted."""
        return tuple(sorted(self._named.get(name, ())))

    @tracked("ef.set_holding")
    def set_holding(self, context: str, entity: str) -> str:
        """The symbol of the only set of a context that holds an entity, '' for none and several."""
        owners = self._owners(context)
        known = self._entities.get(entity)
        found = [held.symbol for held in sorted(known.sets) if held.context in owners] if known is not None else []
        return found[0] if len(found) == 1 else ""

    def _owners(self, context: str) -> list[str]:
        """The classes whose sets a context has: itself and its bases, or the implementers of an interface."""
        found: list[str] = []
        waiting = [context]
        while waiting and len(found) <= MAX_BASES:
            symbol = waiting.pop(0)
            declared = self._contexts.get(symbol, ())
            if not declared or symbol in found:
                continue
            if any(part.is_interface for part in declared):
                waiting += self._implementing(declared[0].name)
                continue
            found.append(symbol)
            names = {simple_name(base) for part in declared for base in part.bases}
            waiting += [
                other
                for other, parts in self._contexts.items()
                if parts[0].name in names and not is_interface_name(parts[0].name)
            ]
        return found

    def _implementing(self, interface: str) -> list[str]:
        return [
            symbol
            for symbol, parts in self._contexts.items()
            if any(not part.is_interface and interface in map(simple_name, part.bases) for part in parts)
        ]

    def _add_contexts(self, file: EfFile) -> None:
        for context in file.contexts:
            self._contexts.setdefault(context.symbol, []).append(context)
            for written in context.sets:
                entity = self._entity_named(written.entity, context.symbol, file.path)
                if context.is_interface:
                    continue
                symbol = entity.symbol if entity is not None else ""
                made = SetSymbol(f"{context.symbol}.{written.name}", symbol, context.symbol)
                self._named.setdefault(written.name, set()).add(made)
                if entity is not None:
                    entity.relational = True
                    entity.sets.add(made)
                    entity.names.add(written.table or written.name)
                    entity.schemas.add(context.default_schema)

    def _add_owned(self, file: EfFile) -> None:
        """The types of owned navigations."""
        for mapping in file.mappings:
            owner = self._entity_named(mapping.entity, mapping.scope, file.path) if mapping.owned else None
            if owner is None:
                continue
            for navigation, table in mapping.owned:
                for member in self._csharp.find_members(owner.id, navigation)[:1]:
                    target = self._csharp.declared(_held(member.type)[0])
                    if target is not None:
                        entity = self._entities.setdefault(target.symbol, _Entity(target.symbol, target.id))
                        entity.owners.add(owner.symbol)
                        entity.tables.update({table} - {""})

    def _entity_named(self, written: str, scope: str, path: str) -> _Entity | None:
        """The entity that a name means, which is known as one from now on."""
        found = self._csharp.resolve_type(written, NamePosition(path, scope))
        if found is None:
            return None
        return self._entities.setdefault(found.symbol, _Entity(found.symbol, found.id))

    def _hierarchy(self, type_id: str) -> tuple[str, ...]:
        above = (base.name for base in self._csharp.base_classes(type_id) if base.declared)
        return (type_id, *above)

    def _by_convention(self, entity: _Entity) -> str:
        """As EF Core names the table: after the set, else after the class; a hierarchy has the table of its root."""
        for type_id in self._hierarchy(entity.id)[1:]:
            declared = self._csharp.declared(type_id)
            above = self._entities.get(declared.symbol) if declared is not None else None
            entity = above or entity
        own = entity.symbol.rpartition(".")[2].partition("`")[0]
        return _in_schema(min(entity.tables, default=min(entity.names, default=own)), entity)


def _in_schema(table: str, entity: _Entity) -> str:
    """With the default schema of the context, where the table is written without one."""
    schema = min(entity.schemas - {""}, default="")
    return f"{schema}.{table}" if schema and "." not in table else table


def _held(found: TypeRef) -> tuple[str, bool]:
    """(id of the declared type that a property leads to, whether by a collection); ('', …) for none."""
    many = False
    while not found.declared and found.arguments and not found.is_tuple:
        many = many or found.is_array or found.name not in _SINGLE
        found = found.arguments[-1]
    return (found.name if found.declared else ""), many


@dataclass(frozen=True, slots=True, order=True)
class StoreClaim:
    """A type says that it stores `entity`, as written in `namespace` under `usings`."""

    entity: str
    evidence: str
    namespace: str = ""
    usings: tuple[str, ...] = ()


def store_claims(segments: Iterable[Segment], text: Callable[[], str]) -> Iterator[StoreClaim]:
    """What the types of one C# file store. `text` gives the file, and is called only where code configures a model."""
    for segment in classes_of(segments):
        for entity, evidence in _claimed(segment, text):
            yield StoreClaim(entity, evidence, segment.namespace, segment.usings)


def _claimed(segment: Segment, text: Callable[[], str]) -> Iterator[tuple[str, str]]:
    for written in written_sets(segment):
        yield written.entity, f"set {written.name} of {segment.name}"
    for base in segment.base_list:
        found = parse_type(base)
        if found.name in BASES and found.arguments and found.arguments[0].name not in segment.type_parameters:
            yield found.arguments[0].name, f"{found.name} of {segment.name}"
    if configures_model(segment):
        for mapping in mapped_by_code(segment, code_of(segment, text())):
            yield mapping.entity, f"configured by {segment.name}"


class PersistedTypes:
    """Answers whether a type is stored, by what others say: sets of contexts, configurations, bases that are stores.
    What a type says of itself (`[Table]`, `[Key]`) the rules of its kind read.

    Names mean what the declared types of the label say, without the binder: every type of a label is asked about, so
    asking must cost nothing. Picklable; equal claims in any order give equal answers.
    """

    __slots__ = ("_evidence",)

    def __init__(self, claims: Iterable[StoreClaim] = (), declared: TypeIndex | None = None) -> None:
        """`declared` are the types of the same label: they say what names mean."""
        self._evidence: dict[str, str] = {}
        for claim in sorted(set(claims)):
            found = declared.resolve(claim.entity, claim.namespace, claim.usings) if declared is not None else None
            if found is not None:
                self._evidence.setdefault(found.symbol, claim.evidence)

    @tracked("persisted.evidence")
    def evidence(self, symbol: str) -> str:
        """`set Orders of ShopContext`; '' for a type that nothing is known to store."""
        return self._evidence.get(symbol, "")
