"""The query log (E23): one record for every question that was asked, kept beside the conversations.

Records go after the days that the settings say, and with the session or the user that they are of.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from rag_assets.closeable import Closeable
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality, levels_up_to
from rag_assets.errors import RagAssetsError
from rag_assets.history.schema import FILE_NAME, HISTORY_SCHEMA, SCHEMA_VERSION
from rag_assets.history.schema import LOG_COLUMNS as COLUMNS
from rag_assets.history.schema import QUERY_LOG as TABLE
from rag_assets.index.database import (
    DatabaseFault,
    SqlDatabase,
    StoreProfile,
    postgres_location,
    sqlite_location,
    stamp,
    storable,
)
from rag_assets.index.layout import IndexHome

ERROR = "error"
"""Status of a question that a defect or a missing index ended; the others are those of turns."""


class QueryLogError(RagAssetsError):
    """A log that cannot be read or written; the text names the place, the cause and what helps."""


PROFILE = StoreProfile(
    title="query log in",
    title_with_verb="the query log is",
    error=QueryLogError,
    version=SCHEMA_VERSION,
    remake="rag-assets ask",
    hints={
        DatabaseFault.BUSY: "another process writes for very long",
        DatabaseFault.FILE_SYSTEM_FULL: "free some space, or choose another place with --home",
        DatabaseFault.NOT_WRITABLE: "make the home writable, choose another place with --home, or "
        "set answer.log: false",
        DatabaseFault.DAMAGED: "if it is damaged, move that file away: conversations and log are in nothing else",
    },
    server_hint="is the server of RAG_ASSETS_CATALOG_URL up, and may its user create and write tables?",
    busy_seconds=5.0,  # an answer waits for somebody else to finish writing; without its record it is one all the same
    connect_seconds=5,
    # A record may go with the power, never with a process: waiting for the disk would triple what a record costs.
    synchronous="NORMAL",
)

_NAMES = ", ".join(COLUMNS)
_INSERT = f"INSERT INTO {TABLE} ({_NAMES}) VALUES ({', '.join('?' * len(COLUMNS))}) ON CONFLICT DO NOTHING"
_SHORT = ", ".join(name for name in COLUMNS if name not in ("detail", "replies"))
_FIGURES = "status, calls, prompt_tokens, completion_tokens, cost, retrieval_seconds, generation_seconds"
_DELETE_OLD = f"DELETE FROM {TABLE} WHERE asked_utc < ?"
_NEWEST_FIRST = "ORDER BY asked_utc DESC, turn_id"
_LISTS = ("models", "chunk_ids", "cited_ids")  # JSON arrays in the table
_AFTER_ANY_ID = "g"  # ids are hex digits


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedQuestion:
    """What a list of questions shows of one. Times are ISO 8601 in UTC, `seconds` wall clock: of the whole turn, of its
    searches and walks, of its model. `cost` is in the currency of the prices, None without any. `chunk_ids` were
    retrieved, `cited_ids` are those of them that the answer cites; `models` are `profile: model`. `clearance` is
    what the user might see."""

    turn_id: str
    asked_utc: str
    org: str
    project: str
    label: str
    user_name: str
    clearance: str
    session: str
    agent: str
    pipeline: str
    status: str
    question: str
    models: tuple[str, ...]
    chunk_ids: tuple[str, ...]
    cited_ids: tuple[str, ...]
    seconds: float
    retrieval_seconds: float
    generation_seconds: float
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord(LoggedQuestion):
    """All that is kept of a question. `detail` and `replies` are JSON; '' where no replies are kept."""

    detail: str
    replies: str


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers of one question, for totals."""

    status: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    retrieval_seconds: float
    generation_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilter:
    """Which records; '' is any. `since` is a time as `index.database.stamp` writes it, inclusive."""

    label: str = ""
    session: str = ""
    user: str = ""
    status: str = ""
    agent: str = ""
    since: str = ""

    def conditions(self) -> dict[str, str]:
        """Conditions in SQL with their values."""
        columns = {
            "label = ?": self.label,
            "session = ?": self.session,
            "user_name = ?": self.user,
            "status = ?": self.status,
            "agent = ?": self.agent,
            "asked_utc >= ?": self.since,
        }
        return {condition: value for condition, value in columns.items() if value}


