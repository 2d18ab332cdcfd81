"""`deploy/dagster.postgres.yaml` on a real Postgres, and the whole pipeline over it: storage of Dagster and catalog."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from dagster import DagsterInstance

pytest.importorskip("dagster_postgres", reason="needs: pip install dagster-postgres")

from rag_assets import open_index
from rag_assets.cli.console import Output
from rag_assets.cli.reset import remove_labels
from rag_assets.index.catalog import open_catalog
from rag_assets.index.catalog.reader import entries, rows_and_documents
from rag_assets.index.database import URL_VARIABLE
from rag_assets_tests.defs.conftest import Automated, failure_text
from rag_assets_tests.postgres_server import PASSWORD, PostgresServer, running_server

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "deploy" / "dagster.postgres.yaml"


@pytest.fixture
def server() -> PostgresServer:
    return running_server()


@pytest.fixture
def on_postgres(server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Automated]:
    """Dagster and the catalog in one database, as a small team has it."""
    database = server.new_database()
    for name, value in {"HOST": "127.0.0.1", "PORT": server.port, "DB": database, "USER": "postgres"}.items():
        monkeypatch.setenv(f"DAGSTER_PG_{name}", str(value))
    monkeypatch.setenv("DAGSTER_PG_PASSWORD", PASSWORD)
    monkeypatch.setenv(URL_VARIABLE, server.url(database))
    monkeypatch.setenv("RAG_ASSETS__STORES__CATALOG", "postgres")
    folder = tmp_path / "dagster"
    folder.mkdir()
    shutil.copy(CONFIG, folder / "dagster.yaml")
    with DagsterInstance.from_config(str(folder)) as instance:
        yield Automated(tmp_path, instance)


def test_it_differs_from_the_embedded_variant_in_storage_and_runs_only() -> None:
    embedded = yaml.safe_load((ROOT / "rag_assets" / "defs" / "dagster.yaml").read_text(encoding="utf-8"))
    found = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    assert found.pop("storage")["postgres"]["postgres_db"]["scheme"] == "postgresql+psycopg2"
    assert found["concurrency"]["runs"].pop("max_concurrent_runs") == 10
    embedded["concurrency"]["runs"].pop("max_concurrent_runs")
    assert found == embedded


def test_the_whole_pipeline_runs_on_postgres(on_postgres: Automated) -> None:
    source = on_postgres.repository("shop", ref="main")
    label = on_postgres.register("shop")
    result = on_postgres.run(label)
    assert result.success, failure_text(result)
    assert "Postgres" in type(on_postgres.instance.event_log_storage).__name__
    assert on_postgres.instance.get_run_by_id(result.run_id) is not None
    (source.path / "README.md").unlink()
    source.commit({"src/Invoice.cs": "namespace Shop;\n\npublic class Invoice { public int Id { get; set; } }\n"})
    again = on_postgres.run(label)
    assert again.success, failure_text(again)
    assert searched(on_postgres, label, "Invoice") == "Shop.Invoice"
    with open_catalog(on_postgres.settings) as database:
        assert [(entry.run_id, entry.active) for entry in entries(database)] == [
            (result.run_id, False),
            (again.run_id, True),
        ]
    remove_labels(on_postgres.home, [label], Output(quiet=True))
    with open_catalog(on_postgres.settings) as database:
        assert (entries(database), rows_and_documents(database)) == ([], (0, 0))


def test_with_the_vectors_in_a_server(on_postgres: Automated, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("qdrant_client")
    from rag_assets_tests.index.qdrant_wire import QdrantWire

    on_postgres.repository("shop", ref="main")
    label = on_postgres.register("shop")
    with QdrantWire() as wire:
        monkeypatch.setenv("RAG_ASSETS__STORES__VECTORS", "qdrant")
        monkeypatch.setenv("RAG_ASSETS__STORES__QDRANT_URL", wire.url)
        result = on_postgres.run(label)
        assert result.success, failure_text(result)
        assert searched(on_postgres, label, "Order") == "Shop.Order"
    with open_catalog(on_postgres.settings) as database:
        assert [entry.active for entry in entries(database)] == [True]


def searched(on_postgres: Automated, label: str, question: str) -> str:
    with open_index(label, home=on_postgres.home.root) as index:
        return index.search(question)[0].symbol


def test_a_wrong_password_fails_the_run_and_is_not_tried_again(
    on_postgres: Automated, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_postgres.repository("shop", ref="main")
    label = on_postgres.register("shop")
    monkeypatch.setenv(URL_VARIABLE, server.url("postgres", password="wr0ng"))
    result = on_postgres.run(label)
    said = failure_text(result)
    assert not result.success and "set user and password in RAG_ASSETS_CATALOG_URL" in said
    assert "wr0ng" not in said
    assert not [event for event in result.all_events if event.is_step_up_for_retry]
