"""How a model refers to other models: `OrderToCustomer`, one, by the property `Customer`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from rag_assets.contracts.segment import MemberKind, Segment
from rag_assets.languages.csharp.facts.properties import PropertyFact, said_of
from rag_assets.languages.csharp.facts.type_index import IndexedType, TypeIndex
from rag_assets.languages.csharp.facts.type_names import element_type, parse_type


class Cardinality(StrEnum):
    """How many of the target one instance refers to, as its property says."""

    ONE = "one"
    ZERO_OR_ONE = "zero-or-one"
    MANY = "many"


class Multiplicity(StrEnum):
    """Both ends of a relationship, where the text shows both; the source comes first."""

    UNKNOWN = ""
    ONE_TO_MANY = "OneToMany"
    MANY_TO_ONE = "ManyToOne"


@dataclass(frozen=True, slots=True)
class Relationship:
    """`target` is the simple name, `target_symbol` the declaration it resolves to. `foreign_key` is the property
    with the key of the target, where there is one by name; `inverse` the property that leads back."""

    name: str
    target: str
    target_symbol: str
    property: str
    cardinality: Cardinality
    doc: str = ""
    foreign_key: str = ""
    inverse: str = ""
    multiplicity: Multiplicity = Multiplicity.UNKNOWN

    def line(self) -> str:
        """One line of a snippet: `OrderToOrderLine: many OrderLine by Lines — What was bought.`"""
        text = f"{self.name}: {self.cardinality} {self.target} by {self.property}"
        if self.multiplicity:
            text += f", {self.multiplicity}"
        if self.by_convention():
            text += ", by convention"
        elif self.foreign_key:
            text += f", key {self.foreign_key}"
        said = said_of(self.doc, self.property)
        return f"{text} — {said}" if said else text

    def by_convention(self) -> bool:
        """Whether only the name of a key leads to the target."""
        return self.foreign_key == self.property


def relationships_of(
    segment: Segment, properties: tuple[PropertyFact, ...], declared_types: TypeIndex
) -> tuple[Relationship, ...]:
    """The relationships of a model to types that the label declares, itself included, in the order of its properties.

    A target is a class or record: values (structs, enums, scalars), interfaces and types of packages are none. A
    property `CustomerId` without a `Customer` beside it counts when a `Customer` is declared: by name, not by proof.
    """
    known = _Targets(segment, declared_types)
    names = {fact.name.lower(): fact.name for fact in properties}
    found: list[Relationship] = []
    for fact in properties:
        target = known.of(fact)
        if target is not None:
            key = "" if fact.collection else names.get(f"{fact.name}id".lower(), "")
            found.append(_relationship(segment, fact, target, key))
    covered = {relationship.foreign_key for relationship in found}
    found += [made for fact in properties if fact.name not in covered and (made := _by_key(segment, fact, known))]
    order = {fact.name: index for index, fact in enumerate(properties)}
    return _with_both_ends(segment, sorted(found, key=lambda relationship: order[relationship.property]))


def child_objects(segment: Segment, relationships: Iterable[Relationship]) -> tuple[str, ...]:
    """The types a model is made of: what its collections hold, and the classes nested in it."""
    held = [found.target for found in relationships if found.cardinality is Cardinality.MANY]
    nested = [m.name for m in segment.members if m.kind is MemberKind.TYPE and m.type.startswith(_CLASSES)]
    return tuple(dict.fromkeys([name for name in held if name != segment.name] + nested))


class _Targets:
    """What the types of properties refer to, seen from one segment."""

    def __init__(self, segment: Segment, declared_types: TypeIndex) -> None:
        self._segment = segment
        self._types = declared_types
        self._own = dict(_own_types(segment))

    def of(self, fact: PropertyFact) -> IndexedType | None:
        """The class that a property refers to, through collections and headers, or None."""
        found = element_type(parse_type(fact.type))
        if found.name in _HEADERS and len(found.arguments) == 1:
            found = found.arguments[0]
        return self.named(found.name, str(found))

    def named(self, name: str, written: str = "") -> IndexedType | None:
        if not name or name in self._segment.type_parameters:
            return None
        own = self._own.get(name)
        if own is not None:
            return own
        segment = self._segment
        found = self._types.resolve(written or name, segment.namespace, segment.usings, segment.language)
        return found if found is not None and _is_reference(found.declaration, segment.language) else None


def _own_types(segment: Segment) -> Iterator[tuple[str, IndexedType]]:
    """The segment itself and the classes nested in it: known without a catalog."""
    if _is_reference(segment.kind, segment.language):
        yield segment.name, IndexedType(segment.symbol, "", 0, segment.name, segment.kind)
    for member in segment.members:
        if member.kind is MemberKind.TYPE and member.symbol and _is_reference(member.type, segment.language):
            yield member.name, IndexedType(member.symbol, "", 0, member.name, member.type)


def _by_key(segment: Segment, fact: PropertyFact, known: _Targets) -> Relationship | None:
    stem = fact.name.removesuffix("Id")
    if stem == fact.name or not stem or fact.collection or fact.key or stem == segment.name:
        return None
    target = known.named(stem)
    return None if target is None else _relationship(segment, fact, target, fact.name)


def _relationship(segment: Segment, fact: PropertyFact, target: IndexedType, foreign_key: str) -> Relationship:
    return Relationship(
        name=f"{segment.name}To{target.name}",
        target=target.name,
        target_symbol=target.symbol,
        property=fact.name,
        cardinality=_cardinality(fact),
        doc=fact.doc,
        foreign_key=foreign_key,
    )


def _with_both_ends(segment: Segment, found: list[Relationship]) -> tuple[Relationship, ...]:
    """A type that refers to itself shows both ends: `Parent` and `Children` are one relationship.

    Only where one is a collection and the other is not, and nothing else refers to the type.
    """
    own = [relationship for relationship in found if relationship.target_symbol == segment.symbol]
    many = [relationship.cardinality is Cardinality.MANY for relationship in own]
    if sorted(many) != [False, True]:
        return tuple(found)
    inverse = {own[0].property: own[1].property, own[1].property: own[0].property}
    return tuple(
        replace(
            relationship,
            inverse=inverse[relationship.property],
            multiplicity=(
                Multiplicity.ONE_TO_MANY if relationship.cardinality is Cardinality.MANY else Multiplicity.MANY_TO_ONE
            ),
        )
        if relationship.property in inverse
        else relationship
        for relationship in found
    )


def _cardinality(fact: PropertyFact) -> Cardinality:
    if fact.collection:
        return Cardinality.MANY
    return Cardinality.ZERO_OR_ONE if fact.nullable else Cardinality.ONE


def _is_reference(declaration: str, language: str) -> bool:
    return declaration in _REFERENCES.get(language, _CLASSES)


_CLASSES = ("class", "record")
"""Declarations whose values are shared by reference; a struct is a value of its owner."""
_REFERENCES = {"go": ("struct",), "typescript": ("class", "interface", "type")}
"""The same in languages where these are what data is made of."""

_HEADERS = frozenset({"EntityHeader"})
"""Wrappers that hold the id and the text of an entity in place of the entity. [L]"""