def open_query_log(
    home: IndexHome,
    catalog: Literal["none", "sqlite", "postgres"] = "none",
    *,
    clearance: Confidentiality = DEFAULT_LEVEL,
) -> QueryLog:
    """The log of a home as somebody of that clearance may read it: in the Postgres of the catalog where that is
    configured, else in the file of its conversations. Connects to nothing. Raises QueryLogError where the environment
    names no usable Postgres."""
    if catalog == "postgres":
        return QueryLog(SqlDatabase(postgres_location(QueryLogError), PROFILE, HISTORY_SCHEMA), clearance)
    path = home.root / FILE_NAME
    database = SqlDatabase(sqlite_location(path), PROFILE, HISTORY_SCHEMA, beside_the_file=home.keep_out_of_git)
    return QueryLog(database, clearance, is_begun=path.is_file)


class QueryLog(Closeable):
    """Safe to use from several threads, and from several processes at once. It is written by everybody, and tells a
    reader of no question whose asker saw more: it may quote what that one was shown."""

    def __init__(
        self, database: SqlDatabase, clearance: Confidentiality, *, is_begun: Callable[[], bool] = lambda: True
    ) -> None:
        self._database = database
        self._levels = [level.value for level in levels_up_to(clearance)]
        self._is_begun = is_begun

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return self._database.location.name

    def write(self, record: LogRecord, *, days: int) -> None:
        """Keeps a record, and deletes those that are more than `days` older. A turn that is kept already stays as it
        is. Raises QueryLogError."""
        oldest = datetime.fromisoformat(record.asked_utc) - timedelta(days=days)
        values = [_stored(getattr(record, name)) for name in COLUMNS]
        with self._database.transaction(writes=True) as writing:
            writing.run(_DELETE_OLD, [stamp(oldest)])
            writing.run(_INSERT, values)

    def asked(self, wanted: LogFilter, limit: int | None = None) -> tuple[LoggedQuestion, ...]:
        """The newest `limit` of those that are wanted, newest first; None: all. Raises QueryLogError."""
        where, values = self._where(wanted.conditions())
        bound: tuple[str, list[int]] = ("", []) if limit is None else ("LIMIT ?", [limit])
        rows = self._rows(f"SELECT {_SHORT} FROM {TABLE} {where} {_NEWEST_FIRST} {bound[0]}", [*values, *bound[1]])
        return tuple(LoggedQuestion(**_fields(_SHORT.split(", "), row)) for row in rows)

    def figures(self, wanted: LogFilter) -> tuple[Figures, ...]:
        """The numbers of all that are wanted, newest first. Raises QueryLogError."""
        where, values = self._where(wanted.conditions())
        rows = self._rows(f"SELECT {_FIGURES} FROM {TABLE} {where} {_NEWEST_FIRST}", list(values))
        return tuple(Figures(*row) for row in rows)

    def labels(self) -> tuple[str, ...]:
        """All labels that were asked, sorted. Raises QueryLogError."""
        where, values = self._where({})
        rows = self._rows(f"SELECT DISTINCT label FROM {TABLE} {where} ORDER BY label", values)
        return tuple(row[0] for row in rows)

    def find(self, turn_id: str) -> LogRecord | None:
        """The record of a turn, by its whole id. Raises QueryLogError."""
        where, values = self._where({"turn_id = ?": turn_id})
        rows = self._rows(f"SELECT {_NAMES} FROM {TABLE} {where}", values)
        return LogRecord(**_fields(list(COLUMNS), rows[0])) if rows else None

    def ids(self, beginning: str = "", limit: int = 10) -> tuple[str, ...]:
        """Ids that begin so, newest turn first. Raises QueryLogError."""
        where, values = self._where({"turn_id >= ?": beginning, "turn_id < ?": beginning + _AFTER_ANY_ID})
        rows = self._rows(f"SELECT turn_id FROM {TABLE} {where} {_NEWEST_FIRST} LIMIT ?", [*values, limit])
        return tuple(row[0] for row in rows)

    def close(self) -> None:
        self._database.close()

    def _where(self, conditions: Mapping[str, str]) -> tuple[str, list[str]]:
        """(SQL that begins with WHERE, its values): all conditions, and what the reader may see."""
        seen = f"clearance IN ({', '.join('?' * len(self._levels))})"
        return f"WHERE {' AND '.join((*conditions, seen))}", [*conditions.values(), *self._levels]

    def _rows(self, sql: str, values: list[Any]) -> list[tuple[Any, ...]]:
        """Reading makes no file: a home where nothing was asked has no records."""
        if not self._is_begun():
            return []
        with self._database.transaction() as reading:
            return reading.rows(sql, values)


def _fields(names: list[str], row: tuple[Any, ...]) -> dict[str, Any]:
    found = dict(zip(names, row, strict=True))
    return found | {name: tuple(json.loads(found[name])) for name in _LISTS}


def _stored(value: Any) -> Any:
    if isinstance(value, tuple):
        return storable(json.dumps(value, ensure_ascii=False))
    return storable(value) if isinstance(value, str) else value
