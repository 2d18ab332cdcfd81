"""`ControllerBuilder` and `MappedEndpointsBuilder`: HTTP endpoints of controllers, pages, programs and libraries."""

from __future__ import annotations

from rag_assets.contracts.description import DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.declared_types import DeclaredTypes
from rag_assets.descriptions.describing import describe_symbol
from rag_assets.descriptions.facts.endpoints import endpoints_of_class, mapped_endpoints
from rag_assets.descriptions.facts.endpoints.neighbours import Neighbours
from rag_assets.descriptions.facts.entities import primary_entity
from rag_assets.descriptions.kinds.controller import ControllerDescription, MappedEndpointsDescription
from rag_assets.segmentation.tree import UnparseableError

_LANGUAGE = "csharp"
_TYPES = ("class", "record", "struct")


class ControllerBuilder:
    """Describes a C# class that handles requests: its overview, and each endpoint for itself."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "controller"

    @property
    def description(self) -> str:
        return (
            "C# classes that handle HTTP requests: attribute-routed, conventional and WebApi 2 controllers, Razor page "
            "models, classes with Map calls, endpoint classes of libraries. One endpoint per action with its full "
            "route, parameters, responses and authorization. Not applicable to classes without any."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A ControllerDescription, or not applicable. What the parser refuses is a warning."""
        segment = symbol_text.segment
        if _language(file_context, segment) != _LANGUAGE or not segment.kind.startswith(_TYPES):
            return InvokeResult.not_applicable()
        try:
            found = endpoints_of_class(
                segment, str(symbol_text), file_context.relative_path, self._declared_types, file_context.contents
            )
        except UnparseableError as error:
            return InvokeResult.not_applicable([_unparsed(segment, error)])
        if not found.applies:
            return InvokeResult.not_applicable()
        description = describe_symbol(
            ControllerDescription,
            file_context,
            symbol_text,
            domain_catalog,
            endpoints=found.endpoints,
            flavor=found.flavor,
            base_routes=found.base_routes,
            area=found.area,
            authorization=found.authorization,
            base_controllers=found.base_controllers,
            primary_entity=_entity(segment, self._declared_types),
        )
        return InvokeResult.create(description)


class MappedEndpointsBuilder:
    """Describes the endpoints that start-up code maps; the code itself is left to the builder of its kind."""

    version = 1

    def __init__(self, declared_types: DeclaredTypes) -> None:
        self._declared_types = declared_types

    @property
    def name(self) -> str:
        return "mapped-endpoints"

    @property
    def description(self) -> str:
        return (
            "Minimal APIs in programs, start-up classes and extension methods: the endpoints of MapGet, MapPost and "
            "their like with their groups. Not applicable to code without such a call."
        )

    def build(
        self,
        file_context: IndexFileContext,
        symbol_text: SymbolText,
        domain_catalog: DomainCatalog,
        resource_dictionary: ResourceDictionary,
    ) -> InvokeResult[SummaryFacts]:
        """A MappedEndpointsDescription, or not applicable. What the parser refuses is a warning."""
        segment = symbol_text.segment
        if _language(file_context, segment) != _LANGUAGE:
            return InvokeResult.not_applicable()
        try:
            neighbours = Neighbours(file_context.contents)
            endpoints = mapped_endpoints(segment, str(symbol_text), self._declared_types, neighbours)
        except UnparseableError as error:
            return InvokeResult.not_applicable([_unparsed(segment, error)])
        if not endpoints:
            return InvokeResult.not_applicable()
        description = describe_symbol(
            MappedEndpointsDescription, file_context, symbol_text, domain_catalog, endpoints=endpoints
        )
        return InvokeResult.create(description)


def _language(file_context: IndexFileContext, segment: Segment) -> str:
    return file_context.language_hint or segment.language


def _entity(segment: Segment, declared: DeclaredTypes) -> str:
    """The entity the class is about; a page or an endpoint class is not about itself."""
    found = primary_entity(segment, declared)
    return "" if found == segment.name else found


def _unparsed(segment: Segment, error: UnparseableError) -> Message:
    return Message("endpoints.unparsed", f"{segment.symbol}: its endpoints are not described: {error}")
