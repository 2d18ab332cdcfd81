"""Tables as the benchmarks print them, and the processes that measure in isolation, as an installed package runs."""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import rag_assets

EMBEDDERS = ("static-code", "minilm", "lexical-only")
"""Choices of `--embedder`: what embeds on this machine, or nothing."""


def with_bytecode() -> None:
    """Gives the package the bytecode that pip makes when it installs one: in an editable checkout, and where Python is
    told not to write any, every process would compile 430 modules first. That of libraries is written by the first
    process that imports them: Dagster alone is 2,000 modules, .7 s of a run that compiles them."""
    compileall.compile_dir(Path(rag_assets.__file__).parent, quiet=1)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """One markdown table on stdout, shown at once: the next one may be an hour away."""
    print("\n| " + " | ".join(header) + " |")
    print("|" + " --- |" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    sys.stdout.flush()


def child(script: str, *arguments: object, seed: str = "0") -> dict[str, Any]:
    """Runs a script in a process of its own, so that memory, imports and hash seed are its own. The last line that it
    prints is its result, as JSON. Raises CalledProcessError."""
    command = [sys.executable, script, *map(str, arguments)]
    environment = os.environ | {"PYTHONHASHSEED": seed}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
