"""A connected catalog: SQLAlchemy on the connections of the shared wrapper, its tables, and its errors.

A chunk is valid from the build that wrote it (`born`) up to the one that replaced or deleted it (`died`), counted in
sequence numbers of its label. So a build writes what changed, and every kept generation can be read exactly:
generation s consists of the rows with born <= s < died.

Many rows go in at once: by Postgres' binary COPY, elsewhere by one INSERT. Binary, because vectors are bytes: as text
they would double, and escaping costs more than sending.
"""

from __future__ import annotations

import sqlite3
import struct
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    Connection,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from rag_assets.closeable import Closeable
from rag_assets.index.catalog.errors import CatalogEmpty, CatalogError, CatalogUnreachable
from rag_assets.index.database import (
    CHECKED_BYTES,
    DatabaseFault,
    DatabaseLocation,
    SqlDatabase,
    StoreProfile,
    keep_digests,
)

SCHEMA_VERSION = "3"
"""Raise it when an older version of this program could misread the tables."""

ALIVE = 2**31 - 1
"""`died` of a row that no build has replaced."""

_CREATION_LOCK = 7_160_254_113  # any fixed number: two first openings of one database wait for each other

metadata = MetaData()

about = Table("rag_catalog", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

labels = Table(
    "rag_labels",
    metadata,
    Column("label_id", Integer, Identity(), primary_key=True),
    Column("org_id", Text, nullable=False),
    Column("project_id", Text, nullable=False),
    Column("index_label", Text, nullable=False),
    Column("last_sequence", Integer, nullable=False),
    Column("writer", Text, nullable=False),  # who writes now: a build that finds another name here has lost the label
    Column("active_generation", Text, nullable=False),
    UniqueConstraint("org_id", "project_id", "index_label"),
)

generations = Table(
    "rag_generations",
    metadata,
    Column("label_id", ForeignKey(labels.c.label_id), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("generation_id", Text, nullable=False),
    Column("state", Text, nullable=False),  # writing | complete
    Column("points", Integer, nullable=False),
    Column("commit_sha", Text, nullable=False),
    Column("config_hash", Text, nullable=False),
    Column("embedding_model", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("files", Text, nullable=False),  # JSON: name → sha256 of the content, among the documents
    Column("manifest", Text, nullable=False),  # JSON; empty until a build has finished the generation
)

chunks = Table(
    "rag_chunks",
    metadata,
    Column("row_id", BigInteger().with_variant(Integer, "sqlite"), Identity(), primary_key=True),
    Column("label_id", ForeignKey(labels.c.label_id), nullable=False),
    Column("point_id", Uuid(as_uuid=False), nullable=False),
    Column("born", Integer, nullable=False),
    Column("died", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("symbol", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("source_type", Text, nullable=False),
    Column("section_key", Text, nullable=False),
    Column("part_index", Integer, nullable=False),
    Column("part_total", Integer, nullable=False),
    Column("line_start", Integer),
    Column("line_end", Integer),
    Column("char_start", Integer),
    Column("char_end", Integer),
    Column("document_sha256", Text, nullable=False),  # the text of the file is among the documents
    Column("text", Text, nullable=False),  # the finder snippet
    Column("words", Text, nullable=False),  # what the full-text index holds: identifiers split, each term once
    Column("payload", Text, nullable=False),  # JSON, whole
    Column("dense", LargeBinary),  # float32, little-endian
    Column("sparse", LargeBinary, nullable=False),  # uint32 indices, then as many float32 weights
    UniqueConstraint("label_id", "point_id", "born"),
    Index("rag_chunks_died", "label_id", "died", "born"),
)

documents = Table(
    "rag_documents",
    metadata,
    Column("label_id", ForeignKey(labels.c.label_id), primary_key=True),
    Column("sha256", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),  # zlib
)

eval_runs = Table(
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
    Column("conditions", Text),  # JSON: how it was searched
    Column("answers", Text),  # JSON: the numbers of the answers, beside all questions; NULL where only the search ran
)
WORDS_TABLE = "rag_chunk_words"
"""The full-text index on SQLite; on Postgres it is the column `search`."""

_POSTGRES = (
    "ALTER TABLE rag_chunks ADD COLUMN search tsvector "
    "GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, words)) STORED",
    "CREATE INDEX rag_chunks_search ON rag_chunks USING gin (search)",
    # Vectors and weights do not shrink: trying costs a third of the writing time.
    "ALTER TABLE rag_chunks ALTER COLUMN dense SET STORAGE EXTERNAL, ALTER COLUMN sparse SET STORAGE EXTERNAL",
    "ALTER TABLE rag_documents ALTER COLUMN content SET STORAGE EXTERNAL",
)
_SQLITE = (
    f"CREATE VIRTUAL TABLE {WORDS_TABLE} USING fts5(words, content='rag_chunks', content_rowid='row_id')",
    f"CREATE TRIGGER rag_chunk_added AFTER INSERT ON rag_chunks BEGIN "
    f"INSERT INTO {WORDS_TABLE}(rowid, words) VALUES (new.row_id, new.words); END",
    f"CREATE TRIGGER rag_chunk_gone AFTER DELETE ON rag_chunks BEGIN "
    f"INSERT INTO {WORDS_TABLE}({WORDS_TABLE}, rowid, words) VALUES ('delete', old.row_id, old.words); END",
)


@dataclass(frozen=True, slots=True)
class CatalogIdentity:
    """Which catalog a database holds, and the version of its tables; empty where nothing says it."""

    id: str
    version: str


def ensure_schema(connection: Connection) -> CatalogIdentity:
    """Makes the tables where there are none, all or nothing, and returns the identity of the catalog. Whoever may only
    write rows can use tables that somebody else has made."""
    found = identity(connection)
    if found is not None:
        return found
    postgres = connection.dialect.name == "postgresql"
    if postgres:
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CREATION_LOCK})
        found = identity(connection)  # somebody else may have made them meanwhile
        if found is not None:
            return found
    metadata.create_all(connection)
    for statement in _POSTGRES if postgres else _SQLITE:
        connection.execute(text(statement))
    if not postgres:
        keep_digests(connection.exec_driver_sql, about.name)
    made = CatalogIdentity(uuid.uuid4().hex, SCHEMA_VERSION)
    rows = [{"name": "version", "value": made.version}, {"name": "id", "value": made.id}]
    connection.execute(about.insert(), rows)
    return made


def identity(connection: Connection) -> CatalogIdentity | None:
    """Which catalog this is; None for a database that holds none."""
    if not inspect(connection).has_table(about.name):
        return None
    known = {row.name: row.value for row in connection.execute(select(about))}
    return CatalogIdentity(known.get("id", ""), known.get("version", ""))


StorageError = DBAPIError
"""What SQLAlchemy raises for a database that fails, for code that only meets it through Dagster's storage."""

_WRITES = "rag_assets_writes"  # execution option: this transaction takes the writer's lock at its beginning
_EMPTY = "empty yet; filled by: rag-assets index"
_AGAIN = "what is written stays; then run the same again"
_GRANT = "grant its user ALL ON ALL TABLES IN SCHEMA public, and CREATE ON SCHEMA public where there are none yet"

PROFILE = StoreProfile(
    title="catalog",
    title_with_verb="the catalog is",
    error=CatalogError,
    passing_error=CatalogUnreachable,
    version=SCHEMA_VERSION,
    remake="rag-assets index --force",
    hints={
        DatabaseFault.BUSY: f"another build writes it; {_AGAIN}",
        DatabaseFault.FILE_SYSTEM_FULL: f"free some space; {_AGAIN}",
        DatabaseFault.NOT_WRITABLE: "make the home writable, or choose another place with --home",
        DatabaseFault.DAMAGED: "delete that file, then run: rag-assets index --force",
        DatabaseFault.NO_RIGHTS: _GRANT,
        DatabaseFault.SERVER_FULL: f"free some space there; {_AGAIN}",
        DatabaseFault.SERVER_AWAY: f"start it; {_AGAIN}",
        DatabaseFault.STATEMENT_REFUSED: "see its log; to begin with empty tables, use another database",
        DatabaseFault.NO_DATABASE: "create that database, or name another one in RAG_ASSETS_CATALOG_URL",
        DatabaseFault.CREDENTIALS: "set user and password in RAG_ASSETS_CATALOG_URL",
        DatabaseFault.NO_TLS: "let it use TLS, or add ?sslmode=disable to RAG_ASSETS_CATALOG_URL",
        DatabaseFault.UNREACHABLE: f"is the server of RAG_ASSETS_CATALOG_URL up? {_AGAIN}",
    },
    busy_seconds=60.0,  # SQLite has one writer; a batch of another build takes less than one
    connect_seconds=10,  # a database that does not take a connection by then is not there
    synchronous="NORMAL",  # safe against a killed process
    owner_only=False,
)


class Database(Closeable):
    """One catalog. Connections are opened when they are needed, and looked at before they are used again, so a
    restarted server costs nothing between two transactions. Safe to use from several threads."""

    def __init__(self, location: DatabaseLocation, *, writable: bool = False) -> None:
        """`writable`: tables are made where there are none. Raises CatalogError."""
        self.location = location
        self._sql = SqlDatabase(location, PROFILE)
        is_file = location.kind == "sqlite"
        # Writers of one process wait here and not inside SQLite, which lets them in by chance.
        self._writing: AbstractContextManager[object] = threading.Lock() if is_file else nullcontext()
        url = location.url or URL.create("sqlite+pysqlite", database=location.name)
        connect = partial(self._sql.connect, autocommit=False)
        try:
            self._engine = create_engine(url, creator=connect, pool_pre_ping=True, pool_size=1, max_overflow=4)
        except ImportError:
            raise self._sql.needs_driver() from None
        if is_file:
            event.listen(self._engine, "begin", _begin_on_sqlite)
            if writable:
                Path(location.name).parent.mkdir(parents=True, exist_ok=True)
            elif not Path(location.name).is_file():  # opening would make it
                raise CatalogEmpty(f"catalog {location.name}: {_EMPTY}")
        try:
            with self.transaction("written" if writable else "read") as connection:
                found = ensure_schema(connection) if writable else identity(connection)
                if found is None:
                    raise CatalogEmpty(_EMPTY)
            self._sql.require_version(found.version)
            if is_file and Path(location.name).stat().st_size <= CHECKED_BYTES:
                self.check()
        except BaseException:
            self.close()
            raise
        self.identity = found.id

    @contextmanager
    def transaction(self, doing: str) -> Iterator[Connection]:
        """One transaction, all of it or nothing; only one that is "written" may write.

        Raises CatalogError: "catalog … cannot be `doing`: …".
        """
        writes = doing == "written"
        try:
            with self._writing if writes else nullcontext(), self._engine.connect() as connection:
                connection = connection.execution_options(**{_WRITES: writes})
                with connection.begin():
                    yield connection
        except CatalogError as error:
            if str(error).startswith("catalog "):
                raise
            raise type(error)(f"catalog {self.location.name}: {error}") from error
        except (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error) as error:
            cause: Any = error.orig if isinstance(error, DBAPIError) else error
            lost = isinstance(error, DBAPIError) and error.connection_invalidated
            raise self._sql.explained(cause, f" cannot be {doing}", lost=lost) from error

    def erase_deleted(self) -> None:
        """Overwrites what deleted chunks leave behind: words in the full-text index, the log of SQLite, dead rows of
        Postgres. Takes seconds for 50,000 chunks. Raises CatalogError."""
        if self.location.kind == "sqlite":
            with self.transaction("written") as connection:  # a deletion only marks words; merging drops them
                connection.exec_driver_sql(f"INSERT INTO {WORDS_TABLE}({WORDS_TABLE}) VALUES ('optimize')")
        self._sql.erase_deleted((chunks.name, documents.name))

    def check(self) -> None:
        """Reads all of a SQLite file. Raises CatalogError where it is not what was written."""
        if self.location.kind == "sqlite":
            self._sql.check(about.name)

    def require_rights(self) -> None:
        """Raises CatalogError for a database whose user may not write here."""
        if self.location.kind == "postgres":
            with self.transaction("read") as connection:
                query = text("SELECT has_table_privilege('rag_chunks', 'INSERT'), current_user")
                allowed, user = connection.execute(query).one()
                if not allowed:
                    raise CatalogError(f"{user} may not write; {_GRANT}")

    def close(self) -> None:
        self._engine.dispose()


def _begin_on_sqlite(connection: Any) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")  # readers do not wait for writers


_held_lock = threading.Lock()
_held_folders: list[Path] = []
_held: dict[Path, sqlite3.Connection] = {}


@contextmanager
def databases_kept_open(folder: Path) -> Iterator[None]:
    """For SQLite databases in `folder` that others open anew for each statement, as Dagster does for each of the
    hundreds of events of a run: who closes one as the last writes its log back, removes it and waits for the disk,
    which was a third of the seconds of a first build. In here it is whoever leaves last, and no commit waits: a power
    failure may take the last ones, and no more."""
    _hold_what_is_connected()
    folder = folder.resolve()
    with _held_lock:
        _held_folders.append(folder)
    try:
        yield
    finally:
        with _held_lock:
            _held_folders.remove(folder)
            for path in [path for path in _held if folder not in _held_folders and path.is_relative_to(folder)]:
                _held.pop(path).close()


@cache
def _hold_what_is_connected() -> None:
    """For the rest of this process: others make their engines themselves."""
    event.listen(Engine, "connect", _hold)


def _hold(connection: Any, record: object) -> None:
    if not _held_folders or not isinstance(connection, sqlite3.Connection):
        return
    path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
    with _held_lock:
        if not any(path.is_relative_to(folder) for folder in _held_folders):
            return
        connection.execute("PRAGMA synchronous=NORMAL")
        if path not in _held:
            _held[path] = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        _held[path].execute("PRAGMA schema_version").fetchone()  # its log is open once it has been read


_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)  # signature, flags, length of the extension
_TRAILER = struct.pack("!h", -1)
_NULL = struct.pack("!i", -1)
_length = struct.Struct("!i").pack
_integer = struct.Struct("!ii").pack

_Encoder = Callable[[Any], bytes]


def insert_rows(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Inserts rows, which all have the same columns."""
    if not rows:
        return
    if connection.dialect.name != "postgresql":
        connection.execute(table.insert(), list(rows))
        return
    names = list(rows[0])
    cursor = connection.connection.cursor()
    try:
        cursor.copy_expert(
            f"COPY {table.name} ({', '.join(names)}) FROM STDIN WITH (FORMAT binary)", _encoded(table, names, rows)
        )
    finally:
        cursor.close()


def _encoded(table: Table, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> BytesIO:
    encoders = [(name, _encoder(table.c[name].type)) for name in names]
    begin = struct.pack("!h", len(names))
    parts = [_HEADER]
    for row in rows:
        parts.append(begin)
        for name, encode in encoders:
            value = row[name]
            parts.append(_NULL if value is None else encode(value))
    parts.append(_TRAILER)
    return BytesIO(b"".join(parts))


def _encoder(kind: object) -> _Encoder:
    """The value of a column as COPY takes it: its length, then its bytes."""
    if isinstance(kind, Integer):
        return lambda value: _integer(4, value)
    if isinstance(kind, Uuid):
        return lambda value: _length(16) + uuid.UUID(value).bytes
    if isinstance(kind, LargeBinary):
        return lambda value: _length(len(value)) + value
    assert isinstance(kind, Text), kind

    def text(value: str) -> bytes:
        data = value.encode()
        return _length(len(data)) + data

    return text


def batched(keys: Sequence[str], size: int = 500) -> Iterator[Sequence[str]]:
    """Keys in lists that fit into one statement: old SQLite builds take 999 variables."""
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
