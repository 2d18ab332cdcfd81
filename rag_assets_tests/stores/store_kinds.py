"""The vector stores that must behave alike, each behind the same two verbs."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rag_assets.stores.points import PointTarget, StoredPoint, VectorReader
from rag_assets_tests.stores.sample_points import DIMENSION

if TYPE_CHECKING:
    from rag_assets.stores.qdrant_client_calls import QdrantServer
    from rag_assets.stores.qdrant_schema import ServerPlace

KINDS = ("embedded", "memory", "wire", "server")


class Store:
    """Generations of one kind of store."""

    def writer(self, name: str, dimension: int = DIMENSION) -> PointTarget:
        raise NotImplementedError

    def reader(self, name: str) -> VectorReader:
        raise NotImplementedError

    def written(self, name: str, points: Sequence[StoredPoint], dimension: int = DIMENSION) -> VectorReader:
        """A reader of a generation that is finished."""
        writer = self.writer(name, dimension)
        writer.upsert(points)
        writer.finish()
        return self.reader(name)


class Embedded(Store):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def writer(self, name: str, dimension: int = DIMENSION) -> PointTarget:
        from rag_assets.stores.vectors import ShardWriter

        return ShardWriter(self._folder / name, dimension)

    def reader(self, name: str) -> VectorReader:
        from rag_assets.stores.vectors import ShardReader

        return ShardReader(self._folder / name)


class Server(Store):
    """Collections of a Qdrant server, made for a test and deleted after it: one per dimension."""

    def __init__(self, server: QdrantServer, folder: Path) -> None:
        self.server = server
        self._folder = folder
        self._collection = f"rag_assets_test_{uuid.uuid4().hex}"
        self._made: dict[str, int] = {}

    def place(self, name: str) -> ServerPlace:
        from rag_assets.stores.qdrant_schema import ServerPlace

        return ServerPlace(
            url=self.server.name,
            collection=f"{self._collection}_{self._made[name]}",
            org_id="acme",
            project_id="shop",
            index_label="shop@main",
            generation_id=name,
        )

    def writer(self, name: str, dimension: int = DIMENSION) -> PointTarget:
        from rag_assets.stores.qdrant_server import ServerWriter

        self._made[name] = dimension
        return ServerWriter(self.server, self.place(name), dimension, self._folder / name)

    def reader(self, name: str) -> VectorReader:
        from rag_assets.stores.qdrant_server import ServerReader

        return ServerReader(self.server, self.place(name))

    def delete(self) -> None:
        for dimension in set(self._made.values()):
            self.server.call("written", "delete_collection", collection_name=f"{self._collection}_{dimension}")


@contextmanager
def opened_store(kind: str, folder: Path) -> Iterator[Store]:
    """A store of that kind; skips where what it needs is not here."""
    if kind == "embedded":
        yield Embedded(folder)
        return
    pytest.importorskip("qdrant_client")
    from rag_assets.stores.qdrant_client_calls import QdrantServer
    from rag_assets_tests.stores.qdrant_wire import QdrantWire, memory_client

    if kind == "memory":
        yield Server(QdrantServer(memory_client(), ":memory:", attempts=1), folder)
    elif kind == "wire":
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
