"""`ControllerDescription` and `MappedEndpointsDescription`: code with endpoints, one pair of sections per action."""

from __future__ import annotations

from dataclasses import dataclass, field

from rag_assets.contracts.kinds import SubtypeKind
from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.contracts.section import SummarySection
from rag_assets.contracts.segment import Span
from rag_assets.descriptions.facts.endpoints.nouns import Authorization, ControllerFlavor, Endpoint
from rag_assets.descriptions.kinds.endpoint_sections import PREFIX, Owner, endpoint_sections, route_line
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.sections.snippet import path_words
from rag_assets.sections.tiling import Leaf, leaves_of

ENDPOINT_FLAVOR = "Endpoint"
"""The SubtypeFlavor of the points of single actions; their Subtype is Controller, wherever the action stands."""

_ACTIONS = "actions"
"""The group of members that have sections of their own."""


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

    def group_of(self, leaf: Leaf) -> str:
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
