"""The domain catalog of a label: the domains of its configuration and those that C# code declares, by exact key. [L]

The domains that C# code declares with `[DomainDescriptor]` classes, gathered over a whole label. [L]

`DomainFacts` are plain data: those of the parts of a label can be collected apart and merged in any order.
"""

from __future__ import annotations

import fnmatch
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_assets.classification.rule_packs import path_matches
from rag_assets.contracts.identity import DEFAULT_SECTION, GENERAL_DOMAIN, slug
from rag_assets.contracts.result import Message
from rag_assets.contracts.segment import Member, MemberKind, Segment
from rag_assets.dependency_trace import tracked
from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.facts.expressions import (
    Initializer,
    arguments_of,
    dotted_name,
    first_initializer,
    initializer,
    literal,
)
from rag_assets.languages.csharp.facts.primary_entity import ENTITY_DECLARATIONS, can_be_entity
from rag_assets.languages.csharp.facts.type_index import IndexedType
from rag_assets.languages.csharp.facts.type_names import parse_type

ENTITY_ATTRIBUTE = "EntityDescription"


@dataclass(frozen=True, slots=True, order=True)
class Cluster:
    """A named part of a domain."""

    key: str = ""
    name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Domain:
    """A business domain. `paths` and `namespaces` are globs; `*` in a namespace spans dots.

    `classes` are the fully qualified names of the models that name the domain, `declared_at` is `path:line` of the
    code that declares it; both are empty for a domain of the configuration.
    """

    key: str
    title: str
    tagline: str = ""
    description: str = ""
    paths: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    classes: tuple[str, ...] = ()
    declared_at: str = ""


@dataclass(frozen=True, slots=True, order=True)
class DeclaredConstant:
    """`const string Name = "value"` of the type `symbol`."""

    type_name: str
    name: str
    symbol: str
    value: str


@dataclass(frozen=True, slots=True, order=True)
class EntityClaim:
    """A model and the domain that its `[EntityDescription]` names, as written."""

    symbol: str
    expression: str
    usings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, order=True)
class DomainDeclaration:
    """One `[DomainDescription(key)]` property with the texts of its initializer, constants not yet resolved."""

    symbol: str
    member: str
    path: str
    line: int
    key: str
    title: str = ""
    description: str = ""
    clusters: tuple[Cluster, ...] = ()


class DomainIndex:
    """What a label declares about its domains: the domains, and which domain an attribute argument means."""

    def __init__(
        self,
        declarations: Iterable[DomainDeclaration] = (),
        constants: Iterable[DeclaredConstant] = (),
        claims: Iterable[EntityClaim] = (),
    ) -> None:
        self._constants: dict[tuple[str, str], list[DeclaredConstant]] = {}
        for constant in sorted(set(constants)):
            self._constants.setdefault((constant.type_name, constant.name), []).append(constant)
        self.problems: tuple[Message, ...] = ()
        self.domains: tuple[Domain, ...] = ()
        self.claimed: dict[str, str] = {}
        """The key that the `[EntityDescription]` of a model names, by symbol."""
        self._by_symbol: dict[str, list[Domain]] = {}
        self._resolve(sorted(set(declarations)), sorted(set(claims)))

    @tracked("domains.of_type")
    def of_type(self, symbol: str) -> tuple[Domain, ...]:
        """The domains that a `[DomainDescriptor]` class declares."""
        return tuple(self._by_symbol.get(symbol, ()))

    @tracked("domains.key_of")
    def key_of(self, expression: str, symbol: str = "", usings: Iterable[str] = ()) -> str:
        """The domain key that an attribute argument means: a string, or a constant of this label; '' when unknown.

        `symbol` is the type that carries the attribute: its own constants may be written without their class, and
        of several classes with one name the one of a near namespace or of `usings` is meant.
        """
        text = literal(expression)
        if text is not None:
            return text
        parts = dotted_name(expression)
        if not parts:
            return ""
        type_name = parts[-2] if len(parts) > 1 else symbol.rpartition(".")[2]
        found = self._constants.get((type_name, parts[-1]), [])
        written = ".".join(parts[:-1])
        if len(parts) > 2 and any(constant.symbol.endswith(written) for constant in found):
            found = [constant for constant in found if constant.symbol.endswith(written)]
        if len({constant.value for constant in found}) > 1:
            visible = set(usings) | set(_namespaces_around(symbol))
            found = [constant for constant in found if constant.symbol.rpartition(".")[0] in visible]
        values = {constant.value for constant in found}
        return values.pop() if len(values) == 1 else ""

    def domain_named_by(self, segment: Segment) -> str:
        """The key of the domain that the `[EntityDescription]` of a model names; '' without one or when unknown."""
        expression = entity_domain_expression(segment)
        return self.key_of(expression, segment.symbol, segment.usings) if expression else ""

    def _resolve(self, declarations: list[DomainDeclaration], claims: list[EntityClaim]) -> None:
        problems: list[Message] = []
        models: dict[str, list[str]] = {}
        for claim in claims:
            key = self.key_of(claim.expression, claim.symbol, claim.usings)
            if key:
                models.setdefault(key, []).append(claim.symbol)
                self.claimed[claim.symbol] = key
            else:
                text = f"{claim.symbol}: the domain {claim.expression} of its {ENTITY_ATTRIBUTE} is not declared here"
                problems.append(Message("DOMAIN.unknown", text))
        kept: dict[str, Domain] = {}
        for found in declarations:
            key = self.key_of(found.key, found.symbol)
            if not key:
                text = f"{found.path}:{found.line}: the key {found.key or '(none)'} of {found.member} is not known"
                problems.append(Message("DOMAIN.unknown-key", text))
                continue
            title = self._text(found.title, found.symbol) or key
            description = self._text(found.description, found.symbol)
            domain = Domain(
                key=key,
                title=title,
                tagline=first_sentence(description),
                description=description,
                clusters=found.clusters,
                classes=tuple(models.get(key, ())),
                declared_at=f"{found.path}:{found.line}",
            )
            self._by_symbol.setdefault(found.symbol, []).append(domain)
            first = kept.setdefault(key, domain)
            if (first.title, first.description) != (domain.title, domain.description):
                problems.append(collision(first, domain))
        self.domains = tuple(kept[key] for key in sorted(kept))
        self.problems = tuple(problems)

    def _text(self, expression: str, symbol: str) -> str:
        return self.key_of(expression, symbol) if expression else ""


