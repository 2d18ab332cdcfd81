"""The tables of conversations and of the query log, in SQL that SQLite and Postgres both read.

They are in one database, so that a session is deleted with its records in one transaction.
"""

from __future__ import annotations

from rag_assets.index.database import Schema

FILE_NAME = "conversations.sqlite"
"""In the home."""

SCHEMA_VERSION = "4"
"""Raise it when an older version of this program could misread the tables."""

SESSIONS, TURNS, SUMMARIES, QUERY_LOG = "rag_sessions", "rag_turns", "rag_summaries", "rag_query_log"

_VERSION_TABLE = "rag_conversations"  # name → value

TURN_COLUMNS: dict[str, str] = {
    "session_key": f"BIGINT NOT NULL REFERENCES {SESSIONS} (session_key)",
    "position": "INTEGER NOT NULL",
    "turn_id": "TEXT NOT NULL UNIQUE",
    "request_id": "TEXT",  # NULL where the caller named none
    "question": "TEXT NOT NULL",
    "question_en": "TEXT NOT NULL",
    "answer": "TEXT NOT NULL",
    "answer_en": "TEXT NOT NULL",
    "status": "TEXT NOT NULL",
    "label": "TEXT NOT NULL",
    "summary_version": "INTEGER NOT NULL",  # the summary that the turn was answered with
    "new_turns": "INTEGER NOT NULL",  # since that summary, this one included
    "lock": "TEXT NOT NULL",  # JSON
    "trace": "TEXT NOT NULL",  # JSON
    "created_utc": "TEXT NOT NULL",
}

LOG_COLUMNS: dict[str, str] = {
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


def _columns(of: dict[str, str]) -> str:
    return ", ".join(f"{name} {column}" for name, column in of.items())


_STATEMENTS = (
    f"CREATE TABLE IF NOT EXISTS {_VERSION_TABLE} (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # `clearance`: what the answers of a session may have been made of.
    f"CREATE TABLE IF NOT EXISTS {SESSIONS} (session_key {{generated_key}}, user_name TEXT NOT NULL, "
    "name TEXT NOT NULL, clearance TEXT NOT NULL, last_position INTEGER NOT NULL, created_utc TEXT NOT NULL, "
    "UNIQUE (user_name, name, clearance))",
    f"CREATE TABLE IF NOT EXISTS {TURNS} ({_columns(TURN_COLUMNS)}, PRIMARY KEY (session_key, position), "
    "UNIQUE (session_key, request_id))",
    # `through`: the position of the last turn in a summary.
    f"CREATE TABLE IF NOT EXISTS {SUMMARIES} (session_key BIGINT NOT NULL REFERENCES {SESSIONS} (session_key), "
    "version INTEGER NOT NULL, through INTEGER NOT NULL, text TEXT NOT NULL, created_utc TEXT NOT NULL, "
    "PRIMARY KEY (session_key, version))",
    f"CREATE TABLE IF NOT EXISTS {QUERY_LOG} ({_columns(LOG_COLUMNS)})",
    f"CREATE INDEX IF NOT EXISTS {QUERY_LOG}_asked ON {QUERY_LOG} (asked_utc)",
    f"CREATE INDEX IF NOT EXISTS {QUERY_LOG}_session ON {QUERY_LOG} (user_name, session)",
    f"INSERT INTO {_VERSION_TABLE} (name, value) VALUES ('version', '{SCHEMA_VERSION}') ON CONFLICT DO NOTHING",
)

HISTORY_SCHEMA = Schema(_VERSION_TABLE, _STATEMENTS, 7_160_254_114)  # any fixed number that the catalog does not use
