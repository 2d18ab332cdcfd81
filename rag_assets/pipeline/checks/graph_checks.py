"""What must hold for the graph of a build: it is what was written, it has no ghosts, and points lead into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import filterfalse

import msgspec

from rag_assets.contracts.graph import NodeType
from rag_assets.errors import REBUILD
from rag_assets.graph.artifact import GRAPH_FOLDER, GraphError, check, open_graph
from rag_assets.graph.build import UNDECLARED_KINDS
from rag_assets.graph.csr_graph import Graph
from rag_assets.index.tables import digest_files, read_part, read_rows
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.checks.memoized_checks import BucketCheck, CheckResult, once_per_state
from rag_assets.pipeline.code_graph import GRAPH_EDGES, GRAPH_NODES, STAGE
from rag_assets.serialization import from_json

_SOUND = "the graph is what its tables say, of files that are indexed"
_JOINED = "points lead into the graph"
_SHOWN = 20


def _folder(build: IndexBuild) -> str:
    folder = build.directory / GRAPH_FOLDER
    return digest_files(folder.glob("*.*"), folder)


@once_per_state(STAGE, GRAPH_NODES, GRAPH_EDGES, "discovered_files", beside=_folder)
def graph_is_sound(build: IndexBuild) -> CheckResult:
    """The graph is what was written, has the nodes and edges of its tables, and no node or edge of a file that is not
    indexed (D18)."""
    directory = build.directory / GRAPH_FOLDER
    try:
        check(directory)
        graph = open_graph(directory)
    except GraphError as error:
        return CheckResult(False, _SOUND, {}, [str(error)])
    missing, undeclared = _compared(build, graph)
    wrong = {
        "miscounted": list(_miscounted(build, graph)),
        "missing": sorted(missing),
        "unexpected": [] if _is_merged(build) else sorted(filterfalse(_is_made_by_edges, undeclared)),
        "ghosts": sorted(_paths(graph) - _indexed(build)),
    }
    numbers = {"nodes": len(graph), "edges": graph.edge_count, **{name: len(found) for name, found in wrong.items()}}
    examples = [f"{name}: {text}" for name, found in wrong.items() for text in found[:_SHOWN]]
    return CheckResult(not examples, _SOUND, numbers, [*examples, REBUILD] if examples else [])


def _miscounted(build: IndexBuild, graph: Graph) -> Iterator[str]:
    counted = build.required(STAGE).counts
    for name, found in (("nodes", len(graph)), ("edges", graph.edge_count)):
        if counted[name] != found:
            yield f"{found} {name}, {counted[name]} were written"
    rows = sum(read_part(build.directory, GRAPH_EDGES, bucket, ["line"]).num_rows for bucket in build.buckets)
    if graph.edge_count > rows and not _is_merged(build):
        yield f"{graph.edge_count} edges, the tables have {rows}"


def _is_merged(build: IndexBuild) -> bool:
    """Whether a graph of another tool is in it, which no table has."""
    return bool(build.required(STAGE).tables.get("import"))


def _compared(build: IndexBuild, graph: Graph) -> tuple[set[str], Iterator[str]]:
    """The keys that tables have and the graph has not, and the other way round."""
    is_declared = dict.fromkeys((graph.keys[node] for node in range(len(graph))), False)
    missing: set[str] = set()
    for bucket in build.buckets:
        for key in read_part(build.directory, GRAPH_NODES, bucket, ["key"]).column("key").to_pylist():
            if key in is_declared:
                is_declared[key] = True
            else:
                missing.add(key)
    return missing, (key for key, known in is_declared.items() if not known)


def _is_made_by_edges(key: str) -> bool:
    """Whether a node of this key may be there without a declaration."""
    return key.rpartition("|")[2] in UNDECLARED_KINDS


def _paths(graph: Graph) -> set[str]:
    return {graph.paths[number] for number in range(len(graph.paths))} - {""}


def _indexed(build: IndexBuild) -> set[str]:
    columns = ["path", "outcome"]
    rows = (row for bucket in build.buckets for row in read_rows(build.directory, "discovered_files", bucket, columns))
    return {row["path"] for row in rows if row["outcome"] == "indexed"}


class _Carrier(msgspec.Struct):
    """What of a section leads to nodes."""

    graph_node_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Carried:
    """The node keys that the sections of a bucket carry: how many, and those that no file of the bucket declares, with
    the place of the first section that has them."""

    keys: int
    elsewhere: dict[str, str]


_CARRIED = BucketCheck("carried", ("summary_sections", GRAPH_NODES), _Carried)


@once_per_state(STAGE, GRAPH_NODES, "summary_sections", beside=_folder)
def points_are_in_the_graph(build: IndexBuild) -> CheckResult:
    """Every graph node key that a point carries is a node, so that hit → node never leads nowhere (D18, D19)."""
    try:
        graph = open_graph(build.directory / GRAPH_FOLDER)
    except GraphError as error:
        return CheckResult(False, _JOINED, {}, [str(error)])
    if build.record("summary_sections") is None:  # somebody made this asset alone
        return CheckResult(True, "there are no sections yet whose keys could be looked up")
    carried = 0
    lost: dict[str, str] = {}
    for part in _CARRIED.each(build, _carried):
        carried += part.keys
        lost |= {key: place for key, place in part.elsewhere.items() if graph.find(key) is None}
    numbers = {"keys": carried, "without_node": len(lost), **_by_kind(lost)}
    examples = [f"{place} carries {key}" for key, place in sorted(lost.items())[:_SHOWN]]
    return CheckResult(not lost, _JOINED, numbers, examples)


def _carried(build: IndexBuild, bucket: int) -> _Carried:
    """Runs in a worker process."""
    columns = ["path", "line_start", "section"]
    own = set(read_part(build.directory, GRAPH_NODES, bucket, ["key"]).column("key").to_pylist())
    table = read_part(build.directory, "summary_sections", bucket, columns)
    keys: set[str] = set()
    elsewhere: dict[str, str] = {}
    for path, line, section in zip(*(table.column(name).to_pylist() for name in columns), strict=True):
        found = from_json(section, _Carrier).graph_node_keys
        keys.update(found)
        for key in found:
            if key not in own:
                elsewhere.setdefault(key, f"{path}:{line}")
    return _Carried(len(keys), elsewhere)


def _by_kind(keys: dict[str, str]) -> dict[str, int]:
    found = [key.rpartition("|")[2] for key in keys]
    return {kind.value: found.count(kind.value) for kind in NodeType if kind.value in found}
