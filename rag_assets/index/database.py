"""The one wrapper of SQL databases: connections, transactions, versions, and every error in words that say what to do.

Conversations, the query log and the catalog use it. It speaks to the drivers themselves: SQLAlchemy takes 150 ms to
import where SQLite's own driver takes 2, and every `ask` writes to the log. Only the catalog puts SQLAlchemy on top.

A database is a SQLite file that only its owner can read, or a Postgres database that only the environment names: the
URL holds a password, so it is never a setting, never written anywhere and not part of any message.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.closeable import Closeable
from rag_assets.errors import RagAssetsError
from rag_assets.index.layout import require_format, sqlite_uri
from rag_assets.settings.urls import is_loopback

if TYPE_CHECKING:
    from sqlalchemy import URL


_OWNER_ONLY = 0o600
_DISK_FULL_TEXTS = ("is full", "disk I/O", "No space left")
"""How SQLite and the system say it; an I/O error of SQLite is a limit on the size of files, or a failing disk."""


NOT_WRITABLE = "the file cannot be written, which even reading it needs"
"""Said instead of SQLite's `attempt to write a readonly database`, of which nobody knows what was to be written."""


def ensure_private(path: Path) -> None:
    """Makes an empty file, and its folder, where there is none; files that SQLite puts beside it get its mode. Raises
    OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.touch(mode=_OWNER_ONLY)


def is_disk_full(said: str) -> bool:
    """Whether a message of SQLite or of the system means that there is no space."""
    return any(words in said for words in _DISK_FULL_TEXTS)


def storable(text: str) -> str:
    """The text without NUL, with lone surrogates replaced."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def stamp(moment: datetime) -> str:
    """A time as rows store it: `2026-01-31T12:00:00.000Z`. These sort as text."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


DatabaseKind = Literal["sqlite", "postgres"]

URL_VARIABLE = "RAG_ASSETS_CATALOG_URL"

_DRIVER = "postgresql+psycopg2"  # said in full: a bare postgresql:// means psycopg 3 from SQLAlchemy 2.1 on
_SCHEMES = ("postgresql", "postgres", _DRIVER)
_EXAMPLE = "postgresql://user:password@host:5432/database"


@dataclass(frozen=True, slots=True)
class DatabaseLocation:
    """`name` is what messages call the database, the path of a file; `url` and `secrets`, which only Postgres has,
    never appear in one."""

    kind: DatabaseKind
    name: str
    url: URL | None = field(default=None, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def masked(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def sqlite_location(path: Path) -> DatabaseLocation:
    return DatabaseLocation("sqlite", str(path))


def postgres_location(
    error: type[RagAssetsError] = RagAssetsError, environment: Mapping[str, str] | None = None
) -> DatabaseLocation:
    """The database that the environment names. Connects to nothing. Raises `error`, without repeating the value, which
    holds a password."""
    from sqlalchemy import make_url  # 150 ms, which a SQLite file does not wait for
    from sqlalchemy.exc import ArgumentError

    value = (os.environ if environment is None else environment).get(URL_VARIABLE, "").strip()
    if not value:
        raise error(f"stores.catalog is postgres, but {URL_VARIABLE} is not set; set it to {_EXAMPLE}")
    try:
        url = make_url(value)
    except (ArgumentError, ValueError):
        raise error(f"{URL_VARIABLE} is not a database URL; set it to {_EXAMPLE}") from None
    if url.drivername not in _SCHEMES:
        raise error(f"{URL_VARIABLE} names a {url.drivername} database; set it to {_EXAMPLE}")
    if not url.database:
        raise error(f"{URL_VARIABLE} names no database; set it to {_EXAMPLE}")
    url = url.set(drivername=_DRIVER)
    host = url.host or str(url.query.get("host", ""))
    if host and not host.startswith("/") and not is_loopback(host) and "sslmode" not in url.query:
        url = url.update_query_dict({"sslmode": "require"})  # source code goes there: whoever wants it in clear says so
    secrets = {str(url.password or ""), str(url.query.get("password", ""))} - {""}
    port = f":{url.port}" if url.port else ""
    user = f"{url.username}@" if url.username else ""
    name = f"{user}{host or 'localhost'}{port}/{url.database}"
    return DatabaseLocation("postgres", name, url, tuple(sorted(secrets)))


ERASE_SECONDS = 5.0  # for readers to finish before the log of SQLite is emptied

_DETAIL_CHARS = 300
_NO_RIGHTS = ("42501", "25006")  # insufficient_privilege, read_only_sql_transaction
_FULL = "53100"
_PASSING = ("08", "57P", "53", "40", "55P03")  # connection, shutdown, resources, conflicts, lock not available
_NO_DATABASE = re.compile(r"database .* does not exist")
_CREDENTIALS = re.compile(
    r"password authentication failed|no password supplied|role .* does not exist|pg_hba|authentication"
)
_NO_TLS = re.compile(r"does not support SSL|SSL")


class DatabaseFault(Enum):
    """Why a database cannot be used: the first four of a file, the others of a server."""

    BUSY = auto()
    FILE_SYSTEM_FULL = auto()
    NOT_WRITABLE = auto()
    DAMAGED = auto()
    NO_RIGHTS = auto()
    SERVER_FULL = auto()
    SERVER_AWAY = auto()
    STATEMENT_REFUSED = auto()
    NO_DATABASE = auto()
    CREDENTIALS = auto()
    NO_TLS = auto()
    UNREACHABLE = auto()


_PASSING_FAULTS = (DatabaseFault.BUSY, DatabaseFault.SERVER_AWAY, DatabaseFault.UNREACHABLE)
"""What a later attempt may not meet, with nothing changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreProfile:
    """How one store uses its database, and its words. Messages begin with `title` and the name of the database; `hints`
    say what helps, `server_hint` where a fault has none of its own. `passing_error` is raised for what a later attempt
    may not meet. `remake` is the command that fills a new database."""

    title: str
    title_with_verb: str
    error: type[RagAssetsError]
    passing_error: type[RagAssetsError] | None = None
    version: str
    remake: str
    hints: Mapping[DatabaseFault, str]
    server_hint: str = ""
    busy_seconds: float
    connect_seconds: int
    synchronous: str
    owner_only: bool = True


