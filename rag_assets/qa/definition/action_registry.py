"""Actions by name: what a step can do. Packages add theirs through an entry point."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Annotated, Any, get_args

import msgspec

from rag_assets.errors import RagAssetsError
from rag_assets.qa.definition.steps import Transition
from rag_assets.qa.turn import Turn, TurnContext
from rag_assets.suggestions import nearest

ENTRY_POINT_GROUP = "rag_assets.actions"
"""A package offers `def register(registry): registry.add(Action(...))` under an entry point of this group."""

PromptName = Annotated[str, msgspec.Meta(min_length=1, extra={"names": "prompt"})]
"""A parameter that names a prompt: it must exist when the pipeline is loaded."""


class ActionError(RagAssetsError):
    """Actions that cannot be registered."""


class NoParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of an action that takes none."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """How an action ended and the state it leaves; `notes` go into the trace."""

    turn: Turn
    on: Transition = Transition.OK
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """`run(turn, parameters, run)` returns an Outcome. `version` is raised when its results change: it is part of the
    lock of every turn. `outcomes` are all it can end with, or (a parameter, what it can end with for each value of it)
    are in `outcomes_by`; `guards_loops` says that its on_allow can be had a bounded number of times per turn only;
    `ends` that a pipeline may end with it."""

    name: str
    run: Callable[[Turn, Any, TurnContext], StepOutcome]
    version: int
    parameters: type[msgspec.Struct] = NoParameters
    outcomes: tuple[Transition, ...] = (Transition.OK,)
    outcomes_by: tuple[str, Mapping[str, tuple[Transition, ...]]] | None = None
    ends: bool = False
    guards_loops: bool = False

    def outcomes_with(self, parameters: msgspec.Struct) -> tuple[Transition, ...]:
        """All it can end with, given its parameters."""
        if self.outcomes_by is None:
            return self.outcomes
        parameter, outcomes = self.outcomes_by
        return outcomes[getattr(parameters, parameter)]

    def prompts(self, parameters: msgspec.Struct) -> Iterator[tuple[str, str]]:
        """(parameter, name of the prompt) for each that the parameters name."""
        for field in msgspec.structs.fields(type(parameters)):
            value = getattr(parameters, field.name)
            if value and _names_prompt(field.type):
                yield field.name, value


class ActionRegistry:
    """Actions by name. Adding one that is there is refused: which of two runs must not depend on the order."""

    def __init__(
        self, actions: Iterable[Action] = (), *, installed: Callable[[], Iterable[EntryPoint]] | None = None
    ) -> None:
        """`installed` gives what packages offer; it is asked when a name is looked for that is not among `actions`,
        because reading that takes as long as a search."""
        self._actions: dict[str, Action] = {}
        self._installed = installed
        self._lock = threading.RLock()  # a package adds its actions while they are looked for
        for action in actions:
            self.add(action)

    def add(self, action: Action) -> None:
        """Raises ActionError."""
        if action.name in self._actions:
            raise ActionError(f"action {action.name!r} is registered twice; give one of them another name")
        self._actions[action.name] = action

    def get(self, name: str) -> Action | None:
        """Raises ActionError for an installed package that cannot be used, where one has to be looked at."""
        if name not in self._actions:
            self._complete()
        return self._actions.get(name)

    def __getitem__(self, name: str) -> Action:
        return self._actions[name]

    def nearest(self, name: str) -> str:
        """The end of a message about a name that is not registered."""
        return nearest(name, self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Sorted. Raises ActionError."""
        self._complete()
        return tuple(sorted(self._actions))

    def _complete(self) -> None:
        with self._lock:
            if self._installed is not None:
                offering, self._installed = self._installed, None
                self.load_entry_points(offering())

    def load_entry_points(self, points: Iterable[EntryPoint]) -> None:
        """Lets installed packages add theirs, by name of the entry point. Raises ActionError naming the package that
        cannot."""
        for point in sorted(points, key=lambda point: (point.name, point.value)):
            try:
                point.load()(self)
            except ActionError as error:
                raise ActionError(f"entry point {point.name} ({point.value}): {error}") from error
            except Exception as error:
                raise ActionError(
                    f"entry point {point.name} ({point.value}) of {ENTRY_POINT_GROUP} cannot be used: "
                    f"{type(error).__name__}: {error}; repair or uninstall that package"
                ) from error


def _names_prompt(kind: Any) -> bool:
    metas = [one for one in get_args(kind) if isinstance(one, msgspec.Meta)]
    inner = [one for one in get_args(kind) if not isinstance(one, msgspec.Meta)]
    return any((meta.extra or {}).get("names") == "prompt" for meta in metas) or any(map(_names_prompt, inner))
