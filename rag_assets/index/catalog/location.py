"""Where the catalog of a home is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.database_location import DatabaseKind, DatabaseLocation, postgres_location, sqlite_location

if TYPE_CHECKING:
    from rag_assets.index.layout import IndexHome

FILE_NAME = "catalog.sqlite"


def place_of(kind: DatabaseKind, home: IndexHome, environment: Mapping[str, str] | None = None) -> DatabaseLocation:
    """The catalog of a home. Connects to nothing. Raises CatalogError where the environment names no usable one."""
    if kind == "sqlite":
        return sqlite_location(home.root / FILE_NAME)
    return postgres_location(CatalogError, environment)
