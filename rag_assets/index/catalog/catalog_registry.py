"""Which catalogs have rows of a label: a note beside its generations, without secrets.

Whoever removes a label or moves its pointer finds the rows through it, whatever the configuration says by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.database import URL_VARIABLE, DatabaseKind, DatabaseLocation, postgres_location, sqlite_location
from rag_assets.index.layout import IndexHome, RecordDamaged, read_record, write_record

if TYPE_CHECKING:
    from rag_assets.index.catalog.database import Database
    from rag_assets.index.catalog.history import Tenant


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


def noted_catalogs(
    home: IndexHome, label: str, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[Database, Tenant]]:
    """The catalogs that have rows of a label, open for writing one after the other. Raises CatalogError where one
    cannot be reached, or where the environment names another one."""
    from rag_assets.index.catalog.database import Database
    from rag_assets.index.catalog.history import Tenant

    for note in notes_of(home, label):
        place = place_of(note.kind, home, environment)
        if place.kind == "sqlite" and not Path(place.name).is_file():
            continue  # somebody has deleted it, with all its rows
        with Database(place, writable=True) as database:
            if database.identity != note.identity:
                raise CatalogError(
                    f"rows of {label} are in the catalog {note.name}, but {place.name} is another one; "
                    f"set {URL_VARIABLE} to the first, or delete {home.label(label) / _FILE} if it is gone"
                )
            yield database, Tenant(note.org_id, note.project_id, label)
