"""HTTP endpoints of controllers, pages, programs and libraries: one pair of sections per action."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.contracts.result import Message
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Segment, Span
from rag_assets.descriptions.kind_builder import Facts, Subject, TypeAwareBuilder, is_csharp
from rag_assets.descriptions.kinds.endpoint_sections import PREFIX, Owner, endpoint_sections, route_line
from rag_assets.descriptions.symbol_description import SymbolDescription
from rag_assets.languages.csharp.facts.primary_entity import primary_entity
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.web import endpoints_of_class, mapped_endpoints
from rag_assets.languages.csharp.web.endpoint_model import Authorization, ControllerFlavor, Endpoint
from rag_assets.languages.csharp.web.file_context import FileContext
from rag_assets.languages.members import MemberRange, leaves_of
from rag_assets.languages.treesitter.parsing import UnparseableError
from rag_assets.sections.snippet import path_words

ENDPOINT_FLAVOR = "Endpoint"
"""The SubtypeFlavor of the points of single actions; their Subtype is Controller, wherever the action stands."""

_ACTIONS = "actions"
"""The group of members that have sections of their own."""

_TYPES = ("class", "record", "struct")


@dataclass(kw_only=True)
class EndpointsDescription(SymbolDescription):
    """Code that has endpoints. `endpoints` are in text order, their symbols unique."""

    endpoints: tuple[Endpoint, ...] = field(default=())

    def populate_additional_rag_properties(self, payload: RagVectorPayload) -> None:
        """An endpoint is found as one, in a controller or elsewhere (A35)."""
        if payload.section_key.startswith(f"{PREFIX}-"):
            payload.subtype = str(SubtypeKind.CONTROLLER)
            payload.subtype_flavor = ENDPOINT_FLAVOR

    def sections_of_endpoints(self) -> list[SummarySection]:
        """`endpoint-overview` and `endpoint-request-response` of every action, in text order."""
        owner = Owner(
            symbol=self.symbol,
            fqn=self.fqn,
            name=self.name,
            kind=self.kind,
            domain_key=self.domain_key,
            domain_title=self.domain_title,
            domain_tagline=self.domain_tagline,
            primary_entity=self.primary_entity,
            path=self.path,
            own_key=self.node_key(),
            language=self.code_language,
        )
        tiles = self._tiles_by_start()
        return [
            section
            for endpoint in self.endpoints
            for section in endpoint_sections(
                owner, endpoint, tiles.get(endpoint.member_start, endpoint.span), self.window
            )
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        return [*super().listed_facts(), ("Endpoints", tuple(route_line(endpoint) for endpoint in self.endpoints))]

    def _tiles_by_start(self) -> dict[int, Span]:
        leaves = leaves_of(self.members)
        return {leaf.member.span.char_start: tile for leaf, tile in zip(leaves, self.tiles, strict=True)}


@dataclass(kw_only=True)
class ControllerDescription(EndpointsDescription):
    """A class that handles requests: its overview and other members, and its endpoints.

    `base_routes` are the templates all its actions begin with, as written. `base_controllers` are its declared base
    classes: what actions they have is not known here.
    """

    flavor: ControllerFlavor = ControllerFlavor.MVC
    base_routes: tuple[str, ...] = ()
    area: str = ""
    authorization: Authorization = field(default_factory=Authorization)
    base_controllers: tuple[str, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        return self.flavor.value

    def finder_facts(self) -> list[tuple[str, str]]:
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("Implements", ", ".join(self.interfaces)),
            ("Route", ", ".join(self.base_routes)),
            ("Area", self.area),
            ("Authorization", self.authorization.text),
            ("DependsOn", ", ".join(self.dependencies)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        said = self.authorization.text
        return [
            ("Base routes", self.base_routes),
            ("Area", (self.area,) if self.area else ()),
            ("Authorization", (said,) if said else ()),
            *super().listed_facts(),
            ("Base classes, whose actions are not listed here", self.base_controllers),
        ]

    def group_of(self, leaf: MemberRange) -> str:
        starts = {endpoint.member_start for endpoint in self.endpoints}
        return _ACTIONS if leaf.member.span.char_start in starts and not leaf.owner else ""

    def build_summary_sections(self) -> list[SummarySection]:
        """The overview and the other members, then each action."""
        actions = f"{self.section_prefix}-{_ACTIONS}"
        own = [section for section in super().build_summary_sections() if section.section_key != actions]
        return [*own, *self.sections_of_endpoints()]


@dataclass(kw_only=True)
class MappedEndpointsDescription(EndpointsDescription):
    """The endpoints that a program or start-up code maps; the code itself is described by the builder of its kind."""

    @property
    def subtype(self) -> str:
        return str(SubtypeKind.CONTROLLER)

    @property
    def subtype_flavor(self) -> str:
        return ENDPOINT_FLAVOR

    def build_summary_sections(self) -> list[SummarySection]:
        """Only the endpoints: A18, the sections of two descriptions of one symbol differ."""
        return self.sections_of_endpoints()


class ControllerBuilder(TypeAwareBuilder):
    """Describes a C# class that handles requests: its overview, and each endpoint for itself."""

    name = "controller"
    description = (
        "C# classes that handle HTTP requests: attribute-routed, conventional and WebApi 2 controllers, Razor page "
        "models, classes with Map calls, endpoint classes of libraries. One endpoint per action with its full "
        "route, parameters, responses and authorization. Not applicable to classes without any."
    )
    describes = ControllerDescription
    applies = staticmethod(is_csharp)

    def facts(self, subject: Subject) -> Facts | None:
        """What the parser refuses is a warning."""
        segment = subject.segment
        if not segment.kind.startswith(_TYPES):
            return None
        try:
            found = endpoints_of_class(
                segment, str(subject.text), subject.path, self.declared_types, subject.file.contents
            )
        except UnparseableError as error:
            _warn_unparsed(subject, error)
            return None
        if not found.applies:
            return None
        return {
            "endpoints": found.endpoints,
            "flavor": found.flavor,
            "base_routes": found.base_routes,
            "area": found.area,
            "authorization": found.authorization,
            "base_controllers": found.base_controllers,
            "primary_entity": _entity(segment, self.declared_types),
        }


class MappedEndpointsBuilder(TypeAwareBuilder):
    """Describes the endpoints that start-up code maps; the code itself is left to the builder of its kind."""

    name = "mapped-endpoints"
    description = (
        "Minimal APIs in programs, start-up classes and extension methods: the endpoints of MapGet, MapPost and "
        "their like with their groups. Not applicable to code without such a call."
    )
    describes = MappedEndpointsDescription
    applies = staticmethod(is_csharp)

    def facts(self, subject: Subject) -> Facts | None:
        """What the parser refuses is a warning."""
        try:
            endpoints = mapped_endpoints(
                subject.segment, str(subject.text), self.declared_types, FileContext(subject.file.contents)
            )
        except UnparseableError as error:
            _warn_unparsed(subject, error)
            return None
        return {"endpoints": endpoints} if endpoints else None


def _entity(segment: Segment, declared: TypeIndex) -> str:
    """The entity the class is about; a page or an endpoint class is not about itself."""
    found = primary_entity(segment, declared)
    return "" if found == segment.name else found


def _warn_unparsed(subject: Subject, error: UnparseableError) -> None:
    text = f"{subject.segment.symbol}: its endpoints are not described: {error}"
    subject.warn(Message("endpoints.unparsed", text))
