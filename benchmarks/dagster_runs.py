"""Launches builds from a real `dagster dev` as the UI does, and counts the processes that they leave.

    python benchmarks/dagster_runs.py [--builds 10] [--files 400] [--repository PATH]

Once with the run queue and once with the default launcher, of a synthetic repository (benchmarks/synthetic.py) or of
the one at PATH. Every build takes nothing from earlier ones, so that each starts worker processes. Then two more: one
whose process gets SIGTERM while its workers work, and one that is terminated in the UI. Exit code 1 if a process is
left ten seconds after the end of a build, or if a build does not end within ten seconds of being told to.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from report import table
from synthetic import repository

from rag_assets_tests.deploy.dagster_dev import DIRECT, QUEUE, DagsterDev, dagster_dev

_LIMIT_SECONDS = 10.0
_LOOK_SECONDS = 0.1
_LABEL = "shop@main"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", type=int, default=10)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--repository", type=Path, help="a repository with a branch main; default: a synthetic one")
    arguments = parser.parse_args()
    if sys.platform != "linux":
        raise SystemExit("dagster_runs.py looks for processes in /proc: run it on Linux")
    rows: list[tuple[str, str, str, str, int]] = []
    with tempfile.TemporaryDirectory(prefix="rag-assets-dagster-") as made:
        source = arguments.repository
        if source is None:
            source = Path(made) / "source.git"
            repository(source, files=arguments.files, commits=1, seed=0)
        for launched_by in (QUEUE, DIRECT):
            folder = Path(made) / launched_by.replace(" ", "-")
            folder.mkdir()
            with dagster_dev(folder, source, launched_by) as dev:
                for number in range(arguments.builds):
                    run = dev.launch(_LABEL)
                    dev.worked_on()
                    status = dev.end_of(run)
                    rows.append((launched_by, f"build {number + 1}", status, *_left(dev)))
                    print(*rows[-1], file=sys.stderr)
                for ending in ("SIGTERM", "terminated in the UI"):
                    run = dev.launch(_LABEL)
                    process = dev.worked_on()
                    dev.terminate(run) if ending != "SIGTERM" else os.kill(process, signal.SIGTERM)
                    seconds, left = _left(dev)
                    rows.append((launched_by, ending, dev.end_of(run), seconds, left))
    table(("launched by", "build", "status", "s until no process", "left after 10 s"), rows)
    raise SystemExit(any(left for *_, left in rows))


def _left(dev: DagsterDev) -> tuple[str, int]:
    """Seconds until no process of a run is left, and how many are when the time is over."""
    started = time.monotonic()
    while (left := dev.of_runs()) and time.monotonic() - started < _LIMIT_SECONDS:
        time.sleep(_LOOK_SECONDS)
    return f"{time.monotonic() - started:.1f}", len(left)


if __name__ == "__main__":
    main()
