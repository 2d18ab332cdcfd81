"""The table of asked questions (E23), in SQL that SQLite and Postgres both read.

It is in the database of the conversations, so that a session is deleted with its records in one transaction.
"""

from __future__ import annotations

TABLE = "rag_query_log"
VERSION_TABLE = "rag_conversations"  # the one that the conversations have: name → value
VERSION_NAME = "query_log"
VERSION = "1"
"""Raise it when an older version of this program could misread the table."""

CREATION_LOCK = 7_160_254_114
"""Of Postgres, for first openings: any fixed number that the catalog does not use."""

COLUMNS: dict[str, str] = {
    "turn_id": "TEXT PRIMARY KEY",
    "asked_utc": "TEXT NOT NULL",
    "org": "TEXT NOT NULL",
    "project": "TEXT NOT NULL",
    "label": "TEXT NOT NULL",
    "user_name": "TEXT NOT NULL",
    "clearance": "TEXT NOT NULL",
    "session": "TEXT NOT NULL",
    "agent": "TEXT NOT NULL",
    "pipeline": "TEXT NOT NULL",
    "status": "TEXT NOT NULL",
    "question": "TEXT NOT NULL",
    "models": "TEXT NOT NULL",
    "chunk_ids": "TEXT NOT NULL",
    "cited_ids": "TEXT NOT NULL",
    "seconds": "DOUBLE PRECISION NOT NULL",
    "retrieval_seconds": "DOUBLE PRECISION NOT NULL",
    "generation_seconds": "DOUBLE PRECISION NOT NULL",
    "calls": "BIGINT NOT NULL",
    "prompt_tokens": "BIGINT NOT NULL",
    "completion_tokens": "BIGINT NOT NULL",
    "cost": "DOUBLE PRECISION",  # NULL where no price is known
    "error": "TEXT NOT NULL",
    "detail": "TEXT NOT NULL",  # JSON
    "replies": "TEXT NOT NULL",  # JSON
}
"""In the order of the fields of a record. `models`, `chunk_ids` and `cited_ids` are JSON arrays of text."""

_COLUMN_LINES = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
SCHEMA = (
    f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE} (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    f"CREATE TABLE IF NOT EXISTS {TABLE} ({_COLUMN_LINES})",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_asked ON {TABLE} (asked_utc)",
    f"CREATE INDEX IF NOT EXISTS {TABLE}_session ON {TABLE} (user_name, session)",
    f"INSERT INTO {VERSION_TABLE} (name, value) VALUES ('{VERSION_NAME}', '{VERSION}') ON CONFLICT DO NOTHING",
)
"""What makes the table where there is none; harmless where there is one. Postgres wants the CREATION_LOCK for it."""
