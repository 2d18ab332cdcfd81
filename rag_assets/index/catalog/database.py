"""A connected catalog: SQLAlchemy on the connections of the shared wrapper, and the words of the catalog."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, create_engine, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from rag_assets.closeable import Closeable
from rag_assets.index.catalog.errors import CatalogEmpty, CatalogError, CatalogUnreachable
from rag_assets.index.catalog.schema import SCHEMA_VERSION, ensure_schema, identity
from rag_assets.index.database import DatabaseFault, SqlDatabase, StoreProfile

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rag_assets.index.database_location import DatabaseLocation

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
