"""Where a catalog is: a file of the home, or a Postgres database that only the environment names.

The URL holds a password, so it is never a setting, never written anywhere and not part of any message.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rag_assets.server_urls import is_loopback
from rag_assets.stores.catalog.errors import CatalogError

if TYPE_CHECKING:
    from sqlalchemy import URL

    from rag_assets.stores.home import Home

Kind = Literal["sqlite", "postgres"]

URL_VARIABLE = "RAG_ASSETS_CATALOG_URL"
FILE_NAME = "catalog.sqlite"

_DRIVER = "postgresql+psycopg2"  # said in full: a bare postgresql:// means psycopg 3 from SQLAlchemy 2.1 on
_SCHEMES = ("postgresql", "postgres", _DRIVER)
_EXAMPLE = "postgresql://user:password@host:5432/database"


@dataclass(frozen=True, slots=True)
class Place:
    """`name` is what messages call the catalog; `url` and `secrets` never appear in one."""

    kind: Kind
    name: str
    url: URL = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def masked(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def place_of(kind: Kind, home: Home, environment: Mapping[str, str] | None = None) -> Place:
    """The catalog of a home. Connects to nothing. Raises CatalogError where the environment names no usable one."""
    from sqlalchemy import URL

    if kind == "sqlite":
        path = home.root / FILE_NAME
        return Place("sqlite", str(path), URL.create("sqlite+pysqlite", database=str(path)))
    return _postgres((os.environ if environment is None else environment).get(URL_VARIABLE, "").strip())


def _postgres(value: str) -> Place:
    """Raises CatalogError without repeating the value, which holds a password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    if not value:
        raise CatalogError(f"stores.catalog is postgres, but {URL_VARIABLE} is not set; set it to {_EXAMPLE}")
    try:
        url = make_url(value)
    except (ArgumentError, ValueError):
        raise CatalogError(f"{URL_VARIABLE} is not a database URL; set it to {_EXAMPLE}") from None
    if url.drivername not in _SCHEMES:
        raise CatalogError(f"{URL_VARIABLE} names a {url.drivername} database; set it to {_EXAMPLE}")
    if not url.database:
        raise CatalogError(f"{URL_VARIABLE} names no database; set it to {_EXAMPLE}")
    url = url.set(drivername=_DRIVER)
    host = url.host or str(url.query.get("host", ""))
    if host and not host.startswith("/") and not is_loopback(host) and "sslmode" not in url.query:
        url = url.update_query_dict({"sslmode": "require"})  # source code goes there: whoever wants it in clear says so
    secrets = {str(url.password or ""), str(url.query.get("password", ""))} - {""}
    port = f":{url.port}" if url.port else ""
    user = f"{url.username}@" if url.username else ""
    return Place("postgres", f"{user}{host or 'localhost'}{port}/{url.database}", url, tuple(sorted(secrets)))
