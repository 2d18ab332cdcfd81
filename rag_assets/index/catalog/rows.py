"""A point and the documents behind it as rows of the catalog, and back. Documents are kept compressed."""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from sqlalchemy import Connection, select

from rag_assets.index.blobs import BlobStore
from rag_assets.index.catalog.database import ALIVE, batched, documents, insert_rows
from rag_assets.index.catalog.errors import CatalogError
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


_TABLE = "discovered_files"
_LEVEL = 1  # 100 MB/s at a third of the size; more effort gains a tenth


class DocumentTexts:
    """path → address of the document, of the generation that is being built."""

    def __init__(self, blobs: Path, generation: Path) -> None:
        self._blobs = BlobStore(blobs)
        self._generation = generation
        self._addresses: Mapping[str, str] | None = None

    def address(self, path: str) -> str:
        """Raises CatalogError for a file that the generation does not name."""
        if self._addresses is None:
            self._addresses = _addresses(self._generation)
        try:
            return self._addresses[path]
        except KeyError:
            raise CatalogError(
                f"{path} has points, but table {_TABLE} of {self._generation} does not name its text; "
                "run: rag-assets index --force"
            ) from None

    def store(self, connection: Connection, label_id: int, addresses: Iterable[str]) -> None:
        """Puts the documents into the catalog that are not there yet. Raises BlobError for one that is lost."""
        wanted = absent(connection, label_id, addresses)
        put(connection, label_id, {address: self._blobs.get(address).encode() for address in wanted})


def _addresses(generation: Path) -> Mapping[str, str]:
    from rag_assets.index.parquet_parts import read_file

    found: dict[str, str] = {}
    for part in sorted((generation / _TABLE).glob("part-*.parquet")):
        table = read_file(part, ["path", "text_sha256"])
        rows = zip(table.column(0).to_pylist(), table.column(1).to_pylist(), strict=True)
        found.update((path, address) for path, address in rows if address)
    return found


def absent(connection: Connection, label_id: int, addresses: Iterable[str]) -> list[str]:
    """Those of `addresses` that the catalog does not have for a label."""
    wanted = dict.fromkeys(addresses)
    for batch in batched(list(wanted)):
        query = select(documents.c.sha256).where(documents.c.label_id == label_id, documents.c.sha256.in_(batch))
        for address in connection.execute(query).scalars():
            del wanted[address]
    return list(wanted)


def put(connection: Connection, label_id: int, contents: Mapping[str, bytes]) -> None:
    """Stores contents under their addresses, which are not there yet; the caller holds the label."""
    rows = [
        {"label_id": label_id, "sha256": address, "content": zlib.compress(content, _LEVEL)}
        for address, content in contents.items()
    ]
    insert_rows(connection, documents, rows)


def content(connection: Connection, label_id: int, address: str) -> bytes | None:
    query = select(documents.c.content).where(documents.c.label_id == label_id, documents.c.sha256 == address)
    found = connection.execute(query).scalar()
    return None if found is None else zlib.decompress(found)
