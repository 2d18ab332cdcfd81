"""The application: guards, routes for programs, the protocol of agents, the page."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import anyio
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Lifespan

from rag_assets.serving.access import Caller
from rag_assets.serving.http.api import Api
from rag_assets.serving.http.guards import (
    DEFECT,
    Authentication,
    BodyLimit,
    FindsCaller,
    KnownHosts,
    RateLimit,
    RequestLog,
    refused,
    wants_page,
)
from rag_assets.serving.http.metrics import CONTENT_TYPE, ServerMetrics
from rag_assets.serving.http.openapi import document
from rag_assets.serving.operations import Operations

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """`seconds` of a request, `body_bytes` of its body, `per_minute` requests of a caller (0: any number)."""

    seconds: float = 60.0
    body_bytes: int = 1_000_000
    per_minute: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reception:
    """Who is let in, and under which names the server is reached. `everybody` asks without a token."""

    find: FindsCaller
    everybody: Caller | None
    hosts: Collection[str] = LOOPBACK
    oauth_metadata: dict[str, Any] | None = None


class BrowserPage(Protocol):
    """What people see in a browser."""

    open_paths: Collection[str]

    def routes(self, api: Api) -> Sequence[BaseRoute]: ...

    def sign_in(self, request: Request, problem: str) -> Response:
        """Asks for a token."""

    def error(self, request: Request, status: int, message: str) -> Response:
        """Says what is wrong."""


def application(
    operations: Operations,
    agents: Server[Any],
    reception: Reception,
    *,
    limits: RequestLimits | None = None,
    page: BrowserPage | None = None,
) -> Starlette:
    """The whole server as one ASGI application. Its lifespan closes `operations`."""
    limits = limits or RequestLimits()
    metrics = ServerMetrics()
    metrics.watch(operations.pool.open_count)
    sessions = StreamableHTTPSessionManager(
        agents, stateless=True, json_response=True, max_request_body_size=limits.body_bytes
    )
    api = Api(operations, seconds=limits.seconds, at_once=2 * (os.cpu_count() or 1) + 2)
    described = document()

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def openapi(_: Request) -> Response:
        return JSONResponse(described)

    async def measured(_: Request) -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    async def oauth(_: Request) -> Response:
        return JSONResponse(reception.oauth_metadata)

    routes: list[BaseRoute] = [
        *api.routes(),
        Route("/mcp", StreamableHTTPASGIApp(sessions)),
        Route("/healthz", healthz),
        Route("/metrics", measured),
        Route("/openapi.json", openapi),
        *([Route(OAUTH_METADATA, oauth)] if reception.oauth_metadata else []),
        *(page.routes(api) if page is not None else ()),
    ]

    metadata = ""
    if reception.oauth_metadata:
        metadata = f"{reception.oauth_metadata['resource'].rstrip('/')}{OAUTH_METADATA}"
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(RequestLog, metrics),
            Middleware(KnownHosts, reception.hosts),
            Middleware(BodyLimit, limits.body_bytes, limits.seconds),
            Middleware(
                Authentication,
                reception.everybody,
                reception.find,
                may_open=partial(_is_open, page.open_paths if page is not None else ()),
                metadata=metadata,
                sign_in=page.sign_in if page is not None else None,
            ),
            Middleware(RateLimit, limits.per_minute),
        ],
        exception_handlers={HTTPException: partial(_http_error, page), Exception: partial(_defect, page)},
        lifespan=_lifespan(operations, sessions),
    )


OAUTH_METADATA = "/.well-known/oauth-protected-resource"


def _is_open(of_page: Collection[str], path: str) -> bool:
    return path in ("/healthz", OAUTH_METADATA) or path in of_page or path.startswith("/static/")


def _lifespan(operations: Operations, sessions: StreamableHTTPSessionManager) -> Lifespan[Starlette]:
    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with sessions.run(), anyio.create_task_group() as group:
            group.start_soon(operations.pool.sweep)
            try:
                yield
            finally:
                group.cancel_scope.cancel()
                operations.close()

    return running


async def _http_error(page: BrowserPage | None, request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if page is not None and wants_page(request):
        return page.error(
            request, error.status_code, "There is no such page." if error.status_code == 404 else str(error)
        )
    said = {404: "there is no such page; the routes are in /openapi.json", 405: "this method is not for this route"}
    return refused(request.scope, error.status_code, "http", said.get(error.status_code, str(error.detail)))


async def _defect(page: BrowserPage | None, request: Request, _: Exception) -> Response:
    if page is not None and wants_page(request):
        return page.error(request, 500, DEFECT)
    return refused(request.scope, 500, "defect", DEFECT)
