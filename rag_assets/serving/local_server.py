"""The server of a home for clients of this machine, and the same for one client alone."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
from anyio.streams.buffered import BufferedByteReceiveStream
from filelock import FileLock, Timeout
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.serving.access import Caller, Calling, calling
from rag_assets.settings.roles import clearance_of

_LONGEST_LINE = 4_000_000
_LONGEST_HELLO = 65_536
_LOOK_SECONDS = 1.0
_log = logging.getLogger("rag_assets.serving.local")

Roles = Mapping[str, Confidentiality]


def calling_of(hello: Mapping[str, Any], roles: Roles) -> Calling:
    """How a local client wants to be served, by the line that it begins with. Raises ConfigError."""
    folder = hello.get("folder")
    return Calling(
        Caller(
            clearance=clearance_of(hello.get("role"), roles),
            folder=Path(folder) if folder else None,
            label=str(hello.get("label") or ""),
            knows_paths=True,
            work_tree=bool(hello.get("work_tree")),
        ),
        structured=bool(hello.get("structured")),
        may_index=bool(hello.get("may_index")),
    )


async def serve_alone(agents: Server[Any], asked: Calling) -> None:
    """One client on standard input and output of this process."""
    calling.set(asked)
    async with stdio_server() as (read, write):
        await agents.run(read, write, agents.create_initialization_options())


class LocalServer:
    """Serves the clients of a socket until it is cancelled, or nobody has been connected for `idle_seconds`."""

    def __init__(self, agents: Server[Any], roles: Roles, *, idle_seconds: float | None = None) -> None:
        self._agents = agents
        self._roles = roles
        self._idle_seconds = idle_seconds
        self._clients = 0
        self._left_at = time.monotonic()

    async def serve(self, path: Path) -> None:
        """Ends at once where another server has the socket: there is one for each. A socket that a killed server has
        left behind is taken over."""
        lock = FileLock(path.with_suffix(".lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return
        try:
            path.unlink(missing_ok=True)
            async with (
                await anyio.create_unix_listener(path, mode=0o600) as listener,
                anyio.create_task_group() as group,
            ):
                group.start_soon(self._end_when_idle, group.cancel_scope)
                await listener.serve(self._client)
        finally:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            lock.release()

    async def _end_when_idle(self, scope: anyio.CancelScope) -> None:
        while self._idle_seconds is not None:
            await anyio.sleep(min(_LOOK_SECONDS, self._idle_seconds))
            if not self._clients and time.monotonic() - self._left_at >= self._idle_seconds:
                scope.cancel()
                return

    async def _client(self, stream: anyio.abc.SocketStream) -> None:
        self._clients += 1
        try:
            async with stream:
                await self._session(stream)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, anyio.IncompleteRead):
            pass  # the client has gone
        except Exception:
            _log.exception("a session failed")
        finally:
            self._clients -= 1
            self._left_at = time.monotonic()

    async def _session(self, stream: anyio.abc.SocketStream) -> None:
        lines = _Lines(stream)
        try:
            hello = json.loads(await lines.first())
            asked = calling_of(hello, self._roles)
        except (ValueError, AttributeError, RagAssetsError, anyio.DelimiterNotFound) as error:
            await stream.send(json.dumps({"error": str(error)}).encode() + b"\n")
            return
        await stream.send(b'{"ready": true}\n')
        calling.set(asked)
        async with stdio_server(lines, _Writer(stream)) as (read, write):  # type: ignore[arg-type]
            await self._agents.run(read, write, self._agents.create_initialization_options())


def _readable(line: str) -> str:
    """A line as the SDK can read it: half of a pair (`"\\ud83d"`, an emoji that a client has cut) makes no text, and a
    message that cannot be read has no answer."""
    if "\\ud" not in line.lower():
        return line
    try:
        return json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace").decode()
    except (ValueError, RecursionError):
        return line


class _Lines:
    """The lines that a client sends, as a text file has them."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = BufferedByteReceiveStream(stream)

    async def first(self) -> bytes:
        return await self._stream.receive_until(b"\n", _LONGEST_HELLO)

    def __aiter__(self) -> AsyncIterator[str]:
        return self._all()

    async def _all(self) -> AsyncIterator[str]:
        while True:
            try:
                line = await self._stream.receive_until(b"\n", _LONGEST_LINE)
            except (anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.DelimiterNotFound):
                return  # the client has gone, or sends what no client sends
            yield _readable(line.decode("utf-8", "replace"))


class _Writer:
    """A text file that is the way back to a client."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self._stream = stream

    async def write(self, text: str) -> None:
        await self._stream.send(text.encode())

    async def flush(self) -> None:
        """Nothing is kept back."""
