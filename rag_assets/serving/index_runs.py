"""Indexing at the wish of a client: the command of the command line in a process of its own, with its progress."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import anyio
from anyio.abc import ByteReceiveStream
from pydantic import Field

from rag_assets.errors import RagAssetsError
from rag_assets.index.layout import IndexHome
from rag_assets.serving.requests import Name, Request

_MOST_LINES = 40
_SECONDS = 3600.0

Tell = Callable[[int, str], Awaitable[None]]
"""How many lines of progress there were, and the newest."""


class IndexFailed(RagAssetsError):
    """A run that did not end well; the text is what it said."""


class IndexRunRequest(Request):
    """Which label is indexed again."""

    label: Annotated[Name | None, Field(description="Default: that of your folder, else the only one")] = None


class IndexRuns:
    """Runs `rag-assets index LABEL`, one at a time: a home has one writer of a label anyway."""

    def __init__(self, home: IndexHome, config: Path | None) -> None:
        self._home = home
        self._config = config
        self._turn = anyio.Lock()

    async def run(self, label: str, tell: Tell) -> str:
        """What the run says at its end. Raises IndexFailed; a caller that gives up ends the run, whose work is kept."""
        # `-P`, or Python would take modules from the working folder, which may be a repository of anybody.
        command = [sys.executable, "-P", "-m", "rag_assets", "--no-color", "--home", str(self._home.root)]
        command += ["--config", str(self._config)] if self._config is not None else []
        async with self._turn:
            with anyio.move_on_after(_SECONDS):
                async with await anyio.open_process(
                    [*command, "index", label], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
                ) as process:
                    lines: list[str] = []
                    said = bytearray()
                    async with anyio.create_task_group() as group:
                        assert process.stdout is not None and process.stderr is not None
                        group.start_soon(_watch, process.stderr, lines, tell)
                        async for part in process.stdout:
                            said += part
                    code = await process.wait()
                if code != 0:
                    raise IndexFailed("\n".join(lines[-_MOST_LINES:]) or f"the run ended with {code}")
                return said.decode("utf-8", "replace").strip()
        raise IndexFailed(
            f"indexing {label} took more than {_SECONDS / 60:.0f} minutes and was ended; its work is kept"
        )


async def _watch(stream: ByteReceiveStream, lines: list[str], tell: Tell) -> None:
    rest = ""
    async for part in stream:
        *whole, rest = (rest + part.decode("utf-8", "replace")).split("\n")
        for line in filter(str.strip, whole):
            lines.append(line.strip())
            await tell(len(lines), line.strip())
    if rest.strip():
        lines.append(rest.strip())
