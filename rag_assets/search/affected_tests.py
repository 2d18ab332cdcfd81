"""What a runner has to run: the cases and test classes behind nodes that an effect reaches.

A case is run by itself. What runs before every case of a class (constructor, fields, set-up) stands for the class, and
what does so in a base class without cases of its own for the classes derived from it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.contracts.graph import NodeType, Relation, declaration_key, file_key, member_keys
from rag_assets.contracts.segment import MemberKind, Segment, leaves_of
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.edge_weights import permitted
from rag_assets.graph.impact import in_test_file
from rag_assets.graph.relations import Direction, WalkStep
from rag_assets.index.parquet_parts import by_bucket, read_part
from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE as CSHARP
from rag_assets.languages.csharp.declaration_ranges import DeclarationRanges, own_symbol, types_of
from rag_assets.languages.csharp.test_cases import cases_of
from rag_assets.languages.detection import detect_language
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_ARITY = re.compile(r"`\d+")
_SET_UP = frozenset(
    {
        *("SetUp", "TearDown", "OneTimeSetUp", "OneTimeTearDown", "TestInitialize", "TestCleanup", "ClassInitialize"),
        *("BeforeEach", "AfterEach", "BeforeAll", "AfterAll", "Before", "After", "BeforeClass", "AfterClass"),
    }
)
_SET_UP_NAMES = frozenset({"InitializeAsync", "DisposeAsync", "Dispose", "setUp", "setup_method", "setUpClass"})
_ALWAYS_RUN = frozenset({MemberKind.CONSTRUCTOR, MemberKind.FIELD})
_METHODS = frozenset({MemberKind.METHOD, MemberKind.FUNCTION})
_DERIVED = permitted((WalkStep(Relation.INHERITS, Direction.IN),))
CASES_ARE_CALLS = frozenset({"javascript", "typescript", "tsx", "dart", "lua", "powershell", "scala"})
"""Languages whose cases are no declarations."""
_DEEPEST = 8
"""Levels of inheritance among test classes."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A class, or a file, with cases; `runner` is what a runner calls it."""

    key: str
    runner: str
    cases: tuple[str, ...]
    is_abstract: bool = False


@dataclass(frozen=True, slots=True)
class TestUnit:
    """What is run: one case, or a whole suite. `runners` are its names for a runner, several where classes inherit
    it."""

    key: str
    suite: str
    runners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Role:
    """What a node of a test file is: a case of a suite, or what runs before its cases."""

    suite: str
    runner: str
    is_case: bool


class AffectedTests:
    """The suites of one index; files are read when the first node of theirs is asked for."""

    def __init__(self, index: LabelIndex, graph: Graph) -> None:
        self._index = index
        self._graph = graph
        self._read: set[str] = set()
        self._roles: dict[str, _Role] = {}
        self.suites: dict[str, Suite] = {}

    def read(self, paths: Collection[str]) -> None:
        """Reads the declarations of files."""
        wanted = set(paths) - self._read
        self._read |= wanted
        for path, segments in _segments(self._index, wanted):
            found = _csharp(segments, path) if segments[0].language == CSHARP else _others(segments, path)
            for suite, roles in found:
                self._roles |= roles
                if suite.cases:
                    self.suites[suite.key] = suite

    def units(self, node: int) -> Iterator[TestUnit]:
        """What has to run because of a node in code of tests; nothing for a helper, whose users are reached too."""
        graph, key = self._graph, self._graph.keys[node]
        self.read({place.path for place in graph.places(node)})
        yield from self._files(node)
        role = self._roles.get(key)
        if role is not None and role.is_case:
            runners = [f"{suite.runner}.{role.runner}" for suite in self._inheriting(role.suite)]
            suite = self.suites[role.suite]
            yield TestUnit(key, role.suite, tuple(runners) or (_joined(suite, role.runner),))
            return
        around = key if key in self.suites else role.suite if role is not None else ""
        if around:
            yield from map(_whole, [self.suites[around]] if around in self.suites else [])
            if around not in self.suites or self.suites[around].is_abstract:
                yield from map(_whole, self._derived(around))

    def _files(self, node: int) -> Iterator[TestUnit]:
        """The files of a node that a runner takes as wholes: those whose cases are no declarations (`it("…", …)`)."""
        for place in self._graph.places(node):
            if detect_language(place.path) in CASES_ARE_CALLS and in_test_file(place.path):
                yield TestUnit(file_key(place.path), file_key(place.path), (place.path,))

    def _inheriting(self, key: str) -> list[Suite]:
        """The suites that run the cases of an abstract one; none for one that runs itself."""
        suite = self.suites[key]
        return self._derived(key, bare=True) if suite.is_abstract else []

    def _derived(self, key: str, *, bare: bool = False) -> list[Suite]:
        """The suites of the types derived from one, `bare` also those without cases of their own."""
        graph = self._graph
        start = graph.find(key)
        if start is None:
            return []
        seen = frontier = np.array([start], np.int64)
        found: list[Suite] = []
        for _ in range(_DEEPEST):
            reach, _ = graph.reach(frontier, _DERIVED)
            frontier = np.setdiff1d(reach.node, seen)
            if not len(frontier):
                break
            seen = np.union1d(seen, frontier)
            for node in frontier.tolist():
                self.read({place.path for place in graph.places(node)})
                derived = graph.keys[node]
                if derived in self.suites:
                    found.append(self.suites[derived])
                elif bare and graph.kind(node) is NodeType.TYPE:
                    found.append(Suite(derived, _ARITY.sub("", derived.partition(":")[2].rpartition("|")[0]), ()))
        return found


