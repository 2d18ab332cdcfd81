"""The actions of controllers that other classes may inherit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rag_assets.contracts.segment import Member, MemberKind, Segment, Span
from rag_assets.dependency_trace import tracked
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE, classes_of
from rag_assets.languages.csharp.simple_names import simple_name
from rag_assets.languages.parsed_file import ParsedFile

NOWHERE = Span(0, 0, 0, 0)
"""Actions are answered without their places: that a base class moves in its file changes no route."""

CONTROLLER_ENDS = ("Controller", "ControllerBase", "PageModel")


@dataclass(frozen=True, slots=True)
class InheritableActions:
    """The public methods of one controller, as far as routes depend on them."""

    symbol: str
    actions: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class EndpointDeclarations:
    """What one bucket of files adds to `EndpointSymbols`."""

    controllers: tuple[InheritableActions, ...] = ()


class EndpointSymbols:
    """Answers which actions a controller declares. Equal declarations in any order give equal answers."""

    __slots__ = ("_actions",)

    def __init__(self, declarations: Iterable[EndpointDeclarations] = ()) -> None:
        self._actions: dict[str, set[Member]] = {}
        for declared in declarations:
            for controller in declared.controllers:
                self._actions.setdefault(controller.symbol, set()).update(controller.actions)

    @tracked("endpoints.actions")
    def actions(self, symbol: str) -> tuple[Member, ...]:
        """The public methods of a controller that its derived classes have too, by name and signature."""
        return tuple(sorted(self._actions.get(symbol, ()), key=lambda member: (member.name, member.signature)))


def declared_in(files: Iterable[ParsedFile]) -> EndpointDeclarations:
    """The controllers of some files; what is derived from one has a base whose name says that it is one."""
    return EndpointDeclarations(tuple(found for file in files if file.language == LANGUAGE for found in _of(file)))


def _of(file: ParsedFile) -> Iterator[InheritableActions]:
    for segment in classes_of(file.segments):
        if is_controller_like(segment):
            actions = tuple(_plain(member) for member in segment.members if _is_inheritable(member))
            if actions:
                yield InheritableActions(segment.symbol, actions)


def is_controller_like(segment: Segment) -> bool:
    """Whether the name of a class, or of a base, says that it handles requests."""
    names = (segment.name, *map(simple_name, segment.base_list))
    return segment.kind != "interface" and any(name.endswith(CONTROLLER_ENDS) for name in names)


def _is_inheritable(member: Member) -> bool:
    return member.kind is MemberKind.METHOD and "public" in member.modifiers and "static" not in member.modifiers


def _plain(member: Member) -> Member:
    return replace(member, span=NOWHERE, doc="", value="", members=())
