"""Tables as the benchmarks print them, and the processes that measure in isolation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any


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
