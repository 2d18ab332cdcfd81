"""The collection of a Qdrant server that outside readers read: what a label serves, and nothing else (R30).

Each point is there once, under its PointId, with the payload and the unnamed vector of IDX-025 (and the keyword weights
as `bm25`). Readers use an alias, which lasts; the collection behind it is another one for another embedding space.

It is a copy of what one generation sees of the versions (`qdrant_server.schema`), which serve our own searches.
Its metadata hold the sequences that each point may be of: one, or two while it is being brought from one to the other.
So whoever finds a half-done copy knows which points are right for certain, and goes on.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from qdrant_client import models

from rag_assets.contracts.payload import payload_indexes
from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
from rag_assets.index.vectors.qdrant_server.schema import (
    LABEL_COLLECTION_PREFIX,
    OWN_FIELDS,
    POINT_ID,
    batches,
    create_collection,
    create_indexes,
    pages,
    scroll,
    visible,
)
from rag_assets.index.vectors.qdrant_server.server_registry import ServerLabel, ServerPlace
from rag_assets.index.vectors.vector_api import DENSE, SPARSE, VectorStoreError

_STATE = "RagAssets"  # in the metadata of the collection
_HOLDS = "holds"
_NOTHING = 0  # a sequence at which no point is seen
_COPY_BATCH = 200  # points of one request, as in `writer`
_DELETE_BATCH = 10_000
_UNUSUAL = re.compile(r"[^A-Za-z0-9._@-]")
_NAME_CHARACTERS = 150  # of those that people read; files of this name have more after it


def alias_of(label: ServerLabel) -> str:
    """`acme~shop~shop@main`: the name under which outside readers find what a label serves. Another one where the
    parts have unusual characters, with a hash at its end."""
    parts = (label.org_id, label.project_id, label.index_label)
    name = "~".join(_UNUSUAL.sub("-", part) for part in parts)
    if name == "~".join(parts) and len(name) <= _NAME_CHARACTERS:
        return name
    return f"{name[:_NAME_CHARACTERS]}~{_hash(label.key)}"


def bring_label_collection(server: QdrantServer, place: ServerPlace) -> None:
    """Makes the alias of a label name exactly the points that the generation at `place` has. Whoever reads meanwhile
    sees each point once, as it was or as it will be. Raises VectorStoreError; then the same again goes on."""
    name = f"{_prefix(place)}{_hash(place.collection)}"
    holds = _opened(server, place, name)
    seen = visible(place.key, place.sequence)
    wanted = _count(server, place.collection, seen)
    if holds != [place.sequence] or _count(server, name) != wanted:
        _set_holds(server, name, sorted({*holds, place.sequence}))
        _bring(server, place, name, holds)
        if _count(server, name) != wanted:  # it was not what it said
            _copy(server, place, name, seen)
            _delete(server, name, set(_ids(server, name, None)) - set(_point_ids(server, place, seen)))
        found = _count(server, name)
        if found != wanted:
            raise VectorStoreError(
                f"Qdrant at {server.name} holds {found} points of {place.index_label} in collection {name}, {wanted} "
                "are served: something else changes it, or it lost data (see its log); then run: rag-assets index "
                f"{place.index_label}"
            )
        _set_holds(server, name, [place.sequence])
    _name(server, place, name)


def drop_label_collection(server: QdrantServer, label: ServerLabel, *, served: int = -1) -> None:
    """Takes from outside readers what the label served. Where this server is known by another name too, and its copy is
    of the sequence `served`, it stays. Raises VectorStoreError."""
    for name in _collections(server, label):
        if served in _holds(server.call("read", "get_collection", collection_name=name)):
            return
    if alias_of(label) in _aliases(server):
        gone = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias_of(label)))
        server.call("written", "update_collection_aliases", change_aliases_operations=[gone])
    _drop_all(server, label, but="")


def _opened(server: QdrantServer, place: ServerPlace, name: str) -> list[int]:
    """The sequences that the points of the collection may be of; it is made where it is absent."""
    versions = server.call("read", "get_collection", collection_name=place.collection)
    dense = (versions.config.params.vectors or {}).get(DENSE)
    vectors: Any = {} if dense is None else models.VectorParams(size=dense.size, distance=dense.distance)
    state = {_STATE: {_HOLDS: [_NOTHING]}}
    found = create_collection(server, name, vectors, metadata=state)
    create_indexes(server, name, found, payload_indexes())
    return _holds(found)


def _holds(found: Any) -> list[int]:
    """By what the server says of the collection."""
    known = (found.config.metadata or {}).get(_STATE, {})
    return [int(sequence) for sequence in known.get(_HOLDS, [])] or [_NOTHING]


def _bring(server: QdrantServer, place: ServerPlace, name: str, holds: Sequence[int]) -> None:
    seen = visible(place.key, place.sequence)
    before = [visible(place.key, sequence) for sequence in holds]
    new = models.Filter(must=[seen], must_not=[models.Filter(must=before)])
    copied = _copy(server, place, name, new)
    old = models.Filter(must=[models.Filter(should=before)], must_not=[seen])
    _delete(server, name, set(_point_ids(server, place, old)) - copied)


def _copy(server: QdrantServer, place: ServerPlace, name: str, condition: Any) -> set[str]:
    """Copies versions that meet the condition, and returns the ids of the points."""
    copied: set[str] = set()
    for records in pages(server, place.collection, condition, _COPY_BATCH, with_payload=True, with_vectors=True):
        points = [_point(record) for record in records]
        if points:
            server.call("written", "upsert", collection_name=name, points=points, wait=True)
            copied.update(str(point.id) for point in points)
    return copied


def _point(record: Any) -> Any:
    """A version as a point of the contract."""
    named = record.vector or {}
    vector = {("" if key == DENSE else SPARSE): value for key, value in named.items()}
    payload = {key: value for key, value in record.payload.items() if key not in OWN_FIELDS}
    return models.PointStruct(id=record.payload[POINT_ID], vector=vector, payload=payload)


def _delete(server: QdrantServer, name: str, ids: set[str]) -> None:
    for batch in batches(sorted(ids), _DELETE_BATCH):
        server.call("written", "delete", collection_name=name, points_selector=batch, wait=True)


def _count(server: QdrantServer, name: str, condition: Any = None) -> int:
    return int(server.call("read", "count", collection_name=name, count_filter=condition, exact=True).count)


def _point_ids(server: QdrantServer, place: ServerPlace, condition: Any) -> Iterator[str]:
    return (str(record.payload[POINT_ID]) for record in scroll(server, place.collection, condition, [POINT_ID]))


def _ids(server: QdrantServer, name: str, condition: Any) -> Iterator[str]:
    return (str(record.id) for record in scroll(server, name, condition, []))


def _set_holds(server: QdrantServer, name: str, holds: list[int]) -> None:
    state = {_STATE: {_HOLDS: holds}}
    server.call("written", "update_collection", collection_name=name, metadata=state)


def _name(server: QdrantServer, place: ServerPlace, name: str) -> None:
    """One request moves the alias, so no reader finds nothing."""
    alias = alias_of(place)
    known = _aliases(server).get(alias)
    if known != name:
        gone = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
        made = models.CreateAliasOperation(create_alias=models.CreateAlias(collection_name=name, alias_name=alias))
        changes = [made] if known is None else [gone, made]
        server.call("written", "update_collection_aliases", change_aliases_operations=changes)
    _drop_all(server, place, but=name)


def _aliases(server: QdrantServer) -> dict[str, str]:
    return {known.alias_name: known.collection_name for known in server.call("read", "get_aliases").aliases}


def _drop_all(server: QdrantServer, label: ServerLabel, *, but: str) -> None:
    """Deletes the collections of a label, which only hold copies."""
    for name in _collections(server, label):
        if name != but:
            server.call("written", "delete_collection", collection_name=name)


def _collections(server: QdrantServer, label: ServerLabel) -> list[str]:
    names = (found.name for found in server.call("read", "get_collections").collections)
    return [name for name in names if name.startswith(_prefix(label))]


def _prefix(label: ServerLabel) -> str:
    return f"{LABEL_COLLECTION_PREFIX}{_hash(label.key)}_"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
