"""Hundreds of hostile files of every format that is read, beside good ones: does any of them end a build?

    python benchmarks/hostile_files.py [--seconds 10] [--kind word]

The files of each kind (`rag_assets_tests/hostile_files.py`) are committed with three good ones and indexed through the
command line. The build must end well, index the good files, and index or list every other one with its reason; no
process and nothing in the temporary folder may be left. Ends with code 1 where that does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from report import table

from rag_assets.pipeline.versions import BUILD_STAGES
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.hostile_files import GOOD, hostile_files

_BUILD_SECONDS = 1_800
_LATER = tuple(f"{stage}: " for stage in BUILD_STAGES if stage not in ("discovered_files", "segments"))
"""How the details of files begin that are indexed, and of which one stage makes nothing."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="sources.file_time_limit_seconds")
    parser.add_argument("--kind", help="of this kind only")
    parser.add_argument("--list", action="store_true", help="what became of every file")
    options = parser.parse_args()
    kinds: dict[str, dict[str, bytes]] = {}
    for path, content in hostile_files().items():
        kinds.setdefault(path.partition("/")[0], {})[path] = content
    rows, wrong = [], 0
    for kind, files in kinds.items():
        if options.kind in (None, kind):
            row, problems = _indexed(kind, files, options.seconds, options.list)
            rows.append(row)
            wrong += len(problems)
            print("  ".join(row), *problems, sep="\n", file=sys.stderr, flush=True)
    table(("kind", "files", "indexed", "left out", "seconds", "problems"), rows)
    print(f"{sum(len(files) for files in kinds.values())} files; {wrong} problems")
    return 1 if wrong else 0


def _indexed(kind: str, files: dict[str, bytes], seconds: float, listed: bool) -> tuple[tuple[str, ...], list[str]]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "tmp").mkdir()
        (folder / "code").mkdir()
        repository = Repository(folder / "code")
        repository.git("init", "--quiet", "--initial-branch=main")
        repository.commit(files | GOOD)
        (folder / "rag_assets.yaml").write_text(
            f"home: home\nembedder: {{provider: lexical-only}}\nsources: {{file_time_limit_seconds: {seconds}}}\n"
            "repositories: [{id: code, location: code}]\n",
            encoding="utf-8",
        )
        started = time.monotonic()
        build = _ran(folder, "index", "code", "--json")
        took = time.monotonic() - started
        problems = [] if build.returncode == 0 else [f"{kind}: the build ended: {build.stderr[-1_000:]}"]
        skipped = {} if problems else _skipped(folder)
        problems += [f"{kind}: {path}: {skipped[path]}" for path in GOOD if path in skipped]
        indexed = 0 if problems else json.loads(build.stdout)["results"][0]["files"]["indexed"]
        left_out = Counter(reason for path, (reason, _) in skipped.items() if path in files)
        in_part = sum(detail.startswith(_LATER) for _, detail in skipped.values())
        if not problems and indexed + left_out.total() - in_part != len(files) + len(GOOD):
            problems.append(f"{kind}: {len(files) + len(GOOD)} files, {indexed} indexed, {left_out.total()} listed")
        left = [path.name for path in (folder / "tmp").iterdir()]
        if left:
            problems.append(f"{kind}: left in the temporary folder: {left}")
        if listed:
            for path in files:
                print(f"{path}: {': '.join(skipped.get(path, ('indexed',)))}")
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.most_common())
        return (kind, str(len(files)), str(indexed - len(GOOD)), reasons, f"{took:.0f}", str(len(problems))), problems


def _skipped(folder: Path) -> dict[str, tuple[str, str]]:
    """Path → the reason and its detail."""
    status: dict[str, Any] = json.loads(_ran(folder, "status", "--skipped", "--json").stdout)
    return {row["path"]: (row["reason"], row["detail"]) for row in status["labels"][0]["skipped"]}


def _ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rag_assets", *words]
    environment = os.environ | {"TMPDIR": str(folder / "tmp")}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False
    )


if __name__ == "__main__":
    sys.exit(main())
