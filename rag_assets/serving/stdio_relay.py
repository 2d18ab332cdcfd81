"""Standard input and output of one client, passed on to the server of a home. Run by its path, without the package: a
client starts one for each session, and twenty of them must cost next to nothing.

    python -S stdio_relay.py PLAN

`PLAN` is JSON: `socket`, `hello` (the first line that the server reads), `start` (the command of a server), `log`
(where that writes) and `alone` (the command that serves in this process where no server can be started).

Where a server ends in the middle of a session, another is started and told who initialized, and what has no answer is
asked once more; what fails twice is answered by an error, so that no client waits for ever.
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
_LONGEST_LINE = 4_000_000
"""Bytes that a server reads as one message (`local_server`)."""
_INVALID_REQUEST, _INTERNAL_ERROR = -32600, -32603
_LOST = (
    "the server of the index ended twice while it answered: free space where the disk of the home is full, "
    "else see its log in the folder serve of the home"
)


class _Refused(Exception):
    """The server does not want this client, and says why."""


class _Asked:
    """A request, and whether a second server has been asked it."""

    def __init__(self, line: bytes) -> None:
        self.line = line
        self.is_repeated = False


class Relay:
    """One client and one server at a time."""

    def __init__(self, plan: dict[str, object]) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._first: list[bytes] = []  # what a new server must be told: initialize, and that the client is ready
        self._reader: threading.Thread | None = None
        self._waiting: dict[str, _Asked] = {}  # requests without an answer, by the JSON of their id
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
                try:
                    self._connection.shutdown(socket.SHUT_WR)
                except OSError:  # the server has ended too
                    return
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
                    try:
                        started = self._start()
                    except OSError:
                        self._go_alone()
                elif started.poll() not in (None, 0) or time.monotonic() > end:
                    self._go_alone()
                time.sleep(_POLL_SECONDS)

    def _go_alone(self) -> None:
        """Becomes a process that answers by itself; in the middle of a session it is too late for that."""
        if self._reader is not None:
            _fail(f"no server of the index starts any more; see {self._plan['log']}")
        alone = [str(word) for word in self._plan["alone"]]  # type: ignore[attr-defined]
        os.execv(alone[0], alone)

    def _greeted(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(_WAIT_SECONDS)  # one that was stopped greets nobody
        try:
            connection.connect(str(self._plan["socket"]))
            connection.sendall(json.dumps(self._plan["hello"]).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                part = connection.recv(1)
                if not part:
                    raise ConnectionResetError
                answer += part
            connection.settimeout(None)
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
        is_request = "method" in message and "id" in message
        if len(line) > _LONGEST_LINE:
            if is_request:
                said = f"the message has {len(line):,} bytes; at most {_LONGEST_LINE:,}"
                _write_error(json.dumps(message["id"]), _INVALID_REQUEST, said)
            return
        with self._lock:
            if message.get("method") == "initialize":
                self._first = [line]
            elif message.get("method") == "notifications/initialized":
                self._first = [*self._first[:1], line]
            if is_request:  # before it is sent: the answer may come at once
                self._waiting[json.dumps(message["id"])] = _Asked(line)
            try:
                if self._connection is None:
                    raise ConnectionResetError
                self._connection.sendall(line)
            except OSError:
                self._repeat()

    def _introduced(self, connection: socket.socket) -> socket.socket:
        """A new server that has been told who initialized; the client had that answer from the one before."""
        for line in self._first:
            if any(asked.line is line for asked in self._waiting.values()):
                continue  # it is asked again for the client
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
                self._repeat()

    def _repeat(self) -> None:
        """Asks another server what the one that ended has not answered: every request is as good the second time. What
        has failed twice has an error."""
        self._connection = None
        while True:
            for key in [key for key, asked in self._waiting.items() if asked.is_repeated]:
                del self._waiting[key]
                _write_error(key, _INTERNAL_ERROR, _LOST)
            if not self._waiting:
                return  # the next request finds a server
            try:
                connection = self._introduced(self._connected())
                for asked in list(self._waiting.values()):
                    asked.is_repeated = True
                    connection.sendall(asked.line)
            except OSError:
                for asked in list(self._waiting.values()):
                    asked.is_repeated = True
            except _Refused as error:
                _fail(str(error))
            else:
                self._connection = connection
                return

    def _answered(self, line: bytes) -> None:
        message = _parsed(line)
        if "id" in message and "method" not in message:
            self._waiting.pop(json.dumps(message["id"]), None)
        _write(line + b"\n")


def _parsed(line: bytes) -> dict[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


_output = threading.Lock()


def _write(data: bytes) -> None:
    with _output:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def _write_error(key: str, code: int, said: str) -> None:
    """The answer to a request, by the JSON of its id."""
    answer = {"jsonrpc": "2.0", "id": json.loads(key), "error": {"code": code, "message": said}}
    _write(json.dumps(answer).encode() + b"\n")


def _fail(said: str) -> None:
    """Ends this process, whichever of its threads has to."""
    sys.stderr.write(f"error: {said}\n")
    sys.stderr.flush()
    os._exit(1)


if __name__ == "__main__":
    try:
        Relay(json.loads(sys.argv[1])).run()
    except _Refused as error:
        sys.exit(f"error: {error}")
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
