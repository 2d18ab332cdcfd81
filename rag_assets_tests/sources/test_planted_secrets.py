"""Secrets in every kind of file are found again nowhere in what the command line writes."""

from __future__ import annotations

from pathlib import Path

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.planted_secrets import found_again, plant, written


def test_planted_secrets_are_found_again_nowhere(tmp_path: Path) -> None:
    repository = Repository.new(tmp_path / "shop")
    planted = plant(repository)
    assert (
        len(planted) >= 200 and len({one.kind for one in planted}) >= 60 and len({one.place for one in planted}) >= 12
    )
    asked = [one.secret for one in planted if one.kind in {"GitHub", "Stripe of 107", "OpenAI project"}]
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    (tmp_path / "rag_assets.yaml").write_text("stores: {catalog: sqlite}\n")
    built = cli.spawn("index", repository.path, "--lexical-only")
    assert built.code == 0, built.err
    for secret in asked:
        done = cli.run("ask", f"where is {secret} used?", "--session", "s1")
        assert done.code in {0, 4}, done.err
    assert {"conversations.sqlite", "catalog.sqlite"} <= {file.name for file in cli.home.root.rglob("*")}
    assert len(found_again(planted, written(repository.path))) > len(planted) - 20, (
        "what is compressed in Word stays unseen"
    )
    assert not found_again(planted, written(cli.home.root))
