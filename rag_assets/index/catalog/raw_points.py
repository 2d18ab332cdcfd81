"""The points that a label serves as the database has them, by plain SQL: what another program finds there."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import text

from rag_assets.contracts.stored_rules import RawPoint

if TYPE_CHECKING:
    from rag_assets.index.catalog.database import Database
    from rag_assets.index.catalog.history import Tenant

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
