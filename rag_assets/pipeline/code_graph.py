"""Stage `code_graph`: the dependency graph of the label, found file by file, put together for queries.

    graph_nodes/, graph_edges/   what each file adds, by bucket
    graph/                       the whole as arrays (`graph.artifact`)

Where files have several levels of confidentiality, each level below the highest has tables and a graph of its own, of
the files that its readers may see: a hidden namesake would decide what a visible name means.

What an extractor must know of other files it asks (`languages.label_declarations`). A bucket is taken from an earlier
generation, and a file from the cache, while nothing has changed that their answers are made of
(`languages.fingerprints`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import groupby
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation
from rag_assets.contracts.identity import cache_key
from rag_assets.dependency_trace import trace
from rag_assets.graph.artifact import GRAPH_FOLDER, write_graph
from rag_assets.graph.build import (
    EDGES,
    NODES,
    REPEATED_IN_EDGES,
    REPEATED_IN_NODES,
    GraphAssembly,
    edge_columns,
    edges_table,
    node_columns,
    nodes_table,
)
from rag_assets.graph.csr_graph import GraphCounts, by_count
from rag_assets.graph.extract.registry import graph_of
from rag_assets.index.blobs import BlobStore
from rag_assets.index.generations import level_folder
from rag_assets.index.parquet_parts import read_part, write_part
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.fingerprints import Fingerprints, digest_of, fingerprints_of
from rag_assets.languages.label_declarations import (
    FileDeclarations,
    FileGroupDeclarations,
    LabelDeclarations,
    declared_in,
    declared_together,
)
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, FirstSteps, ItemMemo, Lookups, bucket_inputs, recorded
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.segments import decoded_segments, encoded_segments, file_key, indexed_files, used_file_keys
from rag_assets.pipeline.symbol_tables import forget_surveys, walled_surveys
from rag_assets.pipeline.versions import imported_fingerprint, stage_version
from rag_assets.pipeline.workers.file_guard import FileGuard, Refusal
from rag_assets.pipeline.workers.process_pool import release_memory
from rag_assets.pipeline.workers.worker_pool import Broadcast, broadcast, part_sizes
from rag_assets.settings.repositories import GraphImportSettings

STAGE = "code_graph"
GRAPH_FILES = "graph_files"
GRAPH_NODES = "graph_nodes"
GRAPH_EDGES = "graph_edges"
SYMBOLS = "graph_symbols"
_SHOWN_HUBS = 10
_RESOURCES = "resx"
_FEW_BUCKETS = 3  # one worker process makes so many

P = TypeVar("P", GraphNode, GraphEdge)


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What the files of one bucket gave, and how many of them had to be extracted."""

    files: int
    extracted: int


@dataclass(frozen=True, slots=True)
class _Declared:
    """What the files of a level declare, and their resource files: path and sha256 of the text."""

    level: Confidentiality
    declarations: FileGroupDeclarations
    resources: list[tuple[str, str]]


_SYMBOLS = BucketMemo(SYMBOLS, list[_Declared], version=stage_version(STAGE), files=True, after="segments")


@dataclass(frozen=True, slots=True)
class _Seen:
    """What of a label the readers of a level see. `suffix` tells its tables from those of the whole."""

    level: Confidentiality
    suffix: str

    @property
    def tables(self) -> tuple[str, str]:
        return f"{GRAPH_NODES}{self.suffix}", f"{GRAPH_EDGES}{self.suffix}"

    @property
    def buckets(self) -> BucketMemo[_Bucket]:
        name, version = f"{STAGE}{self.suffix}", stage_version(STAGE)
        return BucketMemo(name, _Bucket, self.tables, version, files=True, after="segments")


def _levels(build: IndexBuild) -> list[_Seen]:
    """The whole first: what a lower level sees differs in few files, and those of the whole are known then."""
    *lower, highest = build.levels.all
    return [_Seen(highest, ""), *(_Seen(level, f"_{level}") for level in lower)]


