"""How well generations answered, in the catalog: one row per run and category.

Rows belong to a label and outlive its generations, as the history of a home does (`stores.eval_history`); they go with
the label. The table is made where the first run is written: a catalog from before there was one stays readable, and
programs that do not know it need not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from sqlalchemy import Column, Float, ForeignKey, Integer, Table, Text, and_, delete, inspect, select, text

from rag_assets.decoders import from_json
from rag_assets.stores.catalog.errors import CatalogError
from rag_assets.stores.catalog.schema import labels, metadata
from rag_assets.stores.eval_history import AnswerSummary, CategorySummary, Conditions, Estimate, EvalRecord

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rag_assets.settings import Settings
    from rag_assets.stores.catalog.database import Database
    from rag_assets.stores.catalog.history import Tenant
    from rag_assets.stores.generations import Manifest

runs = Table(
    "rag_eval_runs",
    metadata,
    Column("label_id", ForeignKey(labels.c.label_id, ondelete="CASCADE"), primary_key=True),
    Column("generation_id", Text, primary_key=True),
    Column("question_set", Text, primary_key=True),
    Column("category", Text, primary_key=True),
    Column("position", Integer, nullable=False),  # of the category; that of all questions is 0
    Column("questions", Integer, nullable=False),
    Column("commit_sha", Text, nullable=False),
    Column("commit_date", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("k", Integer, nullable=False),
    Column("metrics_version", Integer, nullable=False),
    Column("mode", Text, nullable=False),
    Column("embedding_model", Text, nullable=False),
    Column("metrics", Text, nullable=False),  # JSON: metric → value, low, high
    Column("p50_ms", Float, nullable=False),
    Column("p95_ms", Float, nullable=False),
    Column("conditions", Text),  # JSON: how it was searched; NULL for a run from before that was kept
    Column("answers", Text),  # JSON: the numbers of the answers, beside all questions; NULL where only the search ran
)
_T = TypeVar("_T")
_ADDED = ("conditions", "answers")  # to the table after it was made in catalogs that there are


def keep_record(settings: Settings, manifest: Manifest, record: EvalRecord) -> list[str]:
    """Writes the numbers of a run, in place of those of the same generation and set. Returns what went wrong, in words:
    measuring must not fail because of it."""
    if settings.stores.catalog == "none":
        return []
    from rag_assets.stores.catalog import open_catalog
    from rag_assets.stores.catalog.history import Tenant

    tenant = Tenant(manifest.org_id, manifest.project_id, manifest.index_label)
    try:
        with open_catalog(settings, writable=True) as database, database.transaction("written") as connection:
            if not inspect(connection).has_table(runs.name):
                runs.create(connection, checkfirst=True)
            for name in _missing(connection):
                connection.execute(text(f"ALTER TABLE {runs.name} ADD COLUMN {name} TEXT"))
            label_id = _label_id(connection, tenant)
            if label_id is None:
                return [f"the catalog does not know {manifest.index_label} yet; run: rag-assets index --force"]
            same = and_(
                runs.c.label_id == label_id,
                runs.c.generation_id == record.generation_id,
                runs.c.question_set == record.set,
            )
            connection.execute(delete(runs).where(same))
            connection.execute(runs.insert(), _rows(label_id, record))
    except CatalogError as error:
        return [f"the catalog does not have the numbers of {record.set}: {error}"]
    return []


def read_records(database: Database, tenant: Tenant) -> list[EvalRecord]:
    """The runs of a label, the oldest commit first. Raises CatalogError."""
    with database.transaction("read") as connection:
        label_id = _label_id(connection, tenant)
        if label_id is None or not inspect(connection).has_table(runs.name):
            return []
        order = (runs.c.commit_date, runs.c.generation_id, runs.c.question_set, runs.c.position)
        missing = _missing(connection)
        columns = [known for known in runs.columns if known.name not in missing]
        rows = connection.execute(select(*columns).where(runs.c.label_id == label_id).order_by(*order)).all()
    grouped: dict[tuple[str, str], list[CategorySummary]] = {}
    first: dict[tuple[str, str], Any] = {}
    for row in rows:
        key = (row.generation_id, row.question_set)
        first.setdefault(key, row)
        metrics = from_json(row.metrics, dict[str, Estimate])
        grouped.setdefault(key, []).append(CategorySummary(row.category, row.questions, metrics))
    return [
        EvalRecord(
            generation_id=row.generation_id,
            commit_sha=row.commit_sha,
            commit_date=row.commit_date,
            set=row.question_set,
            fingerprint=row.fingerprint,
            k=row.k,
            version=row.metrics_version,
            mode=row.mode,
            embedding_model=row.embedding_model,
            categories=tuple(grouped[key]),
            p50_ms=row.p50_ms,
            p95_ms=row.p95_ms,
            conditions=_added(row, "conditions", Conditions),
            answers=_added(row, "answers", AnswerSummary),
        )
        for key, row in first.items()
    ]


def _missing(connection: Connection) -> list[str]:
    there = {known["name"] for known in inspect(connection).get_columns(runs.name)}
    return [name for name in _ADDED if name not in there]


def _added(row: Any, name: str, kind: type[_T]) -> _T | None:
    stored = getattr(row, name, None)
    return None if stored is None else from_json(stored, kind)


def _json(value: object) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _rows(label_id: int, record: EvalRecord) -> list[dict[str, object]]:
    return [
        {
            "label_id": label_id,
            "generation_id": record.generation_id,
            "question_set": record.set,
            "category": category.name,
            "position": position,
            "questions": category.questions,
            "commit_sha": record.commit_sha,
            "commit_date": record.commit_date,
            "fingerprint": record.fingerprint,
            "k": record.k,
            "metrics_version": record.version,
            "mode": record.mode,
            "embedding_model": record.embedding_model,
            "metrics": json.dumps({name: msgspec.to_builtins(known) for name, known in category.metrics.items()}),
            "p50_ms": record.p50_ms,
            "p95_ms": record.p95_ms,
            "conditions": _json(record.conditions),
            "answers": _json(record.answers) if not position else None,
        }
        for position, category in enumerate(record.categories)
    ]


def _label_id(connection: Connection, tenant: Tenant) -> int | None:
    is_tenant = and_(
        labels.c.org_id == tenant.org_id,
        labels.c.project_id == tenant.project_id,
        labels.c.index_label == tenant.index_label,
    )
    found = connection.execute(select(labels.c.label_id).where(is_tenant)).scalar()
    return None if found is None else int(found)
