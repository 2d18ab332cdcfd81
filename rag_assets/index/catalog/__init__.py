"""The SQL catalog: generations, chunks with their vectors, and documents, in SQLite or Postgres.

It is the durable source of truth (E07, R8): a vector index is made from it alone (`pipeline.rebuild`). Off by default;
nothing here loads a database library before it is used.

Which catalogs have rows of a label is noted beside its generations, without secrets: whoever removes a label or moves
its pointer finds the rows through it, whatever the configuration says by then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.database import URL_VARIABLE, DatabaseKind, DatabaseLocation, postgres_location, sqlite_location
from rag_assets.index.generations import Manifest, generation_directory
from rag_assets.index.layout import IndexHome, RecordDamaged, read_record, write_record

if TYPE_CHECKING:
    from rag_assets.index.catalog.database import Database
    from rag_assets.index.catalog.history import Tenant
    from rag_assets.index.vectors.vector_api import PointTarget
    from rag_assets.settings import Settings


def open_catalog_target(
    settings: Settings, *, org_id: str, project_id: str, index_label: str, generation_id: str
) -> PointTarget | None:
    """Where the points of a generation go before the vector store gets them (E05); None without a catalog.

    The documents and the keyword files of the generation go with them, so its tables `discovered_files` and
    `bm25_artifacts` must be there. Raises CatalogError.
    """
    if settings.stores.catalog == "none":
        return None
    from rag_assets.index.catalog.database import Database
    from rag_assets.index.catalog.history import Tenant
    from rag_assets.index.catalog.rows import DocumentTexts
    from rag_assets.index.catalog.target import CatalogTarget

    home, tenant = IndexHome(settings.home), Tenant(org_id, project_id, index_label)
    directory = generation_directory(home, index_label, generation_id)
    database = Database(place_of(settings.stores.catalog, home), writable=True)
    remember(home, tenant, database)
    texts = DocumentTexts(home.blobs, directory)
    return CatalogTarget(database, tenant, generation_id, texts, directory / "keyword")


def open_catalog(settings: Settings, *, writable: bool = False) -> Database:
    """The configured catalog. Raises CatalogError, also where none is configured."""
    if settings.stores.catalog == "none":
        raise CatalogError("no catalog is configured; set stores.catalog to sqlite or postgres, then: rag-assets index")
    from rag_assets.index.catalog.database import Database

    return Database(place_of(settings.stores.catalog, IndexHome(settings.home)), writable=writable)


_TABLES = ("discovered_files", "parsed_files", "segments", "descriptions", "summary_sections", "qdrant_points")
_KEPT_FILES = (
    "build.json",
    "graph/**/*",
    *(f"{table}/part-*.parquet" for table in _TABLES),
    *(f"stages/{table}.json" for table in _TABLES),
)
"""What of a generation its readers read beside points, documents and keyword files: the graph, descriptions and lookups
by line. Vectors, weights and the tables behind the graph are only for the next build, which makes them again."""


def reader_files(directory: Path) -> dict[str, Path]:
    """Name → file of what readers of the generation in a folder read, as far as the catalog keeps it for them."""
    found = (path for pattern in _KEPT_FILES for path in directory.glob(pattern) if path.is_file())
    return {path.relative_to(directory).as_posix(): path for path in found}


def publish(settings: Settings, manifest: Manifest, served: str, keep: Collection[str]) -> list[str]:
    """After the label's pointer has moved: keeps the manifest and the files that readers read, names the served
    generation and then deletes what is not in `keep`. Returns what went wrong, in words; the index that is served must
    not fail because of it."""
    if settings.stores.catalog == "none":
        return []
    from rag_assets.index.catalog import history

    tenant = history.Tenant.of(manifest)
    directory = generation_directory(IndexHome(settings.home), manifest.index_label, manifest.generation_id)
    try:
        with open_catalog(settings, writable=True) as database:
            with database.transaction("written") as connection:
                problems = history.publish(connection, tenant, manifest, served, reader_files(directory))
            with database.transaction("written") as connection:
                history.forget_generations(connection, tenant, keep)
    except CatalogError as error:
        return [f"the catalog does not know yet what is served: {error}"]
    return problems


def tell_served(home: IndexHome, manifest: Manifest) -> list[str]:
    """After a person has chosen what a label serves. Returns what went wrong, in words."""
    problems: list[str] = []
    files = reader_files(generation_directory(home, manifest.index_label, manifest.generation_id))
    try:
        for database, tenant in noted_catalogs(home, manifest.index_label):
            from rag_assets.index.catalog import history

            with database.transaction("written") as connection:
                problems += history.publish(connection, tenant, manifest, manifest.generation_id, files)
    except CatalogError as error:
        return [f"the catalog does not know yet what is served: {error}"]
    return problems


def forget_stale(home: IndexHome, label: str, keep: Collection[str]) -> list[str]:
    """Deletes from the catalogs of a label the generations outside `keep`, and returns their ids. Raises
    CatalogError."""
    gone: list[str] = []
    for database, tenant in noted_catalogs(home, label):
        from rag_assets.index.catalog import history

        with database.transaction("written") as connection:
            gone += history.forget_generations(connection, tenant, keep)
        database.erase_deleted()
    return gone


def forget_label(home: IndexHome, label: str) -> bool:
    """Deletes everything of a label from its catalogs; False where there is nothing. Raises CatalogError."""
    found = False
    for database, tenant in noted_catalogs(home, label):
        from rag_assets.index.catalog import history

        with database.transaction("written") as connection:
            found |= history.forget_label(connection, tenant)
        database.erase_deleted()
    return found


FILE_NAME = "catalog.sqlite"


def place_of(kind: DatabaseKind, home: IndexHome, environment: Mapping[str, str] | None = None) -> DatabaseLocation:
    """The catalog of a home. Connects to nothing. Raises CatalogError where the environment names no usable one."""
    if kind == "sqlite":
        return sqlite_location(home.root / FILE_NAME)
    return postgres_location(CatalogError, environment)


_FILE = "catalog.json"


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of a label are in the catalog `identity`, under this tenant."""

    kind: DatabaseKind
    identity: str
    name: str  # for people
    org_id: str
    project_id: str


