"""Replays consecutive commits of a repository incrementally, and compares each with a clean build of that commit.

    python benchmarks/replay.py PATH [--commits 60] [--until SHA] [--clean-every 1] [--local]

PATH is a git repository (bare or not). The commits are the last ones in the first-parent history of HEAD, or of
`--until`. One long-lived process builds them one after the other in one home; every clean build is made in a process
and a home of its own, with another hash seed. What is compared: benchmarks/equality.py. In the end `gc` runs, and
nothing may be left that the kept generations do not name. Without the embedding model unless `--local` is given.
Exit code 1 on any difference.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equality import contents_of, differences, ghosts, questions_for
from history import git
from report import child, table

from rag_assets.index.layout import IndexHome, index_label
from rag_assets.pipeline.collect_garbage import collect_garbage
from rag_assets.pipeline.run_stages import run_stages
from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings

REPOSITORY = "replay"
_SHOWN_PROBLEMS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--commits", type=int, default=60, help="how many; the first is built in full")
    parser.add_argument("--until", default="HEAD", help="the last of them")
    parser.add_argument("--clean-every", type=int, default=1, help="compare every n-th commit, and the last")
    parser.add_argument("--local", action="store_true", help="with the embedding model")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    parser.add_argument("--home", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        _, seconds = build(arguments, Path(arguments.home), arguments.child)
        print(json.dumps({"seconds": seconds}))
        return
    with tempfile.TemporaryDirectory(prefix="rag-assets-replay-") as folder:
        raise SystemExit(replay(arguments, Path(folder)))


@dataclass(frozen=True, slots=True)
class Replayed:
    """One commit; `clean` is None where no clean build was made."""

    commit: str
    files: int
    work: dict[str, float]
    seconds: float
    clean: float | None
    problems: list[str]


def replay(arguments: argparse.Namespace, folder: Path) -> int:
    limit = f"--max-count={arguments.commits}"
    commits = git(arguments.repository, "rev-list", "--first-parent", limit, arguments.until).split()[::-1]
    home, done = folder / "home", list[Replayed]()
    for number, commit in enumerate(commits):
        compared = number % arguments.clean_every == 0 or commit == commits[-1]
        found = one(arguments, home, folder / "clean", commit, compared)
        done.append(found)
        verdict = "" if found.clean is None else ", differs" if found.problems else ", equal"
        print(f"{number + 1}/{len(commits)} {commit[:8]} {found.seconds:.1f} s{verdict}", file=sys.stderr)
    collect_garbage(IndexHome(home), settings(arguments, home))
    left = ghosts(home, settings(arguments, home))
    return report(arguments, done, left)


def one(arguments: argparse.Namespace, home: Path, clean: Path, commit: str, compared: bool) -> Replayed:
    work, seconds = build(arguments, home, commit)
    first_parent = ("--root", "-m", "--first-parent", "--no-commit-id")
    files = git(arguments.repository, "diff-tree", "-r", "-M", "--name-only", *first_parent, commit)
    clean_seconds, problems = None, []
    if compared:
        options = ["--local"] if arguments.local else []
        seed = str(int(commit[:6], 16))
        made = child(__file__, arguments.repository, "--child", commit, "--home", clean, *options, seed=seed)
        clean_seconds = made["seconds"]
        questions = questions_for(clean, label(arguments))
        problems = differences(
            contents_of(home, label(arguments), questions), contents_of(clean, label(arguments), questions)
        )
        shutil.rmtree(clean)
    return Replayed(commit, len(files.splitlines()), work, seconds, clean_seconds, problems)


def build(arguments: argparse.Namespace, home: Path, commit: str) -> tuple[dict[str, float], float]:
    """(what the stages had to do, seconds) of one build."""
    source = RepositorySettings(id=REPOSITORY, location=str(arguments.repository.resolve()), ref=branch(arguments))
    started = time.perf_counter()
    _, reports = run_stages(settings(arguments, home), label(arguments), source, commit=commit)
    seconds = time.perf_counter() - started
    return {f"{report.stage}.{name}": count for report in reports for name, count in report.work.items()}, seconds


def settings(arguments: argparse.Namespace, home: Path) -> Settings:
    provider: Any = "static-code" if arguments.local else "lexical-only"
    return Settings(home=home, embedder=EmbedderSettings(provider=provider))


def branch(arguments: argparse.Namespace) -> str:
    return git(arguments.repository, "symbolic-ref", "--short", "HEAD")


def label(arguments: argparse.Namespace) -> str:
    return index_label(REPOSITORY, branch(arguments))


def report(arguments: argparse.Namespace, done: list[Replayed], left: list[str]) -> int:
    """Prints the tables; 1 when anything differs."""
    print(f"\n{arguments.repository}: {len(done)} commits until {done[-1].commit[:8]}")
    rows = []
    for found in done:
        equal = "-" if found.clean is None else "NO" if found.problems else "yes"
        parsed, embedded = (f"{found.work.get(name, 0):.0f}" for name in ("segments.parsed", "embeddings.embedded"))
        clean = "" if found.clean is None else f"{found.clean:.2f}"
        rows.append((found.commit[:8], found.files, parsed, embedded, f"{found.seconds:.2f}", clean, equal))
    table(("commit", "files changed", "parsed", "embedded", "incremental, s", "clean, s", "equal"), rows)
    compared = [found for found in done[1:] if found.clean is not None]
    unequal = [found for found in done if found.problems]
    changes = done[1:] or done
    summary = [
        ("commits compared / equal", f"{len(compared) + 1} / {len(compared) + 1 - len(unequal)}", "all"),
        ("incremental, s: median, slowest", _spread([found.seconds for found in changes]), ""),
        ("left over after gc", len(left), "0"),
    ]
    if compared:
        ratio = statistics.median(found.seconds / (found.clean or 1) for found in compared)
        summary.insert(2, ("clean, s: median, slowest", _spread([found.clean or 0 for found in compared]), ""))
        summary.insert(3, ("incremental / clean, median", f"{ratio:.2f}", ""))
    table(("measure", "found", "target"), summary)
    problems = [f"{found.commit[:8]}: {text}" for found in unequal for text in found.problems]
    problems += [f"after gc: {text}" for text in left]
    for problem in problems[:_SHOWN_PROBLEMS]:
        print(problem)
    return 1 if problems else 0


def _spread(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f}, {max(seconds):.2f}"


if __name__ == "__main__":
    main()
