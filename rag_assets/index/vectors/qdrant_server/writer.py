"""Writes the difference between two generations of a label into a Qdrant server (`qdrant_server.schema`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from qdrant_client import models

from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
from rag_assets.index.vectors.qdrant_server.schema import (
    BORN,
    DIED,
    DIGEST,
    LABEL_KEY,
    POINT_ID,
    batches,
    ensure_collection,
    of_label,
    scroll,
    settle,
    stored_id,
    visible,
)
from rag_assets.index.vectors.qdrant_server.server_registry import ServerPlace, begin_place, finish_place
from rag_assets.index.vectors.vector_api import DENSE, SPARSE, StoredPoint, VectorStoreError

_UPSERT_BATCH = 200  # points of one request: 3 MB at 384 dimensions, 17 MB at 3,072; a server takes 32
_MARK_BATCH = 10_000  # ids of one request: 400 kB


class ServerWriter:
    """A PointTarget: begins with what the newest build of the label left, and makes it a generation of its own.

    That build may have been killed: what it wrote is taken over, what it did not get to is in the difference. The old
    versions of what is replaced or deleted end in `finish`, after everything new is there.
    """

    def __init__(self, server: QdrantServer, place: ServerPlace, dimension: int, directory: Path) -> None:
        """`place.sequence` is the lowest that may be used; the writer takes one above all that the server knows of the
        label. `directory` gets the note that says where the points are. Raises VectorStoreError where the server
        cannot be used, or its collection is of another shape."""
        self._server = server
        self._dimension = dimension
        self._directory = directory
        self._live: dict[str, tuple[int, str]] = {}  # id → (born, digest) of what the generation consists of
        self._ended: set[str] = set()  # stored ids that it no longer sees, and others do
        self._mistaken: set[str] = set()  # stored ids of its own that it deleted again, which nobody has seen
        server.require_version()
        ensure_collection(server, place.collection, dimension)
        settle(server, place.collection, place.key)
        highest = 0
        everything = models.Filter(must=[of_label(place.key)])
        for record in scroll(server, place.collection, everything, [POINT_ID, BORN, DIED, DIGEST]):
            payload = record.payload
            born, died = int(payload[BORN]), payload.get(DIED)
            highest = max(highest, born, died or 0)
            if died is None:
                self._begin_with(place.key, str(payload[POINT_ID]), born, str(payload.get(DIGEST, "")))
        self.place = replace(place, sequence=max(place.sequence, highest + 1))
        begin_place(directory, self.place)

    def stored(self) -> dict[str, str]:
        return {known: digest for known, (_, digest) in self._live.items()}

    def upsert(self, batch: Sequence[StoredPoint]) -> None:
        latest = {point.id: point for point in batch}  # a server may take those of one request in any order
        for points in batches(list(latest.values()), _UPSERT_BATCH):
            made = [self._point(point) for point in points]
            self._write("upsert", points=made)
            for point in points:
                self._mistaken.discard(self._stored_id(point.id, self.place.sequence))
                self._end(point.id)
                self._live[point.id] = (self.place.sequence, point.digest)

    def delete(self, ids: Sequence[str]) -> None:
        """Takes points out of the generation; sends nothing yet."""
        for known in ids:
            if known in self._live:
                self._end(known)
                born, _ = self._live.pop(known)
                if born == self.place.sequence:
                    self._mistaken.add(self._stored_id(known, born))

    def finish(self) -> None:
        """Ends the old versions, makes sure that the server has all points, and notes that they are complete."""
        for ids in batches(sorted(self._mistaken), _MARK_BATCH):
            self._write("delete", points_selector=ids)
        for ids in batches(sorted(self._ended), _MARK_BATCH):
            self._write("set_payload", payload={DIED: self.place.sequence}, points=ids)
        self._require_all()
        finish_place(self._directory)

    def _begin_with(self, key: str, known: str, born: int, digest: str) -> None:
        """Takes a version over. A build that was killed before it ended old versions has left two: the later counts."""
        other = self._live.get(known)
        if other is not None:
            self._ended.add(stored_id(key, known, min(born, other[0])))
        if other is None or other[0] < born:
            self._live[known] = (born, digest)

    def _end(self, known: str) -> None:
        """The version that was there before this build, if there was one, ends with it."""
        version = self._live.get(known)
        if version is not None and version[0] != self.place.sequence:
            self._ended.add(self._stored_id(known, version[0]))

    def _require_all(self) -> None:
        """A server that lost something, or another program that wrote at the same time, must not go unnoticed."""
        place = self.place
        seen = visible(place.key, place.sequence)
        found = self._server.call("read", "count", collection_name=place.collection, count_filter=seen, exact=True)
        if int(found.count) != len(self._live):
            raise VectorStoreError(
                f"Qdrant at {self._server.name} holds {found.count} points of {place.index_label} "
                f"{place.generation_id}, {len(self._live)} are declared: something else changes collection "
                f"{place.collection}, or it lost data (see its log); then run: rag-assets index {place.index_label}"
            )

    def _write(self, method: str, **arguments: Any) -> None:
        # Waits until it is done: what follows relies on it, and no queue grows in the server.
        self._server.call("written", method, collection_name=self.place.collection, wait=True, **arguments)

    def _stored_id(self, known: str, born: int) -> str:
        return stored_id(self.place.key, known, born)

    def _point(self, point: StoredPoint) -> Any:
        """The point as the server takes it."""
        vectors: dict[str, Any] = {}
        dense = point.dense_in(self._dimension, "collection")
        if dense is not None:
            vectors[DENSE] = dense.tolist()
        indices, values = point.sparse
        if len(indices):
            vectors[SPARSE] = models.SparseVector(indices=indices.tolist(), values=values.tolist())
        try:
            identifier = self._stored_id(point.id, self.place.sequence)
            msgspec.json.encode(point.payload)  # the client's own error would not say which point it is
        except (TypeError, ValueError) as error:  # not a UUID, or a payload that is not JSON
            raise VectorStoreError(f"point {point.id} of {point.payload.get('Path', '?')}: {error}") from error
        own = {
            POINT_ID: point.id,
            LABEL_KEY: self.place.key,
            BORN: self.place.sequence,
            DIGEST: point.digest,
        }
        return models.PointStruct(id=identifier, vector=vectors, payload=point.payload | own)