def _whole(suite: Suite) -> TestUnit:
    return TestUnit(suite.key, suite.key, (suite.runner,))


def _joined(suite: Suite, case: str) -> str:
    if "/" in suite.runner or suite.runner.endswith(".py"):
        return f"{suite.runner}::{case}"
    return f"{suite.runner}.{case}" if suite.runner else case


def _segments(index: LabelIndex, paths: Iterable[str]) -> Iterator[tuple[str, tuple[Segment, ...]]]:
    """(path, segments) of indexed files that the reader may see."""
    for bucket, wanted in by_bucket(filter(index.may_read, paths), index.manifest.bucket_count).items():
        table = read_part(index.generation.directory, "segments", bucket, ["path", "segment"])
        found: dict[str, list[Segment]] = {}
        encoded = table.column("segment")
        for row, path in enumerate(table.column("path").to_pylist()):
            if path in wanted:
                found.setdefault(path, []).append(from_json(encoded[row].as_py(), Segment))
        yield from ((path, tuple(segments)) for path, segments in sorted(found.items()))


_Found = tuple[Suite, dict[str, _Role]]


def _csharp(segments: tuple[Segment, ...], path: str) -> Iterator[_Found]:
    lines = {case.line for segment in segments for case in cases_of(segment)}
    names: dict[str, str] = {}
    members: dict[str, list[tuple[str, str, MemberKind, bool]]] = {}
    for place in DeclarationRanges(path, segments):
        member = place.member
        assert member is not None  # as its iteration says
        is_case = member.kind in _METHODS and member.span.line_start in lines
        is_set_up = _is_set_up(member.kind, member.name, member.attributes)
        if is_case or is_set_up:
            owner = own_symbol(place.segment)
            members.setdefault(owner, []).append((place.key, member.name, member.kind, is_case))
    for segment in types_of(segments):
        symbol = own_symbol(segment)
        around = names.get(_ARITY.sub("", segment.namespace))
        bare = _ARITY.sub("", symbol)
        names[bare] = f"{around}+{segment.name}" if around else bare
        key = declaration_key(CSHARP, symbol, segment.kind, path)
        roles = {node: _Role(key, name, is_case) for node, name, _, is_case in members.get(symbol, ()) if node != key}
        cases = tuple(node for node, _, _, is_case in members.get(symbol, ()) if is_case)
        yield Suite(key, names[bare], cases, "abstract" in segment.modifiers), roles


def _others(segments: tuple[Segment, ...], path: str) -> Iterator[_Found]:
    for segment in segments:
        lines = {case.line for case in cases_of(segment)}
        own = declaration_key(segment.language, segment.symbol, segment.kind, path)
        by_owner: dict[str, dict[str, _Role]] = {}
        keys = {"": own}
        is_file = own == file_key(path)
        for leaf in leaves_of(segment.members):
            member = leaf.member
            owner = leaf.owner_in(segment.symbol)
            inner = leaf.path
            for key in member_keys(segment.language, owner, member):
                if member.kind is MemberKind.TYPE:
                    keys[inner] = key
                elif member.kind in _METHODS and member.span.line_start in lines:
                    by_owner.setdefault(leaf.owner, {})[key] = _Role(keys.get(leaf.owner, own), member.name, True)
                elif _is_set_up(member.kind, member.name, member.attributes):
                    by_owner.setdefault(leaf.owner, {})[key] = _Role(keys.get(leaf.owner, own), member.name, False)
        for owner, roles in by_owner.items():
            names = [] if is_file else [segment.symbol if segment.language == "java" else segment.name]
            names += owner.split(".") if owner else []
            runner = "::".join([path, *names]) if segment.language == "python" else ".".join(names)
            cases = tuple(key for key, role in roles.items() if role.is_case)
            yield Suite(keys.get(owner, own), runner, cases), roles


def _is_set_up(kind: MemberKind, name: str, attributes: tuple[str, ...]) -> bool:
    return kind in _ALWAYS_RUN or name in _SET_UP_NAMES or any(attribute_name(text) in _SET_UP for text in attributes)