@dataclass(frozen=True, slots=True)
class Schema:
    """What makes the tables of a store where there are none; harmless where there are. `{generated_key}` stands for the
    type of a key that the database counts. `creation_lock` is for Postgres: two first openings wait for each other."""

    version_table: str
    statements: Sequence[str]
    creation_lock: int


_GENERATED_KEY: Mapping[DatabaseKind, str] = {
    "sqlite": "INTEGER PRIMARY KEY",
    "postgres": "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
}


_DIGESTS = "rag_row_digests"
_SCHEMA_DIGEST = "SELECT rag_digest(group_concat(sql, char(10))) FROM (SELECT sql FROM sqlite_master ORDER BY name)"
CHECKED_BYTES = 1 << 20
"""A larger file is checked by `rag-assets doctor` only: of this size it takes 14 ms whenever the file is opened."""


def keep_digests(run: Callable[[str], Any], without: str) -> None:
    """Makes SQLite keep a digest of every row beside it, by triggers: its files have no checksums. `without` is the
    table that has the version. Postgres has checksums of its own."""
    run(f"CREATE TABLE {_DIGESTS} (name TEXT, key TEXT, digest TEXT, PRIMARY KEY (name, key)) WITHOUT ROWID")
    for table, key, columns in _tables(run, without):
        forget = f"DELETE FROM {_DIGESTS} WHERE name = '{table}' AND key = {_joined('json_array', key, 'old.')}"
        made = f"'{table}', {_joined('json_array', key, 'new.')}, {_joined('rag_digest', columns, 'new.')}"
        for event, statements in (
            ("INSERT", [f"INSERT INTO {_DIGESTS} VALUES ({made})"]),
            ("UPDATE", [forget, f"INSERT INTO {_DIGESTS} VALUES ({made})"]),
            ("DELETE", [forget]),
        ):
            body = "; ".join(statements)
            run(f"CREATE TRIGGER {table}_digest_{event.lower()} AFTER {event} ON {table} BEGIN {body}; END")
    run(f"INSERT INTO {_DIGESTS} SELECT 'sqlite_master', '', ({_SCHEMA_DIGEST})")


