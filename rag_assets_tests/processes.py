"""Waiting for processes, and ending them: each with a deadline, so that no test hangs and none leaves a process."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

PATIENCE_SECONDS = 180.0
"""Many times what anything here takes on a machine that is not busy."""

MARKER = "RAG_TESTS_MARKER"
"""A variable of the environment, which every process hands on to those that it starts."""

_NOT_GIVEN = (20_000, 32_000)
"""Ports below those that Linux gives."""
_END_SECONDS = 20.0
_PROC = Path("/proc")


def until(found: Callable[[], object], what: str, seconds: float = PATIENCE_SECONDS) -> None:
    """Returns when `found` says something true; a server that does not answer yet has found nothing. It is asked less
    and less often: to answer costs the server that starts, and others, a core."""
    deadline, pause = time.monotonic() + seconds, 0.02
    while time.monotonic() < deadline:
        try:
            if found():
                return
        except OSError:
            pass
        time.sleep(pause)
        pause = min(1.2 * pause, 0.25)
    pytest.fail(f"not within {seconds:g} s: {what}")


def free_port() -> int:
    """Of loopback; nobody holds it until it is used, so it is none that the system gives to who asks for any."""
    while True:
        port = random.SystemRandom().randrange(*_NOT_GIVEN)  # workers share a seed
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def running(command: list[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """The process of a command, which ends with the context."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[Any]) -> None:
    """Asks a process to end, and kills one that does not."""
    process.terminate()
    try:
        process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate(timeout=_END_SECONDS)


def marked(marker: str) -> dict[int, str]:
    """Process id → command line of all processes with this value of the variable, wherever they hang in the tree;
    empty on systems other than Linux."""
    found = {}
    for entry in _PROC.glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile, or somebody else's
            if f"{MARKER}={marker}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return found


def parent_of(process: int) -> int:
    """The id of the parent. Raises OSError for a process that has ended."""
    return int((_PROC / str(process) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
