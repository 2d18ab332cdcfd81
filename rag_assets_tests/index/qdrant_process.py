"""A real Qdrant server that a test may kill: the program that `QDRANT_BINARY` names, on loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

BINARY_VARIABLE = "QDRANT_BINARY"
_STARTS_WITHIN = 60.0


class QdrantProcess:
    """`store` is a client of it, as `QdrantWire` has one."""

    def __init__(self, binary: str, folder: Path) -> None:
        self._binary = binary
        self._folder = folder
        self._ports = _free_ports()
        self.url = f"http://127.0.0.1:{self._ports[0]}"
        self.start()

    def start(self) -> None:
        """Again with the same files and ports, after it was killed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {
            "QDRANT__SERVICE__HOST": "127.0.0.1",
            "QDRANT__SERVICE__HTTP_PORT": str(self._ports[0]),
            "QDRANT__SERVICE__GRPC_PORT": str(self._ports[1]),
            "QDRANT__STORAGE__STORAGE_PATH": str(self._folder / "storage"),
            "QDRANT__STORAGE__SNAPSHOTS_PATH": str(self._folder / "snapshots"),
            "QDRANT__TELEMETRY_DISABLED": "true",
            "QDRANT__LOG_LEVEL": "WARN",
        }
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([self._binary], cwd=self._folder, env=environment, stdout=log, stderr=log)
        self.store = QdrantClient(url=self.url, check_compatibility=False, timeout=60)
        deadline = time.monotonic() + _STARTS_WITHIN
        while True:
            try:
                self.store.get_collections()
                return
            except Exception as error:  # whatever a client says of a server that is not there yet
                if time.monotonic() > deadline or self._process.poll() is not None:
                    said = (self._folder / "log").read_text(encoding="utf-8", errors="replace")[-2_000:]
                    raise RuntimeError(f"{self._binary} did not start: {said}") from error
                time.sleep(0.1)

    def kill(self) -> None:
        """As a machine that loses its power does to it: no signal that it could handle."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


@contextmanager
def running_qdrant(folder: Path) -> Iterator[QdrantProcess]:
    """Skips where there is no such program."""
    binary = os.environ.get(BINARY_VARIABLE)
    if not binary:
        pytest.skip(f"needs a Qdrant server that may be killed: set {BINARY_VARIABLE} to its program")
    made = QdrantProcess(binary, folder)
    try:
        yield made
    finally:
        made.kill()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]
