"""`rag-assets validate`: stored points as other programs find them, in every store."""

from __future__ import annotations

import sqlite3

import pytest

from rag_assets.index.database import row_digest
from rag_assets_tests.cli.conftest import CommandLine, Indexed
from rag_assets_tests.git_repository import Repository

RULES = 27


@pytest.mark.rule("F04")
def test_an_index_of_the_contract_has_no_violations(indexed: Indexed) -> None:
    done = indexed.cli.run("validate", indexed.label)
    assert done.code == 0, done.err
    assert f"points, {RULES} rules, 0 violations" in done.out
    found = indexed.cli.run("validate", "--json").json
    (store,) = found["stores"]
    assert found["violations"] == store["violations"] == 0 and store["points"] == store["declared"] > 0
    assert len(store["rules"]) == RULES and all(rule["rows"] for rule in store["rules"])


def configured(cli: CommandLine, stores: str) -> None:
    (cli.folder / "rag_assets.yaml").write_text(
        f"embedder: {{provider: lexical-only}}\nstores: {{{stores}}}\n", encoding="utf-8"
    )


@pytest.mark.rule("F04", "B13")
def test_what_is_wrong_in_the_catalog_is_said_with_the_place(cli: CommandLine, repository: Repository) -> None:
    """By SQL: one date is gone, one point is lost. Written as the catalog writes, or its digests say damage first."""
    configured(cli, "catalog: sqlite")
    cli.build(repository.path)
    assert cli.run("validate", "--json").json["violations"] == 0
    with sqlite3.connect(cli.home.root / "catalog.sqlite") as database:
        database.create_function("rag_digest", -1, row_digest, deterministic=True)
        database.execute("UPDATE rag_chunks SET payload = json_remove(payload, '$.IndexedUtc') WHERE row_id = 1")
        database.execute("DELETE FROM rag_chunks WHERE row_id = 2")
    done = cli.run("validate")
    assert done.code == 1
    assert "every required field is there" in done.out and "without IndexedUtc" in done.out
    assert "points are declared" in done.out
    assert "B22" not in done.out, "numbers of rules are for --json"
