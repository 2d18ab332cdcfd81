"""Starting a server: over HTTP, for the clients of this machine, or for one client alone."""

from __future__ import annotations

import json
import logging
import shlex
import signal
import socket
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.index.generations import served_labels
from rag_assets.index.layout import IndexHome
from rag_assets.serving.access import Caller
from rag_assets.serving.index_pool import IndexPool
from rag_assets.serving.index_runs import IndexRuns
from rag_assets.serving.local_server import LocalServer, calling_of, serve_alone
from rag_assets.serving.local_socket import is_supported, socket_path
from rag_assets.serving.mcp_server import mcp_server
from rag_assets.serving.operations import Operations
from rag_assets.serving.tokens import TokenStore
from rag_assets.settings.roles import clearance_of
from rag_assets.version import own_version

IDLE_SECONDS = 1800.0
"""After which a server that a client started ends, when no client is left."""
_GRACE_SECONDS = 10
_BACKLOG = 256


class ServeError(RagAssetsError):
    """A server that cannot be started as it was wanted; the text says what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a server listens, and by which other names it may be called."""

    host: str
    port: int
    names: Collection[str] = ()

    @property
    def is_loopback(self) -> bool:
        return self.host in ("127.0.0.1", "localhost", "::1") or self.host.startswith("127.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is served: a home with its configuration, and the roles of that."""

    home: IndexHome
    config: Path | None
    roles: Mapping[str, Confidentiality]

    def socket(self) -> Path:
        return socket_path(self.home, self.config, own_version())

    def operations(self) -> Operations:
        """Closed by whoever asks for them."""
        return Operations(IndexPool(self.home, self.config))


def serve_stdio(serving: Serving, hello: Mapping[str, Any]) -> None:
    """One client, in this process. Raises ConfigError."""
    asked = calling_of(hello, serving.roles)
    with serving.operations() as operations:
        anyio.run(serve_alone, mcp_server(operations, IndexRuns(serving.home, serving.config)), asked)


def serve_local(serving: Serving) -> None:
    """The clients of this machine, until none has been there for a while; ends at once where a server does that
    already."""

    async def serve() -> None:
        with serving.operations() as operations:
            agents = mcp_server(operations, IndexRuns(serving.home, serving.config))
            server = LocalServer(agents, serving.roles, idle_seconds=IDLE_SECONDS)
            async with anyio.create_task_group() as group:
                group.start_soon(_until_signal, group.cancel_scope)
                group.start_soon(operations.pool.sweep)
                await server.serve(serving.socket())
                group.cancel_scope.cancel()

    anyio.run(serve)


async def _until_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return


def serve_http(
    serving: Serving,
    place: Place,
    *,
    role: str | None,
    without_tokens: bool,
    per_minute: int,
    seconds: float,
    issuer: str = "",
    verifier: str = "",
    resource: str = "",
    work_tree: bool = False,
) -> None:
    """Everybody who reaches the place, and the clients of this machine where no server serves them yet. Raises
    ServeError where it cannot listen there, or would let strangers in without a token."""
    import uvicorn

    from rag_assets.serving.http.app import LOOPBACK, Reception, RequestLimits, application
    from rag_assets.serving.oauth import external_callers
    from rag_assets.serving.page import WebPage

    tokens = TokenStore(serving.home, serving.roles)
    has_tokens = bool(tokens.all())
    external = external_callers(verifier, issuer, resource, serving.roles) if verifier else None
    is_open = place.is_loopback and not has_tokens and external is None
    if not (place.is_loopback or has_tokens or external is not None or without_tokens):
        raise ServeError(
            f"{place.host} can be reached from other machines, and there is no token; make one with: "
            "rag-assets token create NAME, or listen on 127.0.0.1"
        )
    everybody = None
    if is_open or without_tokens:
        clearance = clearance_of(role, serving.roles)
        everybody = Caller(clearance=clearance, work_tree=work_tree, knows_paths=is_open)

    async def find(token: str) -> Caller | None:
        found = await anyio.to_thread.run_sync(tokens.caller_of, token)
        if found is None and external is not None:
            found = await external.find(token)
        return replace(found, work_tree=work_tree) if found is not None else None

    listening = _listening(place)
    host, port = listening.getsockname()[:2]
    operations = serving.operations()
    agents = mcp_server(operations, IndexRuns(serving.home, serving.config), seconds=seconds)
    reception = Reception(
        find=find,
        everybody=everybody,
        hosts=(*LOOPBACK, *((host,) if host not in ("0.0.0.0", "::") else ()), *place.names),
        oauth_metadata=external.metadata if external is not None else None,
    )
    limits = RequestLimits(seconds=seconds, per_minute=per_minute)
    app = application(operations, agents, reception, limits=limits, page=WebPage(operations, find))
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    for noisy in ("mcp", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=_GRACE_SECONDS,
        h11_max_incomplete_event_size=65_536,
    )
    shown = host if ":" not in host else f"[{host}]"
    started = {"serving": str(serving.home.root), "address": f"http://{shown}:{port}"}
    if not served_labels(serving.home):
        started["note"] = f"nothing is indexed yet; run: rag-assets --home {shlex.quote(str(serving.home.root))} index"
    print(json.dumps(started), file=sys.stderr, flush=True)

    async def serve() -> None:
        server = uvicorn.Server(config)
        async with anyio.create_task_group() as group:
            if is_supported():
                group.start_soon(LocalServer(agents, serving.roles).serve, serving.socket())
            await server.serve(sockets=[listening])
            group.cancel_scope.cancel()

    anyio.run(serve)


def _listening(place: Place) -> socket.socket:
    """A socket that listens at a place, so that a port in use is told before anything else is done."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    # With its protocol named, asyncio sends at once; else the second half of an answer waits 40 ms for a receipt.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # Elsewhere than on Windows: a port whose last server has just ended. On Windows: a port that another one has.
    if sys.platform != "win32":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((place.host, place.port))
        made.listen(_BACKLOG)  # who connects from now on is answered when the rest is ready
    except OSError as error:
        made.close()
        raise ServeError(
            f"cannot listen on {place.host}:{place.port}: {error.strerror}; choose another with --port (0: a free one)"
        ) from error
    return made
