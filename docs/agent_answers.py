"""What a server answers every agent alike, asked of a real one: `rag_assets/serving/agent_answers.json`.

An agent's own process gives these answers, so that an agent need not wait for the start of the server.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from rag_assets.index.layout import IndexHome
from rag_assets.serving.access import Caller, Calling, calling
from rag_assets.serving.index_pool import IndexPool
from rag_assets.serving.index_runs import IndexRuns
from rag_assets.serving.mcp_server import mcp_server
from rag_assets.serving.operations import Operations
from rag_assets.version import own_version

_LISTS = ("tools/list", "prompts/list", "resources/templates/list")
_TOOLS = "tools/list"


def agent_answers() -> str:
    """JSON: by generation of the protocol its versions and its answers, and the tool that `--allow-index` adds."""
    older = [_handshake(version) for version in HANDSHAKE_PROTOCOL_VERSIONS]
    newer = [_modern(version) for version in MODERN_PROTOCOL_VERSIONS]
    if any(one != found[0] for found in (older, newer) for one in found):
        raise SystemExit("versions of the protocol differ in their answers; keep them apart in agent_answers.json")
    begun, *listed = older[0]
    with_index = _handshake(HANDSHAKE_PROTOCOL_VERSIONS[0], may_index=True)[1 + _LISTS.index(_TOOLS)]["tools"]
    (index,) = [tool for tool in with_index if tool not in listed[_LISTS.index(_TOOLS)]["tools"]]
    found = {
        "handshake": {
            "versions": list(HANDSHAKE_PROTOCOL_VERSIONS),
            "initialize": begun,
            "answers": dict(zip(_LISTS, listed, strict=True)),
        },
        "modern": {
            "versions": list(MODERN_PROTOCOL_VERSIONS),
            "answers": dict(zip(("server/discover", *_LISTS), newer[0], strict=True)),
        },
        "index": index,
    }
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def _handshake(version: str, *, may_index: bool = False) -> list[dict[str, Any]]:
    client = {"name": "make reference", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    begun, *listed = _answers([("initialize", params), *((name, {}) for name in _LISTS)], may_index=may_index)
    assert begun.pop("protocolVersion") == version
    return [begun, *listed]


def _modern(version: str) -> list[dict[str, Any]]:
    meta = {types.PROTOCOL_VERSION_META_KEY: version, types.CLIENT_CAPABILITIES_META_KEY: {}}
    return _answers([(name, {"_meta": meta}) for name in ("server/discover", *_LISTS)], may_index=False)


def _answers(asked: Sequence[tuple[str, dict[str, Any]]], *, may_index: bool) -> list[dict[str, Any]]:
    """The results of one session, with a mark in place of the version of the package."""

    async def session(home: IndexHome) -> list[dict[str, Any]]:
        calling.set(Calling(Caller(), may_index=may_index))
        to_server, of_client = anyio.create_memory_object_stream[SessionMessage | Exception](1)
        to_client, of_server = anyio.create_memory_object_stream[SessionMessage](1)
        found = []
        with Operations(IndexPool(home, None)) as operations:
            server = mcp_server(operations, IndexRuns(home, None))
            async with of_server, to_server, anyio.create_task_group() as group:
                group.start_soon(server.run, of_client, to_client, server.create_initialization_options())
                for number, (method, params) in enumerate(asked):
                    request = types.JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params)
                    await to_server.send(SessionMessage(request))
                    answer = (await of_server.receive()).message
                    assert isinstance(answer, types.JSONRPCResponse), answer
                    found.append(_marked(answer.result))
                group.cancel_scope.cancel()
        return found

    with tempfile.TemporaryDirectory() as folder:
        return anyio.run(session, IndexHome(Path(folder)))


def _marked(result: dict[str, Any]) -> dict[str, Any]:
    """With `@VERSION@` where the server says its own."""
    for place in (result, result.get("_meta", {})):
        for name, about in place.items():
            if name.rpartition("/")[2] == "serverInfo":
                assert about.get("version", "") == own_version()
                about["version"] = "@VERSION@"
    return result
