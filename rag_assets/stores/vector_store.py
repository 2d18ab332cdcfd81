"""Opens the vectors of a generation, wherever they are: nothing above this module knows which store it is.

The engine and the client of the server are loaded when one of them is opened.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rag_assets.server_urls import plain_server_url, refuse_unencrypted
from rag_assets.stores.points import PointTarget, VectorReader, VectorStoreError

if TYPE_CHECKING:
    from rag_assets.settings import StoreSettings
    from rag_assets.stores.qdrant_schema import ServerPlace

URL_VARIABLE = "RAG_ASSETS__STORES__QDRANT_URL"
"""Beats the URL of a generation: the server that `http://qdrant:6333` is for the containers that build an index is
`http://127.0.0.1:6333` for their host."""

READ_SECONDS = 10
"""For one request of a search: somebody waits, and keyword or dense search takes milliseconds."""

READ_ATTEMPTS = 2

DELETE_SECONDS = 120
"""For deleting the points of a generation, which the server answers when they are gone."""

_SERVER_FILE = "server.json"
_BEGUN_FILE = "server.begun.json"
_SHARD_FILE = "edge_config.json"
_TABLE = "qdrant_points"


def has_vectors(directory: Path) -> bool:
    """Whether there is a shard, or the note that says which server has the points."""
    return (directory / _SHARD_FILE).is_file() or (directory / _SERVER_FILE).is_file()


def open_vectors(directory: Path) -> VectorReader:
    """The points of the generation whose vector folder is `directory`. Raises VectorStoreError."""
    if not (directory / _SERVER_FILE).is_file():
        from rag_assets.stores.vectors import ShardReader

        return ShardReader(directory)
    from rag_assets.stores.qdrant_client_calls import QdrantServer
    from rag_assets.stores.qdrant_server import ServerReader

    place = _read_place(directory / _SERVER_FILE)
    server = QdrantServer.connect(_url(place), READ_SECONDS, attempts=READ_ATTEMPTS)
    return ServerReader(server, place, lambda: declared_hashes(directory.parent))


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
    """A writer for the points of one generation. `dimension` 0: without dense vectors; `base` is the vector folder of
    an earlier generation of the label whose points have the same form. Raises VectorStoreError."""
    if settings.vectors == "embedded":
        from rag_assets.stores.vectors import ShardWriter

        return ShardWriter(directory, dimension, hnsw_from_points=settings.hnsw_from_points, base=base)
    from rag_assets.stores.qdrant_client_calls import QdrantServer
    from rag_assets.stores.qdrant_schema import ServerPlace, collection_name
    from rag_assets.stores.qdrant_server import ServerWriter

    place = ServerPlace(
        url=settings.qdrant_url,
        collection=collection_name(embedding_model, dimension),
        org_id=org_id,
        project_id=project_id,
        index_label=index_label,
        generation_id=generation_id,
    )
    server = QdrantServer.connect(settings.qdrant_url, settings.qdrant_timeout_seconds)
    return ServerWriter(server, place, dimension, directory)


def delete_stale_points(
    settings: StoreSettings, *, org_id: str, project_id: str, index_label: str, keep: Collection[str]
) -> list[str]:
    """Deletes from the server what generations outside `keep` have left there, and returns their ids. Embedded
    generations take their points with them. Raises VectorStoreError."""
    if settings.vectors == "embedded":
        return []
    from rag_assets.stores.qdrant_client_calls import QdrantServer
    from rag_assets.stores.qdrant_server import delete_stale

    server = QdrantServer.connect(settings.qdrant_url, settings.qdrant_timeout_seconds)
    try:
        return delete_stale(server, org_id=org_id, project_id=project_id, index_label=index_label, keep=keep)
    finally:
        server.close()


def forget_points(directory: Path) -> None:
    """Before the vector folder of a generation, finished or not, is deleted for good: deletes what a server has of it.
    Raises VectorStoreError."""
    for note in (directory / _SERVER_FILE, directory / _BEGUN_FILE):
        if note.is_file():
            from rag_assets.stores.qdrant_client_calls import QdrantServer
            from rag_assets.stores.qdrant_server import delete_generation

            place = _read_place(note)
            server = QdrantServer.connect(_url(place), DELETE_SECONDS, attempts=READ_ATTEMPTS)
            try:
                delete_generation(server, place)
            finally:
                server.close()


def declared_hashes(generation: Path) -> Mapping[str, str] | None:
    """id → ContentHash of the points as the tables of a generation declare them; None where it has no such table."""
    from rag_assets.stores.tables import read_file

    parts = sorted((generation / _TABLE).glob("part-*.parquet"))
    if not parts:
        return None
    found: dict[str, str] = {}
    for part in parts:
        table = read_file(part, ["point_id", "content_hash"])
        found.update(zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True))
    return found


def _read_place(path: Path) -> ServerPlace:
    from rag_assets.stores.qdrant_schema import ServerPlace

    try:
        return msgspec.json.decode(path.read_bytes(), type=ServerPlace)
    except (OSError, msgspec.DecodeError) as error:
        raise VectorStoreError(f"{path} cannot be read: {error}; run: rag-assets index --force") from error


def _url(place: ServerPlace) -> str:
    """Where the server is from here. What the settings allowed for the recorded URL is not asked again."""
    named = os.environ.get(URL_VARIABLE, "")
    if not named:
        return place.url
    try:
        url = plain_server_url(named, "QDRANT_API_KEY")
        refuse_unencrypted(url, allowed=url == place.url)
    except ValueError as error:
        raise VectorStoreError(f"environment: {URL_VARIABLE} {error}") from error
    return url
