"""The tables of conversations, and their database: a file of the home, or the Postgres of the catalog."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Identity,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from rag_assets.closing import Closing
from rag_assets.contracts.errors import ExpectedError
from rag_assets.stores.private_file import NOT_WRITABLE, ensure_private, is_disk_full
from rag_assets.stores.query_log_tables import CREATION_LOCK, TABLE
from rag_assets.stores.query_log_tables import SCHEMA as LOG_SCHEMA

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rag_assets.stores.catalog.place import Place

SCHEMA_VERSION = "2"
"""Raise it when an older version of this program could misread the tables."""

_BUSY_SECONDS = 60.0  # SQLite has one writer; a turn is written in milliseconds
ERASE_SECONDS = 5.0  # for readers to finish before the log is emptied
_CONNECT_SECONDS = 10
_POOL_SECONDS = 60
_DETAIL_CHARS = 300
_WRITES = "rag_assets_writes"

metadata = MetaData()

about = Table(
    "rag_conversations", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False)
)

sessions = Table(
    "rag_sessions",
    metadata,
    Column("session_key", BigInteger().with_variant(Integer, "sqlite"), Identity(), primary_key=True),
    Column("user_name", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("clearance", Text, nullable=False),  # what its answers may have been made of
    Column("last_position", Integer, nullable=False),
    Column("created_utc", Text, nullable=False),
    UniqueConstraint("user_name", "name", "clearance"),
)

turns = Table(
    "rag_turns",
    metadata,
    Column("session_key", ForeignKey(sessions.c.session_key), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("turn_id", Text, nullable=False, unique=True),
    Column("request_id", Text),  # NULL where the caller gave none: NULLs differ
    Column("question", Text, nullable=False),
    Column("question_en", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("answer_en", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("summary_version", Integer, nullable=False),  # the summary that the turn was answered with
    Column("new_turns", Integer, nullable=False),  # since that summary, this one included
    Column("lock", Text, nullable=False),  # JSON
    Column("trace", Text, nullable=False),  # JSON
    Column("created_utc", Text, nullable=False),
    UniqueConstraint("session_key", "request_id"),
)

summaries = Table(
    "rag_summaries",
    metadata,
    Column("session_key", ForeignKey(sessions.c.session_key), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("through", Integer, nullable=False),  # position of the last turn in it
    Column("text", Text, nullable=False),
    Column("created_utc", Text, nullable=False),
)


class ConversationError(ExpectedError):
    """Conversations that cannot be read or kept; the text names the place, the cause and what helps."""


class ConversationDatabase(Closing):
    """Short transactions on one database. Safe to use from several threads."""

    def __init__(self, place: Place) -> None:
        """Makes what is missing. Raises ConversationError."""
        self.place = place
        # Writers of one process wait here and not inside SQLite, which lets them in by chance while each holds a
        # connection: 200 at once emptied the pool. Postgres orders them by itself.
        self._writing: AbstractContextManager[object] = threading.Lock() if place.kind == "sqlite" else nullcontext()
        try:
            self._engine = create_engine(
                place.url,
                pool_pre_ping=place.kind == "postgres",  # a server may have closed a connection, a file never does
                pool_timeout=_POOL_SECONDS,
                **_options(place.kind),
            )
        except ImportError:
            raise ConversationError(
                f"conversations are in Postgres ({place.name}), which needs psycopg2; run: "
                "pip install 'rag-assets[postgres]'"
            ) from None
        if place.kind == "sqlite":
            _private_file(Path(place.name))
            _use_sqlite_well(self._engine)
        try:
            with self.transaction(writes=True) as connection:
                _ensure_schema(connection)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self, *, writes: bool = False) -> Iterator[Connection]:
        """All of it or nothing. Raises ConversationError."""
        try:
            with self._writing if writes else nullcontext(), self._engine.connect() as connection:
                connection = connection.execution_options(**{_WRITES: writes})
                with connection.begin():
                    yield connection
        except (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error) as error:
            raise self._told(error) from error

    def erase_deleted(self) -> bool:
        """Overwrites what was deleted where the database still holds it: the log of SQLite, dead rows of Postgres.
        False where a reader keeps it from doing so now; the next deletion does it then."""
        try:
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                if self.place.kind == "sqlite":
                    raw = connection.connection.driver_connection
                    assert raw is not None
                    raw.execute(f"PRAGMA busy_timeout = {int(ERASE_SECONDS * 1_000)}")
                    try:
                        busy, _, _ = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                    finally:
                        raw.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1_000)}")
                    return not busy
                for table in (turns.name, summaries.name, sessions.name, TABLE):
                    connection.execute(text(f"VACUUM {table}"))
                return True
        except (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error) as error:
            raise self._told(error) from error

    def close(self) -> None:
        self._engine.dispose()

    def _told(self, error: Exception) -> ConversationError:
        cause: Any = error.orig if isinstance(error, DBAPIError) else error
        said = " ".join(self.place.masked(str(cause)).split())[:_DETAIL_CHARS]
        if self.place.kind == "postgres":
            hint = "is the server of RAG_ASSETS_CATALOG_URL up, and may its user create and write tables?"
        elif "locked" in said:
            hint = "another process writes for very long; run it again"
        elif is_disk_full(said):
            hint = "free some space, or choose another place with --home"
        elif "readonly" in said or "unable to open" in said:
            said = NOT_WRITABLE
            hint = "make the home writable, or choose another place with --home"
        else:
            hint = "if it is damaged, move that file away: conversations are in nothing else"
        return ConversationError(f"conversations in {self.place.name}: {said}; {hint}")


def _options(kind: str) -> dict[str, Any]:
    if kind == "sqlite":
        return {"connect_args": {"timeout": _BUSY_SECONDS, "check_same_thread": False}}
    return {"connect_args": {"connect_timeout": _CONNECT_SECONDS, "application_name": "rag-assets"}}


def _private_file(path: Path) -> None:
    """Raises ConversationError."""
    try:
        ensure_private(path)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> ConversationError:
    said = error.strerror or str(error)
    remedy = "free some space" if is_disk_full(said) else "make the home writable"
    return ConversationError(f"conversations in {path}: {said}; {remedy}, or choose another place with --home")


def _use_sqlite_well(engine: Any) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # the driver's own transactions begin too late
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a turn that was answered is not lost with the power
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # deleted text is overwritten, not only forgotten

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _ensure_schema(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # two first openings wait for each other
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": CREATION_LOCK})
    if not inspect(connection).has_table(sessions.name):
        metadata.create_all(connection)
        connection.execute(about.insert(), {"name": "version", "value": SCHEMA_VERSION})
    for statement in LOG_SCHEMA:
        connection.execute(text(statement))
    found = connection.execute(select(about.c.value).where(about.c.name == "version")).scalar()
    if found != SCHEMA_VERSION:
        raise ConversationError(
            f"its tables of conversations are of version {found}, this program reads {SCHEMA_VERSION}; "
            "use the version of rag-assets that wrote them, or another home"
        )