def build_graph(build: IndexBuild, progress: Progress) -> StageReport:
    """Finds nodes and edges of every file that is new or whose answers may have changed, and puts the graph together.

    Raises UnusableImport for a configured import of which nothing can be read.
    """
    imported = configured_import(build)
    inputs = cache_key(build.inputs_of(STAGE, "discovered_files", "segments"), imported.fingerprint).hex()
    done = build.finished(STAGE, inputs)
    if done is not None:
        return done
    files = build.required("discovered_files").counts["indexed"]
    progress.begin(STAGE, files, "files")
    whole, *lower = _levels(build)
    graph = _Graph(build, whole)
    ahead = None if lower or imported.settings is not None else graph.read
    extracted, steps, traces = _extracted(build, [whole, *lower], ahead, progress)
    parts = extracted[whole]
    release_memory()  # what the files declare: a third of what the whole graph then takes
    counts, merged = graph.write(imported)
    for seen in lower:
        _Graph(build, seen).write(imported)
    release_memory()  # and its tables: checks need room
    new = sum(part.result.extracted for part in parts if not part.reused)
    progress.end(f"{counts.nodes} nodes, {counts.edges} edges; {new} files extracted, {files - new} known")
    more = [part.digest for seen in lower for part in extracted[seen]]
    report = StageReport(
        inputs=inputs,
        **recorded(STAGE, parts, imported.fingerprint, *more, first=steps, traces=traces),
        counts={
            "nodes": counts.nodes,
            "edges": counts.edges,
            **{f"{name.replace('-', '_')}_edges": count for name, count in counts.confidences.items()},
        },
        measures={"unresolved_share": counts.unresolved_share},
        work={"extracted": new, "from_cache": files - new},
        tables=_tables(counts, merged.counts),
        problems=list(merged.problems),
    )
    return build.finish(report)


def _extracted(
    build: IndexBuild, levels: Sequence[_Seen], ahead: Callable[[Collection[int]], object] | None, progress: Progress
) -> tuple[dict[_Seen, list[CachedBucket[_Bucket]]], FirstSteps, list[str]]:
    """Nodes and edges of every bucket as each level sees them, what is recorded of the declarations and of lower
    levels, and the keys of traces. Calls `ahead` with the known buckets while the others are made."""
    walled_surveys(build)  # made here at the latest: it wants the worker processes for itself
    types = cache(partial(_declared_types, build))
    begun = _SYMBOLS.map(build, _keys(build, _SYMBOLS), _declare_bucket)
    types(levels[0].level)
    declared = list(begun)
    sizes, found = part_sizes(build, "segments"), dict[_Seen, list[CachedBucket[_Bucket]]]()
    steps, traces = FirstSteps().add(_SYMBOLS, declared), list[str]()
    for seen in levels:
        known = _known(build, [part.result for part in declared], types(seen.level), seen)
        if seen is levels[-1]:
            declared.clear()
            types.cache_clear()
            forget_surveys()
        own, services, parts = _keys(build, seen.buckets), [known.facets], list[CachedBucket[_Bucket]]()
        extract = partial(seen.buckets.map, build, own, _extract_bucket)
        with broadcast(build, known, large=True) as shared:
            del known  # worker processes have copies
            for part in extract(shared, services=services, sizes=sizes, meanwhile=ahead):
                parts.append(part)
                progress.advance(0 if seen.suffix else part.result.files)
        if seen.suffix:  # those of the whole are recorded with the parts of the stage
            steps.add(seen.buckets, parts)
        traces += own
        found[seen] = parts
    return found, steps, traces


def _keys(build: IndexBuild, memo: BucketMemo[Any]) -> list[str]:
    walls = build.levels.walls
    return [memo.key(*made, walls) for made in bucket_inputs(build, "discovered_files", "segments")]


