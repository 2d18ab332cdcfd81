"""How many modules of this package indexing a repository of one file loads, and how many of them it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import rag_assets
from rag_assets_tests.git_repository import Repository

LOADED = 601
"""Modules that are imported; most of them are languages, builders and commands that such a repository does not need."""
RUN = 250
"""Modules of which a function is called, imports apart."""

SOURCE = """\
namespace One;

/// <summary>Counts sheep.</summary>
public class SheepCounter
{
    public int Count(int before) => before + 1;
}
"""

PROGRAM = """\
import inspect, sys, threading

run = set()

def is_importing(frame):
    while frame is not None and "importlib._bootstrap" not in frame.f_code.co_filename:
        frame = frame.f_back
    return frame is not None

def note(frame, event, argument):
    name = frame.f_globals.get("__name__") or ""
    if event == "call" and name.startswith("rag_assets") and name not in run:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED and not is_importing(frame):
            run.add(name)

from rag_assets.cli import main

threading.setprofile(note)
sys.setprofile(note)
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
finally:
    sys.setprofile(None)
    loaded = [name for name in sys.modules if name.partition(".")[0] == "rag_assets"]
    print(len(loaded), len(run), file=sys.stderr)
"""


def test_indexing_one_file_stays_within_its_modules(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    repository = Repository(tmp_path / "one")
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.commit({"SheepCounter.cs": SOURCE})
    words = ["--home", str(tmp_path / "home"), "index", str(repository.path), "--lexical-only"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(rag_assets.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    loaded, run = map(int, done.stderr.splitlines()[-1].split())
    assert loaded <= LOADED and run <= RUN, (loaded, run)
