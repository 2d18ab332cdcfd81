"""A connected catalog: transactions, and every database error in words that say what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from rag_assets.closing import Closing
from rag_assets.stores.catalog.errors import CatalogEmpty, CatalogError, CatalogUnreachable
from rag_assets.stores.catalog.schema import ensure_schema, identity

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rag_assets.stores.catalog.place import Place

CONNECT_SECONDS = 10
"""A database that does not take a connection by then is not there."""

_BUSY_SECONDS = 60.0  # SQLite has one writer; a batch of another build takes less than one
_DETAIL_CHARS = 300

_WRITES = "rag_assets_writes"  # execution option: this transaction takes the writer's lock at its beginning
_EMPTY = "empty yet; filled by: rag-assets index"
_AGAIN = "what is written stays; then run the same again"
_GRANT = "grant its user ALL ON ALL TABLES IN SCHEMA public, and CREATE ON SCHEMA public where there are none yet"
_RIGHTS = "42501"  # insufficient_privilege
_READ_ONLY = "25006"
_FULL = "53100"
_PASSING = ("08", "57P", "53", "40", "55P03")  # connection, shutdown, resources, conflicts, lock not available

_CREDENTIALS = re.compile(
    r"password authentication failed|no password supplied|role .* does not exist|pg_hba|authentication"
)
_NO_DATABASE = re.compile(r"database .* does not exist")
_NO_TLS = re.compile(r"does not support SSL|SSL")


class Database(Closing):
    """One catalog. Connections are opened when they are needed, and looked at before they are used again, so a
    restarted server costs nothing between two transactions. Safe to use from several threads."""

    def __init__(self, place: Place, *, writable: bool = False) -> None:
        """`writable`: tables are made where there are none. Raises CatalogError."""
        self.place = place
        try:
            self._engine = create_engine(place.url, pool_pre_ping=True, pool_size=1, max_overflow=4, **_options(place))
        except ImportError:
            raise CatalogError(
                f"the catalog is in Postgres ({place.name}), which needs psycopg2; run: "
                "pip install 'rag-assets[postgres]'"
            ) from None
        if place.kind == "sqlite":
            _use_sqlite_well(self._engine)
            if writable:
                Path(place.name).parent.mkdir(parents=True, exist_ok=True)
            elif not Path(place.name).is_file():  # opening would make it
                raise CatalogEmpty(f"catalog {place.name}: {_EMPTY}")
        try:
            with self.transaction("written" if writable else "read") as connection:
                found = ensure_schema(connection) if writable else identity(connection)
                if found is None:
                    raise CatalogEmpty(_EMPTY)
        except BaseException:
            self.close()
            raise
        self.identity = found

    @contextmanager
    def transaction(self, doing: str) -> Iterator[Connection]:
        """One transaction, all of it or nothing; only one that is "written" may write.

        Raises CatalogError: "catalog … cannot be `doing`: …".
        """
        try:
            with self._engine.connect() as connection:
                connection = connection.execution_options(**{_WRITES: doing == "written"})
                with connection.begin():
                    yield connection
        except CatalogError as error:
            if str(error).startswith("catalog "):
                raise
            raise type(error)(f"catalog {self.place.name}: {error}") from error
        except (SQLAlchemyError, self._engine.dialect.loaded_dbapi.Error) as error:
            raise self._told(doing, error) from error

    def require_rights(self) -> None:
        """Raises CatalogError for a database whose user may not write here."""
        if self.place.kind == "postgres":
            with self.transaction("read") as connection:
                query = text("SELECT has_table_privilege('rag_chunks', 'INSERT'), current_user")
                allowed, user = connection.execute(query).one()
                if not allowed:
                    raise CatalogError(f"{user} may not write; {_GRANT}")

    def close(self) -> None:
        self._engine.dispose()

    def _told(self, doing: str, error: Exception) -> CatalogError:
        """The cause in one line, without secrets, and what helps."""
        cause: Any = error.orig if isinstance(error, DBAPIError) else error
        said = " ".join(self.place.masked(str(cause)).split())[:_DETAIL_CHARS]
        lost = isinstance(error, DBAPIError) and error.connection_invalidated
        kind, hint = _postgres_hint(cause, said, lost) if self.place.kind == "postgres" else _sqlite_hint(said)
        return kind(f"catalog {self.place.name} cannot be {doing}: {said}; {hint}")


def _options(place: Place) -> dict[str, Any]:
    if place.kind == "sqlite":
        return {"connect_args": {"timeout": _BUSY_SECONDS, "check_same_thread": False}}
    return {"connect_args": {"connect_timeout": CONNECT_SECONDS, "application_name": "rag-assets"}}


def _use_sqlite_well(engine: Any) -> None:
    """Readers beside a writer, and transactions that are what they say: the driver's own begin too late."""

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # safe against a killed process
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")  # readers do not wait for writers


def _postgres_hint(cause: Any, said: str, lost: bool) -> tuple[type[CatalogError], str]:
    code = getattr(cause, "pgcode", None) or ""
    if code in (_RIGHTS, _READ_ONLY):
        return CatalogError, _GRANT
    if code == _FULL:
        return CatalogError, f"free some space there; {_AGAIN}"
    if lost or code.startswith(_PASSING):
        return CatalogUnreachable, f"start it; {_AGAIN}"
    if code:
        return CatalogError, "see its log; to begin with empty tables, use another database"
    if _NO_DATABASE.search(said):
        return CatalogError, "create that database, or name another one in RAG_ASSETS_CATALOG_URL"
    if _CREDENTIALS.search(said):
        return CatalogError, "set user and password in RAG_ASSETS_CATALOG_URL"
    if _NO_TLS.search(said):
        return CatalogError, "let it use TLS, or add ?sslmode=disable to RAG_ASSETS_CATALOG_URL"
    return CatalogUnreachable, f"is the server of RAG_ASSETS_CATALOG_URL up? {_AGAIN}"


def _sqlite_hint(said: str) -> tuple[type[CatalogError], str]:
    if "locked" in said:
        return CatalogUnreachable, f"another build writes it; {_AGAIN}"
    if "readonly" in said or "unable to open" in said:
        return CatalogError, "make the home writable, or choose another place with --home"
    if "full" in said:
        return CatalogError, f"free some space; {_AGAIN}"
    return CatalogError, "delete that file, then run: rag-assets index --force"
