"""Writes the points of one generation into the catalog: what changed, in transactions of one batch each (E05)."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, select, update

from rag_assets.index.catalog.database import ALIVE, Database, batched, chunks, insert_rows
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.catalog.history import COMPLETE, Tenant, begin, complete, mark_writing, require_writer
from rag_assets.index.catalog.rows import DocumentTexts, absent, put, row_of
from rag_assets.index.vectors.vector_api import StoredPoint

_FETCH = 10_000  # rows in memory while ids and digests are read


class CatalogTarget:
    """A `index.vectors.vector_api.PointTarget`. Every batch is one transaction; after a kill or a lost server the next
    build of the same generation goes on where this one stopped, and one of another generation undoes it.

    The database writes one batch while the next one is made; what goes wrong with it is raised by the next call. A
    batch fails once another build has taken the label over, on this machine or on another one.
    """

    def __init__(
        self, database: Database, tenant: Tenant, generation_id: str, texts: DocumentTexts, keyword: Path
    ) -> None:
        """`keyword` is the folder with the keyword files, which become part of the generation. Raises CatalogError."""
        self._database = database
        self._tenant = tenant
        self._generation_id = generation_id
        self._texts = texts
        self._keyword = keyword
        self._writer = uuid.uuid4().hex
        with database.transaction("written") as connection:
            self._begun = begin(connection, tenant, generation_id, self._writer)
        self._state = self._begun.state
        self._alive: set[str] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="catalog")
        self._pending: Future[None] | None = None

    def stored(self) -> dict[str, str]:
        query = select(chunks.c.point_id, chunks.c.digest).where(*self._living())
        with self._database.transaction("read") as connection:
            rows = connection.execution_options(yield_per=_FETCH).execute(query)
            found: dict[str, str] = {point_id: digest for point_id, digest in rows}  # noqa: C416 - rows are not pairs
        self._alive = set(found)
        return found

    def upsert(self, batch: Sequence[StoredPoint]) -> None:
        alive = self._known()
        made = {}
        for point in batch:
            owner = point.payload.get("OrgId"), point.payload.get("ProjectId")
            if owner != (self._tenant.org_id, self._tenant.project_id):
                raise CatalogError(f"point {point.id} belongs to {owner}, the build to {self._tenant}")
            row = row_of(
                point,
                label_id=self._begun.label_id,
                born=self._begun.sequence,
                document_sha256=self._texts.address(point.payload["Path"]),
            )
            made[row["point_id"]] = row
        self._wait()
        self._pending = self._thread.submit(self._write, list(made.values()), sorted(alive & made.keys()))
        alive.update(made)

    def delete(self, ids: Sequence[str]) -> None:
        self._known().difference_update(ids)
        self._wait()
        with self._database.transaction("written") as connection:
            self._open(connection)
            self._end(connection, ids)

    def finish(self) -> None:
        """Also keeps the keyword files, without which nobody can search a rebuilt index."""
        self._wait()
        found = (path for path in sorted(self._keyword.rglob("*")) if path.is_file())
        contents = {path.relative_to(self._keyword.parent).as_posix(): path.read_bytes() for path in found}
        files = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        with self._database.transaction("written") as connection:
            require_writer(connection, self._begun.label_id, self._writer)
            by_address = {files[name]: content for name, content in contents.items()}
            wanted = absent(connection, self._begun.label_id, by_address)
            put(connection, self._begun.label_id, {address: by_address[address] for address in wanted})
            complete(connection, self._begun, self._generation_id, files)
        self._thread.shutdown()
        self._database.close()

    def _write(self, rows: list[dict[str, Any]], replaced: Sequence[str]) -> None:
        with self._database.transaction("written") as connection:
            self._open(connection)
            self._texts.store(connection, self._begun.label_id, (row["document_sha256"] for row in rows))
            self._end(connection, replaced)
            insert_rows(connection, chunks, rows)

    def _wait(self) -> None:
        """Until what was handed over is written. Raises what went wrong with it."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def _known(self) -> set[str]:
        if self._alive is None:
            self.stored()
            assert self._alive is not None
        return self._alive

    def _open(self, connection: Connection) -> None:
        require_writer(connection, self._begun.label_id, self._writer)
        if self._state == COMPLETE:
            mark_writing(connection, self._begun)
            self._state = ""

    def _end(self, connection: Connection, ids: Sequence[str]) -> None:
        """Rows of this build vanish, those of an earlier one stay for its readers."""
        sequence = self._begun.sequence
        for batch in batched(ids):
            these = (*self._living(), chunks.c.point_id.in_(batch))
            connection.execute(delete(chunks).where(*these, chunks.c.born == sequence))
            connection.execute(update(chunks).where(*these, chunks.c.born < sequence).values(died=sequence))

    def _living(self) -> tuple[ColumnElement[bool], ...]:
        return chunks.c.label_id == self._begun.label_id, chunks.c.died == ALIVE