def _declare_bucket(build: IndexBuild, bucket: int, guard: FileGuard) -> list[_Declared]:
    """What the files of one bucket declare, level by level. Runs in a worker process."""
    files, levels = _Files(build, bucket), build.levels
    by_level: dict[Confidentiality, list[dict[str, Any]]] = {}
    for row in files.rows:
        by_level.setdefault(levels.of(row["path"]), []).append(row)
    return [
        _Declared(
            level,
            declared_together(list(_declared_files(files, rows, guard))),
            [(row["path"], row["text_sha256"]) for row in rows if row["language"] == _RESOURCES],
        )
        for level, rows in sorted(by_level.items())
    ]


def _declared_files(files: _Files, rows: Iterable[dict[str, Any]], guard: FileGuard) -> Iterator[FileDeclarations]:
    for row in rows:
        found = guard.run(row["path"], row["text_sha256"], partial(declared_in, files.file(row)))
        if not isinstance(found, Refusal):
            yield found


@dataclass(frozen=True, slots=True)
class _Label:
    """What extractors know of other files, as far as is `seen`, and the digests of it."""

    seen: _Seen
    symbols: LabelDeclarations
    facets: Fingerprints


def _declared_types(build: IndexBuild, level: Confidentiality) -> TypeIndex:
    """No edge says where another file declares a type: what moves there changes no answer."""
    survey = walled_surveys(build).seen_by(level)
    return TypeIndex(replace(known, line=0) for known in survey.knowledge.declared_types)


def _known(build: IndexBuild, buckets: Sequence[Sequence[_Declared]], types: TypeIndex, seen: _Seen) -> _Label:
    parts = [part for bucket in buckets for part in bucket if may_see(seen.level, part.level)]
    declared = [part.declarations for part in parts]
    resources = [resource for part in parts for resource in part.resources]
    symbols = LabelDeclarations.of(declared, types, walled_surveys(build).seen_by(seen.level).resources)
    digests = {"declared": digest_of(list(types)), "resources": digest_of(sorted(resources))}
    return _Label(seen, symbols, symbols.facets(declared, **digests))


def _extract_bucket(
    build: IndexBuild, bucket: int, guard: FileGuard, shared: Broadcast[_Label]
) -> tuple[_Bucket, Lookups]:
    """The files of one bucket, and the facets that they depend on. Runs in a worker process."""
    label = shared.value
    found = _graph_parts(build, bucket, guard, label)
    nodes, edges = label.seen.tables
    write_part(build.directory, nodes, bucket, NODES, found.nodes)
    write_part(build.directory, edges, bucket, EDGES, found.edges)
    with trace() as lookups:
        label.facets.together(sorted(found.facets))
    return _Bucket(found.files, found.extracted), lookups


class _Graph:
    """The graph that a level sees, of tables that are read once."""

    def __init__(self, build: IndexBuild, seen: _Seen) -> None:
        self._build, self._seen = build, seen
        self._parts, self._unread = GraphAssembly(), set(build.buckets)

    def read(self, buckets: Collection[int]) -> None:
        """Reads what is there of some buckets, if they are nearly all: to make many, workers need the memory."""
        if len(self._unread) - len(buckets) <= _FEW_BUCKETS:
            self._parts.add(*self._tables(buckets))
            self._unread.difference_update(buckets)

    def write(self, imported: GraphImport) -> tuple[GraphCounts, MergedTables]:
        build, level = self._build, self._seen.level
        merged = _merged_tables(build, imported, *self._tables(sorted(self._unread)), level)
        self._parts.add(merged.nodes, merged.edges)
        graph = self._parts.assembled()
        write_graph(level_folder(build.directory / GRAPH_FOLDER, level, build.levels), graph.arrays, graph.counts)
        return graph.counts, merged

    def _tables(self, buckets: Iterable[int]) -> tuple[Iterator[pa.Table], Iterator[pa.Table]]:
        """Of nodes and of edges."""
        nodes, edges = (
            map(partial(read_part, self._build.directory, table, dictionaries=repeated), buckets)
            for table, repeated in zip(self._seen.tables, (REPEATED_IN_NODES, REPEATED_IN_EDGES), strict=True)
        )
        return nodes, edges


