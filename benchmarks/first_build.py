"""What the first build of a repository takes by `rag-assets index`, with vectors and by keywords alone, graph included.

    python benchmarks/first_build.py PATH [--runs 3] [--limit 25]
    python benchmarks/first_build.py PATH --below Src --peer-python peer/bin/python --limit 18

Every build is the command in a process of its own with an empty home; the kinds of builds take turns, and medians are
shown. CPU seconds are those of the process and all that it starts: they depend less than elapsed ones on what else the
machine does. `--below`: only a folder of the repository, as a repository of its own with one commit. With a
`--peer-python` semble indexes the same files (benchmarks/retrieval_peers.py says how); its time is that of its call,
without the start of its process. Exit code 1 when a target is missed; `--limit` is that of the build with vectors.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from history import git
from memory import family
from report import table, with_bytecode
from retrieval_peers import Semble

from rag_assets.sources.open import open_snapshot

MOST_FOR_VECTORS = 1.25
"""Of what the build takes by keywords alone."""

_SAMPLE_SECONDS = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")
_HYBRID, _KEYWORDS = "with vectors", "keywords alone"
_OPTIONS = {_HYBRID: (), _KEYWORDS: ("--lexical-only",)}


class Spent(NamedTuple):
    """Seconds; those of a process that lived for less than a sample are missed."""

    elapsed: float
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path, help="git repository, bare or not")
    parser.add_argument("--below", default="", help="a folder of it")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=None, help="seconds that the build with vectors may take")
    parser.add_argument("--peer-python", type=Path, default=None, help="a Python that has semble")
    arguments = parser.parse_args()
    with_bytecode()
    with tempfile.TemporaryDirectory(prefix="rag-assets-first-build-") as folder:
        raise SystemExit(report(arguments, Path(folder)))


def report(arguments: argparse.Namespace, folder: Path) -> int:
    source, files = checked_out(arguments.repository, arguments.below, folder)
    peer = Semble(arguments.peer_python, "", folder) if arguments.peer_python else None
    found: dict[str, list[Spent]] = {name: [] for name in _OPTIONS}
    of_peer: list[float] = []
    for run in range(arguments.runs):
        for name, options in _OPTIONS.items():
            found[name].append(built(source, folder / f"{name} {run}", options))
            print(f"{name}: {found[name][-1].elapsed:.1f} s, {found[name][-1].cpu:.1f} s of CPU", file=sys.stderr)
        if peer is not None:
            of_peer.append(peer.seconds_to_index(files))
            print(f"{peer.name}: {of_peer[-1]:.1f} s", file=sys.stderr)
    commit = git(arguments.repository, "rev-parse", "--short=8", "HEAD")
    named = f"{arguments.repository}/{arguments.below}".rstrip("/")
    print(f"\n{named} @ {commit}, {os.cpu_count()} cores; medians of {arguments.runs} runs")
    elapsed = {name: statistics.median(spent.elapsed for spent in runs) for name, runs in found.items()}
    cpu = {name: statistics.median(spent.cpu for spent in runs) for name, runs in found.items()}
    rows = [(f"`rag-assets index`, {name}", f"{elapsed[name]:.1f}", f"{cpu[name]:.1f}") for name in found]
    if peer is not None:
        rows.append((peer.name, f"{statistics.median(of_peer):.1f}", ""))
    table(("build", "elapsed s", "CPU s"), rows)
    ratio = elapsed[_HYBRID] / elapsed[_KEYWORDS]
    targets = [
        ("with vectors / keywords alone, elapsed", f"{ratio:.2f}", f"<= {MOST_FOR_VECTORS}", ratio <= MOST_FOR_VECTORS),
        ("  the same in CPU time", f"{cpu[_HYBRID] / cpu[_KEYWORDS]:.2f}", "", True),
    ]
    if arguments.limit is not None:
        within = elapsed[_HYBRID] <= arguments.limit
        targets.append(("with vectors, elapsed s", f"{elapsed[_HYBRID]:.1f}", f"<= {arguments.limit:g}", within))
    table(("measure", "found", "target", "held"), [(*row[:3], "yes" if row[3] else "NO") for row in targets])
    return 0 if all(row[3] for row in targets) else 1


def checked_out(repository: Path, below: str, folder: Path) -> tuple[Path, Path]:
    """The repository to index, and a folder with its files; those that the clone does not have are left out."""
    source, files = folder / "source.git", folder / "files"
    beginning = f"{below.strip('/')}/".lstrip("/")
    with open_snapshot(str(repository), mirrors=folder) as snapshot:
        wanted = [entry for entry in snapshot.entries() if entry.path.startswith(beginning)]
        for entry, content in snapshot.read(wanted):
            if isinstance(content, bytes):
                file = files / entry.path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
    if not below:
        git(folder, "clone", "--quiet", "--bare", "--single-branch", str(repository), str(source))
        return source, files
    author = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
    for command in (("init", "--quiet"), ("add", "--all"), (*author, "commit", "--quiet", "--message", "as it is")):
        git(files, *command)
    return files, files


def built(source: Path, home: Path, options: tuple[str, ...]) -> Spent:
    """One build by the command. Raises CalledProcessError."""
    command = [sys.executable, "-m", "rag_assets", "--home", str(home), "index", str(source), "--id", "measured"]
    started, cpu = time.perf_counter(), dict[int, float]()
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        cpu.update((known, spent) for known in family(process.pid) if (spent := _cpu_seconds(known)))
        time.sleep(_SAMPLE_SECONDS)
    elapsed = time.perf_counter() - started
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Spent(elapsed, sum(cpu.values()))


def _cpu_seconds(process: int) -> float:
    """Of a process alone; 0 where it has ended."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    return 0.0


if __name__ == "__main__":
    main()
