"""Standard input and output of one client, passed on to the server of a home. Run by its path, without the package: a
client starts one for each session, and twenty of them must cost next to nothing.

    python -S stdio_relay.py PLAN

`PLAN` is JSON: `socket`, `hello` (the first line that the server reads), `start` (the command of a server), `log`
(where that writes), `alone` (the command that serves one client where no server can be started) and `version`.

How a session begins, and lists that are the same for every home, are answered from `agent_answers.json`, so that a
client need not wait for the start of a server. All else waits for it.

Where a server ends in the middle of a session, another is started and told who initialized, and what has no answer is
asked once more; what fails twice is answered by an error, so that no client waits for ever. Where none can be started,
each request is answered by the reason.
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
_LAST_WORDS = 2_000
"""Bytes that are kept of what a process writes about its end."""
_ANSWERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent_answers.json")  # noqa: PTH118, PTH100, PTH120
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_LOST = (
    "the server of the index ended twice while it answered: free space where the disk of the home is full, "
    "else see its log in the folder serve of the home"
)


class _Refused(Exception):
    """No server wants this client, or none starts; the text says why."""


class _Asked:
    """A request, and how many servers have ended before they answered it."""

    def __init__(self, line: bytes) -> None:
        self.line = line
        self.lost = 0


class StaticAnswers:
    """What every server of this installation answers alike, written by `make reference`."""

    def __init__(self, version: str, *, may_index: bool) -> None:
        with open(_ANSWERS, encoding="utf-8") as file:  # noqa: PTH123 - pathlib would take a third of the start
            found = json.loads(file.read().replace("@VERSION@", version))
        self._versions: list[str] = found["handshake"]["versions"]
        self._initialize: dict[str, object] = found["handshake"]["initialize"]
        self._modern_versions: list[str] = found["modern"]["versions"]
        self._lists: dict[str, dict[str, object]] = found["handshake"]["answers"]
        self._modern: dict[str, dict[str, object]] = found["modern"]["answers"]
        if may_index:
            for answers in (self._lists, self._modern):
                answers["tools/list"]["tools"].append(found["index"])

    def initialized(self, params: dict[str, object]) -> dict[str, object] | None:
        """The result of `initialize`, with the version that the client wants or else our newest; None where a server
        must say what is wrong with the parameters."""
        wanted, client = params.get("protocolVersion"), params.get("clientInfo")
        if not isinstance(wanted, str) or not isinstance(params.get("capabilities"), dict):
            return None
        if not isinstance(client, dict) or not all(isinstance(client.get(one), str) for one in ("name", "version")):
            return None
        return {"protocolVersion": wanted if wanted in self._versions else self._versions[-1], **self._initialize}

    def listed(self, method: str, params: dict[str, object], *, is_initialized: bool) -> dict[str, object] | None:
        """The result of a request without parameters of its own, in a session that began with `initialize` or in one
        whose requests carry the version. None for what a server must answer."""
        meta = params.get("_meta", {})
        if not isinstance(meta, dict) or params.keys() - {"_meta"}:
            return None
        if is_initialized:
            return None if _VERSION_KEY in meta else self._lists.get(method)
        is_known = meta.get(_VERSION_KEY) in self._modern_versions and isinstance(meta.get(_CAPABILITIES_KEY), dict)
        return self._modern.get(method) if is_known else None


class _Alone:
    """A process that serves this client alone, reached like a server."""

    def __init__(self, command: list[str]) -> None:
        self.connection, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                command, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.PIPE
            )
        self._said = b""
        self._listener = threading.Thread(target=self._pass_errors, daemon=True)
        self._listener.start()

    def _pass_errors(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._said = (self._said + line)[-_LAST_WORDS:]
            sys.stderr.write(line.decode("utf-8", "replace"))
            sys.stderr.flush()

    def last_words(self) -> str:
        """Why it has ended; '' where something else has ended it."""
        try:
            code = self._process.wait(_WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            return ""
        self._listener.join(1)
        lines = self._said.decode("utf-8", "replace").strip().rpartition("error: ")[2].splitlines()
        return " ".join(line.strip() for line in lines) if code > 0 else ""


class Relay:
    """One client and one server at a time."""

    def __init__(self, plan: dict[str, object]) -> None:
        self._plan = plan
        hello = plan["hello"]
        may_index = isinstance(hello, dict) and bool(hello.get("may_index"))
        self._static = StaticAnswers(str(plan.get("version", "")), may_index=may_index)
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self._early: threading.Thread | None = None
        self._found: socket.socket | Exception | None = None
        self._alone: _Alone | None = None
        self._first: list[bytes] = []  # what a new server must be told: initialize, and that the client is ready
        self._reader: threading.Thread | None = None
        self._waiting: dict[str, _Asked] = {}  # requests without an answer, by the JSON of their id
        self._is_passed_on = False  # a server knows of this client
        self._is_refused = False
        self._is_over = False

    def run(self) -> int:
        """Until the client leaves; the exit code."""
        self._early = threading.Thread(target=self._connect_early, daemon=True)
        self._early.start()
        for line in sys.stdin.buffer:
            self._send(line)
        with self._lock:
            self._is_over = True
            reader = self._reader
            if self._connection is not None:
                try:
                    self._connection.shutdown(socket.SHUT_WR)
                except OSError:  # the server has ended too
                    reader = None
        if reader is not None:
            reader.join(_WAIT_SECONDS)  # answers that are under way
        return int(self._is_refused)

    # A server

    def _connect_early(self) -> None:
        try:
            self._found = self._new_connection()
        except (_Refused, OSError) as error:
            self._found = error

    def _connected(self) -> socket.socket:
        """First the connection that was begun with the session, then new ones. Raises _Refused, OSError."""
        early, found = self._early, None
        if early is not None:
            early.join()
            self._early, found = None, self._found
        if isinstance(found, Exception):
            raise found
        return found or self._new_connection()

    def _new_connection(self) -> socket.socket:
        """A connection that the server has accepted; without a server one is started. Where that is impossible, one to
        a process for this client alone."""
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
                        break
                elif started.poll() not in (None, 0) or time.monotonic() > end:
                    break
                time.sleep(_POLL_SECONDS)
        self._alone = _Alone(self._command("alone"))
        return self._alone.connection

    def _greeted(self) -> socket.socket:
        if sys.platform == "win32":
            raise OSError("`rag-assets mcp` serves in its own process there")
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
        with open(str(self._plan["log"]), "ab") as log:  # noqa: PTH123 - pathlib would take a third of the start
            return subprocess.Popen(
                self._command("start"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                close_fds=True,
            )

    def _command(self, name: str) -> list[str]:
        return [str(word) for word in self._plan[name]]  # type: ignore[attr-defined]

    # What the client says

    def _send(self, line: bytes) -> None:
        message = _parsed(line)
        is_request = "method" in message and "id" in message
        if len(line) > _LONGEST_LINE:
            if is_request:
                said = f"the message has {len(line):,} bytes; at most {_LONGEST_LINE:,}"
                _write_error(json.dumps(message["id"]), _INVALID_REQUEST, said)
            return
        with self._lock:
            if is_request and self._answers(message):
                return
            if message.get("method") == "initialize":
                self._first = [line]
            elif message.get("method") == "notifications/initialized":
                self._first = [*self._first[:1], line]
            if is_request:  # before it is sent: the answer may come at once
                self._waiting[json.dumps(message["id"])] = _Asked(line)
            if self._connection is not None:
                try:
                    self._connection.sendall(line)
                except OSError:
                    self._lose()
            if self._connection is None:
                self._ask()

    def _answers(self, message: dict[str, object]) -> bool:
        """Whether a request needed no server."""
        key, method, params = message["id"], message["method"], message.get("params", {})
        if not isinstance(params, dict) or message.get("jsonrpc") != "2.0":
            return False
        if not isinstance(key, str | int) or isinstance(key, bool):
            return False
        if method != "initialize":
            result = self._static.listed(str(method), params, is_initialized=bool(self._first))
        elif self._is_passed_on:
            result = None
        else:
            result = self._static.initialized(params)
            if result is not None:  # a server speaks the version that the client knows of
                agreed = {**params, "protocolVersion": result["protocolVersion"]}
                self._first = [json.dumps({**message, "params": agreed}).encode() + b"\n"]
        if result is not None:
            _write(json.dumps({"jsonrpc": "2.0", "id": key, "result": result}).encode() + b"\n")
        return result is not None

    def _ask(self) -> None:
        """Asks a new server all that has no answer: every request is as good the second time."""
        while self._waiting:  # else the next request finds a server
            try:
                connection = self._introduced(self._connected())
                for asked in list(self._waiting.values()):
                    connection.sendall(asked.line)
            except OSError:
                self._lose()
            except _Refused as error:
                self._refuse(str(error))
            else:
                self._connection = connection
                self._is_refused = False
                return

    def _introduced(self, connection: socket.socket) -> socket.socket:
        """A new server that has been told who initialized; the client has that answer already."""
        self._is_passed_on = True
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
            problem = _parsed(answer).get("error")
            if isinstance(problem, dict):
                raise _Refused(f"the server does not understand how the client began: {problem.get('message')}")
        self._reader = threading.Thread(target=self._pass_answers, args=(connection,), daemon=True)
        self._reader.start()
        return connection

    # What the server says

    def _pass_answers(self, connection: socket.socket) -> None:
        """Writes what the server says until it ends. What has no answer then is asked again."""
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
                self._lose()
                self._ask()

    def _answered(self, line: bytes) -> None:
        message = _parsed(line)
        if "id" in message and "method" not in message:
            self._waiting.pop(json.dumps(message["id"]), None)
        _write(line + b"\n")

    def _lose(self) -> None:
        """A server has ended. What two have not answered has an error, and all where the last resort does not start."""
        self._connection = None
        alone, self._alone = self._alone, None
        if alone is not None and (said := alone.last_words()):
            self._refuse(f"no server of the index starts: {said}; mend this and ask again, or run: rag-assets doctor")
        for key, asked in list(self._waiting.items()):
            asked.lost += 1
            if asked.lost > 1:
                del self._waiting[key]
                _write_error(key, _INTERNAL_ERROR, _LOST)

    def _refuse(self, said: str) -> None:
        self._is_refused = True
        for key in list(self._waiting):
            del self._waiting[key]
            _write_error(key, _INTERNAL_ERROR, said)
        sys.stderr.write(f"error: {said}\n")
        sys.stderr.flush()


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


if __name__ == "__main__":
    try:
        sys.exit(Relay(json.loads(sys.argv[1])).run())
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