class _Notes(msgspec.Struct):
    notes: list[Note]


def notes_of(home: IndexHome, label: str) -> list[Note]:
    """Raises CatalogError for a note that cannot be read."""
    path = home.label(label) / _FILE
    try:
        return read_record(path, _Notes).notes
    except FileNotFoundError:
        return []
    except RecordDamaged as error:
        raise CatalogError(f"{path} cannot be read: {error}; delete it, then run: rag-assets index {label}") from error


def remember(home: IndexHome, tenant: Tenant, database: Database) -> None:
    """Before the first row of a label is written."""
    note = Note(
        kind=database.location.kind,
        identity=database.identity,
        name=database.location.name,
        org_id=tenant.org_id,
        project_id=tenant.project_id,
    )
    known = notes_of(home, tenant.index_label)
    if any((n.identity, n.org_id, n.project_id) == (note.identity, note.org_id, note.project_id) for n in known):
        return
    write_record(home.label(tenant.index_label) / _FILE, _Notes([*known, note]))


def noted_catalogs(home: IndexHome, label: str) -> Iterator[tuple[Database, Tenant]]:
    """The catalogs that have rows of a label, open for writing one after the other. Raises CatalogError where one
    cannot be reached, or where the environment names another one."""
    from rag_assets.index.catalog.database import Database
    from rag_assets.index.catalog.history import Tenant

    for note in notes_of(home, label):
        place = place_of(note.kind, home)
        if place.kind == "sqlite" and not Path(place.name).is_file():
            continue  # somebody has deleted it, with all its rows
        with Database(place, writable=True) as database:
            if database.identity != note.identity:
                raise CatalogError(
                    f"rows of {label} are in the catalog {note.name}, but {place.name} is another one; "
                    f"set {URL_VARIABLE} to the first, or delete {home.label(label) / _FILE} if it is gone"
                )
            yield database, Tenant(note.org_id, note.project_id, label)
