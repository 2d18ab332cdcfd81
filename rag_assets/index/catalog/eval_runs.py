"""How well generations answered, in the catalog: one row per run and category.

Rows belong to a label and outlive its generations, as the history of a home does (`index.eval_records`); they go
with the label.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Connection, and_, delete, select

from rag_assets.index.catalog import open_catalog
from rag_assets.index.catalog.database import Database, labels
from rag_assets.index.catalog.database import eval_runs as runs
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.eval_records import AnswerSummary, CategorySummary, Conditions, Estimate, EvalRecord
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    from rag_assets.index.catalog.history import Tenant
    from rag_assets.index.generations import Manifest
    from rag_assets.settings import Settings


def keep_record(settings: Settings, manifest: Manifest, record: EvalRecord) -> list[str]:
    """Writes the numbers of a run, in place of those of the same generation and set. Returns what went wrong, in words:
    measuring must not fail because of it."""
    if settings.stores.catalog == "none":
        return []
    from rag_assets.index.catalog.history import Tenant

    tenant = Tenant.of(manifest)
    try:
        with open_catalog(settings, writable=True) as database, database.transaction("written") as connection:
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
        if label_id is None:
            return []
        order = (runs.c.commit_date, runs.c.generation_id, runs.c.question_set, runs.c.position)
        rows = connection.execute(select(runs).where(runs.c.label_id == label_id).order_by(*order)).all()
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
            conditions=from_json(row.conditions, Conditions),
            answers=None if row.answers is None else from_json(row.answers, AnswerSummary),
        )
        for key, row in first.items()
    ]


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
    found = connection.execute(select(labels.c.label_id).where(tenant.is_row)).scalar()
    return None if found is None else int(found)
