"""One POST, bounded in time and size: urllib3 without proxies, redirects, retries, cookies or decompression.

The time limit is for the whole exchange. Socket timeouts alone are not enough: a server that sends a byte now and
then renews them for ever, so a timer cuts the connection when the time is up.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
from urllib3.response import HTTPResponse
from urllib3.util import Url, parse_url

from rag_assets.model_server.faults import Code, Fault

_PART_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    content_type: str
    body: bytes
    retry_after: str = ""
    location: str = ""


class Transport:
    """Sends requests to one URL, each on its own connection. Safe to use from several threads.

    An exchange takes `seconds` at most, a reply `max_reply_bytes`; messages name the `section` of the settings, and
    its key that has the seconds.
    """

    def __init__(
        self, url: str, seconds: float, *, section: str, max_reply_bytes: int, seconds_key: str = "timeout_seconds"
    ) -> None:
        self._url = parse_url(url)
        self._seconds = seconds
        self._section = section
        self._seconds_key = seconds_key
        self._max_reply_bytes = max_reply_bytes
        self._tls = ssl.create_default_context() if self._url.scheme == "https" else None

    @property
    def url(self) -> Url:
        return self._url

    def post(
        self, headers: dict[str, str], body: bytes, on_part: Callable[[bytes], None] | None = None
    ) -> Reply | Fault:
        """The reply, whatever its status, or why there is none. With `on_part` the body of a success is also given
        there piece by piece, as it arrives. Raises nothing that a network can cause."""
        connection = self._connection()
        with _Deadline(connection, self._seconds) as deadline:
            try:
                return self._exchange(connection, deadline, headers, body, on_part)
            except (OSError, http.client.HTTPException, HTTPError) as error:
                return self._fault(error, expired=deadline.expired)
            finally:
                connection.close()

    def _connection(self) -> HTTPConnection:
        host = self._url.host or ""
        if self._tls is None:
            return HTTPConnection(host, self._url.port, timeout=self._seconds)
        return HTTPSConnection(host, self._url.port, timeout=self._seconds, ssl_context=self._tls)

    def _exchange(
        self,
        connection: HTTPConnection,
        deadline: _Deadline,
        headers: dict[str, str],
        body: bytes,
        on_part: Callable[[bytes], None] | None,
    ) -> Reply | Fault:
        connection.connect()
        deadline.watch(connection.sock)
        fixed = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        connection.request("POST", self._url.request_uri, body, {**fixed, **headers}, preload_content=False)
        response = connection.getresponse()
        with response:
            # Encoded bodies stay encoded: none was asked for, and a decompressed one has no bound.
            wanted = on_part if 200 <= response.status < 300 else None
            received = _read(response, self._max_reply_bytes, wanted)
        if len(received) > self._max_reply_bytes:
            return Fault(Code.TOO_LARGE, f"the reply is larger than {self._max_reply_bytes} bytes", response.status)
        if deadline.expired:  # a cut connection can look like the end of a body without a length
            raise TimeoutError
        return Reply(
            status=response.status,
            content_type=response.headers.get("Content-Type", ""),
            body=received,
            retry_after=response.headers.get("Retry-After", ""),
            location=response.headers.get("Location", ""),
        )

    def _fault(self, error: Exception, *, expired: bool) -> Fault:
        origin = f"{self._url.scheme}://{self._url.netloc}"
        refused = isinstance(error, NewConnectionError)  # which urllib3 makes a kind of time-out
        if expired or (isinstance(error, TimeoutError | ConnectTimeoutError) and not refused):
            limit = f"{self._seconds:g} s ({self._section}.{self._seconds_key})"
            return Fault(Code.TIMEOUT, f"no answer from {origin} in {limit}")
        if isinstance(error, ssl.SSLCertVerificationError):
            reason = f"certificate of {origin} is not trusted: {error.verify_message}"
            return Fault(Code.TLS, f"{reason}; name a private authority in SSL_CERT_FILE")
        reason, hint = _reason(error), f"is the server of {self._section}.base_url up?"
        return Fault(Code.UNREACHABLE, f"no reply from {origin}: {reason}; {hint}", detail=reason)


def _read(response: HTTPResponse, limit: int, on_part: Callable[[bytes], None] | None) -> bytes:
    """The body, or what is too much of one. Raises HTTPError for one that is shorter than announced."""
    parts: list[bytes] = []
    size = 0
    read = response.read if on_part is None else response.read1  # which gives what there is instead of waiting for more
    while size <= limit and (part := read(_PART_BYTES, decode_content=False)):
        parts.append(part)
        size += len(part)
        if on_part is not None:
            on_part(part)
    return b"".join(parts)


def _reason(error: BaseException) -> str:
    """The cause in a few words, without the addresses of objects that urllib3 puts into its texts."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


class _Deadline:
    """Cuts the connection of a block that takes longer than `seconds`; `expired` then says so."""

    def __init__(self, connection: HTTPConnection, seconds: float) -> None:
        self.expired = False
        self._connection = connection
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def watch(self, connected: socket.socket | None) -> None:
        """Remembers the socket, as http.client forgets it while a body is being read. Raises TimeoutError if the time
        was up before there was one."""
        self._socket = connected
        if self.expired:
            raise TimeoutError

    def _cut(self) -> None:
        self.expired = True
        connected = self._socket or self._connection.sock
        if connected is not None:
            with suppress(OSError):  # closed in this moment: the block is done
                # Only a shutdown wakes a thread that is reading. Not through the TLS layer, which that thread is in.
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
