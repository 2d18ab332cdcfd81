"""Builds with a catalog: kept in step with the home through commits, rollbacks, prunings, kills and resets."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.cli.console import Output
from rag_assets.cli.reset import remove_labels
from rag_assets.index.catalog import open_catalog
from rag_assets.index.catalog.errors import CatalogError
from rag_assets.index.catalog.history import Tenant
from rag_assets.index.catalog.reader import CatalogEntry, entries, open_generation, rows_and_documents
from rag_assets.index.database import URL_VARIABLE
from rag_assets.index.generations import all_generations
from rag_assets.settings import EmbedderSettings, RetentionSettings, Settings, StoreSettings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import Built, built
from rag_assets_tests.postgres_server import PostgresServer, running_server

FILES = {f"src/Type{n}.cs": f"namespace Shop;\n\npublic class Type{n} {{ int id{n}; }}\n" for n in range(8)}
TIME_LIMIT = 120.0


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "postgres":
        server = running_server()
        monkeypatch.setenv(URL_VARIABLE, server.url(server.new_database()))
    return str(request.param)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresServer]:
    found = running_server()
    monkeypatch.setenv(URL_VARIABLE, found.url(found.new_database()))
    yield found
    if not (found.data / "postmaster.pid").exists():
        found.start()


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    return Repository.new(tmp_path / "source", FILES)


def settings_for(home: Path, kind: str, keep: int = 3) -> Settings:
    return Settings(
        home=home,
        embedder=EmbedderSettings(provider="lexical-only"),
        stores=StoreSettings(catalog=kind),  # type: ignore[arg-type]
        retention=RetentionSettings(keep=keep),
    )


def known(settings: Settings) -> list[CatalogEntry]:
    with open_catalog(settings) as database:
        return entries(database)


def content(made: Built, generation_id: str | None = None) -> dict[str, tuple[str, str]]:
    """id → (digest, ContentHash) of a generation as the catalog has it."""
    tenant = Tenant(made.repository.org, made.repository.project_id, made.label)
    with open_catalog(made.settings) as database:
        return open_generation(database, tenant, generation_id).declared()


def paths(made: Built) -> set[str]:
    tenant = Tenant(made.repository.org, made.repository.project_id, made.label)
    with open_catalog(made.settings) as database:
        reader = open_generation(database, tenant)
        return {point.payload["Path"] for batch in reader.points(set(reader.declared())) for point in batch}


@pytest.mark.rule("E05", "E07")
def test_the_catalog_follows_commits_deletions_and_a_reset(kind: str, source: Repository, tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "home", kind)
    first = built(source, settings)
    assert first.reports["active_index"].problems == []
    assert len(content(first)) == first.reports["qdrant_points"].counts["points"]
    source.commit({"src/New.cs": "namespace Shop;\n\npublic class New { int id; }\n"})
    assert "src/New.cs" in paths(built(source, settings))
    (source.path / "src" / "Type3.cs").unlink()
    source.commit({})
    last = built(source, settings)
    assert paths(last) == {*FILES, "src/New.cs"} - {"src/Type3.cs"}
    listed = known(settings)
    assert {entry.generation_id for entry in listed} == set(all_generations(last.build.home, last.label))
    assert [entry.generation_id for entry in listed if entry.active] == [last.build.spec.generation_id]
    remove_labels(last.build.home, [last.label], Output(quiet=True))
    with open_catalog(settings) as database:
        assert (entries(database), rows_and_documents(database)) == ([], (0, 0))


def test_what_is_pruned_goes_from_the_catalog_too(kind: str, source: Repository, tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "home", kind, keep=1)
    for number in range(4):
        source.commit({"src/Type0.cs": f"namespace Shop;\n\npublic class Renamed{number} {{ int id; }}\n"})
        last = built(source, settings)
    assert {entry.generation_id for entry in known(settings)} == set(all_generations(last.build.home, last.label))
    assert len(known(settings)) == 2


def test_a_revert_is_the_same_text_of_another_commit(kind: str, source: Repository, tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "home", kind)
    first = content(built(source, settings))
    source.commit({"src/Type0.cs": "namespace Shop;\n\npublic class Other { int id; }\n"})
    built(source, settings)
    source.commit(FILES)
    last = content(built(source, settings))
    assert {known: text for known, (_, text) in last.items()} == {known: text for known, (_, text) in first.items()}
    assert len(last.items() - first.items()) == 1, "the point of the file that was changed twice"


def test_nothing_to_do_costs_no_rows(kind: str, source: Repository, tmp_path: Path) -> None:
    settings = settings_for(tmp_path / "home", kind)
    made = built(source, settings)
    with open_catalog(settings) as database:
        before = rows_and_documents(database)
    assert made.again().reports["active_index"].unchanged
    with open_catalog(settings) as database:
        assert rows_and_documents(database) == before


def test_a_catalog_that_is_gone_fails_the_build_before_the_vectors(
    source: Repository, tmp_path: Path, server: PostgresServer
) -> None:
    """The old index stays, and after a restart the same command goes on (E05)."""
    settings = settings_for(tmp_path / "home", "postgres")
    first = built(source, settings)
    source.commit({"src/New.cs": "namespace Shop;\n\npublic class New { int id; }\n"})
    server.stop()
    with pytest.raises(CatalogError, match=r"cannot be written: .* up.*run the same again"):
        built(source, settings)
    unfinished = set(all_generations(first.build.home, first.label)) - {first.build.spec.generation_id}
    assert [(first.build.directory.parent / known / "manifest.json").exists() for known in unfinished] == [False]
    server.start()
    assert "src/New.cs" in paths(built(source, settings))


KILLED = """
import os, sys
from pathlib import Path
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import built
from rag_assets_tests.pipeline.test_catalog_build import settings_for
if __name__ == "__main__":
    built(Repository(Path(sys.argv[1])), settings_for(Path(sys.argv[2]), "postgres"))
