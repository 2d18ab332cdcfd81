"""How indexing grows with the repository: memory and time per stage, with the exponent of its growth.

    python benchmarks/scale.py [--files 2000,10000] [--huge 100000] [--workers 0] [--model]

Synthetic repositories (benchmarks/synthetic.py), each built once from nothing in a process and a home of its own,
lexical-only or with the embedding model, which takes minutes for 10,000 files. Peak memory is the highest sum, at one
moment, of the resident memory of the process and of all that it has started; what they share counts for each. The
exponent of a stage says how its time grows: 1 is in proportion to the files, 2 with their square.

`--huge 0` leaves the huge one out, which is always lexical-only. Exit code 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from memory import Together, peak_mb
from report import child, table, with_bytecode

GROWTH_LIMIT = 1.3
"""Of the peak memory from the first size to the second."""
HUGE_LIMIT_MB = 3 * 1024

COLUMNS = (
    ("files", "files", ""),
    ("points", "points", ""),
    ("terms", "terms", ""),
    ("workers", "workers", ""),
    ("elapsed, s", "wall", ".1f"),
    ("CPU of the parent, s", "cpu", ".1f"),
    ("peak of the parent, MB", "own_peak_mb", ".0f"),
    ("with workers, MB", "peak_mb", ".0f"),
    ("home on disk, MB", "disk_mb", ".0f"),
)
"""Title, key in what a build reports, format."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", default="2000,10000", help="sizes to compare, smallest first")
    parser.add_argument("--huge", type=int, default=100_000, help="one more size, with a limit of its own; 0: none")
    parser.add_argument("--workers", type=int, default=0, help="0: what the settings give")
    parser.add_argument("--model", action="store_true", help="with embeddings, but of the huge one")
    parser.add_argument("--child", choices=("", "generate", "build"), default="", help=argparse.SUPPRESS)
    parser.add_argument("--folder", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps({"generate": generate, "build": build}[arguments.child](arguments)))
        return
    with_bytecode()
    sizes = [int(size) for size in arguments.files.split(",")] + ([arguments.huge] if arguments.huge else [])
    found = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="rag-assets-scale-") as folder:
            options = ["--files", size, "--workers", arguments.workers, "--folder", folder]
            if arguments.model and size != arguments.huge:
                options.append("--model")
            generated = child(__file__, "--child", "generate", *options)  # elsewhere: a child inherits our peak
            found.append(child(__file__, "--child", "build", *options) | {"asked": size, **generated})
        print(f"{size} files: {found[-1]['wall']:.0f} s, {found[-1]['peak_mb']:.0f} MB", file=sys.stderr)
    raise SystemExit(report(found, huge=bool(arguments.huge)))


def generate(arguments: argparse.Namespace) -> dict[str, Any]:
    from synthetic import repository

    repository(Path(arguments.folder) / "source.git", files=int(arguments.files))
    return {}


class Clock:
    """A `Progress` that keeps the seconds from the beginning of a stage to that of the next one. Activation shows none:
    it is part of the stage before it."""

    def __init__(self) -> None:
        self._begun: list[tuple[str, float]] = []

    def begin(self, stage: str, total: int, unit: str) -> None:
        self._begun.append((stage, time.perf_counter()))

    def advance(self, amount: int, current: str = "") -> None: ...

    def end(self, summary: str = "") -> None: ...

    def stage(self) -> str:
        """The one that is at work."""
        return self._begun[-1][0] if self._begun else "start"

    def seconds(self) -> dict[str, float]:
        seconds: dict[str, float] = {}
        moments = [*self._begun, ("", time.perf_counter())]
        for (stage, started), (_, ended) in pairwise(moments):
            seconds[stage] = seconds.get(stage, 0.0) + ended - started
        return seconds


def build(arguments: argparse.Namespace) -> dict[str, Any]:
    from rag_assets.pipeline.run_stages import run_stages
    from rag_assets.pipeline.workers.worker_pool import workers_for
    from rag_assets.settings import EmbedderSettings, RepositorySettings, Settings

    folder = Path(arguments.folder)
    clock = Clock()
    embedder = EmbedderSettings(provider="static-code" if arguments.model else "lexical-only")
    settings = Settings(home=folder / "home", embedder=embedder, workers=arguments.workers)
    repository = RepositorySettings(id="synthetic", location=str(folder / "source.git"), ref="main")
    started, cpu = time.perf_counter(), time.process_time()
    with Together(clock.stage) as together:
        made, reports = run_stages(settings, "synthetic@main", repository, progress=clock)
    seconds, wall, cpu = clock.seconds(), time.perf_counter() - started, time.process_time() - cpu
    counts = {report.stage: report.counts for report in reports}
    size = sum(path.stat().st_blocks * 512 for path in made.home.root.rglob("*") if path.is_file())
    return {
        "files": counts["discovered_files"]["indexed"],
        "points": counts["qdrant_points"]["points"],
        "terms": counts["bm25_artifacts"]["terms"],
        "workers": workers_for(made),
        "seconds": seconds,
        "memory": together.by_stage,
        "wall": wall,
        "cpu": cpu,
        "own_peak_mb": peak_mb(),
        "peak_mb": together.peak_mb,
        "disk_mb": size / 1024 / 1024,
    }


def report(found: list[dict[str, Any]], *, huge: bool) -> int:
    """Prints the tables; 1 when a target is missed."""
    table([title for title, _, _ in COLUMNS], [[format(row[key], how) for _, key, how in COLUMNS] for row in found])
    steps = list(pairwise(found))
    names = (
        *(f"{row['files']} files, s" for row in found),
        *(f"exponent {one['files']} → {two['files']}" for one, two in steps),
        *(f"{row['files']} files, MB" for row in found),
    )
    rows = [
        (
            stage,
            *(f"{row['seconds'][stage]:.1f}" for row in found),
            *(f"{exponent(one, two, one['seconds'][stage], two['seconds'][stage]):.2f}" for one, two in steps),
            *(f"{row['memory'].get(stage, 0):.0f}" for row in found),
        )
        for stage in found[0]["seconds"]
    ]
    rows.append(
        (
            "all",
            *(f"{row['wall']:.1f}" for row in found),
            *(f"{exponent(one, two, one['wall'], two['wall']):.2f}" for one, two in steps),
            *(f"{row['peak_mb']:.0f}" for row in found),
        )
    )
    table(("stage", *names), rows)
    compared = found[:-1] if huge else found
    targets: list[tuple[str, str, str, bool]] = []
    if len(compared) > 1:
        growth = compared[1]["peak_mb"] / compared[0]["peak_mb"]
        name = f"memory, {compared[0]['files']} → {compared[1]['files']} files"
        targets.append((name, f"x {growth:.2f}", f"<= {GROWTH_LIMIT}", growth <= GROWTH_LIMIT))
    if huge:
        peak = found[-1]["peak_mb"]
        held = peak <= HUGE_LIMIT_MB
        targets.append((f"memory, {found[-1]['files']} files", f"{peak:.0f} MB", f"<= {HUGE_LIMIT_MB} MB", held))
    table(("measure", "found", "target", "held"), [(*row[:3], "yes" if row[3] else "NO") for row in targets])
    return 0 if all(row[3] for row in targets) else 1


def exponent(one: dict[str, Any], two: dict[str, Any], first: float, second: float) -> float:
    """k of seconds ~ files ** k between two sizes."""
    return math.log(max(second, 1e-3) / max(first, 1e-3)) / math.log(two["files"] / one["files"])


if __name__ == "__main__":
    main()
