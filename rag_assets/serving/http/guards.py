"""What stands before every route: an id for each request, its log line, limits of size and rate, the names that the
server answers to, and who asks.

Each guard is plain ASGI, so that streams pass through untouched.
"""

from __future__ import annotations

import json
import logging
import re
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_assets.errors import RagAssetsError
from rag_assets.serving.access import SCOPE_KEY, Caller, Calling
from rag_assets.serving.http.metrics import ServerMetrics

ID_KEY = "rag_assets.request_id"
STILL_KEY = "rag_assets.is_still_allowed"
"""What says whether the token of a request holds by now: an answer that is long in coming may outlive it."""
DEFECT = "the server failed; its log has more under this request id"
"""All that is said of a defect of ours: its text may hold what the caller may not see."""

_log = logging.getLogger("rag_assets.serving.requests")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PORT = re.compile(r":\d+$")
_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": _CONTENT_POLICY,
    "cross-origin-resource-policy": "same-origin",
}


class FindsCaller(Protocol):
    """Who a bearer token is of; None for one that nobody has."""

    async def __call__(self, token: str) -> Caller | None: ...


def refused(scope: Scope, status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> Response:
    """Every error of a route for programs."""
    body = {"error": {"type": kind, "message": message, "request_id": scope.get(ID_KEY, "")}}
    return JSONResponse(body, status, headers)


def wants_page(request: Request) -> bool:
    """Whether a person reads the answer: a browser that opens an address."""
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


class RequestLog:
    """Gives each request an id, and writes one line of JSON when it has ended. Questions are not in it: they are
    business of whoever asks."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        scope[ID_KEY] = identifier = given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        began, status = time.perf_counter(), 499  # the client has gone before an answer

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = identifier
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with self._metrics.in_flight():
            try:
                await self._app(scope, receive, answer)
            finally:
                took = time.perf_counter() - began
                self._metrics.answered(scope["path"], status, took)
                found = scope.get(SCOPE_KEY)
                _log.info(
                    json.dumps(
                        {
                            "request_id": identifier,
                            "method": scope["method"],
                            "path": scope["path"],
                            "status": status,
                            "ms": round(took * 1000, 1),
                            "caller": found.caller.name if isinstance(found, Calling) else None,
                        },
                        ensure_ascii=False,
                    )
                )


class KnownHosts:
    """Refuses requests for another name than those of the server, and those that a page of another site makes: a page
    in a browser on this machine must not reach a server on loopback by a name of its own."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.casefold() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            host = _PORT.sub("", headers.get("host", "")).casefold()
            if "*" not in self._hosts and host not in self._hosts:
                said = f"this server does not answer to {host!r}; add it with: rag-assets serve --allow-host {host}"
                await refused(scope, 421, "unknown_host", said)(scope, receive, send)
                return
            origin = headers.get("origin", "")
            own = origin.partition("://")[2].casefold() == headers.get("host", "").casefold()
            if (origin and not own) or headers.get("sec-fetch-site", "same-origin") == "cross-site":
                said = "requests from pages of other sites are not answered"
                if not (scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"):
                    await refused(scope, 403, "other_site", said)(scope, receive, send)
                    return
        await self._app(scope, receive, send)


class BodyLimit:
    """Refuses bodies that are larger than any request is, before they are in memory, and those that take longer to come
    than a request may take."""

    def __init__(self, app: ASGIApp, most_bytes: int, seconds: float) -> None:
        self._app = app
        self._most = most_bytes
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdigit() or int(length) > self._most:
            await self._refuse(scope, receive, send)
            return
        seen, is_whole, end = 0, False, time.monotonic() + self._seconds

        async def counted() -> Message:
            nonlocal seen, is_whole
            if is_whole:  # whether the client is still there
                return await receive()
            try:
                with anyio.fail_after(end - time.monotonic()):
                    message = await receive()
            except TimeoutError:
                raise BodyTooSlow from None
            is_whole = not message.get("more_body")
            seen += len(message.get("body", b""))
            if seen > self._most:
                raise BodyTooLarge
            return message

        try:
            await self._app(scope, counted, send)
        except BodyTooSlow:
            said = f"the body did not come within {self._seconds:.0f} s"
            await refused(scope, 408, "too_slow", said, {"connection": "close"})(scope, receive, send)
        except BodyTooLarge:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        said = f"the body is larger than {self._most:,} bytes"
        await refused(scope, 413, "too_large", said, {"connection": "close"})(scope, receive, send)


class BodyTooLarge(Exception):
    """A body that goes on beyond the limit; `BodyLimit` answers it."""


class BodyTooSlow(BodyTooLarge):
    """A body that does not come in time."""


class Authentication:
    """Finds out who asks. Without tokens everybody is the caller that the server was started for, which is refused
    beyond loopback when it starts."""

    def __init__(
        self,
        app: ASGIApp,
        everybody: Caller | None,
        find: FindsCaller,
        *,
        may_open: Callable[[str], bool],
        metadata: str = "",
        sign_in: Callable[[Request, str], Response] | None = None,
    ) -> None:
        """`everybody` is who asks without a token, None where one is wanted. `may_open` says which paths are answered
        to everybody: what watches a server has no token. `metadata` is the address of what says
        where tokens are had (RFC 9728). `sign_in` is the page that a browser is shown instead of an error."""
        self._app = app
        self._everybody = everybody
        self._find = find
        self._challenge = "Bearer" + (f' resource_metadata="{metadata}"' if metadata else "")
        self._may_open = may_open
        self._sign_in = sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._may_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        scheme, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        token = token.strip() if scheme.casefold() == "bearer" else _cookie_token(scope)
        try:
            caller = await self._find(token) if token else self._everybody
        except RagAssetsError as error:
            _log.error(json.dumps({"request_id": scope.get(ID_KEY), "error": str(error)}))
            caller = None
        if caller is None:
            said = "this token is unknown, revoked or expired" if token else "a bearer token is needed"
            headers = {"www-authenticate": self._challenge}
            if self._sign_in is not None and wants_page(request := Request(scope)):
                await self._sign_in(request, said if token else "")(scope, receive, send)
                return
            await refused(scope, 401, "unauthorized", said, headers)(scope, receive, send)
            return
        scope[SCOPE_KEY] = Calling(caller)
        if token:
            scope[STILL_KEY] = partial(self._is_still, token)
        await self._app(scope, receive, send)

    async def _is_still(self, token: str) -> bool:
        return await self._find(token) is not None


TOKEN_COOKIE = "rag_assets_token"


def _cookie_token(scope: Scope) -> str:
    """The token that the page keeps for a browser, which cannot send a header when it follows a link."""
    for part in Headers(scope=scope).get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == TOKEN_COOKIE:
            return value
    return ""


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class RateLimit:
    """So many requests a minute for each caller, in bursts of a quarter of them; 0 for no limit."""

    _MOST_CALLERS = 10_000

    def __init__(self, app: ASGIApp, per_minute: int) -> None:
        self._app = app
        self._rate = per_minute / 60
        self._burst = max(per_minute / 4, 1.0)
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = scope.get(SCOPE_KEY)
        if scope["type"] != "http" or not self._rate or not isinstance(found, Calling):
            await self._app(scope, receive, send)
            return
        wait = self._wait(found.caller.name or str((scope.get("client") or ("",))[0]))
        if wait > 0:
            headers = {"retry-after": str(int(wait) + 1)}
            said = f"too many requests; try again in {int(wait) + 1} s"
            await refused(scope, 429, "too_many_requests", said, headers)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _wait(self, name: str) -> float:
        """Seconds until the caller may ask again; 0 counts the request."""
        now = time.monotonic()
        bucket = self._buckets.setdefault(name, _Bucket(self._burst, now))
        self._buckets.move_to_end(name)
        if len(self._buckets) > self._MOST_CALLERS:
            self._buckets.popitem(last=False)
        bucket.left = min(self._burst, bucket.left + (now - bucket.at) * self._rate)
        bucket.at = now
        if bucket.left < 1.0:
            return (1.0 - bucket.left) / self._rate
        bucket.left -= 1.0
        return 0.0
