"""A home that may only be read, as on a read-only file system or of another user: everything that reads works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import rag_assets
from rag_assets_tests.cli.conftest import TIME_LIMIT, CommandLine, Outcome, index_without_dagster
from rag_assets_tests.git_repository import Repository

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")

READS = {
    "search": ("search", "refund order"),
    "ask": ("ask", "What pays back what a customer returned?"),
    "show": ("show", "README.md:1"),
    "explain": ("explain", "README.md"),
    "graph": ("graph", "overview"),
    "status": ("status",),
    "generations": ("generations", "list"),
    "validate": ("validate",),
    "doctor": ("doctor",),
}


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
    for path in modes:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


COMMANDS = """
import json, sys
from typer.testing import CliRunner
from rag_assets.cli import app

done = {}
for name, words in json.loads(sys.argv[2]).items():
    one = CliRunner().invoke(app, ["--home", sys.argv[1], *words])
    done[name] = [one.exit_code, one.stdout, one.stderr]
print(json.dumps(done))
"""
"""One after the other in one process."""


def powerless(cli: CommandLine, temporary: Path) -> dict[str, Outcome]:
    """The commands of somebody who may not write where the modes of files forbid it, as root may."""
    command = [sys.executable, "-c", COMMANDS, str(cli.home.root), json.dumps(READS)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and there is no setpriv to be less")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    environment = os.environ | {"PYTHONPATH": str(Path(rag_assets.__file__).parents[1]), "TMPDIR": str(temporary)}
    done = subprocess.run(
        command, env=environment, cwd=cli.folder, capture_output=True, text=True, timeout=TIME_LIMIT, check=True
    )
    return {name: Outcome(*one) for name, one in json.loads(done.stdout).items()}


def test_what_reads_works_in_a_home_that_may_only_be_read(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    assert cli.run("ask", "What is an order?", "--session", "mine").code == 0
    (cli.folder / "rag_assets.yaml").write_text("embedder: {provider: lexical-only}\n", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in cli.home.root.rglob("*") if path.is_file()}
    with tempfile.TemporaryDirectory() as folder, read_only(cli.home.root):
        done = powerless(cli, Path(folder))
        assert list(Path(folder).glob("rag-assets-*")) == [], "no copy stays"
    assert {name: one.err for name, one in done.items() if one.code} == {}
    assert "OrderService.cs" in done["search"].out and "OrderService.cs" in done["ask"].out
    assert "this question is not in the log" in done["ask"].err
    assert "cannot be written: its indexes can be searched" in done["doctor"].out
    assert "damaged" not in done["doctor"].out and "conversations" not in done["doctor"].out
    assert {path: path.stat().st_mtime_ns for path in before} == before
