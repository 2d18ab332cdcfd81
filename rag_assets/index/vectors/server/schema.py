"""What a collection of a Qdrant server looks like: one per embedding space, with the payload indexes of the contract.

Every point carries fields of our own beside its payload: whose it is (`LabelKey`) and which point of the contract
(`PointId`), from which sequence of the label until before which it is seen (`Born`, `Died`;
`index.vectors.server.mvcc`), and the `Digest` of all that was written, to see what has changed.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from typing import Any

from rag_assets.contracts.payload import PayloadIndex, payload_indexes
from rag_assets.index.vectors.server.client_calls import QdrantServer
from rag_assets.index.vectors.vector_api import DENSE, PREFIX_FIELDS, SPARSE, VectorStoreError

POINT_ID = "PointId"
LABEL_KEY = "LabelKey"
BORN = "Born"
DIED = "Died"
DIGEST = "Digest"
OWN_FIELDS = frozenset({POINT_ID, LABEL_KEY, BORN, DIED, DIGEST})

COLLECTION_PREFIX = "rag_assets_"
_TENANT = "OrgId"  # the engine keeps the points of a tenant together
_NAME_CHARACTERS = 60  # of the model's name in that of its collection, for people; the hash makes it unique
_NAMESPACE = uuid.UUID("5b0c1a52-3e0f-5d0e-9a53-0c5f0f6c7d11")


def collection_name(embedding_model: str, dimension: int) -> str:
    """`rag_assets_openai-compatible-m-8_1f2e3d4c`: one per embedding space, as vectors of two say nothing about each
    other. `dimension` 0: without vectors."""
    space = f"{embedding_model}@{dimension}"
    readable = re.sub(r"[^A-Za-z0-9]+", "-", f"{embedding_model}-{dimension}")[-_NAME_CHARACTERS:].strip("-")
    return f"{COLLECTION_PREFIX}{readable}_{hashlib.sha256(space.encode()).hexdigest()[:8]}"


def stored_id(label_key: str, point_id: str, born: int) -> str:
    """The id of a version of a point in the collection: another one for each label and each sequence. Raises
    ValueError for what is no UUID."""
    return str(uuid.uuid5(_NAMESPACE, f"{label_key}\n{uuid.UUID(point_id)}\n{born}"))


def ensure_collection(server: QdrantServer, name: str, dimension: int) -> None:
    """Makes the collection and its payload indexes where they are absent. Raises VectorStoreError where there is one
    of another shape."""
    from qdrant_client import models

    if not server.call("read", "collection_exists", collection_name=name):
        try:
            server.call(
                "written",
                "create_collection",
                collection_name=name,
                vectors_config=_dense(dimension),
                sparse_vectors_config={SPARSE: models.SparseVectorParams()},  # no idf modifier: the weights carry it
            )
        except VectorStoreError:
            # Another build may have made it in this moment.
            if not server.call("read", "collection_exists", collection_name=name):
                raise
    found = server.call("read", "get_collection", collection_name=name)
    _require_shape(server, name, found, dimension)
    present = found.payload_schema or {}
    wanted: dict[str, PayloadIndex] = {
        **payload_indexes(),
        LABEL_KEY: "keyword",
        POINT_ID: "keyword",
        BORN: "integer",
        DIED: "integer",
    }
    for key, kind in wanted.items():
        if key not in present:  # a killed build made the collection and not all of them
            server.call(
                "written",
                "create_payload_index",
                collection_name=name,
                field_name=key,
                field_schema=_index_parameters(key, kind),
            )


def _dense(dimension: int) -> dict[str, Any]:
    from qdrant_client import models

    return {DENSE: models.VectorParams(size=dimension, distance=models.Distance.DOT)} if dimension else {}


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
    from qdrant_client import models

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
