"""What the versions of points look like in a Qdrant server: a collection per embedding space, with the payload indexes
of the contract. It is for our own readers; others read what a label serves (`qdrant_server.label_collection`).

Every point carries fields of our own beside its payload: whose it is (`LabelKey`), which point of the contract
(`PointId`), in which generations it is seen (`Born`, `Died`), and the `Digest` of all that was written.

Points have versions, as rows in databases do (MVCC). The generations of a label have increasing sequence numbers. A
version is visible from its sequence `Born` until before its sequence `Died`, if it has one. A build of sequence n only
adds versions born at n and gives `Died` = n to versions that have none, so it changes nothing for readers of any
earlier sequence, and a build that was killed is a sequence that nobody reads. What a new build begins with is what has
no `Died`, whoever wrote it.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from qdrant_client import models

from rag_assets.contracts.payload import PayloadIndex, payload_indexes
from rag_assets.index.vectors.qdrant_server.client_calls import QdrantServer
from rag_assets.index.vectors.vector_api import DENSE, PREFIX_FIELDS, SPARSE, VectorStoreError

_Item = TypeVar("_Item")

POINT_ID = "PointId"
LABEL_KEY = "LabelKey"
BORN = "Born"
DIED = "Died"
DIGEST = "Digest"
OWN_FIELDS = frozenset({POINT_ID, LABEL_KEY, BORN, DIED, DIGEST})

COLLECTION_PREFIX = "rag_assets_versions_"
LABEL_COLLECTION_PREFIX = "rag_assets_label_"
_TENANT = "OrgId"  # the engine keeps the points of a tenant together
_NAME_CHARACTERS = 60  # of the model's name in that of its collection, for people; the hash makes it unique
_NAMESPACE = uuid.UUID("5b0c1a52-3e0f-5d0e-9a53-0c5f0f6c7d11")


def collection_name(embedding_model: str, dimension: int) -> str:
    """`rag_assets_versions_openai-compatible-m-8_1f2e3d4c`: one per embedding space, as vectors of two say nothing
    about each other. `dimension` 0: without vectors."""
    space = f"{embedding_model}@{dimension}"
    readable = re.sub(r"[^A-Za-z0-9]+", "-", f"{embedding_model}-{dimension}")[-_NAME_CHARACTERS:].strip("-")
    return f"{COLLECTION_PREFIX}{readable}_{hashlib.sha256(space.encode()).hexdigest()[:8]}"


def stored_id(label_key: str, point_id: str, born: int) -> str:
    """The id of a version of a point in the collection: another one for each label and each sequence. Raises
    ValueError for what is no UUID."""
    return str(uuid.uuid5(_NAMESPACE, f"{label_key}\n{uuid.UUID(point_id)}\n{born}"))


def ensure_collection(server: QdrantServer, name: str, dimension: int) -> None:
    """Makes the collection of versions and its payload indexes where they are absent. Raises VectorStoreError where
    there is one of another shape."""
    dense = {DENSE: models.VectorParams(size=dimension, distance=models.Distance.DOT)} if dimension else {}
    wanted: dict[str, PayloadIndex] = {
        **payload_indexes(),
        LABEL_KEY: "keyword",
        POINT_ID: "keyword",
        BORN: "integer",
        DIED: "integer",
    }
    found = create_collection(server, name, dense)
    _require_shape(server, name, found, dimension)
    create_indexes(server, name, found, wanted)


def create_collection(server: QdrantServer, name: str, vectors: Any, *, metadata: dict[str, Any] | None = None) -> Any:
    """What the server says of the collection, which is made where it is absent. `vectors` are the dense ones, as the
    client takes them. Raises VectorStoreError."""
    if not server.call("read", "collection_exists", collection_name=name):
        try:
            server.call(
                "written",
                "create_collection",
                collection_name=name,
                vectors_config=vectors,
                sparse_vectors_config={SPARSE: models.SparseVectorParams()},  # no idf modifier: the weights carry it
                metadata=metadata,
            )
        except VectorStoreError:
            # Another build may have made it in this moment.
            if not server.call("read", "collection_exists", collection_name=name):
                raise
    return server.call("read", "get_collection", collection_name=name)


def create_indexes(server: QdrantServer, name: str, found: Any, indexes: Mapping[str, PayloadIndex]) -> None:
    """Makes the payload indexes that are absent by what the server said of the collection."""
    present = found.payload_schema or {}
    for key, kind in indexes.items():
        if key not in present:  # a killed build made the collection and not all of them
            server.call(
                "written",
                "create_payload_index",
                collection_name=name,
                field_name=key,
                field_schema=_index_parameters(key, kind),
            )


def _require_shape(server: QdrantServer, name: str, found: Any, dimension: int) -> None:
    vectors = found.config.params.vectors
    dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
    size = 0 if dense is None else int(dense.size)
    sparse = found.config.params.sparse_vectors or {}
    if size != dimension or SPARSE not in sparse:
        raise VectorStoreError(
            f"collection {name} of Qdrant at {server.name} holds vectors of {size} dimensions, the index has "
            f"{dimension}: it was not made for it; delete the collection, then run: rag-assets index"
        )


def _index_parameters(key: str, kind: PayloadIndex) -> Any:
    if kind == "integer":
        # Versions are only compared.
        lookup = key not in (BORN, DIED)
        return models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=lookup, range=True)
    if kind == "datetime":
        return models.DatetimeIndexParams(type=models.DatetimeIndexType.DATETIME)
    return models.KeywordIndexParams(
        type=models.KeywordIndexType.KEYWORD,
        is_tenant=True if key == _TENANT else None,
        prefix=True if key in PREFIX_FIELDS else None,
    )


_SCROLL_BATCH = 10_000  # points of one answer: 2 MB with the few fields that are asked for


def of_label(key: str) -> Any:
    """The condition that holds for all versions of all points of a label."""
    return models.FieldCondition(key=LABEL_KEY, match=models.MatchValue(value=key))


def visible(key: str, sequence: int, *conditions: Any) -> Any:
    """The filter for what a reader of `sequence` sees of a label, and which meets the conditions."""
    born = _range(BORN, lte=sequence)
    return models.Filter(must=[of_label(key), born, *conditions], must_not=[_range(DIED, lte=sequence)])


def unseen(key: str, kept: Collection[int]) -> Any:
    """The filter for the versions of a label that no reader of one of the sequences `kept` sees."""
    if not kept:
        return models.Filter(must=[of_label(key)])
    ordered = sorted(kept)
    before, after = _range(DIED, lte=ordered[0]), _range(BORN, gt=ordered[-1])
    between = [models.Filter(must=[_range(BORN, gt=a), _range(DIED, lte=b)]) for a, b in pairwise(ordered)]
    return models.Filter(must=[of_label(key)], should=[before, after, *between])


def delete_unseen(server: QdrantServer, key: str, kept: Mapping[str, Collection[int]]) -> int:
    """Deletes the versions of a label that nobody sees, in every embedding space. `kept`: collection → sequences of
    the generations that stay. Returns how many there were. Raises VectorStoreError; then the same again goes on."""
    deleted = 0
    for collection in server.call("read", "get_collections").collections:
        name = collection.name
        if not name.startswith(COLLECTION_PREFIX):
            continue
        condition = unseen(key, kept.get(name, ()))
        found = int(server.call("read", "count", collection_name=name, count_filter=condition, exact=True).count)
        if found:
            # Waits: a later build must not begin with points that are about to go.
            server.call("written", "delete", collection_name=name, points_selector=condition, wait=True)
        deleted += found
    return deleted


def settle(server: QdrantServer, collection: str, key: str) -> None:
    """Returns when the server has done what it was sent before, also where nobody waited for the answer: it works in
    order, so it is asked to delete what does not exist."""
    nothing = models.Filter(must=[of_label(key), _range(BORN, lt=0)])
    server.call("written", "delete", collection_name=collection, points_selector=nothing, wait=True)


def scroll(server: QdrantServer, collection: str, condition: Any, fields: list[str]) -> Iterator[Any]:
    """Every point that meets the condition, with these payload fields."""
    for records in pages(
        server, collection, condition, _SCROLL_BATCH, with_payload=fields or False, with_vectors=False
    ):
        yield from records


def pages(server: QdrantServer, collection: str, condition: Any, size: int, **parts: Any) -> Iterator[list[Any]]:
    """The points that meet the condition, as many to an answer; `parts` is what the client calls these."""
    offset: Any = None
    while True:
        records, offset = server.call(
            "read", "scroll", collection_name=collection, scroll_filter=condition, limit=size, offset=offset, **parts
        )
        yield records
        if offset is None:
            return


def batches(items: Sequence[_Item], size: int) -> Iterator[list[_Item]]:
    """What goes into one request each."""
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


def _range(key: str, **bounds: int) -> Any:
    return models.FieldCondition(key=key, range=models.Range(**bounds))
