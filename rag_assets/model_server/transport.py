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

_MOST_REFUSAL_BYTES = 1 << 16
"""Of a reply with a status other than success, of which a line is shown: what is behind them is not read."""

TakePart = Callable[[bytes], bool]
"""Is given the parts of a body as they arrive, and says whether it wants more."""


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    content_type: str
    body: bytes
    retry_after: str = ""
    location: str = ""


class Transport:
    """Sends requests to one URL, each on its own connection. Safe to use from several threads.

    An exchange takes `seconds` at most, a reply that is kept `max_reply_bytes`; messages name the `section` of the
    settings, and its key that has the seconds.
    """

    def __init__(
        self,
        url: str,
        seconds: float,
        *,
        section: str,
        max_reply_bytes: int = _MOST_REFUSAL_BYTES,
        seconds_key: str = "timeout_seconds",
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
        self,
        headers: dict[str, str],
        body: bytes,
        take: TakePart | None = None,
        *,
        max_reply_bytes: int | None = None,
    ) -> Reply | Fault:
        """The reply, whatever its status, or why there is none. With `take` the body of a success goes there, and is
        not kept; once no more of it is wanted the connection is closed. `max_reply_bytes` is what this request needs,
        where that is less than what any does. Raises nothing that a network can cause."""
        most = min(self._max_reply_bytes, max_reply_bytes or self._max_reply_bytes)
        connection = self._connection()
        with _Deadline(connection, self._seconds) as deadline:
            try:
                return self._exchange(connection, deadline, headers, body, take, most)
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
        take: TakePart | None,
        most: int,
    ) -> Reply | Fault:
        connection.connect()
        deadline.watch(connection.sock)
        fixed = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
        connection.request("POST", self._url.request_uri, body, {**fixed, **headers}, preload_content=False)
        response = connection.getresponse()
        with response:
            # Encoded bodies stay encoded: none was asked for, and a decompressed one has no bound.
            if not 200 <= response.status < 300:
                received = _read(response, min(most, _MOST_REFUSAL_BYTES))
            elif take is not None:
                received = b""
                _hand_on(response, take)
            else:
                received = _read(response, most)
                if len(received) > most:
                    said = f"the reply is larger than the {most:,} bytes that it could need"
                    return Fault(Code.TOO_LARGE, said, response.status)
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


def _read(response: HTTPResponse, limit: int) -> bytes:
    """The body, or what is too much of one. Raises HTTPError for one that is shorter than announced."""
    parts: list[bytes] = []
    size = 0
    while size <= limit and (part := response.read(_PART_BYTES, decode_content=False)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _hand_on(response: HTTPResponse, take: TakePart) -> None:
    """Gives the body away as it arrives. Raises as `_read`."""
    # `read1` gives what there is instead of waiting for more
    while (part := response.read1(_PART_BYTES, decode_content=False)) and take(part):
        pass


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
