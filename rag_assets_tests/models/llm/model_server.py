"""A real HTTP server on loopback that answers as a test says, well or badly."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

GOOD = {"summary": "Keeps the orders of the shop.", "details": "Creates and cancels orders."}


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    number: int

    @property
    def user(self) -> str:
        return str(self.body["messages"][1]["content"])


@dataclass(frozen=True)
class Reply:
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0  # before anything is sent
    pause: float = 0.0  # between the bytes of the body
    drip_headers: float = 0.0  # between the bytes of an endless header
    forever: bytes = b""  # behind the body, again and again, until the client goes


def completion(content: str | None, *, finish: str = "stop", **more: Any) -> Reply:
    """A chat completion whose text is `content`."""
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return Reply(json.dumps({"choices": [choice], "usage": usage} | more).encode())


def answering(answer: object = GOOD) -> Reply:
    return completion(json.dumps(answer))


def failing(status: int, message: str = "no", **headers: str) -> Reply:
    body = json.dumps({"error": {"message": message}}).encode()
    return Reply(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


class ModelServer:
    """Answers every POST with `respond`; `script` answers with these replies in turn, the last one for ever."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.peak = 0
        self.sent = 0  # bytes of bodies that do not end
        self.respond: Callable[[Asked], Reply] = lambda asked: answering()
        self._in_flight = 0
        self._lock = threading.Lock()
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def speak_tls(self, context: ssl.SSLContext) -> None:
        """From the next connection on."""
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    def script(self, *replies: Reply) -> None:
        self.respond = lambda asked: replies[min(asked.number, len(replies) - 1)]

    def received(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self._lock:
            asked = Asked(handler.path, dict(handler.headers.items()), body, len(self.asked))
            self.asked.append(asked)
            self._in_flight += 1
            self.peak = max(self.peak, self._in_flight)
        try:
            reply = self.respond(asked)
            self.closing.wait(reply.delay)
        finally:
            with self._lock:  # before the client has the answer, and may ask again
                self._in_flight -= 1
        try:
            self._send(handler, reply)
        except OSError:
            handler.close_connection = True  # the client has gone, as it should after its time limit

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        if reply.drip_headers:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Endless: ")
            while not self.closing.wait(reply.drip_headers):
                handler.wfile.write(b"x")
            return
        handler.send_response(reply.status)
        for name, value in ({"Content-Type": "application/json"} | reply.headers).items():
            handler.send_header(name, value)
        if "Content-Length" not in reply.headers and not reply.forever:
            handler.send_header("Content-Length", str(len(reply.body)))
        handler.end_headers()
        if not reply.pause:
            handler.wfile.write(reply.body)
            while reply.forever and not self.closing.is_set():
                handler.wfile.write(reply.forever)
                self.sent += len(reply.forever)
            return
        for byte in reply.body:
            if self.closing.wait(reply.pause):
                return
            handler.wfile.write(bytes([byte]))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.received(self)

            def log_message(self, *arguments: object) -> None:
                """Says nothing: what arrived is in `asked`."""

        return Handler

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """(what `action` gives, how many seconds it took)."""
    started = time.monotonic()
    return action(), time.monotonic() - started
