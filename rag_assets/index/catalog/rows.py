"""A point as a row of the catalog, and back. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.catalog.schema import ALIVE
from rag_assets.index.keyword.terms import runs, word_terms
from rag_assets.index.vectors.vector_api import StoredPoint

if TYPE_CHECKING:
    from rag_assets.index.vectors.vector_api import Sparse

_INDEX = np.dtype("<u4")
_VALUE = np.dtype("<f4")


def row_of(point: StoredPoint, *, label_id: int, born: int, document_sha256: str) -> dict[str, Any]:
    """The columns of `rag_chunks` but for its own key. Raises CatalogError for an id that is no UUID, or for a payload
    that is not JSON."""
    payload = point.payload
    try:
        identifier = str(uuid.UUID(point.id))
        encoded = msgspec.json.encode(payload).decode()
    except (TypeError, ValueError) as error:
        raise CatalogError(f"point {point.id} of {payload.get('Path', '?')}: {error}") from error
    path, symbol, snippet = (_plain(payload.get(key)) for key in ("Path", "Symbol", "FinderSnippet"))
    return {
        "label_id": label_id,
        "point_id": identifier,
        "born": born,
        "died": ALIVE,
        "digest": point.digest,
        "content_hash": payload.get("ContentHash", ""),
        "path": path,
        "kind": _plain(payload.get("Kind")),
        "symbol": symbol,
        "language": _plain(payload.get("CodeLanguage")),
        "source_type": _plain(payload.get("SourceType")),
        "section_key": _plain(payload.get("SectionKey")),
        "part_index": payload.get("PartIndex", 1),
        "part_total": payload.get("PartTotal", 1),
        "line_start": payload.get("LineStart"),
        "line_end": payload.get("LineEnd"),
        "char_start": payload.get("CharStart"),
        "char_end": payload.get("CharEnd"),
        "document_sha256": document_sha256,
        "text": snippet,
        "words": " ".join(words(symbol, path, snippet)),
        "payload": encoded,
        "dense": None if point.dense is None else point.dense.astype(_VALUE, copy=False).tobytes(),
        "sparse": packed(point.sparse),
    }


def point_of(row: Mapping[str, Any]) -> StoredPoint:
    """The point that a row was made of, equal in every bit."""
    dense = None if row["dense"] is None else np.frombuffer(row["dense"], _VALUE).astype(np.float32, copy=False)
    payload: dict[str, Any] = msgspec.json.decode(row["payload"])
    return StoredPoint(row["point_id"], dense, unpacked(row["sparse"]), payload, row["digest"])


def words(*texts: str) -> dict[str, None]:
    """The distinct terms of texts in order of first use: identifiers split, plurals cut (E06)."""
    distinct = dict.fromkeys(runs("\n".join(texts)))
    return dict.fromkeys(chain.from_iterable(map(word_terms, distinct)))


def packed(sparse: Sparse) -> bytes:
    indices, values = sparse
    return bytes(indices.astype(_INDEX, copy=False).tobytes() + values.astype(_VALUE, copy=False).tobytes())


def unpacked(data: bytes) -> Sparse:
    half = len(data) // 2  # both kinds of number take four bytes
    indices = np.frombuffer(data[:half], _INDEX).astype(np.uint32, copy=False)
    return indices, np.frombuffer(data[half:], _VALUE).astype(np.float32, copy=False)


def _plain(text: str | None) -> str:
    """Postgres texts hold no NUL; the payload, which is JSON, has it."""
    return (text or "").replace("\0", "\ufffd")
