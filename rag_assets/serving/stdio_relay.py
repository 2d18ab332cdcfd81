"""Standard input and output of one client, passed on to the server of a home. Run by its path, without the package: a
client starts one for each session, and twenty of them must cost next to nothing.

    python -S stdio_relay.py PLAN

`PLAN` is JSON: `socket`, `hello` (the first line that the server reads), `start` (the command of a server), `log`
(where that writes) and `alone` (the command that serves in this process where no server can be started).

Where a server ends in the middle of a session, what it was asked is answered by an error, so that no client waits for
ever, and the next request starts another, which is told who initialized.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time

_WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.03
_READ_BYTES = 1 << 16
_INTERNAL_ERROR = -32603
_LOST = "the server of the index ended while it answered; ask again"


class _Refused(Exception):
    """The server does not want this client, and says why."""


class Relay:
    """One client and one server at a time."""

    def __init__(self, plan: dict[str, object]) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._first: list[bytes] = []  # what a new server must be told: initialize, and that the client is ready
        self._reader: threading.Thread | None = None
        self._waiting: dict[str, object] = {}  # ids of requests without an answer, by their JSON
        self._is_over = False

    def run(self) -> None:
        with self._lock:
            self._connection = self._listened_to(self._connected())
        for line in sys.stdin.buffer:
            self._send(line)
        with self._lock:
            self._is_over = True
            reader = self._reader
            if self._connection is not None:
                self._connection.shutdown(socket.SHUT_WR)
        if reader is not None:
            reader.join(_WAIT_SECONDS)  # answers that are under way

    def _connected(self) -> socket.socket:
        """A connection that the server has accepted; without a server one is started. Runs the whole session alone
        where that is impossible."""
        started: subprocess.Popen[bytes] | None = None
        end = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                return self._greeted()
            except (FileNotFoundError, ConnectionError, TimeoutError, BlockingIOError):
                if started is None:
                    started = self._start()
                elif started.poll() not in (None, 0) or time.monotonic() > end:
                    alone = [str(word) for word in self._plan["alone"]]  # type: ignore[attr-defined]
                    os.execv(alone[0], alone)
                time.sleep(_POLL_SECONDS)

    def _greeted(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(self._plan["socket"]))
            connection.sendall(json.dumps(self._plan["hello"]).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                part = connection.recv(1)
                if not part:
                    raise ConnectionResetError
                answer += part
        except BaseException:
            connection.close()
            raise
        refused = json.loads(answer).get("error")
        if refused:
            raise _Refused(refused)
        return connection

    def _start(self) -> subprocess.Popen[bytes]:
        command = [str(word) for word in self._plan["start"]]  # type: ignore[attr-defined]
        with open(str(self._plan["log"]), "ab") as log:  # noqa: PTH123 - pathlib would take a third of the start
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, close_fds=True
            )

    def _send(self, line: bytes) -> None:
        message = _parsed(line)
        with self._lock:
            for _ in range(2):
                try:
                    if self._connection is None:
                        self._connection = self._introduced(self._connected())
                    self._connection.sendall(line)
                    break
                except OSError:
                    self._connection = None
            if message.get("method") == "initialize":
                self._first = [line]
            elif message.get("method") == "notifications/initialized":
                self._first = [*self._first[:1], line]
            if "method" in message and "id" in message:
                self._waiting[json.dumps(message["id"])] = message["id"]

    def _introduced(self, connection: socket.socket) -> socket.socket:
        """A new server that has been told who initialized; the client had that answer from the one before."""
        for line in self._first:
            connection.sendall(line)
            answer = b""
            while _parsed(line).get("method") == "initialize" and not answer.endswith(b"\n"):
                part = connection.recv(_READ_BYTES)
                if not part:
                    raise ConnectionResetError
                answer += part
        return self._listened_to(connection)

    def _listened_to(self, connection: socket.socket) -> socket.socket:
        self._reader = threading.Thread(target=self._pass_answers, args=(connection,), daemon=True)
        self._reader.start()
        return connection

    def _pass_answers(self, connection: socket.socket) -> None:
        """Writes what the server says until it ends. What has no answer then has an error."""
        rest = b""
        while True:
            try:
                part = connection.recv(_READ_BYTES)
            except OSError:
                part = b""
            if not part:
                break
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                self._answered(line)
        with self._lock:
            if self._connection is connection and not self._is_over:
                self._connection = None
                lost, self._waiting = self._waiting, {}
                for identifier in lost.values():
                    error = {"code": _INTERNAL_ERROR, "message": _LOST}
                    _write(json.dumps({"jsonrpc": "2.0", "id": identifier, "error": error}).encode() + b"\n")

    def _answered(self, line: bytes) -> None:
        message = _parsed(line)
        if "id" in message and "method" not in message:
            self._waiting.pop(json.dumps(message["id"]), None)
        _write(line + b"\n")


def _parsed(line: bytes) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


_output = threading.Lock()


def _write(data: bytes) -> None:
    with _output:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        Relay(json.loads(sys.argv[1])).run()
    except _Refused as error:
        sys.exit(f"error: {error}")
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
