"""What a command loads and runs before it can answer: the start-up budgets, counted in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import rag_assets
from rag_assets_tests.git_repository import Repository

HEAVY = {"dagster", "openai", "pandas", "pyarrow", "sqlalchemy"}

SOURCE = """\
namespace One;

/// <summary>Counts sheep.</summary>
public class SheepCounter
{
    public int Count(int before) => before + 1;
}
"""

PROGRAM = """\
import inspect, json, os, sys, tempfile, threading

notes = tempfile.TemporaryFile(buffering=0)  # a copy of this process that works on files writes to it too
run = set()

def is_importing(frame):
    while frame is not None and "importlib._bootstrap" not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None

def note(frame, event, argument):
    name = frame.f_globals.get("__name__") or ""
    if name.startswith("rag_assets") and name not in run:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED and not is_importing(frame):
            run.add(name)
            notes.write(b"run " + name.encode() + b"\\n")

def note_import(event, arguments):
    if event == "import" and arguments[0].startswith("rag_assets"):
        notes.write(b"loaded " + arguments[0].encode() + b"\\n")

sys.addaudithook(note_import)

from rag_assets.cli import main

threading.settrace(note)
sys.settrace(note)  # tells of calls only, as `note` returns nothing
try:
    main()
finally:
    sys.settrace(None)
    notes.seek(0)
    noted = {tuple(line.split()) for line in notes.read().decode().splitlines()}
    run = sorted(name for what, name in noted if what == "run")
    print(json.dumps({"loaded": sorted({name for _, name in noted} | set(sys.modules)), "run": run}), file=sys.stderr)
"""


class Modules(msgspec.Struct):
    """The modules that a command imported, and those of the package of which it called a function, imports apart; those
    of the processes that it copied for the work on files too."""

    loaded: list[str]
    run: list[str]

    @property
    def own(self) -> list[str]:
        return [name for name in self.loaded if name.partition(".")[0] == "rag_assets"]


def executed(folder: Path, *words: str) -> tuple[str, Modules]:
    """The standard output of a command with the home of this folder, and its modules."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--home", str(folder / "home"), *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(rag_assets.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, msgspec.json.decode(done.stderr.splitlines()[-1], type=Modules)


@pytest.fixture(scope="module")
def indexing(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Modules]:
    """The folder of an index of one C# file, and what indexing it took."""
    folder = tmp_path_factory.mktemp("startup")
    repository = Repository.new(folder / "one", {"SheepCounter.cs": SOURCE})
    return folder, executed(folder, "index", str(repository.path), "--lexical-only")[1]


def test_indexing_one_file_runs_few_modules(indexing: tuple[Path, Modules]) -> None:
    _, modules = indexing
    assert len(modules.run) <= 190, modules.run
    assert len(modules.own) <= 350, "languages, builders and commands that such a repository does not need"


def test_a_keyword_search_loads_few_modules(indexing: tuple[Path, Modules]) -> None:
    folder, _ = indexing
    Repository(folder / "one").commit({"later.txt": "later"})
    shown, modules = executed(folder, "search", "who counts sheep")
    assert "SheepCounter" in shown and "stale: indexed" in shown
    assert len(modules.run) <= 40, modules.run
    assert len(modules.own) <= 48, modules.own
    assert not HEAVY & set(modules.loaded)


def test_an_answer_without_a_model_runs_few_modules(indexing: tuple[Path, Modules]) -> None:
    folder, _ = indexing
    shown, modules = executed(folder, "ask", "what counts sheep?")
    assert "Counts sheep." in shown
    assert len(modules.run) <= 85, modules.run
    assert len(modules.own) <= 135, modules.own
    assert not HEAVY & set(modules.loaded)


def test_a_server_starts_without_what_only_some_of_its_clients_ask_for() -> None:
    """The first client of a home waits for its answer until the server has imported all it needs."""
    code = "import sys, rag_assets.serving.start; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "rag_assets.search.search" in loaded
    assert not {"rag_assets.qa.answering", "rag_assets.evaluation.report"} & loaded
    assert not HEAVY & loaded


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, rag_assets; print([name for name in sys.modules if name.startswith('rag_assets.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_imported() -> None:
    assert rag_assets.__version__
    for name in rag_assets.__all__:
        assert getattr(rag_assets, name) is not None
    errors = {value for name in rag_assets.__all__ if isinstance(value := getattr(rag_assets, name), type)}
    raised = {kind for kind in errors if issubclass(kind, BaseException)}
    assert raised and all(issubclass(kind, rag_assets.RagAssetsError) for kind in raised)


def test_a_command_looks_for_cycles_neither_while_it_loads_nor_before_it_ends() -> None:
    """Python does both among all that is loaded: each takes a sixth of the time of a small command."""
    code = "import atexit, gc; looked = lambda: sum(each['collections'] for each in gc.get_stats())\n"
    code += "atexit.register(lambda: print(len(gc.get_objects()) < gc.get_freeze_count(), looked() - before))\n"
    code += "from rag_assets.cli import main; before = looked(); main()"
    done = subprocess.run([sys.executable, "-c", code, "index", "--help"], capture_output=True, text=True, check=True)
    frozen, looked = done.stdout.splitlines()[-1].split()
    assert (frozen, int(looked) <= 2) == ("True", True), done.stdout
