"""The points of a generation as the engines give them out, without our readers: what another program finds there.

In the embedded store the engine keeps vectors and the fields that are filtered by, and the whole payload is in a file
beside it. In a server it is the collection of the label, which outside readers read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rag_assets.contracts.point_validation import RawPoint
from rag_assets.index.generation_files import check_opened
from rag_assets.index.vectors import READ_SECONDS, server_url
from rag_assets.index.vectors.vector_api import DENSE, PLACE_FILE, SPARSE, VectorStoreError, named_vectors

_BATCH = 1_000


def raw_points(directory: Path, ids: Collection[str] | None = None) -> tuple[str, Iterator[RawPoint]]:
    """(what the store is called, the points) of the generation whose vector folder is `directory`: all, or of a store
    beside the index those of `ids` that are there. Raises VectorStoreError, also while points are read."""
    check_opened(directory, VectorStoreError, nested=True)
    if (directory / PLACE_FILE).is_file():
        return _of_server(directory)
    if (directory / "edge_config.json").is_file():
        return f"embedded, {directory}", _of_shard(directory, ids)
    return f"faiss, {directory}", _of_faiss(directory, ids)


def _of_shard(directory: Path, ids: Collection[str] | None) -> Iterator[RawPoint]:
    from rag_assets.index.vectors.point_table import read_point_table
    from rag_assets.index.vectors.qdrant_edge import DIGEST, digests_of, engine_call, opened_shard

    shard = opened_shard(directory)
    points = read_point_table(directory)
    try:
        with engine_call(f"vector shard {directory} cannot be read"):
            wanted: list[Any] = sorted(digests_of(shard) if ids is None else ids)
        for start in range(0, len(wanted), _BATCH):
            with engine_call(f"vector shard {directory} cannot be read"):
                records = shard.retrieve(wanted[start : start + _BATCH], True, True)
            for record in records:
                row = points.row(str(record.id))
                payload = {} if row is None else msgspec.json.decode(points.payload(row))
                filtered = {key: value for key, value in (record.payload or {}).items() if key != DIGEST}
                yield _raw(str(record.id), payload, record.vector, filtered)
    finally:
        points.close()
        shard.close()


def _of_server(directory: Path) -> tuple[str, Iterator[RawPoint]]:
    from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
    from rag_assets.index.vectors.qdrant_server.label_collection import alias_of
    from rag_assets.index.vectors.qdrant_server.schema import pages
    from rag_assets.index.vectors.qdrant_server.server_registry import read_place

    place = read_place(directory / PLACE_FILE)
    alias = alias_of(place)

    def points() -> Iterator[RawPoint]:
        server = QdrantServer.connect(server_url(place), READ_SECONDS)
        try:
            for records in pages(server, alias, None, _BATCH, with_payload=True, with_vectors=True):
                yield from (_raw(str(record.id), record.payload or {}, record.vector) for record in records)
        finally:
            server.close()

    return f"qdrant, collection {alias} of {place.url}", points()


def _of_faiss(directory: Path, ids: Collection[str] | None) -> Iterator[RawPoint]:
    from rag_assets.index.vectors.faiss import kept_points, read_files

    for known, point in kept_points(read_files(directory)).items():
        if ids is not None and known not in ids:
            continue
        dense = () if point.dense is None else point.dense.tolist()
        yield RawPoint(known, msgspec.json.decode(point.payload), dense, bool(len(point.sparse[0])))


def _raw(
    identifier: str, payload: Mapping[str, Any], vector: Any, filtered: Mapping[str, Any] | None = None
) -> RawPoint:
    named = named_vectors(vector)
    dense = named.get("", named.get(DENSE))
    try:
        embedding = () if dense is None else tuple(map(float, dense))
    except TypeError as error:
        raise VectorStoreError(f"point {identifier} has a vector of another kind: {error}") from error
    return RawPoint(identifier, payload, embedding, SPARSE in named, filtered)
