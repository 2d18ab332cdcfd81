"""What `httpx2` leaves open, as one transport: a deadline for the whole exchange, a limit for what is read of a reply,
and no header, cookie or redirect that a model server does not need. And the one place that makes our faults from the
errors of `openai` and `httpx2`. Nothing in a reply is trusted.

Socket timeouts alone are not enough: a server that sends a byte now and then renews them for ever, so a timer cuts the
connection when the time is up.
"""

from __future__ import annotations

import logging
import os
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

import httpx2
import openai

from rag_assets.models.openai_compat.endpoint import ServerEndpoint
from rag_assets.models.openai_compat.faults import Fault, FaultCode, shown
from rag_assets.models.openai_compat.responses import ReplyLimits, is_json

REDIRECTED_TO = "redirected-to"
"""Header of a reply that holds the host of its `Location`, without the path and query, which may hold anything."""

_MOST_REFUSAL_BYTES = 1 << 16
"""Of a reply with a status other than success, of which a line is shown: what is behind them is not read."""

_SENT = frozenset(
    {"host", "content-type", "content-length", "transfer-encoding", "accept", "user-agent"}
    | {"openai-organization", "openai-project"}
)
"""Headers of `openai` that leave this machine; it also makes some that describe the machine."""

_KEPT = ("content-type", "retry-after")
"""Headers of a reply that are read. Without an encoding, bodies stay encoded: a decompressed one has no bound."""

_CONNECTED = ("connect_tcp.complete", "start_tls.complete")

_AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # read by OpenSSL

_LITTLE = ReplyLimits(_MOST_REFUSAL_BYTES)
_limits: ContextVar[ReplyLimits] = ContextVar("reply_limits", default=_LITTLE)