def _tables(counts: GraphCounts, imported: Mapping[str, int]) -> dict[str, list[dict[str, object]]]:
    """What people read of a graph."""
    undeclared = counts.undeclared
    relations = {**dict.fromkeys(undeclared, 0), **counts.relations}
    return {
        "relations": [
            {"relation": name, "edges": count, "to what the label does not declare": undeclared.get(name, 0)}
            for name, count in by_count(relations)
        ],
        "kinds of nodes": [{"kind": name, "nodes": count} for name, count in by_count(counts.kinds)],
        "confidence": [{"confidence": name, "edges": count} for name, count in by_count(counts.confidences)],
        "hubs": [{"node": hub.key, "edges": hub.degree} for hub in counts.hubs[:_SHOWN_HUBS]],
        "import": [{"what": name, "count": count} for name, count in imported.items()],
    }


# --- the files of a bucket --------------------------------------------------------------------------------------------

Columns = dict[str, list[Any]]
"""A table of the graph by the names of its columns."""


class ExtractedFile(msgspec.Struct, array_like=True):
    """An entry of the cache. In the columns `path` says whether it is the one of the file; it has no other but ''."""

    facets: list[str]
    digest: str
    nodes: Columns
    edges: Columns


_FILES = ItemMemo(GRAPH_FILES, ExtractedFile, partial(used_file_keys, STAGE))


@dataclass(slots=True)
class GraphParts:
    """What some files add, the facets that it depends on, and how many of the files had to be extracted."""

    nodes: Columns = field(default_factory=lambda: {name: [] for name in NODES.names})
    edges: Columns = field(default_factory=lambda: {name: [] for name in EDGES.names})
    facets: set[str] = field(default_factory=set)
    files: int = 0
    extracted: int = 0


def _graph_parts(build: IndexBuild, bucket: int, guard: FileGuard, label: _Label) -> GraphParts:
    """The nodes and edges of the files of a bucket that are seen."""
    files, sees = _Files(build, bucket), partial(build.levels.visible, clearance=label.seen.level)
    rows = [row for row in files.rows if sees(row["path"])]
    found = GraphParts(files=len(rows))

    def extract(number: int) -> ExtractedFile | Refusal:
        row = rows[number]
        return guard.run(
            row["path"], row["text_sha256"], partial(extracted, files.file(row), label.symbols, label.facets)
        )

    with _FILES.open(build.home, fresh=build.spec.fresh) as memo:
        made = memo.each(
            [file_key(STAGE, row) for row in rows],
            extract,
            holds=lambda _, known: known.digest == label.facets.together(known.facets),
            keeps=not label.seen.suffix,
        )
        for row, (file, is_new) in zip(rows, made, strict=True):
            found.extracted += is_new
            if isinstance(file, Refusal):
                continue
            found.facets.update(file.facets)
            _append(found.nodes, file.nodes, row["path"])
            _append(found.edges, file.edges, row["path"])
    return found


class _Files:
    """The files of a bucket; texts and segments are read when the first file is wanted."""

    def __init__(self, build: IndexBuild, bucket: int) -> None:
        self.rows = indexed_files(build, bucket)
        self._build, self._bucket = build, bucket
        self._blobs = BlobStore(build.home.blobs)
        self._segments: dict[str, list[bytes]] | None = None

    def file(self, row: dict[str, Any]) -> ParsedFile:
        if self._segments is None:
            self._segments = encoded_segments(self._build, self._bucket)
        segments = tuple(decoded_segments(self._segments.get(row["path"], ())))
        return ParsedFile(row["path"], row["language"], self._blobs.get(row["text_sha256"]), segments)


