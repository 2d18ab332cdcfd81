"""The domains that C# code declares with `[DomainDescriptor]` classes, gathered over a whole label. [L]

`DomainFacts` are plain data: those of the parts of a label can be collected apart and merged in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.descriptions.domain_catalog import (
    Cluster,
    DeclaredConstant,
    DomainDeclaration,
    DomainIndex,
    EntityClaim,
    entity_domain_expression,
)
from rag_assets.languages.csharp.facts.expressions import (
    Initializer,
    arguments_of,
    dotted_name,
    first_initializer,
    initializer,
    literal,
)
from rag_assets.languages.csharp.simple_names import attribute_name

DESCRIPTOR_ATTRIBUTE = "DomainDescriptor"
DESCRIPTION_ATTRIBUTE = "DomainDescription"
DESCRIPTION_TYPE = "DomainDescription"


@dataclass(frozen=True, slots=True)
class DomainFacts:
    """What some files declare about domains, sorted."""

    declarations: tuple[DomainDeclaration, ...] = ()
    constants: tuple[DeclaredConstant, ...] = ()
    claims: tuple[EntityClaim, ...] = ()


class DomainCollector:
    """Collects declarations file by file; picklable, mergeable, independent of order."""

    def __init__(self) -> None:
        self._declarations: set[DomainDeclaration] = set()
        self._constants: set[DeclaredConstant] = set()
        self._claims: set[EntityClaim] = set()

    def add(self, path: str, segments: Iterable[Segment], text: Callable[[], str]) -> None:
        """The segments of one C# file. `text` gives the contents of the file; it is asked for only when one of the
        segments is a `[DomainDescriptor]` class."""
        for segment in segments:
            self._constants.update(_constants(segment))
            expression = entity_domain_expression(segment)
            if expression:
                self._claims.add(EntityClaim(segment.symbol, expression, segment.usings))
            if is_descriptor(segment):
                self._declarations.update(declarations_of(path, segment, text()))

    def facts(self) -> DomainFacts:
        return DomainFacts(
            declarations=tuple(sorted(self._declarations)),
            constants=tuple(sorted(self._constants)),
            claims=tuple(sorted(self._claims)),
        )

    def merge(self, other: DomainFacts) -> None:
        self._declarations.update(other.declarations)
        self._constants.update(other.constants)
        self._claims.update(other.claims)

    def declared(self) -> DomainIndex:
        """What the label declares; only constants of types that some attribute may mean are kept."""
        expressions = [claim.expression for claim in self._claims]
        for found in self._declarations:
            expressions += [found.key, found.title, found.description]
        asked = {parts[-2] for text in expressions if len(parts := dotted_name(text)) > 1}
        carriers = [found.symbol for found in self._declarations] + [claim.symbol for claim in self._claims]
        asked.update(symbol.rpartition(".")[2] for symbol in carriers)
        constants = (constant for constant in self._constants if constant.type_name in asked)
        return DomainIndex(self._declarations, constants, self._claims)


def is_descriptor(segment: Segment) -> bool:
    """Whether a type declares domains: the attribute on the type, or a property that describes one."""
    if any(attribute_name(attribute) == DESCRIPTOR_ATTRIBUTE for attribute in segment.attributes):
        return True
    return bool(description_members(segment))


def description_members(segment: Segment) -> list[Member]:
    """The members that describe a domain each."""
    return [member for member in segment.members if member.attributes and _description_attribute(member)]


def declarations_of(path: str, segment: Segment, text: str) -> list[DomainDeclaration]:
    """The `[DomainDescription]` properties of a descriptor class; `text` is the whole file."""
    found = []
    for member in description_members(segment):
        attribute = _description_attribute(member)
        made = first_initializer(member.span.slice(text), DESCRIPTION_TYPE) or Initializer()
        arguments = arguments_of(attribute)
        key = next(iter(arguments.positional), "") or next(iter(arguments.named.values()), "")
        found.append(
            DomainDeclaration(
                symbol=segment.symbol,
                member=member.name,
                path=path,
                line=member.span.line_start,
                key=key or made.assigned.get("Key", ""),
                title=made.assigned.get("Name", ""),
                description=made.assigned.get("Description", ""),
                clusters=_clusters(made.assigned.get("Clusters", "")),
            )
        )
    return found


def _description_attribute(member: Member) -> str:
    return next((a for a in member.attributes if attribute_name(a) == DESCRIPTION_ATTRIBUTE), "")


def _constants(segment: Segment) -> Iterable[DeclaredConstant]:
    for member in segment.members:
        if member.kind is MemberKind.FIELD and "const" in member.modifiers and member.type in ("string", "String"):
            value = literal(member.value)
            if value is not None:
                yield DeclaredConstant(segment.name, member.name, segment.symbol, value)


def _clusters(expression: str) -> tuple[Cluster, ...]:
    made = initializer(expression) if expression else None
    found = []
    for item in made.items if made else ():
        texts = initializer(item)
        if texts is None:
            continue
        read = {name: literal(value) or "" for name, value in texts.assigned.items()}
        cluster = Cluster(read.get("Key", ""), read.get("Name", ""), read.get("Description", ""))
        if cluster != Cluster():
            found.append(cluster)
    return tuple(found)