def damaged_rows(connection: sqlite3.Connection, without: str) -> str:
    """What of a SQLite file is not what was written, in words; '' for nothing. Reads all of it."""
    found = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if found != "ok":
        return str(found)
    schema = f"SELECT digest IS ({_SCHEMA_DIGEST}) FROM {_DIGESTS} WHERE name = 'sqlite_master'"
    if connection.execute(schema).fetchone() != (1,):
        return "its tables are not those that were made"
    for table, key, columns in _tables(connection.execute, without):
        same = f"d.name = '{table}' AND d.key = {_joined('json_array', key, 't.')}"
        differs = f"d.digest IS NOT {_joined('rag_digest', columns, 't.')}"
        query = f"SELECT count(*), total({differs}) FROM {table} t LEFT JOIN {_DIGESTS} d ON {same}"
        rows, wrong = connection.execute(query).fetchone()
        (known,) = connection.execute(f"SELECT count(*) FROM {_DIGESTS} WHERE name = '{table}'").fetchone()
        if wrong or rows != known:
            return f"{max(int(wrong), abs(known - rows))} rows of {table} are not what was written"
    return ""


def _tables(run: Callable[[str], Any], without: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """(name, columns of its key, all columns) of the tables that have digests: not those of a full-text index."""
    made = [(name, sql) for name, sql in run("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()]
    virtual = tuple(name for name, sql in made if sql and sql.startswith("CREATE VIRTUAL"))
    for name, _ in made:
        if name not in (without, _DIGESTS) and not name.startswith(("sqlite_", *virtual)):
            about = run(f"PRAGMA table_info({name})").fetchall()
            keys = sorted((row[5], row[1]) for row in about if row[5])
            yield name, [column for _, column in keys], [row[1] for row in about]


def _joined(function: str, columns: Sequence[str], prefix: str) -> str:
    return f"{function}({', '.join(f'{prefix}{column}' for column in columns)})"


def row_digest(*values: Any) -> str:
    """The SQL function `rag_digest`; a program that has no such function cannot change a row, only delete it."""
    digest = hashlib.blake2b(digest_size=16)
    for value in values:
        data = value if isinstance(value, bytes) else repr(value).encode()
        digest.update(b"%d:%b" % (len(data), data))
    return digest.hexdigest()


class SqlTransaction:
    """One transaction. SQL has `?` for each value."""

    def __init__(self, kind: DatabaseKind, cursor: Any) -> None:
        self.kind = kind
        self._cursor = cursor

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        self._cursor.execute(sql if self.kind == "sqlite" else sql.replace("?", "%s"), values)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        self.run(sql, values)
        return list(self._cursor.fetchall())

    def row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """The first row; None where there is none."""
        return next(iter(self.rows(sql, values)), None)


class SqlDatabase(Closeable):
    """One database of one store. Safe to use from several threads, and beside other processes. Connects when it is used
    first, and again after the server was away."""

    def __init__(
        self,
        location: DatabaseLocation,
        profile: StoreProfile,
        schema: Schema | None = None,
        *,
        beside_the_file: Callable[[], None] = lambda: None,
    ) -> None:
        """`schema` is made at the first connection; `beside_the_file` is called before a SQLite file is opened."""
        self.location = location
        self.profile = profile
        self._schema = schema
        self._beside_the_file = beside_the_file
        self._lock = threading.Lock()
        self._connection: Any = None

    @contextmanager
    def transaction(self, *, writes: bool = False) -> Iterator[SqlTransaction]:
        """All of it or nothing. Transactions of one object wait for each other. Raises the error of the store."""
        try:
            with self._lock:
                try:
                    with self._begun(self._opened(), writes=writes) as begun:
                        yield begun
                except BaseException:
                    self._drop()  # which undoes all of it, whatever state the error left it in
                    raise
        except Exception as error:
            if not self._is_of_database(error):
                raise
            raise self.explained(error) from error

    def erase_deleted(self, tables: Sequence[str]) -> bool:
        """Overwrites what was deleted where the database still holds it: the log of SQLite, dead rows of Postgres.
        False where a reader keeps it from doing so now; the next deletion does it then."""
        try:
            with self._lock:
                cursor = self._opened().cursor()
                if self.location.kind == "postgres":
                    for table in tables:
                        cursor.execute(f"VACUUM {table}")
                    return True
                cursor.execute(f"PRAGMA busy_timeout = {int(ERASE_SECONDS * 1_000)}")
                try:
                    busy, _, _ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                finally:
                    cursor.execute(f"PRAGMA busy_timeout = {int(self.profile.busy_seconds * 1_000)}")
                return not busy
        except Exception as error:
            if not self._is_of_database(error):
                raise
            raise self.explained(error) from error

    def close(self) -> None:
        with self._lock:
            self._drop()

    def connect(self, *, autocommit: bool = True) -> Any:
        """A new connection of the driver, as this store wants it. SQLite's never begins a transaction by itself: it
        would begin too late. Raises errors of the driver, OSError, and the error of the store without a driver."""
        return self._connect_sqlite() if self.location.kind == "sqlite" else self._connect_postgres(autocommit)

    def require_version(self, found: str | None) -> None:
        """Raises the error of the store for tables that another version of this program has made."""
        another = "move that file away"
        if self.location.kind == "postgres":
            another = f"name an empty database in {URL_VARIABLE}"
        require_format(
            f"{self.profile.title} {self.location.name}",
            found,
            self.profile.version,
            f"{another}, then run: {self.profile.remake}",
            error=self.profile.error,
        )

    def explained(self, error: Exception, doing: str = "", *, lost: bool = False) -> RagAssetsError:
        """An error of a driver as the one of the store: the cause in one line, without secrets, and what helps. `lost`:
        the connection is known to be gone."""
        fault, said = self._fault(error, lost)
        hint = self.profile.hints.get(fault, self.profile.server_hint)
        error_of_store = self.profile.error
        if fault in _PASSING_FAULTS:
            error_of_store = self.profile.passing_error or error_of_store
        return error_of_store(f"{self.profile.title} {self.location.name}{doing}: {said}; {hint}")

    def _fault(self, error: Exception, lost: bool) -> tuple[DatabaseFault, str]:
        """(what is wrong, in words of the driver)."""
        if isinstance(error, OSError):  # without the path, which is named
            said = error.strerror or str(error)
            return (DatabaseFault.FILE_SYSTEM_FULL if is_disk_full(said) else DatabaseFault.NOT_WRITABLE), said
        said = " ".join(self.location.masked(str(error)).split())[:_DETAIL_CHARS]
        if self.location.kind == "postgres":
            return _server_fault(getattr(error, "pgcode", None) or "", said, lost), said
        if "locked" in said:
            return DatabaseFault.BUSY, said
        if is_disk_full(said):
            return DatabaseFault.FILE_SYSTEM_FULL, said
        if "readonly" in said or "unable to open" in said:
            return DatabaseFault.NOT_WRITABLE, NOT_WRITABLE
        return DatabaseFault.DAMAGED, said

    def _connect_sqlite(self) -> sqlite3.Connection:
        profile, path = self.profile, Path(self.location.name)
        if profile.owner_only:
            ensure_private(path)
        self._beside_the_file()
        connection = sqlite3.connect(path, timeout=profile.busy_seconds, isolation_level=None, check_same_thread=False)
        try:
            connection.create_function("rag_digest", -1, row_digest, deterministic=True)
            connection.execute("PRAGMA journal_mode = WAL")  # readers beside a writer
            connection.execute(f"PRAGMA synchronous = {profile.synchronous}")
            connection.execute("PRAGMA foreign_keys = ON")
            if profile.owner_only:
                connection.execute("PRAGMA secure_delete = ON")  # deleted text is overwritten, not only forgotten
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_to_read(self) -> sqlite3.Connection:
        connection = sqlite3.connect(sqlite_uri(Path(self.location.name)), isolation_level=None, uri=True)
        connection.create_function("rag_digest", -1, row_digest, deterministic=True)
        return connection

    def _connect_postgres(self, autocommit: bool) -> Any:
        assert self.location.url is not None
        try:
            import psycopg2  # only with the extra `postgres`
        except ImportError:
            raise self.needs_driver() from None
        url = self.location.url.set(drivername="postgresql").render_as_string(hide_password=False)
        timeout = self.profile.connect_seconds
        connection = psycopg2.connect(url, connect_timeout=timeout, application_name="rag-assets")
        connection.autocommit = autocommit
        return connection

    def needs_driver(self) -> RagAssetsError:
        return self.profile.error(
            f"{self.profile.title_with_verb} in Postgres ({self.location.name}), which needs psycopg2; run: "
            "pip install psycopg2-binary"
        )

    def _opened(self) -> Any:
        """The kept connection. One to a server is looked at first: it may have been closed since."""
        if self._connection is not None and self.location.kind == "postgres":
            try:
                self._connection.cursor().execute("SELECT 1")
            except Exception as error:
                self._drop()
                if not self._is_of_database(error):
                    raise
        if self._connection is None:
            self._connection = self.connect()
            if self._schema is not None:
                self._ensure_tables(self._connection, self._schema)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _begun(self, connection: Any, *, writes: bool) -> Iterator[SqlTransaction]:
        cursor = connection.cursor()
        # A writer takes the lock of SQLite at once: one that has read before it writes may be refused.
        cursor.execute("BEGIN IMMEDIATE" if writes and self.location.kind == "sqlite" else "BEGIN")
        yield SqlTransaction(self.location.kind, cursor)
        cursor.execute("COMMIT")

    def _ensure_tables(self, connection: Any, schema: Schema) -> None:
        """Reads before it writes: most openings find what they need, and a writer would wait for others."""
        kind = self.location.kind
        reading = SqlTransaction(kind, connection.cursor())
        tables = "sqlite_master WHERE type = 'table' AND name = ?"
        if kind == "postgres":
            tables = "information_schema.tables WHERE table_schema = current_schema() AND table_name = ?"
        if reading.row(f"SELECT 1 FROM {tables}", [schema.version_table]) is None:
            with self._begun(connection, writes=True) as begun:
                if kind == "postgres":
                    begun.rows("SELECT pg_advisory_xact_lock(?)", [schema.creation_lock])
                for statement in schema.statements:
                    begun.run(statement.format(generated_key=_GENERATED_KEY[kind]))
                if kind == "sqlite" and begun.row(f"SELECT 1 FROM {tables}", [_DIGESTS]) is None:
                    keep_digests(connection.execute, schema.version_table)
        found = reading.row(f"SELECT value FROM {schema.version_table} WHERE name = 'version'")
        self.require_version(None if found is None else str(found[0]))
        self.require_whole(connection, schema.version_table)

    def require_whole(self, connection: sqlite3.Connection, version_table: str, *, any_size: bool = False) -> None:
        """Checks every row of a SQLite file that is small, or has `any_size`. Raises the error of the store."""
        if self.location.kind != "sqlite" or (not any_size and Path(self.location.name).stat().st_size > CHECKED_BYTES):
            return
        connection.execute("BEGIN")  # others may write: rows and digests of one moment are compared
        try:
            damaged = damaged_rows(connection, version_table)
        finally:
            connection.execute("ROLLBACK")
        if damaged:
            raise self.explained(sqlite3.DatabaseError(damaged))

    def check(self, version_table: str) -> None:
        """Reads all of a SQLite file, also where nobody may write. Raises the error of the store for what was not
        written so."""
        try:
            with contextlib.closing(self._open_to_read()) as connection:
                self.require_whole(connection, version_table, any_size=True)
        except Exception as error:
            if not self._is_of_database(error):
                raise
            raise self.explained(error) from error

    def _is_of_database(self, error: Exception) -> bool:
        if self.location.kind == "sqlite":
            return isinstance(error, sqlite3.Error | OSError)
        from psycopg2 import Error

        return isinstance(error, Error)


def _server_fault(code: str, said: str, lost: bool) -> DatabaseFault:
    if code in _NO_RIGHTS:
        return DatabaseFault.NO_RIGHTS
    if code == _FULL:
        return DatabaseFault.SERVER_FULL
    if lost or code.startswith(_PASSING):
        return DatabaseFault.SERVER_AWAY
    if code:
        return DatabaseFault.STATEMENT_REFUSED
    for pattern, fault in (
        (_NO_DATABASE, DatabaseFault.NO_DATABASE),
        (_CREDENTIALS, DatabaseFault.CREDENTIALS),
        (_NO_TLS, DatabaseFault.NO_TLS),
    ):
        if pattern.search(said):
            return fault
    return DatabaseFault.UNREACHABLE
