"""A label whose generations are in a Qdrant server, as builds write them and commands delete them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.index.layout import read_record
from rag_assets.index.vectors import open_vectors, open_writer
from rag_assets.index.vectors.qdrant_server.schema import COLLECTION_PREFIX, collection_name, visible
from rag_assets.index.vectors.qdrant_server.server_registry import places
from rag_assets.index.vectors.vector_api import PointTarget, StateDiff, StoredPoint, VectorReader
from rag_assets.settings import StoreSettings
from rag_assets_tests.index.qdrant_wire import Call, QdrantWire
from rag_assets_tests.index.sample_points import DIMENSION, payload, points
from rag_assets_tests.index.store_kinds import bring

COLLECTION = collection_name("m", DIMENSION)


@dataclass(frozen=True)
class Label:
    """`folder` is that of its generations."""

    wire: QdrantWire
    folder: Path
    name: str = "shop@main"
    org: str = "acme"
    seconds: int = 10

    def writer(self, generation: str = "g1", dimension: int = DIMENSION) -> PointTarget:
        return open_writer(
            StoreSettings(vectors="qdrant", qdrant_url=self.wire.url, qdrant_timeout_seconds=self.seconds),
            self.folder / generation / "shard",
            dimension,
            embedding_model="m",
            org_id=self.org,
            project_id="shop",
            index_label=self.name,
            generation_id=generation,
        )

    def build(self, made: Sequence[StoredPoint], generation: str = "g1", dimension: int = DIMENSION) -> StateDiff:
        return bring(self.writer(generation, dimension), made)

    def built(self, made: Sequence[StoredPoint], generation: str = "g1", dimension: int = DIMENSION) -> VectorReader:
        self.build(made, generation, dimension)
        return self.reader(generation)

    def reader(self, generation: str = "g1") -> VectorReader:
        return open_vectors(self.folder / generation / "shard")

    def note(self, generation: str = "g1") -> dict[str, Any]:
        return read_record(self.folder / generation / "shard" / "server.json", dict[str, Any])

    def drop(self, generation: str) -> None:
        """As pruning does."""
        shutil.rmtree(self.folder / generation)

    def stored(self) -> int:
        """Versions of points in all collections of the server, whoever they belong to."""
        return sum(self.wire.store.count(name).count for name in version_collections(self.wire))


def mine(count: int, **changes: str) -> list[StoredPoint]:
    """Points of one tenant and label."""
    return [
        StoredPoint(point.id, point.dense, point.sparse, payload(0, SemanticId=f"s{n}", ContentHash=f"h{n}") | changes)
        for n, point in enumerate(points(count))
    ]


def version_collections(wire: QdrantWire) -> list[str]:
    names = (found.name for found in wire.store.get_collections().collections)
    return [name for name in names if name.startswith(COLLECTION_PREFIX)]


def contents(made: Sequence[StoredPoint]) -> dict[str, str]:
    """What `VectorReader.ids` says of a generation of these points."""
    return {point.id: point.payload["ContentHash"] for point in made}


def ghosts(wire: QdrantWire, generations: Path) -> set[str]:
    """Stored ids, of any label, that none of these generations sees."""
    stored: set[str] = set()
    for collection in version_collections(wire):
        stored |= _ids(wire, collection, None)
    for place in places(generations):
        stored -= _ids(wire, place.collection, visible(place.key, place.sequence))
    return stored


def _ids(wire: QdrantWire, collection: str, condition: Any) -> set[str]:
    records, _ = wire.store.scroll(collection, scroll_filter=condition, limit=10_000)
    return {str(record.id) for record in records}


def is_upsert(call: Call) -> bool:
    return call.method == "PUT" and call.path.endswith("/points")


def is_mark(call: Call) -> bool:
    return call.path.endswith("/points/payload")


def is_deletion(call: Call) -> bool:
    """Of what nobody sees; a build also deletes what does not exist, to wait for the server."""
    return call.path.endswith("/points/delete") and not _deletes_nothing(call.body)


def _deletes_nothing(body: Any) -> bool:
    return any(found.get("range", {}).get("lt") == 0 for found in body.get("filter", {}).get("must", []))
