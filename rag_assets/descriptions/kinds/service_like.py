"""Types with operations: managers, services, clients, proxies, handlers, repositories with their storage."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.contracts.segment import MemberKind, MemberRange, Segment, SymbolText
from rag_assets.descriptions.kind_builder import Facts, Subject, TypeAwareBuilder, dependencies_of
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.descriptions.text_description import TextDescription
from rag_assets.languages.csharp.binder.type_syntax import is_interface_name, simple_name
from rag_assets.languages.csharp.facts.masked_body import masked_body_of
from rag_assets.languages.csharp.facts.method_verbs import (
    METHODS,
    MethodFact,
    MethodKind,
    RemoteCall,
    all_method_facts,
    remote_calls,
)
from rag_assets.languages.csharp.facts.primary_entity import name_stems, primary_entity
from rag_assets.languages.csharp.facts.storage import StorageKind, StorageOperation, storage_of, storage_operations
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_names import is_scalar, parse_type
from rag_assets.languages.csharp.handled_messages import HandledMessage, handled_messages
from rag_assets.sections.snippet import path_words

METHODS_GROUP = "methods"
CONSTRUCTORS_GROUP = "constructors"

_PLUMBING = frozenset({"ILogger", "ILoggerFactory", "IOptions", "IOptionsMonitor", "IOptionsSnapshot"})
"""Dependencies that nearly every class has: facts, but not worth the tokens of a snippet."""

_HABITS = frozenset(
    {"IDisposable", "IAsyncDisposable", "IComparable", "IEquatable", "ICloneable", "INotifyPropertyChanged"}
)
"""Interfaces that say how a class behaves, never what it is for."""

HOSTED_BASES = frozenset({"BackgroundService", "IHostedService", "IHostedLifecycleService"})


@dataclass(kw_only=True)
class BehaviourDescription(SymbolDescription):
    """A class that does something for others. `methods` are its own, also those of its other parts, not those
    of nested types.

    `primary_interface` is the one it is known by. The snippet tells the kinds of its methods, because their names
    follow in the same text.
    """

    primary_interface: str = ""
    methods: tuple[MethodFact, ...] = ()

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("ImplementsInterface", ", ".join(self.interfaces_first())),
            *self.kind_facts(),
            ("DependsOn", ", ".join(d for d in self.dependencies if simple_name(d) not in _PLUMBING)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def kind_facts(self) -> list[tuple[str, str]]:
        """The lines that only this kind has."""
        return [("Operations", ", ".join(self.operation_kinds()))]

    def interfaces_first(self) -> tuple[str, ...]:
        """The interfaces, the primary one first."""
        return tuple(sorted(self.interfaces, key=lambda name: name != self.primary_interface))

    def operation_kinds(self) -> list[str]:
        """The kinds of its public methods, in their fixed order; nothing where all are Other."""
        found = {method.kind for method in self.methods if method.is_public}
        return [kind.value for kind in MethodKind if kind in found and kind is not MethodKind.OTHER]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        by_kind = [
            (f"{kind.value} methods", tuple(dict.fromkeys(m.name for m in self.methods if m.kind is kind)))
            for kind in MethodKind
            if kind is not MethodKind.OTHER
        ]
        return [*super().listed_facts(), *by_kind]


@dataclass(kw_only=True)
class OperationsDescription(BehaviourDescription):
    """A behaviour whose constructors and methods have sections of their own (domain reference §3)."""

    def group_of(self, leaf: MemberRange) -> str:
        if leaf.owner:
            return ""
        if leaf.member.kind is MemberKind.CONSTRUCTOR:
            return CONSTRUCTORS_GROUP
        return METHODS_GROUP if leaf.member.kind in METHODS else ""


@dataclass(kw_only=True)
class ManagerDescription(OperationsDescription):
    """A manager: the business operations on an entity."""


@dataclass(kw_only=True)
class ServiceDescription(OperationsDescription):
    """A service. `is_hosted`: the host starts it and it runs in the background."""

    is_hosted: bool = False

    @property
    def subtype_flavor(self) -> str:
        return "Background" if self.is_hosted else ""


@dataclass(kw_only=True)
class RoleDescription(BehaviourDescription):
    """A class that implements the interface whose role its name repeats (`ListOrdersTool : IAgentTool`). There are many
    of them, and each does one thing: it is one section where it fits, and its members tell what it does."""

    def finder_facts(self) -> list[tuple[str, str]]:
        return SymbolDescription.finder_facts(self)


@dataclass(kw_only=True)
class ClientDescription(BehaviourDescription):
    """A client of another system, and the calls it makes."""

    calls: tuple[RemoteCall, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        named = [f"{call.verb} {call.address.partition('?')[0]}" for call in self.calls if call.address]
        return [("Calls", ", ".join(dict.fromkeys(named)))]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        calls = tuple(dict.fromkeys(f"{call.verb} {call.address}".strip() for call in self.calls))
        return [*super().listed_facts(), ("Remote calls", calls)]


@dataclass(kw_only=True)
class ProxyDescription(ClientDescription):
    """Stands in front of something that offers the same operations. `stands_for` are the injected types whose interface
    it implements too: it passes calls on to them, as far as its text tells."""

    stands_for: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        return [("StandsFor", ", ".join(self.stands_for)), *super().kind_facts()]


def behaviour_facts(symbol_text: SymbolText, declared_types: TypeIndex) -> Facts:
    """The fields of `BehaviourDescription` that a type tells; entity and methods are those of all its parts."""
    segment = symbol_text.segment
    entity = primary_entity(symbol_text.whole, declared_types)
    return {
        "primary_interface": primary_interface(segment),
        "primary_entity": entity if entity != segment.name else "",  # nobody is about themselves
        "methods": all_method_facts(symbol_text, segment.kind),
    }


def facts_by_name(symbol_text: SymbolText, declared_types: TypeIndex) -> Facts:
    """`behaviour_facts` of a class that passes things on: it is about them only where its name says so."""
    facts = behaviour_facts(symbol_text, declared_types)
    if facts["primary_entity"] not in name_stems(symbol_text.segment.name):
        facts["primary_entity"] = ""
    return facts


def client_facts(symbol_text: SymbolText, declared_types: TypeIndex) -> Facts:
    """The fields of `ClientDescription`."""
    return facts_by_name(symbol_text, declared_types) | {"calls": remote_calls(masked_body_of(symbol_text))}


def primary_interface(segment: Segment) -> str:
    """The interface a class is known by: `I` + its name, else the longest one that its name ends with
    (`SqlOrderRepository`: `IOrderRepository`), else the only one it has; as written."""
    named = [base for base in segment.base_list if is_interface_name(simple_name(base))]
    interfaces = [base for base in named if simple_name(base) not in _HABITS]
    own = [base for base in interfaces if simple_name(base)[1:] == segment.name]
    ending = [base for base in interfaces if segment.name.endswith(simple_name(base)[1:])]
    best = own or sorted(ending, key=lambda base: -len(simple_name(base)))
    return best[0] if best else interfaces[0] if len(interfaces) == 1 else ""


class ManagerBuilder(TypeAwareBuilder):
    """Describes classes of kind Manager."""

    name = "manager"
    description = (
        "Manager classes: the primary interface and entity, what the constructors ask for, and the methods by "
        "what the verbs of their names say (Create, Update, Delete, Query, Validation)."
    )
    describes = ManagerDescription

    def facts(self, subject: Subject) -> Facts:
        return behaviour_facts(subject.text, self.declared_types)


class ServiceBuilder(TypeAwareBuilder):
    """Describes classes of kind Service; their bases decide the flavor (A10)."""

    name = "service"
    description = (
        "Service classes: the same facts as of a manager; the flavor Background marks what a host starts "
        "(BackgroundService, IHostedService). What only repeats the role of its interface stays one section."
    )
    describes = ServiceDescription

    def description_type(self, subject: Subject) -> type[SymbolDescription] | type[TextDescription]:
        return ServiceDescription if _is_called_service(subject.whole) else RoleDescription

    def facts(self, subject: Subject) -> Facts:
        if not _is_called_service(subject.whole):
            return facts_by_name(subject.text, self.declared_types)
        facts = behaviour_facts(subject.text, self.declared_types)
        return facts | {"is_hosted": any(simple_name(base) in HOSTED_BASES for base in subject.segment.base_list)}


def _is_called_service(segment: Segment) -> bool:
    """By its name, or that of a base or interface."""
    names = (segment.name, *map(simple_name, segment.base_list))
    return any(name.endswith(_CALLED_SERVICES) for name in names)


_CALLED_SERVICES = ("Service", "Provider", "Factory", "Resolver", "Task", "Job")


class ClientBuilder(TypeAwareBuilder):
    """Describes classes of kind Client."""

    name = "client"
    description = (
        "Clients of other systems: interface, dependencies, methods, and the HTTP calls whose verb and address "
        "stand in the text; an address that is computed stays open."
    )
    describes = ClientDescription

    def facts(self, subject: Subject) -> Facts:
        return client_facts(subject.text, self.declared_types)


class ProxyBuilder(TypeAwareBuilder):
    """Describes classes of kind ProxyServices."""

    name = "proxy"
    description = (
        "Proxies: the facts of a client, and the injected types of which the proxy implements the interface, "
        "which are those it stands for."
    )
    describes = ProxyDescription

    def facts(self, subject: Subject) -> Facts:
        segment = subject.segment
        bases = {simple_name(base) for base in segment.base_list}
        stands_for = tuple(asked for asked in dependencies_of(segment) if self._offers_one_of(asked, segment, bases))
        return client_facts(subject.text, self.declared_types) | {"stands_for": stands_for}

    def _offers_one_of(self, type_name: str, segment: Segment, bases: set[str]) -> bool:
        """Whether a type is one of these bases, or is declared to implement one."""
        if simple_name(type_name) in bases:
            return True
        found = self.declared_types.resolve(type_name, segment.namespace, segment.usings, segment.language)
        return found is not None and any(simple_name(base) in bases for base in found.base_list)


@dataclass(kw_only=True)
class HandlerDescription(BehaviourDescription):
    """A handler of messages; several where a class handles several."""

    handled: tuple[HandledMessage, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        """That of its messages where they agree (A10)."""
        flavors = {message.flavor.value for message in self.handled}
        return flavors.pop() if len(flavors) == 1 else ""

    def finder_facts(self) -> list[tuple[str, str]]:
        """Without the interfaces that only repeat the message."""
        said = {message.evidence for message in self.handled}
        kept = [(key, value) for key, value in super().finder_facts() if key != "ImplementsInterface"]
        others = ", ".join(name for name in self.interfaces_first() if name not in said)
        return [("Handles", self._handles()), ("ImplementsInterface", others), *kept]

    def kind_facts(self) -> list[tuple[str, str]]:
        return []

    def subjects(self) -> tuple[str, ...]:
        return (*super().subjects(), *(message.request for message in self.handled))

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        handled = (
            f"{m.flavor or 'Request'} {m.request}{f' → {m.response}' if m.response else ''}"
            f"{' (by convention)' if m.by_convention else ''}"
            for m in self.handled
        )
        return [("Handles", tuple(handled)), *super().listed_facts()]

    def _handles(self) -> str:
        return "; ".join(f"{m.request} → {m.response}" if m.response else m.request for m in self.handled)


class HandlerBuilder(TypeAwareBuilder):
    """Describes classes of kind Handler; the messages decide the flavor (A10)."""

    name = "handler"
    description = (
        "Handlers: message and answer from IRequestHandler<,>, INotificationHandler<>, IConsumer<> and their like, "
        "else by the convention of Handle, Consume and Invoke methods. The flavor is Command, Query, Notification, "
        "Message or Middleware."
    )
    describes = HandlerDescription

    def facts(self, subject: Subject) -> Facts:
        return behaviour_facts(subject.text, self.declared_types) | {"handled": handled_messages(subject.whole)}


@dataclass(kw_only=True)
class RepositoryDescription(BehaviourDescription):
    """A repository class. `storage` is Unknown where nothing in the text tells; `storage_evidence` says what did.

    `entities` are the types it is or could be the repository of, as its bases and methods name them.
    """

    storage: StorageKind = StorageKind.UNKNOWN
    storage_evidence: tuple[str, ...] = ()
    storage_operations: tuple[StorageOperation, ...] = ()
    entities: tuple[str, ...] = ()

    def kind_facts(self) -> list[tuple[str, str]]:
        calls = dict.fromkeys(operation.call.removesuffix("Async") for operation in self.storage_operations)
        backend = "" if self.storage is StorageKind.UNKNOWN else self.storage.value
        return [("StorageBackend", backend), ("Operations", ", ".join(calls or self.operation_kinds()))]

    def group_of(self, leaf: MemberRange) -> str:
        return METHODS_GROUP if leaf.member.kind in METHODS and not leaf.owner else ""

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        operations = [f"{operation.member} → {operation.call}" for operation in self.storage_operations]
        return [
            *super().listed_facts(),
            ("Storage", (self.storage.value,)),
            ("Storage evidence", self.storage_evidence),
            ("Storage operations", tuple(dict.fromkeys(operations))),
        ]


class RepositoryBuilder(TypeAwareBuilder):
    """Describes classes of kind Repository."""

    name = "repository"
    description = (
        "Repository classes: the facts of a manager, and where they store (documents, tables, SQL, blobs, memory, "
        "another service) with the evidence: base class, what it holds, what it uses, what it imports. Unknown "
        "where nothing tells."
    )
    describes = RepositoryDescription

    def facts(self, subject: Subject) -> Facts:
        body = masked_body_of(subject.text)
        others = [(path, masked_body_of(text)) for path, text in subject.text.others]
        storage = storage_of(body, self.declared_types, [other for _, other in others])
        facts = behaviour_facts(subject.text, self.declared_types)
        return facts | {
            "storage": storage.kind,
            "storage_evidence": storage.evidence,
            "storage_operations": storage_operations(body, storage.kind, self.declared_types, others),
            "entities": stored_entities(subject.segment, facts["primary_entity"]),
        }


def stored_entities(segment: Segment, primary: str) -> tuple[str, ...]:
    """The primary entity and the type arguments of the bases that can be entities."""
    arguments = (argument for base in segment.base_list for argument in parse_type(base).arguments)
    named = [a.name for a in arguments if a.name and not is_scalar(a) and a.name not in segment.type_parameters]
    return tuple(dict.fromkeys([primary, *named] if primary else named))
