"""`rag-assets publish` and `rag-assets pull` on real homes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import RepositorySettings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import lexical

LABEL = "shop@main"


@pytest.fixture
def builder(tmp_path: Path) -> Path:
    source = Repository(tmp_path / "source")
    source.path.mkdir()
    source.git("init", "--quiet", "--initial-branch=main")
    source.commit({"src/Order.cs": "public class Order { public int Id; }\n"})
    home = tmp_path / "builder"
    run_stages(lexical(home), LABEL, RepositorySettings(id="shop", location=str(source.path), ref="main"))
    return home


def run(home: Path, remote: str, *words: str) -> subprocess.CompletedProcess[str]:
    script = "from rag_assets.cli import main; main()"
    environment = os.environ | {"RAG_ASSETS__STORES__REMOTE": remote, "RAG_ASSETS__EMBEDDER__PROVIDER": "lexical-only"}
    return subprocess.run(
        [sys.executable, "-c", script, "--home", str(home), "--no-color", *words],
        env=environment,
        cwd=home.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_one_home_publishes_and_another_serves(tmp_path: Path, builder: Path) -> None:
    remote, here = (tmp_path / "remote").as_uri(), tmp_path / "here"
    planned = answer(run(builder, remote, "publish", "--dry-run", "--json"))
    assert planned["sent"] > 0 and not (tmp_path / "remote").exists(), "a dry run sends nothing"
    done = answer(run(builder, remote, "publish", LABEL, "--json"))
    assert done["sent"] == planned["sent"] and done["label"] == LABEL
    assert answer(run(builder, remote, "publish", "--json"))["sent"] == 0
    assert answer(run(builder, remote, "publish", "--force", "--json"))["sent"] == done["sent"]
    pulled = run(here, remote, "pull", LABEL)
    assert pulled.returncode == 0 and "fetched" in pulled.stdout, pulled.stderr
    assert "is here already" in run(here, remote, "pull", LABEL).stdout
    assert "src/Order.cs" in run(here, remote, "search", "order").stdout


@pytest.mark.parametrize(
    ("remote", "words", "message"),
    [
        ("", ["pull", LABEL], "set stores.remote to s3://bucket/prefix"),
        ("", ["publish"], "set stores.remote to s3://bucket/prefix"),
        ("REMOTE", ["pull", "shop@mian"], "nothing of label 'shop@mian' is published"),
        ("REMOTE", ["pull", "a/b"], "not an index label"),
        ("s3://k:geheim@b", ["publish"], "must not hold a key"),
    ],
    ids=["pull-without", "publish-without", "unknown", "no-label", "key"],
)
def test_what_cannot_be_done_says_why(
    tmp_path: Path, builder: Path, remote: str, words: list[str], message: str
) -> None:
    done = run(builder, remote.replace("REMOTE", (tmp_path / "remote").as_uri()), *words)
    assert done.returncode == 1 and message in done.stderr and "geheim" not in done.stderr
