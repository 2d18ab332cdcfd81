"""The nouns of `search.change_impact`: what changes touch, the way to it, the files of a diff."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.errors import WrongQuestion
from rag_assets.graph.impact import ImpactGroup

DEFAULT_LISTED = 50
"""Of each kind: two screens. The totals are of all."""


class Touched(StrEnum):
    """What a change may touch, and a walk of the graph be limited to, as `--only` names it."""

    TEST = "test"
    ENDPOINT = "endpoint"
    TABLE = "table"
    DOCUMENT = "document"
    CODE = "code"


TOUCHED = {
    ImpactGroup.TESTS: Touched.TEST,
    ImpactGroup.ENDPOINTS: Touched.ENDPOINT,
    ImpactGroup.TABLES: Touched.TABLE,
    ImpactGroup.DOCUMENTS: Touched.DOCUMENT,
    ImpactGroup.CODE: Touched.CODE,
}
ASKED_FOR = (Touched.TEST, Touched.ENDPOINT, Touched.TABLE, Touched.DOCUMENT)


@dataclass(frozen=True, slots=True)
class EffectStep:
    """One edge of the way from a change to what it touches, at its place; `forward` where the way goes along it."""

    source: str
    relation: str
    target: str
    path: str
    line: int
    confidence: str
    forward: bool

    @property
    def begin(self) -> str:
        return self.source if self.forward else self.target

    @property
    def end(self) -> str:
        return self.target if self.forward else self.source


@dataclass(frozen=True, slots=True)
class TouchedNode:
    """What a change touches, in `distance` steps from `because`, a declaration that changed (0: itself).

    `steps` are in that order, and begin at a namesake of `because` where that is gone; `confidence` is that of the
    weakest. `tests` are the names by which a runner knows a test: a case, or a class with all its cases where
    `is_suite`.
    """

    key: str
    kind: str
    name: str
    what: Touched
    distance: int
    confidence: str
    path: str
    line: int
    because: str
    steps: tuple[EffectStep, ...] = ()
    tests: tuple[str, ...] = ()
    is_suite: bool = False


@dataclass(frozen=True, slots=True)
class TouchingFile:
    """A file of the diff: its declarations that changed and those that are gone, by key. `outside` says why it is not
    in the graph, '' where it is."""

    path: str
    old_path: str
    change: str
    declarations: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    outside: str = ""


@dataclass(frozen=True, slots=True)
class ChangeImpact:
    """From `base_commit` to `until_commit` by the graph of `indexed_commit`. `base_commit` is that of `since`, or where
    both began if `since` has gone on. `touched` has the nearest of each kind, `totals` counts all; `not_in_graph` the
    files that the graph does not have. Only what the reader may see is named and counted."""

    label: str
    generation: str
    since: str
    base_commit: str
    until_commit: str
    indexed_commit: str
    files: tuple[TouchingFile, ...]
    touched: tuple[TouchedNode, ...]
    totals: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def not_in_graph(self) -> tuple[TouchingFile, ...]:
        return tuple(file for file in self.files if file.outside)

    def of(self, what: Touched) -> list[TouchedNode]:
        return [node for node in self.touched if node.what is what]


def touched_kinds(only: Collection[Touched | str]) -> tuple[Touched, ...]:
    """The kinds that were named, by default all but code. Raises WrongQuestion."""
    known = {kind.value: kind for kind in Touched} | {f"{kind.value}s": kind for kind in Touched}
    for name in only:
        if str(name) not in known:
            raise WrongQuestion(f"{str(name)!r} is nothing that a change touches; valid: {', '.join(Touched)}")
    return tuple(dict.fromkeys(known[str(name)] for name in only)) or ASKED_FOR