def extracted(file: ParsedFile, symbols: LabelDeclarations, facets: Fingerprints) -> ExtractedFile:
    """What all extractors find in a file, and the facets of what they asked."""
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    with trace() as asked:
        for part in graph_of(file, symbols):
            if isinstance(part, GraphNode):
                nodes.append(part)
            else:
                edges.append(part)
    names = fingerprints_of(asked)
    return ExtractedFile(
        names,
        facets.together(names),
        _without_path(node_columns(_each_once(nodes)), file.path),
        _without_path(edge_columns(_each_once(edges)), file.path),
    )


def _each_once(parts: list[P]) -> list[P]:
    """Sorted. To compare neighbours takes less time than to hash."""
    parts.sort()
    return [part for part, _ in groupby(parts)]


def _without_path(columns: Columns, path: str) -> Columns:
    return {**columns, "path": [known == path for known in columns["path"]]}


def _append(columns: Columns, more: Columns, path: str) -> None:
    for name, values in more.items():
        columns[name] += values if name != "path" else [path if is_own else "" for is_own in values]


# --- a graph of another tool ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GraphImport:
    """A graph that another tool made of the repository, None where none is configured. The fingerprint is over its
    files as they are now."""

    settings: GraphImportSettings | None = None
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class MergedTables:
    """Nodes and edges, to be read once; what was counted while they were merged, and what was wrong with the import."""

    nodes: Iterable[pa.Table]
    edges: Iterable[pa.Table]
    counts: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def configured_import(build: IndexBuild) -> GraphImport:
    """What the configuration has for the repository of a build now. Raises UnusableImport."""
    found = build.settings.graph_import_of(build.repository.id)
    return GraphImport(found, imported_fingerprint(found))


def _merged_tables(
    build: IndexBuild,
    imported: GraphImport,
    nodes: Iterable[pa.Table],
    edges: Iterable[pa.Table],
    level: Confidentiality,
) -> MergedTables:
    """The graph that a level sees with what is imported of the files that it sees, for which all tables are in memory.
    Raises UnusableImport."""
    if imported.settings is None:
        return MergedTables(nodes, edges)
    from rag_assets.graph.imports import load_graph  # start-up budget: most repositories import no graph
    from rag_assets.graph.imports.imported_graph import merge
    from rag_assets.graph.imports.key_parser import LabelSymbols

    sees = cache(partial(build.levels.visible, clearance=level))
    own: list[GraphNode | GraphEdge] = [*_nodes(nodes), *_edges(edges)]
    paths = (row["path"] for bucket in build.buckets for row in indexed_files(build, bucket) if sees(row["path"]))
    known = LabelSymbols((part for part in own if isinstance(part, GraphNode)), paths, build.spec.git.commit_sha)
    loaded = load_graph(imported.settings.path, imported.settings.format, known)
    loaded = replace(
        loaded,
        nodes=tuple(node for node in loaded.nodes if not node.path or sees(node.path)),
        edges=tuple(edge for edge in loaded.edges if not edge.path or sees(edge.path)),
    )
    merged = merge(own, loaded, imported.settings.mode)
    counts = {**loaded.counts, **merged.counts}
    return MergedTables([nodes_table(merged.nodes)], [edges_table(merged.edges)], counts, loaded.problems)


def _nodes(tables: Iterable[pa.Table]) -> Iterator[GraphNode]:
    for row in (row for table in tables for row in table.drop_columns(["words"]).to_pylist()):
        yield GraphNode(**{**row, "kind": NodeType(row["kind"])})


def _edges(tables: Iterable[pa.Table]) -> Iterator[GraphEdge]:
    for row in (row for table in tables for row in table.to_pylist()):
        yield GraphEdge(**{**row, "relation": Relation(row["relation"]), "confidence": Confidence(row["confidence"])})
