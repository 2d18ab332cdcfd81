"""The graph of an index as columns of nodes and edges, and which of them an artifact tells of: what the reader may see,
code of the product, and with a subject what the subject touches.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.graph import Confidence, NodeType, Relation, key_kind
from rag_assets.contracts.identity import document_uri
from rag_assets.graph.csr_graph import CONFIDENCES, KINDS, RELATIONS, Graph, NodeLocation, Numbers
from rag_assets.graph.impact import Effect, Reached, impact, of_tests
from rag_assets.graph.lookup import name_of, short_name
from rag_assets.graph.modules import first_paths, split_folders
from rag_assets.index.artifacts import ArtifactError
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import is_readme, product_or_samples

Mask = NDArray[np.bool_]

NO_USE = (Relation.CONTAINS, Relation.MENTIONS, Relation.MAPS_TO, Relation.TESTS, Relation.SYNONYM_FOR)
"""What says where something is, who writes about it, or what stands for it: an interface does not use its service."""
_MEMBERS = (NodeType.METHOD, NodeType.PROPERTY, NodeType.ENDPOINT)
MOST_FOLDERS = 12
"""Of a picture: more boxes with arrows between them are no picture any more."""
_DEPTH = 4
"""Steps between a subject and what it touches: a table is that far from the route that changes it."""
_PROJECT = re.compile(
    r"(?:.+\.(?:cs|fs|vb|sql)proj|package\.json|pyproject\.toml|setup\.py|go\.mod|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?)"
)


def nodes_of(graph: Graph, pieces: Iterable[Evidence]) -> tuple[str, ...]:
    """The nodes that pieces of evidence are about, best first: the members at the lines to read first, else all."""
    found: dict[str, None] = {}
    for piece in pieces:
        start, end = piece.best_lines
        inside = [
            key
            for key in piece.node_keys
            if key_kind(key) in _MEMBERS
            and (node := graph.find(key)) is not None
            and any(
                at.path == piece.path and at.line_start <= end and start <= at.line_end for at in graph.places(node)
            )
        ]
        found |= dict.fromkeys(inside or piece.node_keys)
    return tuple(found)


def _is_beside(one: Reached) -> bool:
    """Whether a route is only reached as one of all that are mapped in a file, such as that of the entry point."""
    is_mapped = one.via.relation is Relation.EXPOSES and key_kind(one.via.source) is NodeType.FILE
    return is_mapped and one.kind is NodeType.ENDPOINT


@dataclass(frozen=True)
class GraphColumns:
    """The graph as columns, and which of its nodes count."""

    index: LabelIndex
    graph: Graph
    about: Collection[str] | None

    @cached_property
    def seeds(self) -> Numbers | None:
        """The nodes of the subject; None for everything."""
        if self.about is None:
            return None
        return np.array(sorted({node for key in self.about if (node := self.graph.find(key)) is not None}), np.int64)

    @cached_property
    def touched(self) -> Mask:
        """The nodes that the artifact is about: with a subject, what it consists of, needs and affects."""
        if self.seeds is None:
            return np.ones(len(self.graph), bool)
        found = np.zeros(len(self.graph), bool)
        if len(self.seeds):
            found[self.seeds] = True
            for effect in (Effect.AFFECTED, Effect.NEEDED):
                reached = impact(
                    self.graph, self.seeds.tolist(), effect=effect, depth=_DEPTH, limit=max(len(self.graph), 1)
                )
                keys = [one.key for one in reached.reached if not _is_beside(one)]
                found[[node for key in keys if (node := self.graph.find(key)) is not None]] = True
            types = found & (self.graph.kinds == KINDS.index(NodeType.TYPE.value))
            found[self.target[types[self.source] & self.of(Relation.CONTAINS)]] = True
        return found

    @cached_property
    def path_of(self) -> Numbers:
        return first_paths(self.graph)

    @cached_property
    def visible(self) -> Mask:
        """Of each path whether the view of the index has it."""
        paths = [self.graph.paths[number] for number in range(len(self.graph.paths))]
        if not self.index.is_narrowed:
            return np.ones(len(paths) + 1, bool)
        seen = self.index.parts.shard().values("Path", self.index.scope())
        return np.array([*(path in seen for path in paths), True], bool)  # the last is of what has no path

    @cached_property
    def has_tests(self) -> bool:
        """Whether the index has code of tests that the reader may see."""
        return bool(self._tests.any())

    @cached_property
    def _tests(self) -> Mask:
        return of_tests(self.graph, np.arange(len(self.graph)))

    @cached_property
    def _beside(self) -> Mask:
        """Of each path whether it is of tests, samples and the like; a project may be its samples."""
        paths = list(self.graph.paths)
        kept = product_or_samples(filter(None, paths))
        beside = [bool(path) and path not in kept for path in paths]
        return np.array([*beside, True], bool)  # the last is of what has no path

    @cached_property
    def product(self) -> Mask:
        """Of each node whether it is code of the product that the reader looks at, and declared in the index."""
        found: Mask = ~self._beside[self.path_of] & self.visible[self.path_of] & ~self._tests
        return found

    @cached_property
    def own(self) -> Mask:
        """The nodes that are told of."""
        found: Mask = self.product & self.touched
        return found

    @cached_property
    def source(self) -> Numbers:
        arrays = self.graph.arrays
        owners = np.repeat(np.arange(len(self.graph)), np.diff(arrays["out_runs"]))
        return np.repeat(owners, np.diff(arrays["out_edges"]))

    @cached_property
    def target(self) -> Numbers:
        return self.graph.arrays["edge_target"].astype(np.int64)

    @cached_property
    def relation(self) -> Numbers:
        arrays = self.graph.arrays
        return np.repeat(arrays["out_relation"], np.diff(arrays["out_edges"])).astype(np.int64)

    def of(self, *relations: Relation) -> Mask:
        """Of each edge whether it has one of the relations."""
        return np.isin(self.relation, [RELATIONS.index(relation.value) for relation in relations])

    @cached_property
    def is_seen(self) -> Mask:
        """Of each edge whether it is written where the reader looks, in code of the product."""
        paths = self.graph.arrays["edge_path"].astype(np.int64)
        found: Mask = self.visible[paths] & ~self._beside[paths]
        return found

    def edges(self, wanted: Mask) -> list[tuple[int, int, Confidence, str, int]]:
        """(source, target, confidence, path, line) of edges, by path and line."""
        arrays = self.graph.arrays
        rows = np.flatnonzero(wanted)
        found = [
            (
                int(self.source[row]),
                int(self.target[row]),
                Confidence(CONFIDENCES[int(arrays["edge_confidence"][row])]),
                self.graph.paths[int(arrays["edge_path"][row])],
                int(arrays["edge_line"][row]),
            )
            for row in rows.tolist()
        ]
        return sorted(found, key=lambda one: (one[3], one[4], one[0], one[1]))

    def nodes(self, *kinds: NodeType) -> Numbers:
        """The nodes of some kinds that are told of."""
        codes = [KINDS.index(kind.value) for kind in kinds]
        return np.flatnonzero(self.own & np.isin(self.graph.kinds, codes))

    def place(self, node: int) -> NodeLocation | None:
        """Where most of a node is declared in what the reader sees."""
        return max(self.places(node), key=lambda place: place.line_end - place.line_start, default=None)

    def places(self, node: int) -> list[NodeLocation]:
        """Where a node is declared in what the reader sees."""
        return [place for place in self.graph.places(node) if self.visible[self.graph.paths.find(place.path)]]

    def length(self, node: int) -> int:
        """How many lines what the reader sees of a node has."""
        return sum(place.line_end - place.line_start + 1 for place in self.places(node))

    def contained(self, node: int) -> set[int]:
        """What a node contains, of what the reader sees; in Go also what has it as its receiver."""
        inside = {*self.graph.contained(node), *self._received.get(self.graph.keys[node], ())}
        return {inner for inner in inside if self.place(inner) is not None}

    @cached_property
    def _received(self) -> Mapping[str, Sequence[int]]:
        """Of each type of Go, by its key, the methods that have it as their receiver."""
        found = defaultdict[str, list[int]](list)
        for node in np.flatnonzero(self.graph.kinds == KINDS.index(NodeType.METHOD.value)).tolist():
            key = self.graph.keys[node]
            if key.startswith("go:"):
                found[f"{key.partition('|')[0].rpartition('.')[0]}|{NodeType.TYPE}"].append(node)
        return found

    def called(self, node: int) -> str:
        """What a node is called: a member with its type, a file by its path."""
        key = self.graph.keys[node]
        if key_kind(key) is NodeType.FILE:
            return name_of(key).symbol
        parts = short_name(key).split(".")
        return ".".join(dict.fromkeys(parts))  # a constructor is its type to whoever reads of it

    def text(self, path: str) -> str:
        """The text of a file as it was indexed; '' where it is not there any more or not for the reader."""
        try:
            return self.index.resolve(document_uri(self.index.label, path))
        except ArtifactError:
            return ""

    def lines(self, path: str) -> list[str]:
        """The lines of a file as it was indexed, read once: a file may have thousands of members."""
        if path not in self._read:
            self._read[path] = self.text(path).split("\n")
        return self._read[path]

    @cached_property
    def _read(self) -> dict[str, list[str]]:
        return {}

    def lines_at(self, place: NodeLocation) -> list[str]:
        """The lines of a place as they were indexed."""
        return self.lines(place.path)[place.line_start - 1 : place.line_end]

    def line_of(self, path: str, pattern: re.Pattern[str]) -> int:
        """The first line of a file that has a pattern, 0 for none."""
        return next((number for number, line in enumerate(self.lines(path), 1) if pattern.search(line)), 0)

    @cached_property
    def recursive(self) -> frozenset[int]:
        """The nodes that surely call themselves, and no overload."""
        loops = self.edges(self.of(Relation.CALLS) & (self.source == self.target))
        return frozenset(node for node, _, confidence, *_ in loops if confidence is Confidence.RESOLVED)

    @cached_property
    def type_of(self) -> Numbers:
        """The type that each node belongs to, itself for a type, −1 for none; an entity and a set are their class."""
        kinds = self.graph.kinds
        found = np.where(kinds == KINDS.index(NodeType.TYPE.value), np.arange(len(self.graph)), -1)
        inside = self.of(Relation.CONTAINS) & (found[self.source] >= 0) & (found[self.target] < 0)
        found[self.target[inside]] = self.source[inside]
        for kind in (NodeType.ENTITY, NodeType.DBSET):  # a set leads to an entity, which leads to its class
            mapped = self.of(Relation.MAPS_TO) & (kinds[self.source] == KINDS.index(kind.value))
            mapped &= found[self.target] >= 0
            found[self.source[mapped]] = found[self.target[mapped]]
        return found

    @cached_property
    def users(self) -> Numbers:
        """Of each type how many other files of the product use it or what it declares."""
        return self._users_in(self.product)

    @cached_property
    def own_users(self) -> Numbers:
        """The same, of the files that are told of."""
        return self.users if self.about is None else self._users_in(self.own)

    def _users_in(self, sources: Mask) -> Numbers:
        counted = sources[self.source] & self.is_seen & ~self.of(*NO_USE) & (self.type_of[self.target] >= 0)
        types, files = self.type_of[self.target[counted]], self.path_of[self.source[counted]]
        elsewhere = (self.path_of[types] != files) & (files >= 0)
        paths = len(self.graph.paths) + 1
        pairs = np.unique(types[elsewhere] * paths + files[elsewhere])
        return np.bincount(pairs // paths, minlength=len(self.graph))

    @cached_property
    def members(self) -> Numbers:
        """Of each node how much it contains."""
        return np.bincount(self.source[self.of(Relation.CONTAINS)], minlength=len(self.graph))

    def by_weight(self, nodes: Iterable[int]) -> list[int]:
        """Types, those first that most others use; of equal ones the larger."""
        return sorted(nodes, key=lambda node: (-int(self.own_users[node]), -int(self.members[node]), node))

    @cached_property
    def files(self) -> list[str]:
        """The paths of the product that have nodes of what is told of."""
        return sorted(
            {self.graph.paths[number] for number in np.unique(self.path_of[self.own]).tolist() if number >= 0}
        )

    @cached_property
    def readmes(self) -> tuple[str, ...]:
        """The README nearest to the root, which is quoted from in any case."""
        if self.about is not None:
            return ()
        found = [path for path in self.files if is_readme(path)]
        return tuple(sorted(found, key=lambda path: (path.count("/"), path))[:1])

    @cached_property
    def projects(self) -> list[str]:
        """The files that say what a project is."""
        return [path for path in self.files if _PROJECT.fullmatch(path.rpartition("/")[2])]

    @cached_property
    def areas(self) -> tuple[list[str], Numbers]:
        """(the projects, or the folders where there are none, of what is told of, the largest first; the area of each
        node, −1 for none)."""
        inside = np.flatnonzero(self.own & (self.path_of >= 0))
        sizes = np.bincount(self.path_of[inside], minlength=len(self.graph.paths))
        weights = {self.graph.paths[number]: int(size) for number, size in enumerate(sizes.tolist()) if size}
        homes = {path.rpartition("/")[0] for path in self.projects} - {""}
        if len(homes) > 1:
            areas: dict[str, list[str]] = {}
            for path in sorted(weights):
                folders = list(accumulate(path.split("/")[:-1], "{}/{}".format))
                home = next((folder for folder in reversed(folders) if folder in homes), "".join(folders[:1]))
                if home:
                    areas.setdefault(home, []).append(path)
            found = sorted(areas.items(), key=lambda area: (-sum(weights[path] for path in area[1]), area[0]))
        else:
            found = split_folders(weights, MOST_FOLDERS)
        kept = found[:MOST_FOLDERS]
        number_of = {path: number for number, (_, paths) in enumerate(kept) for path in paths}
        of_path = np.array([number_of.get(path, -1) for path in self.graph.paths] + [-1], np.int64)
        return [name for name, _ in kept], np.where(self.own, of_path[self.path_of], -1)
