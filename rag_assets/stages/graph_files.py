"""What the graph has of one file: taken from the cache while the facets of its answers are the same, or extracted.

The cache has, under the key of the file's own content, which facets its answers are made of (`graph.facets`), their
digest, and the nodes and edges that were found then, as columns: nobody wants them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeVar

import msgspec

from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.decoders import from_msgpack
from rag_assets.descriptions.questions import recording
from rag_assets.graph.assembly import EDGES, NODES, edge_columns, node_columns
from rag_assets.graph.extraction import GraphFile
from rag_assets.graph.extractors import graph_of
from rag_assets.graph.facets import Facets, facets_of
from rag_assets.graph.symbols import Symbols
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.segments import decoded_segments, encoded_segments, indexed_files
from rag_assets.stages.versions import stage_version
from rag_assets.stores.blobs import BlobStore
from rag_assets.stores.cache import Cache, cache_key

STAGE = "code_graph"
GRAPH_FILES = "graph_files"
Part = TypeVar("Part", GraphNode, GraphEdge)
_CACHE_BATCH = 64  # files between two writes: what a killed extraction does again at most


Columns = dict[str, list[Any]]
"""A table of the graph by the names of its columns."""


class ExtractedFile(msgspec.Struct, array_like=True):
    """An entry of the cache. In the columns `path` says whether it is the one of the file; it has no other but ''."""

    facets: list[str]
    digest: str
    nodes: Columns
    edges: Columns


@dataclass(slots=True)
class GraphParts:
    """What some files add, the facets that it depends on, and how many of the files had to be extracted."""

    nodes: Columns = field(default_factory=lambda: {name: [] for name in NODES.names})
    edges: Columns = field(default_factory=lambda: {name: [] for name in EDGES.names})
    facets: set[str] = field(default_factory=set)
    files: int = 0
    extracted: int = 0


def graph_file_key(language: str, path: str, text_sha256: str) -> bytes:
    """Where the cache has what this version finds in a file."""
    return cache_key(GRAPH_FILES, stage_version(STAGE), language, path, text_sha256)


def graph_parts(build: IndexBuild, bucket: int, symbols: Symbols, facets: Facets) -> GraphParts:
    """The nodes and edges of the files of a bucket."""
    files = _Files(build, bucket)
    keys = [graph_file_key(row["language"], row["path"], row["text_sha256"]) for row in files.rows]
    found = GraphParts(files=len(keys))
    made: list[tuple[bytes, bytes]] = []
    with Cache(build.home.cache, GRAPH_FILES) as cache:
        cached = {} if build.fresh else cache.get_many(keys)
        for key, row in zip(keys, files.rows, strict=True):
            known = _usable(cached.get(key), facets)
            if known is None:
                known = extracted(files.file(row), symbols, facets)
                made.append((key, msgspec.msgpack.encode(known)))
                found.extracted += 1
                if len(made) >= _CACHE_BATCH:
                    cache.replace_many(made)
                    made.clear()
            found.facets.update(known.facets)
            _append(found.nodes, known.nodes, row["path"])
            _append(found.edges, known.edges, row["path"])
        cache.replace_many(made)
    return found


def graph_files(build: IndexBuild, bucket: int) -> Iterator[GraphFile]:
    """The indexed files of a bucket in path order."""
    files = _Files(build, bucket)
    return map(files.file, files.rows)


class _Files:
    """The files of a bucket; texts and segments are read when the first file is wanted."""

    def __init__(self, build: IndexBuild, bucket: int) -> None:
        self.rows = indexed_files(build, bucket)
        self._build, self._bucket = build, bucket
        self._blobs = BlobStore(build.home.blobs)
        self._segments: dict[str, list[bytes]] | None = None

    def file(self, row: dict[str, Any]) -> GraphFile:
        if self._segments is None:
            self._segments = encoded_segments(self._build, self._bucket)
        segments = tuple(decoded_segments(self._segments.get(row["path"], ())))
        return GraphFile(row["path"], row["language"], self._blobs.get(row["text_sha256"]), segments)


def _usable(value: bytes | None, facets: Facets) -> ExtractedFile | None:
    if value is None:
        return None
    known = from_msgpack(value, ExtractedFile)
    return known if known.digest == facets.together(known.facets) else None


def extracted(file: GraphFile, symbols: Symbols, facets: Facets) -> ExtractedFile:
    """What all extractors find in a file, and the facets of what they asked."""
    nodes: list[GraphNode] = []
    edges: list[GraphEdge] = []
    with recording() as asked:
        for part in graph_of(file, symbols):
            if isinstance(part, GraphNode):
                nodes.append(part)
            else:
                edges.append(part)
    names = facets_of(asked)
    return ExtractedFile(
        names,
        facets.together(names),
        _without_path(node_columns(_each_once(nodes)), file.path),
        _without_path(edge_columns(_each_once(edges)), file.path),
    )


def _each_once(parts: list[Part]) -> list[Part]:
    """Sorted. To compare neighbours takes less time than to hash."""
    parts.sort()
    return [part for part, _ in groupby(parts)]


def _without_path(columns: Columns, path: str) -> Columns:
    return {**columns, "path": [known == path for known in columns["path"]]}


def _append(columns: Columns, more: Columns, path: str) -> None:
    for name, values in more.items():
        columns[name] += values if name != "path" else [path if is_own else "" for is_own in values]
