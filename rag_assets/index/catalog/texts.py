"""The texts behind the chunks: documents by path, as the tables of a generation name them, kept compressed."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import select

from rag_assets.index.blobs import BlobStore
from rag_assets.index.catalog.bulk_insert import insert_rows
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.catalog.history import batched
from rag_assets.index.catalog.schema import documents

if TYPE_CHECKING:
    from sqlalchemy import Connection

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
    from rag_assets.index.tables import read_file

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
