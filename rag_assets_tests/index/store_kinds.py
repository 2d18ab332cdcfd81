"""The vector stores that must behave alike, each behind the same verbs."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_assets.index.vectors.vector_api import (
    DeclaredPoints,
    PointTarget,
    StateDiff,
    StoredPoint,
    VectorReader,
    bring_to,
)
from rag_assets_tests.index.sample_points import DIMENSION, with_digest

if TYPE_CHECKING:
    from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
    from rag_assets.index.vectors.qdrant_server.server_registry import ServerPlace

KINDS = ("embedded", "faiss", "wire", "server")


class Store:
    """Generations of one label in one kind of store."""

    def writer(self, name: str, dimension: int = DIMENSION) -> PointTarget:
        """Where a generation is written that begins with what the newest one of the dimension left."""
        raise NotImplementedError

    def reader(self, name: str) -> VectorReader:
        raise NotImplementedError

    def written(self, name: str, points: Sequence[StoredPoint], dimension: int = DIMENSION) -> VectorReader:
        """A reader of a finished generation of exactly these points."""
        self.brought_to(name, points, dimension)
        return self.reader(name)

    def brought_to(self, name: str, points: Sequence[StoredPoint], dimension: int = DIMENSION) -> StateDiff:
        return bring(self.writer(name, dimension), points)


def bring(target: PointTarget, points: Sequence[StoredPoint]) -> StateDiff:
    """Makes a generation of exactly these points, as a build does."""
    declared = {point.id: with_digest(point) for point in points}
    digests = {known: point.digest for known, point in declared.items()}
    asked_for = DeclaredPoints(digests, lambda asked: [[declared[known] for known in declared if known in asked]])
    return bring_to([target], [asked_for])


class Folders(Store):
    """Stores that are a folder for each generation."""

    def __init__(self, folder: Path, write: Callable[..., PointTarget], read: Callable[[Path], VectorReader]) -> None:
        self._folder = folder
        self._write = write
        self._read = read
        self._newest: dict[int, Path] = {}

    def writer(self, name: str, dimension: int = DIMENSION) -> PointTarget:
        base = self._newest.get(dimension)
        self._newest[dimension] = self._folder / name
        return self._write(self._folder / name, dimension, base=base)

    def reader(self, name: str) -> VectorReader:
        return self._read(self._folder / name)


class Server(Store):
    """Collections of a Qdrant server, made for a test and deleted after it: one per dimension."""

    def __init__(self, server: QdrantServer, folder: Path) -> None:
        self.server = server
        self._folder = folder
        self._collection = f"rag_assets_test_{uuid.uuid4().hex}"
        self._places: dict[str, ServerPlace] = {}

    def writer(self, name: str, dimension: int = DIMENSION) -> PointTarget:
        from rag_assets.index.vectors.qdrant_server.server_registry import ServerPlace, next_sequence
        from rag_assets.index.vectors.qdrant_server.writer import ServerWriter

        place = ServerPlace(
            url=self.server.name,
            org_id="acme",
            project_id="shop",
            index_label="shop@main",
            collection=f"{self._collection}_{dimension}",
            generation_id=name,
            sequence=next_sequence(self._folder),
        )
        made = ServerWriter(self.server, place, dimension, self._folder / name / "shard")
        self._places[name] = made.place
        return made

    def reader(self, name: str) -> VectorReader:
        from rag_assets.index.vectors.qdrant_server.reader import ServerReader

        return ServerReader(self.server, self._places[name])

    def delete(self) -> None:
        for collection in {place.collection for place in self._places.values()}:
            self.server.call("written", "delete_collection", collection_name=collection)


@contextmanager
def opened_store(kind: str, folder: Path) -> Iterator[Store]:
    """A store of that kind; skips where what it needs is not here."""
    if kind == "embedded":
        from rag_assets.index.vectors.qdrant_edge import ShardReader
        from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter

        yield Folders(folder, ShardWriter, ShardReader)
        return
    if kind == "faiss":
        pytest.importorskip("faiss", reason="the extra faiss is not installed")
        from rag_assets.index.vectors.faiss import FaissReader, FaissWriter

        yield Folders(folder, FaissWriter, FaissReader)
        return
    pytest.importorskip("qdrant_client")
    from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
    from rag_assets_tests.index.qdrant_wire import QdrantWire

    if kind == "wire":
        with QdrantWire() as wire:
            yield Server(QdrantServer.connect(wire.url, 10, attempts=1, environment={}), folder)
    else:
        url = os.environ.get("QDRANT_URL")
        if not url:
            pytest.skip("needs a Qdrant server: set QDRANT_URL (and QDRANT_API_KEY)")
        made = Server(QdrantServer.connect(url, 30), folder)
        try:
            yield made
        finally:
            made.delete()
