"""What one commit costs on a repository that is indexed already, beside what Dagster itself costs.

    python benchmarks/one_file_commit.py PATH [--runs 3] [--local]

PATH is a git repository of about 2,000 files (bare or not); it is cloned, and never changed. Everything runs as
`rag-assets index` runs it: the job of the pipeline, in process, on an instance with SQLite storage. The floor is the
same job with assets of the same names, partitions and checks that do nothing, on an instance of its own; it is measured
before and after every build. Each measurement is a process of its own; the clock runs while the job runs, so starting
Python and importing Dagster are not in it ("whole process" has them). Edits: benchmarks/edits.py.
Without the embedding model unless `--local` is given. Exit code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from edits import edit, methods_of, texts_of
from history import git
from report import child, table, with_bytecode

from rag_assets.defs.in_process import quiet
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.settings import RepositorySettings, Settings

NAME = "measured"
BRANCH_FILES = 20
ONE_FILE_LIMIT = 2.5
UNCHANGED_LIMIT = 1.3
_BRANCH = "differs-in-twenty"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--runs", type=int, default=3, help="of everything but the first build; medians are shown")
    parser.add_argument("--local", action="store_true", help="with the embedding model")
    parser.add_argument("--child", choices=("", "empty", "pipeline"), default="", help=argparse.SUPPRESS)
    parser.add_argument("--home", default="", help=argparse.SUPPRESS)
    parser.add_argument("--ref", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        with quiet():
            print(json.dumps({"empty": empty_run, "pipeline": pipeline_run}[arguments.child](arguments)))
        return
    with_bytecode()
    with tempfile.TemporaryDirectory(prefix="rag-assets-one-file-") as folder:
        raise SystemExit(report(arguments, Measured(arguments, Path(folder))))


class Measured:
    """All measurements, in the order in which they are made."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self._arguments, self._folder = arguments, folder
        self.source, self.home = folder / "source.git", IndexHome(folder / "home")
        command = ["git", "clone", "--quiet", "--bare", "--single-branch", str(arguments.repository), str(self.source)]
        subprocess.run(command, check=True)
        self.branch = git(self.source, "symbolic-ref", "--short", "HEAD")
        self._run("empty")  # makes the storage of the instance
        self.first = self._run("pipeline")
        methods = methods_of(self.home, active_generation(self.home, index_label(NAME, self.branch)))
        wanted = arguments.runs + BRANCH_FILES
        bodies = sorted(methods)[:: max(1, len(methods) // wanted)]  # from all over the repository
        if len(bodies) < wanted:
            raise SystemExit(f"{arguments.repository}: only {len(bodies)} files with a method to edit")
        self.empty, self.one_file, self.unchanged = [self._run("empty")], list[dict[str, Any]](), list[dict[str, Any]]()
        for path in bodies[: arguments.runs]:
            edit(self.source, self.branch, self.branch, {path: methods[path]})
            self.one_file.append(self._run("pipeline", self.branch) | {"sections": self._sections(self.branch, [path])})
            self.empty.append(self._run("empty"))
            self.unchanged.append(self._run("pipeline", self.branch))
            self.empty.append(self._run("empty"))
        started = time.perf_counter()
        self._command()
        self.up_to_date = time.perf_counter() - started
        paths = bodies[arguments.runs : wanted]
        edit(self.source, self.branch, _BRANCH, {path: methods[path] for path in paths})
        self.other = self._run("pipeline", _BRANCH) | {"sections": self._sections(_BRANCH, paths)}

    def _run(self, name: str, ref: str = "") -> dict[str, Any]:
        started = time.perf_counter()
        home = self.home.root if name == "pipeline" else self._folder / "empty"
        options = ["--local"] if self._arguments.local else []
        found = child(__file__, self.source, "--child", name, "--home", home, "--ref", ref or self.branch, *options)
        print(f"{name} {ref}: {found['wall']:.2f} s", file=sys.stderr)
        return found | {"process": time.perf_counter() - started}

    def _command(self) -> None:
        command = [sys.executable, "-m", "rag_assets", "--home", str(self.home.root), "index", str(self.source)]
        command += ["--id", NAME, "--ref", self.branch] + ([] if self._arguments.local else ["--lexical-only"])
        subprocess.run(command, check=True, capture_output=True)

    def _sections(self, branch: str, paths: list[str]) -> int:
        return texts_of(active_generation(self.home, index_label(NAME, branch)), paths)


def empty_run(arguments: argparse.Namespace) -> dict[str, Any]:
    from idle_pipeline import idle_run

    return idle_run(IndexHome(Path(arguments.home)), index_label(NAME, arguments.ref))


def pipeline_run(arguments: argparse.Namespace) -> dict[str, Any]:
    """The job as the command runs it."""
    from rag_assets.defs.in_process import run_index_job
    from rag_assets.defs.pipeline import pipeline_for
    from rag_assets.index.labels import register_label
    from rag_assets.pipeline.progress import Silent

    pipeline_for(Settings()).resolve_job_def("index")  # imports what a run needs
    home, label = IndexHome(Path(arguments.home)), index_label(NAME, arguments.ref)
    location = str(arguments.repository)
    register_label(home, label, RepositorySettings(id=NAME, location=location, ref=arguments.ref), arguments.ref)
    commit = git(arguments.repository, "rev-parse", arguments.ref)
    started = time.perf_counter()
    outcome = run_index_job(
        home,
        label,
        Silent(),
        config_file=None,
        lexical_only=not arguments.local,
        commit=commit,
        pinned=True,
        is_head=True,
        force=False,
    )
    wall = time.perf_counter() - started
    if outcome.failure:
        raise SystemExit(outcome.failure)
    numbers = outcome.numbers_by_stage
    return {
        "wall": wall,
        "stages": outcome.seconds_by_stage,
        "parsed": numbers["segments"]["parsed"],
        "embedded": numbers["embeddings"]["embedded"],
        "files": numbers["discovered_files"]["indexed"],
        "points": numbers["qdrant_points"]["points"],
    }


def report(arguments: argparse.Namespace, found: Measured) -> int:
    """Prints the tables; 1 when a target is missed."""
    floor = _median(found.empty)
    commit = git(found.source, "rev-parse", "--short=8", found.branch)
    print(f"\n{arguments.repository} @ {commit}: {found.first['files']} files, {found.first['points']} points")
    builds = (
        ("first build", [found.first]),
        ("one-file commit", found.one_file),
        ("unchanged commit", found.unchanged),
        (f"new branch, {BRANCH_FILES} files differ", [found.other]),
    )
    rows: list[tuple[object, ...]] = [
        ("empty Dagster run", "", "", f"{floor:.2f}", "1.00", f"{_median(found.empty, 'process'):.2f}")
    ]
    for name, runs in builds:
        parsed, embedded = (max(run[what] for run in runs) for what in ("parsed", "embedded"))
        wall, process = _median(runs), _median(runs, "process")
        rows.append((name, parsed, embedded, f"{wall:.2f}", f"{wall / floor:.2f}", f"{process:.2f}"))
    table(("run", "files parsed", "texts embedded", "run, s", "/ empty run", "whole process, s"), rows)
    print("\nempty runs:", ", ".join(f"{run['wall']:.2f}" for run in found.empty), "s")
    print(f"unchanged commit, the command `rag-assets index`: {found.up_to_date:.2f} s, process and all")
    stages = found.one_file[0]["stages"]
    table(
        ("stage", *(name for name, _ in builds)),
        [
            (stage, *(f"{statistics.median(run['stages'].get(stage, 0.0) for run in runs):.2f}" for _, runs in builds))
            for stage in stages
        ],
    )
    targets = [
        (
            "one-file commit / empty run",
            f"{_median(found.one_file) / floor:.2f}",
            f"<= {ONE_FILE_LIMIT}",
            _median(found.one_file) <= ONE_FILE_LIMIT * floor,
        ),
        (
            "unchanged commit / empty run",
            f"{_median(found.unchanged) / floor:.2f}",
            f"<= {UNCHANGED_LIMIT}",
            _median(found.unchanged) <= UNCHANGED_LIMIT * floor,
        ),
    ]
    for name, run, files in [
        *(("one-file commit", run, 1) for run in found.one_file),
        ("new branch", found.other, BRANCH_FILES),
    ]:
        done = f"{run['parsed']} files, {run['embedded']} texts"
        held = 0 < run["parsed"] <= files and 0 < run["embedded"] <= run["sections"]
        targets.append((f"{name}: parsed, embedded", done, f"<= {files} files, {run['sections']} texts, not 0", held))
    table(("measure", "found", "target", "held"), [(*row[:3], "yes" if row[3] else "NO") for row in targets])
    return 0 if all(row[3] for row in targets) else 1


def _median(runs: list[dict[str, Any]], name: str = "wall") -> float:
    return statistics.median(float(run[name]) for run in runs)


if __name__ == "__main__":
    main()
