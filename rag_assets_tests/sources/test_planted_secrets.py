"""Secrets in every kind of file are found again nowhere in what the command line writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rag_assets_tests.git_repository import Repository
from rag_assets_tests.planted_secrets import found_again, plant, written


def test_planted_secrets_are_found_again_nowhere(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    repository = Repository(tmp_path / "shop")
    repository.git("init", "--quiet", "--initial-branch=main")
    planted = plant(repository)
    assert (
        len(planted) >= 200 and len({one.kind for one in planted}) >= 60 and len({one.place for one in planted}) >= 12
    )
    asked = [one.secret for one in planted if one.kind in {"GitHub", "Stripe of 107", "OpenAI project"}]
    home = tmp_path / "home"
    (tmp_path / "rag_assets.yaml").write_text("stores: {catalog: sqlite}\n")

    def run(*words: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "rag_assets", "--home", str(home), *words],
            cwd=tmp_path,
            env=os.environ | {"COLUMNS": "200"},
            capture_output=True,
            timeout=600,
            check=False,
        )
        assert done.returncode in {0, 4}, done.stderr.decode()

    run("index", str(repository.path), "--lexical-only")
    for secret in asked:
        run("ask", f"where is {secret} used?", "--session", "s1")
    assert {"conversations.sqlite", "catalog.sqlite"} <= {file.name for file in home.rglob("*")}
    assert len(found_again(planted, written(repository.path))) > len(planted) - 20, (
        "what is compressed in Word stays unseen"
    )
    assert not found_again(planted, written(home))
