"""Overview: what an index is about: its README, folders, routes, tables and the types that most depends on."""

from __future__ import annotations

from collections.abc import Iterator

from rag_assets.contracts.graph import NodeType
from rag_assets.contracts.identity import document_uri
from rag_assets.graph.artifact import GraphError
from rag_assets.graph.csr_graph import Graph, by_count
from rag_assets.graph.lookup import short_name
from rag_assets.graph.modules import area_map
from rag_assets.printable import abridged
from rag_assets.search.graph_context import counts_of, graph_of
from rag_assets.search.index import LabelIndex
from rag_assets.serving.budget import joined_within
from rag_assets.serving.index_age import IndexAge

TOKENS = 3000
_README_LINES = 40
_LISTED = 20
_LIST_OF = {NodeType.ENDPOINT: "routes", NodeType.TABLE: "tables", NodeType.PACKAGE: "packages"}


def overview(index: LabelIndex, age: IndexAge) -> str:
    """In at most `TOKENS` tokens."""
    shard, scope = index.parts.shard(), index.scope()
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in by_count(shard.values("Kind", scope))[:_LISTED])
    files = shard.values("Path", scope)
    head = [age.line(index.label), f"{len(files):,} files, {shard.count(scope):,} sections: {kinds}"]
    body = [*_readme(index, list(files))]
    try:
        graph = graph_of(index)
        body += [*_areas(graph), *_lists(graph), *_hubs(index)]
    except GraphError as error:
        body.append(str(error))
    return joined_within(head, body, [], TOKENS, "… {} more lines")


def _readme(index: LabelIndex, paths: list[str]) -> Iterator[str]:
    known = sorted((path for path in paths if path.lower().startswith("readme")), key=len)
    if not known:
        return
    from rag_assets.index.artifacts import ArtifactError  # pyarrow: an agent waits for the start of its server

    try:
        lines = index.resolve(document_uri(index.label, known[0])).splitlines()
    except ArtifactError:
        return
    yield f"{known[0]}:1-{min(len(lines), _README_LINES)}"
    yield from (f"    {line}" for line in lines[:_README_LINES] if line.strip())


def _areas(graph: Graph) -> Iterator[str]:
    found = area_map(graph)
    if found.areas:
        yield "folders, and what they use"
    for area in found.areas[:_LISTED]:
        uses = ", ".join(target for source, target, _ in found.uses if source == area.path)
        yield f"    {area.path}  {area.nodes:,} declarations" + (f"  → {uses}" if uses else "")


def _lists(graph: Graph) -> Iterator[str]:
    for kind, title in _LIST_OF.items():
        nodes = [node for node in range(len(graph)) if graph.kind(node) is kind]
        if nodes:
            names = sorted({short_name(graph.keys[node]) for node in nodes})
            yield f"{len(names)} {title}: {abridged(names, _LISTED)}"


def _hubs(index: LabelIndex) -> Iterator[str]:
    hubs = [hub for hub in counts_of(index).hubs if "|" in hub.key][:_LISTED]
    if hubs:
        yield "most connected: " + ", ".join(f"{short_name(hub.key)} ({hub.degree:,})" for hub in hubs)
