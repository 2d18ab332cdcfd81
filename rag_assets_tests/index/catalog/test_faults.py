"""A catalog that cannot be used says its name, the cause and the next command, and never a password."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.defs.retries import is_transient
from rag_assets.index.catalog import forget_label, open_catalog, open_catalog_target, place_of, publish, tell_served
from rag_assets.index.catalog.errors import CatalogEmpty, CatalogError, CatalogUnreachable
from rag_assets.index.database import URL_VARIABLE
from rag_assets.index.layout import IndexHome
from rag_assets.settings import Settings, StoreSettings
from rag_assets_tests.index.catalog.conftest import LABEL, Catalog, point
from rag_assets_tests.postgres_server import PASSWORD, PostgresServer, running_server

FIRST = [point(number) for number in range(6)]


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """The server of the run, which is up again at the end whatever a test does to it."""
    found = running_server()
    yield found
    if not (found.data / "postmaster.pid").exists():
        found.start()


def database_of(catalog: Catalog) -> str:
    return os.environ[URL_VARIABLE].rpartition("/")[2]


def test_without_the_setting_there_is_no_catalog(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    tenant = {"org_id": "acme", "project_id": "shop", "index_label": LABEL}
    assert open_catalog_target(settings, **tenant, generation_id="g1") is None
    with pytest.raises(CatalogError, match=r"set stores.catalog to sqlite or postgres"):
        open_catalog(settings)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "is not set; set it to postgresql://"),
        ("not a url s3cr3t", "is not a database URL"),
        ("mysql://me:s3cr3t@host/db", "names a mysql database"),
        ("postgresql+psycopg://me:s3cr3t@host/db", "names a postgresql"),
        ("postgresql://me:s3cr3t@host", "names no database"),
        ("postgresql://me:s3cr3t@host:port/db", "is not a database URL"),
    ],
    ids=["absent", "no url", "mysql", "another driver", "no database", "port"],
)
def test_a_wrong_address_is_explained_without_its_password(tmp_path: Path, url: str, message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        place_of("postgres", IndexHome(tmp_path), {URL_VARIABLE: url})
    assert message in str(caught.value)
    assert "s3cr3t" not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_the_base_install_says_what_postgres_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg2", None)
    monkeypatch.setenv(URL_VARIABLE, "postgresql://me@127.0.0.1/rag")
    with pytest.raises(CatalogError, match=r"needs psycopg2; run: pip install psycopg2-binary"):
        open_catalog(Settings(home=tmp_path, stores=StoreSettings(catalog="postgres")))


@pytest.mark.parametrize(
    ("url", "sslmode"),
    [
        ("postgresql://me@db.example.org/rag", "require"),
        ("postgresql://me@db.example.org/rag?sslmode=disable", "disable"),
        ("postgresql://me@127.0.0.1/rag", None),
        ("postgres://me@localhost:5432/rag", None),
        ("postgresql:///rag?host=/var/run/postgresql", None),
    ],
    ids=["elsewhere", "said", "address of this machine", "name of this machine", "socket"],
)
def test_source_goes_to_other_machines_encrypted(tmp_path: Path, url: str, sslmode: str | None) -> None:
    place = place_of("postgres", IndexHome(tmp_path), {URL_VARIABLE: url})
    assert place.url.query.get("sslmode") == sslmode
    assert place.url.drivername == "postgresql+psycopg2"


def test_what_is_shown_of_a_place_holds_no_password(tmp_path: Path) -> None:
    place = place_of(
        "postgres", IndexHome(tmp_path), {URL_VARIABLE: "postgresql://me:s3cr3t@db:5432/rag?password=s4cr3t"}
    )
    assert place.name == "me@db:5432/rag"
    assert not re.search("s[34]cr3t", repr(place))
    assert place.masked("refused s3cr3t and s4cr3t") == "refused *** and ***"


Change = Callable[[PostgresServer, str], str]
REFUSALS: dict[str, tuple[Change, str, bool]] = {
    "wrong password": (
        lambda s, db: s.url(db, password="wr0ng"),
        "set user and password in RAG_ASSETS_CATALOG_URL",
        False,
    ),
    "unknown user": (lambda s, db: s.url(db, user="nobody"), "set user and password in RAG_ASSETS_CATALOG_URL", False),
    "missing database": (lambda s, db: s.url("nowhere"), "create that database", False),
    "nobody listens": (lambda s, db: s.url(db).replace(f":{s.port}", ":1"), "is the server of .* up", True),
    "unknown host": (
        lambda s, db: s.url(db).replace("127.0.0.1", "no.such.host.invalid"),
        "is the server of .* up",
        True,
    ),
    "no encryption": (lambda s, db: s.url(db) + "?sslmode=require", "add \\?sslmode=disable", False),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_says_what_to_do(
    on_postgres: Catalog, server: PostgresServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    change, message, passes = REFUSALS[name]
    monkeypatch.setenv(URL_VARIABLE, change(server, database_of(on_postgres)))
    with pytest.raises(CatalogError, match=f"catalog .* cannot be written: .*{message}") as caught:
        on_postgres.bring("g1", FIRST)
    assert is_transient(caught.value) is passes
    assert not re.search(f"{PASSWORD}|wr0ng", str(caught.value))


def test_a_user_who_may_only_read_reads_and_is_told(
    on_postgres: Catalog, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = database_of(on_postgres)
    on_postgres.build("g1", FIRST)
    server.execute("DROP ROLE IF EXISTS reader")
    server.execute("CREATE ROLE reader LOGIN PASSWORD 'reading'")
    server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", name)
    monkeypatch.setenv(URL_VARIABLE, server.url(name, "reader", "reading"))
    with on_postgres.opened() as database, pytest.raises(CatalogError, match="reader may not write"):
        database.require_rights()
    with pytest.raises(CatalogError, match=r"permission denied .*; grant its user") as caught:
        on_postgres.bring("g2", FIRST)
    assert not isinstance(caught.value, CatalogUnreachable)
    empty = server.new_database()
    monkeypatch.setenv(URL_VARIABLE, server.url(empty, "reader", "reading"))
    with pytest.raises(CatalogError, match=r"permission denied .*; grant its user"):
        on_postgres.bring("g2", FIRST)
    server.execute("DROP OWNED BY reader", name)


def test_a_server_gone_between_two_batches_loses_nothing(on_postgres: Catalog, server: PostgresServer) -> None:
    """The cause and the next command; after a restart the same build goes on, and readers see whole generations."""
    on_postgres.build("g1", FIRST)
    target = on_postgres.target("g2")
    target.stored()
    target.upsert([point(0, "changed")])
    target.upsert([point(10)])
    target.delete([FIRST[5].id])  # waits for the batches before it
    server.stop()
    with pytest.raises(
        CatalogUnreachable, match=r"is the server of RAG_ASSETS_CATALOG_URL up.*run the same again"
    ) as caught:
        target.upsert([point(11)])
        target.finish()
    assert is_transient(caught.value)
    server.start()
    assert len(on_postgres.read("g1")) == len(FIRST)
    wanted = [point(0, "changed"), *FIRST[1:5], point(10), point(11)]
    assert len(on_postgres.build("g2", wanted).upserts) == 1
    assert set(on_postgres.read("g2")) == {one.id for one in wanted}


def test_a_server_that_was_restarted_between_two_batches_is_no_error(
    on_postgres: Catalog, server: PostgresServer
) -> None:
    target = on_postgres.target("g1")
    target.upsert(FIRST[:3])
    target.delete([])
    server.stop()
    server.start()
    target.upsert(FIRST[3:])
    target.finish()
    on_postgres.publish("g1")
    assert len(on_postgres.read("g1")) == len(FIRST)


def test_what_cannot_be_told_does_not_fail_the_build(
    on_postgres: Catalog, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_postgres.build("g1", FIRST)
    right = os.environ[URL_VARIABLE]
    monkeypatch.setenv(URL_VARIABLE, server.url("nowhere"))
    problems = on_postgres.publish("g1") + tell_served(on_postgres.home, on_postgres.manifest("g1"))
    assert [problem.startswith("the catalog does not know yet what is served: ") for problem in problems] == [True] * 2
    monkeypatch.setenv(URL_VARIABLE, right)
    assert on_postgres.publish("g1") == []


def test_rows_are_not_looked_for_in_another_catalog(
    on_postgres: Catalog, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_postgres.build("g1", FIRST)
    monkeypatch.setenv(URL_VARIABLE, server.url(server.new_database()))
    with pytest.raises(CatalogError, match=f"rows of {LABEL} are in the catalog .* is another one"):
        forget_label(on_postgres.home, LABEL)


def test_a_generation_from_before_the_catalog_is_named(catalog: Catalog) -> None:
    manifest = catalog.manifest("g0")
    (problem,) = publish(catalog.settings, manifest, "g0", ["g0"])
    assert f"g0 is not in the catalog; put it there with: rag-assets index {LABEL} --force" in problem


def test_an_empty_place_says_what_fills_it(catalog: Catalog) -> None:
    with pytest.raises(CatalogEmpty, match="empty yet; filled by: rag-assets index"):
        catalog.opened()
    assert not catalog.settings.home.exists()


def test_tables_of_another_version_are_not_touched(catalog: Catalog) -> None:
    catalog.build("g1", FIRST)
    with catalog.opened() as database, database.transaction("written") as connection:
        connection.exec_driver_sql("UPDATE rag_catalog SET value = '99' WHERE name = 'version'")
    for using in (catalog.opened, lambda: catalog.bring("g2", FIRST)):
        with pytest.raises(
            CatalogError,
            match=r"has format 99, this version reads 3; .*, then run: rag-assets index --force",
        ):
            using()


def test_a_damaged_file_says_how_to_go_on(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, stores=StoreSettings(catalog="sqlite"))
    (tmp_path / "catalog.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(CatalogError, match="delete that file, then run: rag-assets index --force"):
        open_catalog(settings)


def test_a_lost_document_is_named(catalog: Catalog) -> None:
    target = catalog.target("g1")
    for path in catalog.home.blobs.glob("??/*"):
        path.unlink()
    with pytest.raises(Exception, match="is not in the blob store; run: rag-assets index --force"):
        target.upsert(FIRST)
        target.finish()


def test_a_point_that_is_wrong_leaves_the_batch_out(catalog: Catalog) -> None:
    """A transaction is all or nothing: the rows of one batch come together."""
    target = catalog.target("g1")
    with pytest.raises(CatalogError):
        target.upsert([FIRST[0], replace(FIRST[1], id="no id")])
    target.finish()
    assert catalog.rows() == 0
