"""The query log (E23): one record for every question that was asked, kept beside the conversations.

Records go after the days that the settings say, and with the session or the user that they are of.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.closing import Closing
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality, levels_up_to
from rag_assets.stores.query_log_database import (
    FILE_NAME,
    LogDatabase,
    QueryLogError,
    Statement,
    postgres_log,
    sqlite_log,
)
from rag_assets.stores.query_log_tables import COLUMNS, TABLE
from rag_assets.stores.sql_text import stamp, storable

if TYPE_CHECKING:
    from rag_assets.stores.home import Home

__all__ = ["ERROR", "Asked", "Figures", "LogRecord", "QueryLog", "QueryLogError", "Wanted", "open_query_log"]

ERROR = "error"
"""Status of a question that a defect or a missing index ended; the others are those of turns."""

_NAMES = ", ".join(COLUMNS)
_INSERT = f"INSERT INTO {TABLE} ({_NAMES}) VALUES ({', '.join('?' * len(COLUMNS))}) ON CONFLICT DO NOTHING"
_SHORT = ", ".join(name for name in COLUMNS if name not in ("detail", "replies"))
_FIGURES = "status, calls, prompt_tokens, completion_tokens, cost, retrieval_seconds, generation_seconds"
_DELETE_OLD = f"DELETE FROM {TABLE} WHERE asked_utc < ?"
_NEWEST_FIRST = "ORDER BY asked_utc DESC, turn_id"
_LISTS = ("models", "chunk_ids", "cited_ids")  # JSON arrays in the table
_AFTER_ANY_ID = "g"  # ids are hex digits


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
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
class LogRecord(Asked):
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
class Wanted:
    """Which records; '' is any. `since` is a time as `sql_text.stamp` writes it, inclusive."""

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
    home: Home,
    catalog: Literal["none", "sqlite", "postgres"] = "none",
    *,
    clearance: Confidentiality = DEFAULT_LEVEL,
) -> QueryLog:
    """The log of a home as somebody of that clearance may read it: in the Postgres of the catalog where that is
    configured, else in the file of its conversations. Connects to nothing. Raises CatalogError where the environment
    names no usable Postgres."""
    if catalog != "postgres":
        return QueryLog(sqlite_log(home), clearance, is_begun=(home.root / FILE_NAME).is_file)
    from rag_assets.stores.catalog.place import place_of

    return QueryLog(postgres_log(place_of("postgres", home)), clearance)


class QueryLog(Closing):
    """Safe to use from several threads, and from several processes at once. It is written by everybody, and tells a
    reader of no question whose asker saw more: it may quote what that one was shown."""

    def __init__(
        self, database: LogDatabase, clearance: Confidentiality, *, is_begun: Callable[[], bool] = lambda: True
    ) -> None:
        self._database = database
        self._levels = [level.value for level in levels_up_to(clearance)]
        self._is_begun = is_begun

    @property
    def name(self) -> str:
        """Where it is, for messages."""
        return self._database.name

    def write(self, record: LogRecord, *, days: int) -> None:
        """Keeps a record, and deletes those that are more than `days` older. A turn that is kept already stays as it
        is. Raises QueryLogError."""
        oldest = datetime.fromisoformat(record.asked_utc) - timedelta(days=days)
        values = [_stored(getattr(record, name)) for name in COLUMNS]
        statements: list[Statement] = [(_DELETE_OLD, (stamp(oldest),)), (_INSERT, values)]
        self._database.write(statements)

    def asked(self, wanted: Wanted, limit: int | None = None) -> tuple[Asked, ...]:
        """The newest `limit` of those that are wanted, newest first; None: all. Raises QueryLogError."""
        where, values = self._where(wanted.conditions())
        bound: tuple[str, list[int]] = ("", []) if limit is None else ("LIMIT ?", [limit])
        rows = self._rows(f"SELECT {_SHORT} FROM {TABLE} {where} {_NEWEST_FIRST} {bound[0]}", [*values, *bound[1]])
        return tuple(Asked(**_fields(_SHORT.split(", "), row)) for row in rows)

    def figures(self, wanted: Wanted) -> tuple[Figures, ...]:
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
        return self._database.rows(sql, values) if self._is_begun() else []


def _fields(names: list[str], row: tuple[Any, ...]) -> dict[str, Any]:
    found = dict(zip(names, row, strict=True))
    return found | {name: tuple(json.loads(found[name])) for name in _LISTS}


def _stored(value: Any) -> Any:
    if isinstance(value, tuple):
        return storable(json.dumps(value, ensure_ascii=False))
    return storable(value) if isinstance(value, str) else value
