"""Builders of managers, services, clients and proxies: a role, an interface, dependencies, methods."""

from __future__ import annotations

from typing import Any

from rag_assets.classification.facts import is_interface_name, simple_name
from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.builders.applicability import is_type
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.describing import dependencies_of, describe_symbol
from rag_assets.descriptions.facts.bodies import body_of
from rag_assets.descriptions.facts.entities import name_stems, primary_entity
from rag_assets.descriptions.facts.methods import all_method_facts
from rag_assets.descriptions.facts.remote_calls import remote_calls
from rag_assets.descriptions.kinds.behaviour import (
    ClientDescription,
    ManagerDescription,
    ProxyDescription,
    ServiceDescription,
)

_HABITS = frozenset(
    {"IDisposable", "IAsyncDisposable", "IComparable", "IEquatable", "ICloneable", "INotifyPropertyChanged"}
)
"""Interfaces that say how a class behaves, never what it is for."""

HOSTED_BASES = frozenset({"BackgroundService", "IHostedService", "IHostedLifecycleService"})


def behaviour_facts(symbol_text: SymbolText, declared_types: DeclaredTypes) -> dict[str, Any]:
    """The fields of `BehaviourDescription` that a type tells; entity and methods are those of all its parts."""
    segment = symbol_text.segment
    entity = primary_entity(symbol_text.whole, declared_types)
    return {
        "primary_interface": primary_interface(segment),
        "primary_entity": entity if entity != segment.name else "",  # nobody is about themselves
        "methods": all_method_facts(symbol_text, segment.kind),
    }


def client_facts(symbol_text: SymbolText, declared_types: DeclaredTypes) -> dict[str, Any]:
    """The fields of `ClientDescription`. What a client passes on is not what it is about, unless its name says so."""
    facts = behaviour_facts(symbol_text, declared_types)
    if facts["primary_entity"] not in name_stems(symbol_text.segment.name):
        facts["primary_entity"] = ""
    return facts | {"calls": remote_calls(body_of(symbol_text))}


def primary_interface(segment: Segment) -> str:
    """The interface a class is known by: `I` + its name, else the longest one that its name ends with
    (`SqlOrderRepository`: `IOrderRepository`), else the only one it has; as written."""
    named = [base for base in segment.base_list if is_interface_name(simple_name(base))]
    interfaces = [base for base in named if simple_name(base) not in _HABITS]
    own = [base for base in interfaces if simple_name(base)[1:] == segment.name]
    ending = [base for base in interfaces if segment.name.endswith(simple_name(base)[1:])]
    best = own or sorted(ending, key=lambda base: -len(simple_name(base)))
    return best[0] if best else interfaces[0] if len(interfaces) == 1 else ""


class ManagerBuilder:
    """Classes of kind Manager."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "manager"

    @property
    def description(self) -> str:
        return (
            "Manager classes: the primary interface and entity, what the constructors ask for, and the methods by "
            "what the verbs of their names say (Create, Update, Delete, Query, Validation)."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A ManagerDescription; not applicable to what is no class."""
        segment = symbol_text.segment
        if not is_type(file_context, segment):
            return InvokeResult.not_applicable()
        facts = behaviour_facts(symbol_text, self._declared_types)
        return InvokeResult.create(
            describe_symbol(ManagerDescription, file_context, symbol_text, domain_catalog, **facts)
        )


class ServiceBuilder:
    """Classes of kind Service."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "service"

    @property
    def description(self) -> str:
        return (
            "Service classes: the same facts as of a manager; the flavor Background marks what a host starts "
            "(BackgroundService, IHostedService)."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A ServiceDescription, its flavor decided here (A10); not applicable to what is no class."""
        segment = symbol_text.segment
        if not is_type(file_context, segment):
            return InvokeResult.not_applicable()
        facts = behaviour_facts(symbol_text, self._declared_types)
        facts["is_hosted"] = any(simple_name(base) in HOSTED_BASES for base in segment.base_list)
        return InvokeResult.create(
            describe_symbol(ServiceDescription, file_context, symbol_text, domain_catalog, **facts)
        )


class ClientBuilder:
    """Classes of kind Client."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "client"

    @property
    def description(self) -> str:
        return (
            "Clients of other systems: interface, dependencies, methods, and the HTTP calls whose verb and address "
            "stand in the text; an address that is computed stays open."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A ClientDescription; not applicable to what is no class."""
        segment = symbol_text.segment
        if not is_type(file_context, segment):
            return InvokeResult.not_applicable()
        facts = client_facts(symbol_text, self._declared_types)
        return InvokeResult.create(
            describe_symbol(ClientDescription, file_context, symbol_text, domain_catalog, **facts)
        )


class ProxyBuilder:
    """Classes of kind ProxyServices."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "proxy"

    @property
    def description(self) -> str:
        return (
            "Proxies: the facts of a client, and the injected types of which the proxy implements the interface, "
            "which are those it stands for."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A ProxyDescription; not applicable to what is no class."""
        segment = symbol_text.segment
        if not is_type(file_context, segment):
            return InvokeResult.not_applicable()
        bases = {simple_name(base) for base in segment.base_list}
        stands_for = tuple(asked for asked in dependencies_of(segment) if self._offers_one_of(asked, segment, bases))
        facts = client_facts(symbol_text, self._declared_types) | {"stands_for": stands_for}
        return InvokeResult.create(
            describe_symbol(ProxyDescription, file_context, symbol_text, domain_catalog, **facts)
        )

    def _offers_one_of(self, type_name: str, segment: Segment, bases: set[str]) -> bool:
        """Whether a type is one of these bases, or is declared to implement one."""
        if simple_name(type_name) in bases:
            return True
        found = self._declared_types.resolve(type_name, segment.namespace, segment.usings, segment.language)
        return found is not None and any(simple_name(base) in bases for base in found.base_list)