def collision(kept: Domain, refused: Domain) -> Message:
    """Two domains under one key: reported, never merged silently (domain reference §4)."""
    text = (
        f"domain key {kept.key!r} is declared twice: {kept.title!r} ({kept.declared_at or 'configuration'}) is used, "
        f"{refused.title!r} ({refused.declared_at or 'configuration'}) is not; rename one of them"
    )
    return Message("DOMAIN.collision", text)


def first_sentence(text: str) -> str:
    """The tagline that a description offers."""
    head, dot, _ = text.partition(". ")
    return head + "." if dot else text


def entity_domain_expression(segment: Segment) -> str:
    """The first argument of a segment's `[EntityDescription]`, or the one named `Domain`, as written; '' without."""
    for attribute in segment.attributes:
        if attribute_name(attribute) == ENTITY_ATTRIBUTE:
            arguments = arguments_of(attribute)
            named = arguments.named.get("Domain") or arguments.named.get("domain", "")
            return named or next(iter(arguments.positional), "")
    return ""


def _namespaces_around(symbol: str) -> list[str]:
    parts = symbol.split(".")[:-1]
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


class InheritedDomains:
    """The domains of what declares none: through the entities it is about, its path, the types it names.

    Only entities lead to a domain: types whose attribute names one, and types in the place of a configured one that
    can be what a repository or handler is about. Picklable; equal types and claims in any order give equal answers.
    """

    __slots__ = ("_by_folder", "_by_name", "_by_word", "_exist", "_named")

    def __init__(
        self,
        titles: dict[str, str],
        named: Mapping[str, str],
        types: Iterable[IndexedType],
        placed: Callable[[IndexedType], str],
    ) -> None:
        """`titles` are those of all domains by key, `named` the domain that the attribute of a type names by symbol;
        `placed` is the configured one of a declaration, '' for none."""
        words = {word: key for key in reversed(titles) for word in (slug(titles[key]), slug(key))}
        self._by_word = {word: key for word, key in words.items() if word != DEFAULT_SECTION}
        self._exist = bool(titles)
        self._named = frozenset(named.values())
        by_name: dict[str, set[str]] = {}
        by_folder: dict[str, set[str]] = {}
        for found in types:
            key = named.get(found.symbol, "") or (placed(found) if _leads(found) else "")
            if key:
                by_name.setdefault(found.name, set()).add(key)
                for folder in _folders_around(found.path):
                    by_folder.setdefault(folder, set()).add(key)
        self._by_name = {name: keys.pop() for name, keys in by_name.items() if len(keys) == 1}
        self._by_folder = {folder: min(keys) if len(keys) == 1 else "" for folder, keys in by_folder.items()}

    @tracked("domains.exist")
    def exist(self) -> bool:
        """Whether there is anything to inherit."""
        return self._exist

    @tracked("domains.of_entity")
    def of_entity(self, names: Iterable[str]) -> str:
        """The domain of the first of these types that has one."""
        return next((self._by_name[name] for name in names if name in self._by_name), "")

    @tracked("domains.of_types")
    def of_types(self, names: Iterable[str]) -> str:
        """The domain that more than half of those types have which have one."""
        votes = Counter(self._by_name[name] for name in set(names) if name in self._by_name)
        return next((key for key in votes if 2 * votes[key] > votes.total()), "")

    @tracked("domains.of_path")
    def of_path(self, path: str) -> str:
        """The domain that the file or a folder around it is called after, the nearest first."""
        for part in reversed(path.rpartition(".")[0].split("/")):
            for word in reversed(part.split(".")):
                if word and slug(word) in self._by_word:
                    return self._by_word[slug(word)]
        return ""

    @tracked("domains.of_place")
    def of_place(self, path: str) -> str:
        """The domain of all entities of the nearest folder around that has any, where their attributes name it: the
        place of a configured domain ends where its globs end."""
        nearest = next((folder for folder in _folders_around(path) if folder in self._by_folder), None)
        key = self._by_folder[nearest] if nearest is not None else ""
        return key if key in self._named else ""


