"""Opens the vectors of a generation, wherever they are: nothing above this module knows which store it is.

Start-up budget: the engine and the client of the server are loaded when one of them is opened.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.index.generation_files import check_opened
from rag_assets.index.vectors.vector_api import PLACE_FILE, SERVERS_FILE, PointTarget, VectorReader, VectorStoreError

if TYPE_CHECKING:
    from rag_assets.index.vectors.qdrant_server.server_registry import ServerLabel, ServerPlace
    from rag_assets.settings import StoreSettings

URL_VARIABLE = "RAG_ASSETS__STORES__QDRANT_URL"
"""Beats the URL of a generation: the server that `http://qdrant:6333` is for the containers that build an index is
`http://127.0.0.1:6333` for their host."""

READ_SECONDS = 10
"""For one request of a search: somebody waits, and keyword or dense search takes milliseconds."""

READ_ATTEMPTS = 2

DELETE_SECONDS = 120
"""For deleting the points of a label, which the server answers when they are gone."""

VECTORS = "shard"
"""The vector folder of a generation."""

_SHARD_FILE = "edge_config.json"
_FAISS_FILE = "faiss.json"  # `faiss_files.ABOUT`, which loads numpy
_TABLE = "qdrant_points"


def has_vectors(directory: Path) -> bool:
    """Whether there is a shard, a FAISS index, or the note that says which server has the points."""
    return any((directory / name).is_file() for name in (_SHARD_FILE, _FAISS_FILE, PLACE_FILE))


def open_vectors(directory: Path) -> VectorReader:
    """The points of the generation whose vector folder is `directory`. Raises VectorStoreError."""
    check_opened(directory, VectorStoreError, nested=True)
    if (directory / _FAISS_FILE).is_file():
        from rag_assets.index.vectors.faiss import FaissReader

        return FaissReader(directory)
    if not (directory / PLACE_FILE).is_file():
        from rag_assets.index.vectors.qdrant_edge import ShardReader

        return ShardReader(directory)
    from rag_assets.index.vectors.qdrant_server import server_registry
    from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
    from rag_assets.index.vectors.qdrant_server.reader import ServerReader

    place = server_registry.read_place(directory / PLACE_FILE)
    server = QdrantServer.connect(server_url(place), READ_SECONDS, attempts=READ_ATTEMPTS)
    return ServerReader(server, place, lambda: declared_digests(directory.parent))


def server_version(settings: StoreSettings) -> str:
    """The version of the server at `stores.qdrant_url`. Raises VectorStoreError where it does not answer, refuses the
    key or is too old."""
    from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer

    server = QdrantServer.connect(settings.qdrant_url, READ_SECONDS, attempts=READ_ATTEMPTS)
    try:
        return server.require_version()
    finally:
        server.close()


def stored_digests(directory: Path) -> dict[str, str]:
    """id → digest of every point that a finished store holds. A shard was asked when it was finished, and has not been
    written to since. Raises VectorStoreError."""
    if (directory / _SHARD_FILE).is_file():
        from rag_assets.index.vectors.qdrant_edge.writer import held_digests

        return held_digests(directory)
    with open_vectors(directory) as reader:
        return reader.digests()


def open_writer(
    settings: StoreSettings,
    directory: Path,
    dimension: int,
    *,
    embedding_model: str,
    org_id: str,
    project_id: str,
    index_label: str,
    generation_id: str,
    base: Path | None = None,
) -> PointTarget:
    """Where the points of one generation are written. `directory` is its vector folder, two below that of all
    generations of the label. `dimension` 0: without dense vectors; `base` is the vector folder of an earlier generation
    whose points have the same form, for a store that copies it. Raises VectorStoreError."""
    if settings.vectors == "embedded":
        from rag_assets.index.vectors.qdrant_edge.writer import ShardWriter

        # A shard is of one label, so these say nothing about any of its points.
        owner = {"OrgId": org_id, "ProjectId": project_id, "IndexLabel": index_label}
        return ShardWriter(directory, dimension, hnsw_from_points=settings.hnsw_from_points, base=base, common=owner)
    if settings.vectors == "faiss":
        from rag_assets.index.vectors.faiss import FaissWriter

        return FaissWriter(directory, dimension, base=base)
    from rag_assets.index.vectors.qdrant_server import server_registry
    from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
    from rag_assets.index.vectors.qdrant_server.schema import collection_name
    from rag_assets.index.vectors.qdrant_server.server_registry import ServerPlace
    from rag_assets.index.vectors.qdrant_server.writer import ServerWriter

    generations = directory.parent.parent
    place = ServerPlace(
        url=settings.qdrant_url,
        org_id=org_id,
        project_id=project_id,
        index_label=index_label,
        collection=collection_name(embedding_model, dimension),
        generation_id=generation_id,
        sequence=server_registry.next_sequence(generations),
    )
    server_registry.remember_label(generations, place.label)
    server = QdrantServer.connect(settings.qdrant_url, settings.qdrant_timeout_seconds)
    return ServerWriter(server, place, dimension, directory)


def serve_points(generations: Path, generation_id: str) -> None:
    """Brings the collections that outside readers of servers read to what a label serves now, after its pointer has
    moved. The caller lets nobody else do so for the label at the same time.

    Raises VectorStoreError after having tried every server; the next call goes on.
    """
    note = generations / generation_id / VECTORS / PLACE_FILE
    if not _has_servers(generations) and not note.is_file():
        return
    from rag_assets.index.vectors.qdrant_server import server_registry

    problems = []
    served = server_registry.read_place(note) if note.is_file() else None
    labels = server_registry.labels_in_servers(generations)
    for label in sorted(labels, key=lambda label: served is None or served.label != label):  # what is served first
        try:
            _serve_points(label, served)
        except VectorStoreError as error:
            problems.append(str(error))
    if problems:
        raise VectorStoreError("; ".join(problems))


def _serve_points(label: ServerLabel, served: ServerPlace | None) -> None:
    from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
    from rag_assets.index.vectors.qdrant_server.label_collection import bring_label_collection, drop_label_collection

    server = QdrantServer.connect(server_url(label), DELETE_SECONDS)
    try:
        if served is None:
            drop_label_collection(server, label)
        elif served.label == label:
            bring_label_collection(server, served)
        else:
            drop_label_collection(server, label, served=served.sequence)
    finally:
        server.close()


def _has_servers(generations: Path) -> bool:
    return (generations / SERVERS_FILE).is_file()


def delete_stale_points(generations: Path) -> int:
    """Deletes from servers what no generation in the folder `generations` of a label sees any more, and returns how
    many versions of points that were. After the pointer has moved, or generations have gone; the caller holds the
    label. Embedded generations take their points with them.

    Raises VectorStoreError after having tried every server; the next call goes on.
    """
    if not _has_servers(generations):
        return 0
    from rag_assets.index.vectors.qdrant_server import server_registry

    problems = []
    deleted = 0
    for label in server_registry.labels_in_servers(generations):
        of_label = [place for place in server_registry.places(generations) if place.key == label.key]
        try:
            deleted += _delete_unseen(label, of_label)
        except VectorStoreError as error:
            problems.append(str(error))
            continue
        if all(place.url != label.url for place in of_label):
            server_registry.forget_label(generations, label)
    if problems:
        raise VectorStoreError("; ".join(problems))
    return deleted


def forget_points(generations: Path) -> None:
    """Before the folder of all generations of a label is deleted for good: deletes what servers have of them. Raises
    VectorStoreError."""
    from rag_assets.index.vectors.qdrant_server import server_registry

    for label in server_registry.labels_in_servers(generations):
        _serve_points(label, None)
        _delete_unseen(label, [])


def _delete_unseen(label: ServerLabel, places: list[ServerPlace]) -> int:
    """`places` counts whatever its URL: one server can have several."""
    from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
    from rag_assets.index.vectors.qdrant_server.schema import delete_unseen

    kept = defaultdict[str, set[int]](set)
    for place in places:
        kept[place.collection].add(place.sequence)
    server = QdrantServer.connect(server_url(label), DELETE_SECONDS)
    try:
        return delete_unseen(server, label.key, kept)
    finally:
        server.close()


def declared_digests(generation: Path) -> Mapping[str, str] | None:
    """id → digest of the points as the tables of a generation declare them; None where it has no such table."""
    from rag_assets.index.parquet_parts import read_file

    parts = sorted((generation / _TABLE).glob("part-*.parquet"))
    if not parts:
        return None
    found: dict[str, str] = {}
    for part in parts:
        table = read_file(part, ["point_id", "digest"])
        found.update(zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True))
    return found


def server_url(place: ServerLabel) -> str:
    """Where the server is from here. What the settings allowed for the recorded URL is not asked again."""
    named = os.environ.get(URL_VARIABLE, "")
    if not named:
        return place.url
    from rag_assets.settings.urls import plain_server_url, refuse_unencrypted

    try:
        url = plain_server_url(named, "QDRANT_API_KEY")
        refuse_unencrypted(url, allowed=url == place.url)
    except ValueError as error:
        raise VectorStoreError(f"environment: {URL_VARIABLE} {error}") from error
    return url