"""


@pytest.mark.rule("E07")
@pytest.mark.parametrize("moment", ["begun", "some rows", "complete"])
def test_a_build_that_is_killed_converges_to_the_clean_one(
    source: Repository, tmp_path: Path, server: PostgresServer, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    settings = settings_for(tmp_path / "home", "postgres")
    first = built(source, settings)
    source.commit({f"src/More{n}.cs": f"namespace More;\n\npublic class More{n} {{ int id; }}\n" for n in range(40)})
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(source.path), str(settings.home)],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert killed_when(process, moment)
    assert content(first, first.build.spec.generation_id)
    resumed = content(built(source, settings))
    monkeypatch.setenv(URL_VARIABLE, server.url(server.new_database()))
    clean = content(built(source, settings_for(tmp_path / "clean", "postgres")))
    assert resumed == clean and len(clean) > 40


MOMENTS = {
    "begun": "SELECT 1 FROM rag_generations WHERE state = 'writing'",
    "some rows": "SELECT 1 FROM rag_chunks WHERE born > 1",
    "complete": "SELECT 1 FROM rag_generations WHERE state = 'complete' AND sequence > 1",
}


def killed_when(process: subprocess.Popen[bytes], moment: str) -> bool:
    """Kills the build as soon as others see that it got so far; False where they never saw it."""
    import psycopg2

    connection = psycopg2.connect(os.environ[URL_VARIABLE])
    connection.autocommit = True
    deadline = time.monotonic() + TIME_LIMIT
    seen = False
    try:
        with connection.cursor() as cursor:
            while process.poll() is None and time.monotonic() < deadline:
                cursor.execute(MOMENTS[moment])
                seen = cursor.fetchone() is not None
                if seen:
                    break
                time.sleep(0.001)
    finally:
        connection.close()
        process.kill()
        process.wait()
    return seen
