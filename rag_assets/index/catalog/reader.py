"""Reads generations of the catalog: exactly the points that a build put there, and the texts behind them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Set
from dataclasses import dataclass, fields
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, func, select, text

from rag_assets.contracts.point_validation import RawPoint
from rag_assets.index.catalog.database import Database, chunks, documents, generations, labels
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.catalog.history import COMPLETE, Tenant
from rag_assets.index.catalog.rows import content, point_of
from rag_assets.index.generations import Manifest, decode_manifest
from rag_assets.index.vectors.vector_api import StoredPoint

_BATCH = 1_000  # points in memory


@dataclass(frozen=True, slots=True)
class KnownGeneration:
    """A complete generation in the catalog. `files` are its keyword files: name → address."""

    tenant: Tenant
    label_id: int
    sequence: int
    generation_id: str
    points: int
    files: dict[str, str]
    manifest: Manifest
    active: bool


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One generation in the list of what the catalog has."""

    org_id: str
    project_id: str
    index_label: str
    generation_id: str
    state: str
    points: int
    commit_sha: str
    run_id: str
    active: bool


class GenerationReader:
    """The points of one generation."""

    def __init__(self, database: Database, known: KnownGeneration) -> None:
        self._database = database
        self.known = known

    def declared(self) -> dict[str, tuple[str, str]]:
        """id → (digest, ContentHash) of every point."""
        query = select(chunks.c.point_id, chunks.c.digest, chunks.c.content_hash).where(*self._visible())
        with self._database.transaction("read") as connection:
            return {row.point_id: (row.digest, row.content_hash) for row in connection.execute(query)}

    def points(self, wanted: Set[str]) -> Iterator[list[StoredPoint]]:
        """The points of these ids, in batches, ordered by id."""
        last = ""
        while True:
            query = select(chunks).where(*self._visible()).order_by(chunks.c.point_id).limit(_BATCH)
            if last:
                query = query.where(chunks.c.point_id > last)
            with self._database.transaction("read") as connection:
                rows = connection.execute(query).mappings().all()
            if not rows:
                return
            last = rows[-1]["point_id"]
            found = [point_of(dict(row)) for row in rows if row["point_id"] in wanted]
            if found:
                yield found

    def addresses(self) -> list[str]:
        """Addresses of the documents that the points are of."""
        query = select(chunks.c.document_sha256).where(*self._visible()).distinct()
        with self._database.transaction("read") as connection:
            return sorted(connection.execute(query).scalars())

    def content(self, address: str) -> bytes:
        """Raises CatalogError where it is not there."""
        with self._database.transaction("read") as connection:
            found = content(connection, self.known.label_id, address)
        if found is None:
            raise CatalogError(f"catalog {self._database.location.name}: document {address} is missing")
        return found

    def _visible(self) -> tuple[Any, ...]:
        sequence = self.known.sequence
        return chunks.c.label_id == self.known.label_id, chunks.c.born <= sequence, chunks.c.died > sequence


def open_generation(database: Database, tenant: Tenant, generation_id: str | None = None) -> GenerationReader:
    """A complete generation; without an id the one that is served. Raises CatalogError naming what there is."""
    query = select(generations, labels.c.active_generation).join(labels).where(tenant.is_row)
    with database.transaction("read") as connection:
        rows = connection.execute(query.order_by(generations.c.sequence)).all()
    where = f"catalog {database.location.name} has"
    if not rows:
        raise CatalogError(
            f"{where} nothing of {tenant.index_label} ({tenant.org_id}/{tenant.project_id}); "
            "see: rag-assets catalog status"
        )
    wanted = generation_id or rows[0].active_generation
    complete = {row.generation_id: row for row in rows if row.state == COMPLETE and row.manifest}
    if wanted not in complete:
        raise CatalogError(
            f"{where} no complete generation {wanted!r} of {tenant.index_label}; there are: {', '.join(complete)}"
        )
    row = complete[wanted]
    known = KnownGeneration(
        tenant=tenant,
        label_id=row.label_id,
        sequence=row.sequence,
        generation_id=row.generation_id,
        points=row.points,
        files=msgspec.json.decode(row.files),
        manifest=_manifest(row.manifest),
        active=row.generation_id == row.active_generation,
    )
    return GenerationReader(database, known)


def labels_of(database: Database) -> set[str]:
    """The labels of all tenants."""
    with database.transaction("read") as connection:
        return set(connection.execute(select(labels.c.index_label)).scalars())


def tenants_of(database: Database, index_label: str) -> list[Tenant]:
    """Every tenant that has a label of that name."""
    query = select(labels.c.org_id, labels.c.project_id).where(labels.c.index_label == index_label)
    with database.transaction("read") as connection:
        return sorted((Tenant(org, project, index_label) for org, project in connection.execute(query)), key=repr)


def entries(database: Database) -> list[CatalogEntry]:
    """All generations, by label, oldest first."""
    is_served = generations.c.generation_id == labels.c.active_generation
    columns: dict[str, ColumnElement[Any]] = {**generations.c, **labels.c, "active": is_served}
    asked = (columns[field.name].label(field.name) for field in fields(CatalogEntry))
    order = (labels.c.org_id, labels.c.project_id, labels.c.index_label, generations.c.sequence)
    query = select(*asked).select_from(generations).join(labels).order_by(*order)
    with database.transaction("read") as connection:
        return [CatalogEntry(*row) for row in connection.execute(query)]


def rows_and_documents(database: Database) -> tuple[int, int]:
    """How many rows of chunks there are, of all generations together, and how many documents."""
    with database.transaction("read") as connection:
        counts = [
            int(connection.execute(select(func.count()).select_from(table)).scalar_one())
            for table in (chunks, documents)
        ]
    return counts[0], counts[1]


def _manifest(text: str) -> Manifest:
    try:
        return decode_manifest(text, error=CatalogError)
    except msgspec.DecodeError as error:
        raise CatalogError(f"a manifest in the catalog cannot be read: {error}") from error


_FETCH = 1_000
_SERVED = text(
    "SELECT CAST(c.point_id AS TEXT) AS point_id, c.payload, c.dense, c.sparse "
    "FROM rag_chunks c JOIN rag_labels l ON l.label_id = c.label_id "
    "JOIN rag_generations g ON g.label_id = l.label_id AND g.generation_id = l.active_generation "
    "WHERE l.org_id = :org AND l.project_id = :project AND l.index_label = :label "
    "AND c.born <= g.sequence AND g.sequence < c.died"
)


def raw_points(database: Database, tenant: Tenant) -> Iterator[RawPoint]:
    """Every point of the served generation. Raises CatalogError."""
    wanted = {"org": tenant.org_id, "project": tenant.project_id, "label": tenant.index_label}
    with database.transaction("read") as connection:
        for row in connection.execution_options(yield_per=_FETCH).execute(_SERVED, wanted):
            dense = struct.unpack(f"<{len(row.dense) // 4}f", row.dense) if row.dense else ()
            yield RawPoint(_dashed(row.point_id), msgspec.json.decode(row.payload), dense, bool(row.sparse))


def _dashed(identifier: str) -> str:
    """SQLite has no UUIDs and keeps their 32 digits."""
    if len(identifier) != 32:
        return identifier
    return "-".join(identifier[start:end] for start, end in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
