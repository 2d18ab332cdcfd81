"""What the graph has of one file: taken from the cache while the facets of its answers are the same, or extracted.

The cache has, under the key of the file's own content, which facets its answers are made of (`graph.facets`), their
digest, and the nodes and edges that were found then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation
from rag_assets.contracts.segment import Segment
from rag_assets.descriptions.questions import recording
from rag_assets.graph.extraction import GraphFile
from rag_assets.graph.extractors import graph_of
from rag_assets.graph.facets import Facets, facets_of
from rag_assets.graph.symbols import Symbols
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.segments import indexed_files, read_segments
from rag_assets.stages.versions import stage_version
from rag_assets.stores.blobs import BlobStore
from rag_assets.stores.cache import Cache, cache_key

STAGE = "code_graph"
GRAPH_FILES = "graph_files"
_CACHE_BATCH = 64  # files between two writes: what a killed extraction does again at most


class _Known(msgspec.Struct, array_like=True):
    """An entry of the cache; nodes and edges are lists of their fields, without the path of the file."""

    facets: list[str]
    digest: str
    nodes: list[tuple[Any, ...]]
    edges: list[tuple[Any, ...]]


@dataclass(slots=True)
class GraphParts:
    """What some files add, the facets that it depends on, and how many of the files had to be extracted."""

    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[GraphEdge] = field(default_factory=list)
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
                known = _extracted(files.file(row), symbols, facets)
                made.append((key, msgspec.msgpack.encode(known)))
                found.extracted += 1
                if len(made) >= _CACHE_BATCH:
                    cache.replace_many(made)
                    made.clear()
            found.facets.update(known.facets)
            found.nodes += _nodes(known.nodes, row["path"])
            found.edges += _edges(known.edges, row["path"])
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
        self._segments: dict[str, list[Segment]] | None = None

    def file(self, row: dict[str, Any]) -> GraphFile:
        if self._segments is None:
            self._segments = read_segments(self._build, self._bucket)
        segments = tuple(self._segments.get(row["path"], ()))
        return GraphFile(row["path"], row["language"], self._blobs.get(row["text_sha256"]), segments)


def _usable(value: bytes | None, facets: Facets) -> _Known | None:
    if value is None:
        return None
    known = msgspec.msgpack.decode(value, type=_Known)
    return known if known.digest == facets.together(known.facets) else None


def _extracted(file: GraphFile, symbols: Symbols, facets: Facets) -> _Known:
    nodes: set[GraphNode] = set()
    edges: set[GraphEdge] = set()
    with recording() as asked:
        for part in graph_of(file, symbols):
            if isinstance(part, GraphNode):
                nodes.add(part)
            else:
                edges.add(part)
    names = facets_of(asked)
    return _Known(names, facets.together(names), _fields(sorted(nodes), file.path), _fields(sorted(edges), file.path))


def _fields(parts: Sequence[GraphNode] | Sequence[GraphEdge], path: str) -> list[tuple[Any, ...]]:
    """Paths are those of the file, but for what is declared nowhere."""
    return [
        tuple(value == path if name == "path" else value for name in part.__slots__ for value in (getattr(part, name),))
        for part in parts
    ]


def _nodes(rows: Iterable[tuple[Any, ...]], path: str) -> Iterator[GraphNode]:
    for key, kind, name, has_path, start, end, language, signature in rows:
        yield GraphNode(key, NodeType(kind), name, path if has_path else "", start, end, language, signature)


def _edges(rows: Iterable[tuple[Any, ...]], path: str) -> Iterator[GraphEdge]:
    for source, relation, target, confidence, has_path, line in rows:
        yield GraphEdge(source, Relation(relation), target, Confidence(confidence), path if has_path else "", line)
