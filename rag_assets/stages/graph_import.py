"""A graph that another tool made of the repository, as the configuration names it, merged into the one of the label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation
from rag_assets.graph.assembly import edges_table, nodes_table
from rag_assets.graph.imports.known import Known
from rag_assets.graph.imports.loading import configured_fingerprint, load_graph
from rag_assets.graph.imports.merging import merge
from rag_assets.settings.graph import GraphImportSettings
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.segments import indexed_files


@dataclass(frozen=True, slots=True)
class GraphImport:
    """What is configured, None for nothing; the fingerprint is over the files as they are now."""

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
    return GraphImport(found, configured_fingerprint(found))


def merged_tables(
    build: IndexBuild, imported: GraphImport, nodes: Iterable[pa.Table], edges: Iterable[pa.Table]
) -> MergedTables:
    """The graph of the label with what is imported, for which all tables are in memory. Raises UnusableImport."""
    if imported.settings is None:
        return MergedTables(nodes, edges)
    own: list[GraphNode | GraphEdge] = [*_nodes(nodes), *_edges(edges)]
    paths = (row["path"] for bucket in build.buckets for row in indexed_files(build, bucket))
    known = Known((part for part in own if isinstance(part, GraphNode)), paths, build.spec.git.commit_sha)
    loaded = load_graph(imported.settings.path, imported.settings.format, known)
    merged = merge(own, loaded, imported.settings.mode)
    counts = {**loaded.counts, **merged.counts}
    return MergedTables([nodes_table(merged.nodes)], [edges_table(merged.edges)], counts, loaded.problems)


def _nodes(tables: Iterable[pa.Table]) -> Iterator[GraphNode]:
    for row in (row for table in tables for row in table.drop_columns(["words"]).to_pylist()):
        yield GraphNode(**{**row, "kind": NodeType(row["kind"])})


def _edges(tables: Iterable[pa.Table]) -> Iterator[GraphEdge]:
    for row in (row for table in tables for row in table.to_pylist()):
        yield GraphEdge(**{**row, "relation": Relation(row["relation"]), "confidence": Confidence(row["confidence"])})