class ReplyTooLarge(httpx2.TransportError):
    """A reply that is not read on; `fault` says at which limit."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


@contextmanager
def reading_at_most(limits: ReplyLimits) -> Iterator[None]:
    """The limits of the replies that this thread reads in the block."""
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


def bounded_client(endpoint: ServerEndpoint) -> httpx2.Client:
    """A client whose requests have their own connection each, and the seconds and credentials of `endpoint`. Proxies
    are those of the environment, and none for this machine. Raises httpx2.ProxyError for one that cannot be used."""
    logging.getLogger("httpcore2").setLevel(logging.INFO)  # at DEBUG it writes reply headers, which may hold the key
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # it writes whole URLs, and that of a webhook is a secret
    alone = httpx2.Limits(max_keepalive_connections=0)
    try:
        connections = httpx2.Client(
            verify=_certificates(*map(os.environ.get, _AUTHORITIES)), limits=alone, trust_env=not endpoint.is_local
        )
    except (ImportError, ValueError):  # their texts may hold its password
        raise httpx2.ProxyError("the proxy of the environment is no http URL (SOCKS: pip install socksio)") from None
    transport = BoundedTransport(connections, endpoint)
    return httpx2.Client(transport=transport, timeout=endpoint.seconds, trust_env=False)


@cache
def _certificates(*authorities: str | None) -> ssl.SSLContext:
    """Trusts the authorities of the system, or those that the environment names. OpenSSL takes 30 ms to read them."""
    return ssl.create_default_context()


class BoundedTransport(httpx2.BaseTransport):
    """Sends by `connections` what `endpoint` may see, within its seconds. Safe to use from several threads."""

    def __init__(self, connections: httpx2.Client, endpoint: ServerEndpoint) -> None:
        self._connections = connections
        self._endpoint = endpoint

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """The reply, its body unread and without cookies; redirects are not followed. Raises httpx2.TransportError,
        TimeoutException among them; so does reading the body, with ReplyTooLarge for one beyond its limit."""
        deadline = _Deadline(self._endpoint.seconds)
        try:
            with deadline.names_its_cut():
                response = self._connections.send(self._allowed(request, deadline), stream=True)
        except BaseException:
            deadline.cancel()
            raise
        kept = {name: response.headers[name] for name in _KEPT if name in response.headers}
        if response.next_request is not None:
            kept[REDIRECTED_TO] = response.next_request.url.host
        masked = {name: self._endpoint.key.masked(value) for name, value in kept.items()}
        return httpx2.Response(response.status_code, headers=masked, stream=_Body(response, deadline, _limits.get()))

    def _allowed(self, request: httpx2.Request, deadline: _Deadline) -> httpx2.Request:
        given = ((name.decode(), value.decode()) for name, value in request.headers.raw)
        sent = {name: value for name, value in given if name.lower() in _SENT}
        sent |= self._endpoint.credentials() | {"Accept-Encoding": "identity", "Connection": "close"}
        extensions = {**request.extensions, "trace": deadline.watch}
        return httpx2.Request(request.method, request.url, headers=sent, stream=request.stream, extensions=extensions)

    def close(self) -> None:
        self._connections.close()


class _Body(httpx2.SyncByteStream):
    """The bytes of a reply as they arrive. A refusal ends where no more of it is shown; what else is larger than its
    limit is rejected."""

    def __init__(self, response: httpx2.Response, deadline: _Deadline, limits: ReplyLimits) -> None:
        self._response = response
        self._deadline = deadline
        self._limits = limits

    def __iter__(self) -> Iterator[bytes]:
        limits, status = self._limits, self._response.status_code
        in_events = limits.stream and not is_json(self._response.headers.get("content-type", ""))
        most = limits.stream if in_events else limits.body
        received = line = 0
        with self._deadline.names_its_cut():
            for part in self._response.iter_raw():
                received += len(part)
                if status >= 300:
                    yield part
                    if received >= _MOST_REFUSAL_BYTES:
                        return
                    continue
                behind = part.rfind(b"\n") + 1
                line = len(part) - behind if behind else line + len(part)
                if received > most or line > limits.body:
                    raise ReplyTooLarge(limits.too_large(most if received > most else limits.body))
                yield part

    def close(self) -> None:
        self._deadline.cancel()
        self._response.close()


class _Deadline:
    """Cuts the connection of an exchange that takes longer than `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._expired = False
        self._socket: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Remembers the socket of the connection: the `trace` of a request (`httpcore2` calls it at every step)."""
        if event.endswith(_CONNECTED):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._expired:  # the time was up before there was a socket to cut
                raise httpx2.ConnectTimeout("deadline")

    @contextmanager
    def names_its_cut(self) -> Iterator[None]:
        """Raises ReadTimeout where the deadline cut the connection in the block: that can look like another error, or
        like the end of a body without a length."""
        try:
            yield
        except httpx2.TransportError:
            if self._expired:
                raise httpx2.ReadTimeout("deadline") from None
            raise
        if self._expired:
            raise httpx2.ReadTimeout("deadline")

    def cancel(self) -> None:
        self._timer.cancel()

    def _cut(self) -> None:
        self._expired = True
        if self._socket is not None:
            with suppress(OSError):  # closed in this moment: the exchange is done
                # Only a shutdown wakes a thread that is reading. Not through the TLS layer, which that thread is in.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def fault_of(error: Exception, endpoint: ServerEndpoint) -> Fault:
    """What an `openai.APIError` or an `httpx2.RequestError` means for a request to `endpoint`."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, endpoint)
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
    if isinstance(cause, ReplyTooLarge):
        return cause.fault
    if isinstance(cause, httpx2.TimeoutException):
        limit = f"{endpoint.seconds:g} s ({endpoint.section}.{endpoint.seconds_key})"
        return Fault(FaultCode.TIMEOUT, f"no answer from {endpoint.origin} in {limit}")
    return _of_connection(cause or error, endpoint)


def _of_status(error: openai.APIStatusError, endpoint: ServerEndpoint) -> Fault:
    """The section of the settings is what to look at."""
    status, section, headers = error.status_code, endpoint.section, error.response.headers
    detail = shown(error.body, endpoint.key) if error.body else ""
    said = f"the server answers {status}{': ' + detail if detail else ''}"
    wait = _seconds_to_wait(headers.get("retry-after", ""))
    if 300 <= status < 400:
        host = headers.get(REDIRECTED_TO, "")
        said = f"the server redirects{' to ' + host if host else ''}; set {section}.base_url to it"
        return Fault(FaultCode.REDIRECT, said, status)
    if status in (401, 403):
        return Fault(
            FaultCode.UNAUTHORISED, f"{said}; set {endpoint.key.variable} in the environment", status, detail=detail
        )
    if status == 404:
        return Fault(
            FaultCode.NOT_FOUND, f"{said}; check {section}.base_url and {section}.model", status, detail=detail
        )
    if status == 429:
        return Fault(FaultCode.RATE_LIMITED, f"{said}; lower {section}.max_concurrency", status, wait, detail)
    if status == 408 or status >= 500:
        return Fault(FaultCode.SERVER_ERROR, said, status, wait, detail)
    return Fault(FaultCode.REJECTED, said, status, detail=detail)


def _of_connection(error: BaseException, endpoint: ServerEndpoint) -> Fault:
    causes = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason = f"certificate of {endpoint.origin} is not trusted: {cause.verify_message}"
            return Fault(FaultCode.TLS, f"{reason}; name a private authority in SSL_CERT_FILE")
    spoken = (cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror)
    reason = shown(next(spoken, "") or str(error) or type(error).__name__, endpoint.key)
    hint = f"is the server of {endpoint.section}.base_url up?"
    proxies = "" if endpoint.is_local else " A proxy of the environment (HTTPS_PROXY, NO_PROXY) may be in the way."
    return Fault(FaultCode.UNREACHABLE, f"no reply from {endpoint.origin}: {reason}; {hint}{proxies}", detail=reason)


def _seconds_to_wait(text: str) -> float | None:
    """`Retry-After` in seconds or as a date (RFC 9110 §10.2.3); None without one that can be read."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)  # a zone of -0000
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
