"""What a client's own process (`stdio_relay`) needs to know. Read before it becomes that process, so next to nothing is
imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_assets.index.layout import IndexHome
from rag_assets.serving.local_socket import socket_path
from rag_assets.version import own_version


def relay_plan(
    home: IndexHome, config: Path | None, hello: Mapping[str, Any], command: Sequence[str], options: Sequence[str]
) -> dict[str, Any]:
    """`command` is this program with its global options, for a process that may start elsewhere; `options` are those of
    `mcp`."""
    version = own_version()
    path = socket_path(home, config, version)
    return {
        "version": version,
        "socket": str(path),
        "hello": dict(hello),
        "start": [*command, "serve", "--local"],
        "log": str(path.with_suffix(".log")),
        "alone": [*command, "mcp", "--alone", *options],
    }
