"""Where a database is: a SQLite file, or a Postgres database that only the environment names.

The URL holds a password, so it is never a setting, never written anywhere and not part of any message.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rag_assets.errors import RagAssetsError
from rag_assets.settings.urls import is_loopback

if TYPE_CHECKING:
    from sqlalchemy import URL

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
