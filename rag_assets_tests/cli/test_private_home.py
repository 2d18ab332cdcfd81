"""What lies in a home, and in the Dagster instance in it, is for its owner alone: folders 0700, files 0600."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets_tests.cli.conftest import FILES, CommandLine
from rag_assets_tests.git_repository import Repository

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")


@pytest.fixture
def open_umask() -> Iterator[None]:
    """As most systems have it. The processes that a test starts take it over."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def readable_by_others(folder: Path) -> list[str]:
    """Everything that has another mode than it should have."""
    found = []
    for path in (folder, *folder.rglob("*")):
        about = path.lstat()
        if stat.S_ISSOCK(about.st_mode) or stat.S_ISLNK(about.st_mode):
            continue
        wanted = 0o700 if stat.S_ISDIR(about.st_mode) else 0o600
        if stat.S_IMODE(about.st_mode) & ~wanted:
            found.append(f"{stat.filemode(about.st_mode)} {path.relative_to(folder)}")
    return found


END_OF_COMMAND = "\x1e"
COMMANDS = """
import sys
from rag_assets.cli import main

words = []
for word in [*sys.argv[1:], ";"]:
    if word != ";":
        words.append(word)
        continue
    sys.argv[1:], words = words, []
    try:
        main()
    except SystemExit as end:
        assert end.code in (0, 4, None), (sys.argv, end.code)
    print("\x1e", end="")
"""
"""Commands as the shell has them, one after the other in one process; each ends with END_OF_COMMAND."""


@pytest.mark.usefixtures("open_umask")
def test_nobody_else_can_read_a_home(cli: CommandLine, repository: Repository) -> None:
    """After an index by Dagster, an answer in a conversation and a question set; `deploy/test_runs.py` looks after the
    UI. What a command writes outside the home is as the user shares files."""
    changed = FILES["src/Orders/Order.cs"].replace("Id", "Number")
    repository.commit({"src/Orders/Order.cs": changed}, "Orders of customers have a readable number")
    questions = cli.folder / "questions.jsonl"
    words: list[str] = []
    for command in (
        ("index", repository.path, "--lexical-only"),
        ("ask", "Who pays back what a customer returned?", "--session", "mine"),
        ("search", "refund"),
        ("eval", "mine", repository.path, "--out", questions),
        ("eval", "run", "--set", questions),
        ("gc",),
        ("init",),
    ):
        words += ["--home", str(cli.home.root), *map(str, command), ";"]
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, *words[:-1]], cwd=cli.folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (cli.home.root / "conversations.sqlite").is_file() and (cli.home.dagster / "history").is_dir()
    assert readable_by_others(cli.home.root) == []
    for written in (questions, cli.folder / "rag_assets.yaml"):
        assert stat.S_IMODE(written.stat().st_mode) == 0o644


@pytest.mark.usefixtures("open_umask")
def test_a_code_location_keeps_what_it_writes_for_its_owner(cli: CommandLine, tmp_path: Path) -> None:
    """`dagster dev -m rag_assets.definitions` sets no mask; loading the definitions does."""
    load = "import os; from rag_assets.definitions import defs; defs(); print(oct(os.umask(0)))"
    environment = os.environ | {"RAG_ASSETS__HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", load], env=environment, capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert done.stdout.strip() == "0o77"
