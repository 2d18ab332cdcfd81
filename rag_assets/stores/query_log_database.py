"""One connection to the database of the conversations, for the query log.

It speaks to the drivers themselves: a question without a session needs no SQLAlchemy, which takes 220 ms to import
where SQLite's own driver takes 2, and every question is logged.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from rag_assets.closing import Closing
from rag_assets.contracts.errors import ExpectedError
from rag_assets.stores.private_file import NOT_WRITABLE, ensure_private, is_disk_full
from rag_assets.stores.query_log_tables import CREATION_LOCK, SCHEMA, VERSION, VERSION_NAME, VERSION_TABLE

if TYPE_CHECKING:
    from rag_assets.stores.catalog.place import Place
    from rag_assets.stores.home import Home

FILE_NAME = "conversations.sqlite"
"""In the home; the conversations are in it, too."""

BUSY_SECONDS = 5.0
"""How long an answer waits for somebody else to finish writing; without its record it is an answer all the same."""

_CONNECT_SECONDS = 5
_DETAIL_CHARS = 300
_SELECT_VERSION = f"SELECT value FROM {VERSION_TABLE} WHERE name = '{VERSION_NAME}'"

Kind = Literal["sqlite", "postgres"]
Statement = tuple[str, Sequence[Any]]
"""SQL with `?` for each value."""

T = TypeVar("T")


class QueryLogError(ExpectedError):
    """A log that cannot be read or written; the text names the place, the cause and what helps."""


class LogDatabase(Closing):
    """Safe to use from several threads, and beside other processes. Connects when it is used first, and again after
    the server was away."""

    def __init__(self, kind: Kind, name: str, connect: Callable[[], Any], masked: Callable[[str], str] = str) -> None:
        """`connect` opens a DB-API connection in autocommit mode; `name` and `masked` are for messages."""
        self.kind = kind
        self.name = name
        self._connect = connect
        self._masked = masked
        self._lock = threading.Lock()
        self._connection: Any = None

    def write(self, statements: Sequence[Statement]) -> None:
        """All of them or none. Raises QueryLogError."""
        self._with_connection(lambda connection: self._transaction(connection, statements))

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Raises QueryLogError."""
        return self._with_connection(lambda connection: self._selected(connection, sql, values))

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _with_connection(self, work: Callable[[Any], T]) -> T:
        """One try on a connection that was open before, which a server may have closed since; one on a new one."""
        with self._lock:
            was_open = self._connection is not None
            try:
                return work(self._opened())
            except Exception as error:
                self._drop()
                if not self._is_of_database(error):
                    raise
                if not was_open or self.kind == "sqlite":
                    raise self._told(error) from error
            try:
                return work(self._opened())
            except Exception as error:
                self._drop()
                raise (self._told(error) if self._is_of_database(error) else error) from error

    def _opened(self) -> Any:
        if self._connection is None:
            self._connection = self._connect()
            self._ensure_schema(self._connection)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ensure_schema(self, connection: Any) -> None:
        """Reads before it writes: most openings find what they need, and a writer would wait for others."""
        tables = "sqlite_master WHERE type = 'table' AND name = ?"
        if self.kind == "postgres":
            tables = "information_schema.tables WHERE table_schema = current_schema() AND table_name = ?"
        known = self._selected(connection, f"SELECT 1 FROM {tables}", (VERSION_TABLE,))
        found = self._selected(connection, _SELECT_VERSION) if known else []
        if not found:
            lock = [(f"SELECT pg_advisory_xact_lock({CREATION_LOCK})", ())] if self.kind == "postgres" else []
            self._transaction(connection, [*lock, *((statement, ()) for statement in SCHEMA)])
            found = self._selected(connection, _SELECT_VERSION)
        if found[0][0] != VERSION:
            raise QueryLogError(
                f"query log in {self.name}: its table is of version {found[0][0]}, this program reads {VERSION}; use "
                "the version of rag-assets that wrote it, or another home"
            )

    def _transaction(self, connection: Any, statements: Sequence[Statement]) -> None:
        cursor = connection.cursor()
        cursor.execute("BEGIN IMMEDIATE" if self.kind == "sqlite" else "BEGIN")
        try:
            for sql, values in statements:
                cursor.execute(self._marked(sql), values)
            cursor.execute("COMMIT")
        except BaseException:
            # Closing it undoes all of it, whatever state the error left it in.
            self._drop()
            raise

    def _selected(self, connection: Any, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = connection.cursor()
        cursor.execute(self._marked(sql), values)
        return list(cursor.fetchall())

    def _marked(self, sql: str) -> str:
        return sql if self.kind == "sqlite" else sql.replace("?", "%s")

    def _is_of_database(self, error: Exception) -> bool:
        if self.kind == "sqlite":
            return isinstance(error, sqlite3.Error | OSError)
        from psycopg2 import Error

        return isinstance(error, Error)

    def _told(self, error: Exception) -> QueryLogError:
        cause = error.strerror or error if isinstance(error, OSError) else error  # without the path, which is named
        said = " ".join(self._masked(str(cause)).split())[:_DETAIL_CHARS]
        if self.kind == "postgres":
            hint = "is the server of RAG_ASSETS_CATALOG_URL up, and may its user create and write tables?"
        elif "locked" in said:
            hint = "another process writes for very long"
        elif is_disk_full(said):
            hint = "free some space, or choose another place with --home"
        elif isinstance(error, OSError) or "readonly" in said or "unable to open" in said:
            said = said if isinstance(error, OSError) else NOT_WRITABLE
            hint = "make the home writable, choose another place with --home, or set answer.log: false"
        else:
            hint = "if it is damaged, move that file away: conversations and log are in nothing else"
        return QueryLogError(f"query log in {self.name}: {said}; {hint}")


def sqlite_log(home: Home) -> LogDatabase:
    """The log in the file of a home. Touches nothing before it is used."""
    path = home.root / FILE_NAME
    return LogDatabase("sqlite", str(path), lambda: _sqlite(path, home))


def postgres_log(place: Place) -> LogDatabase:
    """The log in the Postgres of the catalog. Connects to nothing before it is used."""
    return LogDatabase("postgres", place.name, lambda: _postgres(place), place.masked)


def _sqlite(path: Path, home: Home) -> sqlite3.Connection:
    ensure_private(path)
    home.keep_out_of_git()
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A record may go with the power, never with a process: waiting for the disk would triple what a record costs.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")  # deleted text is overwritten, not only forgotten
    except BaseException:
        connection.close()
        raise
    return connection


def _postgres(place: Place) -> Any:
    try:
        import psycopg2
    except ImportError:
        raise QueryLogError(
            f"the query log is in Postgres ({place.name}), which needs psycopg2; run: "
            "pip install 'rag-assets[postgres]'"
        ) from None
    url = place.url.set(drivername="postgresql").render_as_string(hide_password=False)
    connection = psycopg2.connect(url, connect_timeout=_CONNECT_SECONDS, application_name="rag-assets")
    connection.autocommit = True  # transactions are begun and ended by name, as with SQLite
    return connection