def _leads(found: IndexedType) -> bool:
    return found.declaration in ENTITY_DECLARATIONS and can_be_entity(parse_type(found.name))


def _folders_around(path: str) -> list[str]:
    """The folder of a file and those around it, the root ('') last."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]


class ConfiguredDomainCatalog:
    """`IDomainCatalogService`: the configured domains first, then what the code of the label declares.

    Where several globs claim a place the first listed wins. Raises ValueError for a key configured twice.
    """

    def __init__(
        self,
        domains: Iterable[Domain] = (),
        declared: DomainIndex | None = None,
        types: Iterable[IndexedType] = (),
    ) -> None:
        """`types` are those that the label declares: what is about an entity has the domain of the entity."""
        self._configured = tuple(domains)
        keys = [domain.key for domain in self._configured]
        if len(set(keys)) != len(keys):
            raise ValueError(f"domain keys used twice: {', '.join(sorted({k for k in keys if keys.count(k) > 1}))}")
        self._declared = declared or DomainIndex()
        self._by_key = {domain.key: domain for domain in self._configured}
        problems: list[Message] = []
        for domain in self._declared.domains:
            known = self._by_key.get(domain.key)
            if known is None:
                self._by_key[domain.key] = domain
            elif known.title == domain.title:
                self._by_key[domain.key] = _completed(known, domain)
            else:
                problems.append(collision(known, domain))
        self.problems: tuple[Message, ...] = (*problems, *self._declared.problems)
        self._namespaces = tuple(
            tuple(re.compile(fnmatch.translate(glob)) for glob in domain.namespaces) for domain in self._configured
        )
        placed = any(domain.paths or domain.namespaces for domain in self._configured)
        self.inherited = InheritedDomains(
            {key: domain.title for key, domain in self._by_key.items()},
            {symbol: key for symbol, key in self._declared.claimed.items() if key in self._by_key},
            types if self._by_key else (),
            (lambda found: self.domain_of(found.path, found.namespace)) if placed else (lambda found: ""),
        )

    @tracked("catalog.domain")
    def domain(self, domain_key: str) -> Domain | None:
        """By exact key only."""
        return self._by_key.get(domain_key)

    @tracked("catalog.title")
    def title(self, domain_key: str) -> str:
        found = self._by_key.get(domain_key)
        return found.title if found else GENERAL_DOMAIN

    @tracked("catalog.tagline")
    def tagline(self, domain_key: str) -> str:
        found = self._by_key.get(domain_key)
        return found.tagline if found else ""

    def domain_of(self, path: str, namespace: str) -> str:
        """The key of the first domain that a path glob or a namespace glob assigns, '' for none."""
        for domain, namespaces in zip(self._configured, self._namespaces, strict=True):
            if any(path_matches(glob, path) for glob in domain.paths):
                return domain.key
            if namespace and any(pattern.match(namespace) for pattern in namespaces):
                return domain.key
        return ""

    def domain_of_segment(self, path: str, segment: Segment) -> str:
        """The key of the domain of a type, '' for none: what its `[EntityDescription]` names, where the catalog has
        it; then the place of the type; then, for a class that declares one domain, that domain."""
        if segment.attributes:
            named = self._declared.domain_named_by(segment)
            if self.domain(named) is not None:
                return named
        placed = self.domain_of(path, segment.namespace)
        if placed:
            return placed
        own = self._declared.of_type(segment.symbol)
        return own[0].key if len(own) == 1 else ""

    @property
    def has_domains(self) -> bool:
        return self.inherited.exist()

    def domain_about(self, path: str, entities: Sequence[str], related: Sequence[str] = ()) -> str:
        """The key of the domain that a declaration without one inherits, '' for none.

        From the first of `entities`, which are what it is about, best first; from a folder that is called after a
        domain; from the types that it names (`related`), where most agree; from the entities in the folders around it,
        where all agree.
        """
        known = self.inherited
        return (
            known.of_entity(entities)
            or known.of_path(path)
            or (known.of_types(related) if related else "")
            or known.of_place(path)
        )


def _completed(configured: Domain, declared: Domain) -> Domain:
    """A configured domain with what only the code says of it; the titles agree."""
    return replace(
        configured,
        tagline=configured.tagline or declared.tagline,
        description=configured.description or declared.description,
        clusters=declared.clusters,
        classes=declared.classes,
        declared_at=declared.declared_at,
    )


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
