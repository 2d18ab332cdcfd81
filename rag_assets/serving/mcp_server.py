"""The tools, resources and prompts of the Model Context Protocol, in every version that the SDK speaks.

Handlers are stateless. Who asks is known to the transport: of HTTP the request carries it, of a local connection the
context of its task (`calling`).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any
from urllib.parse import unquote

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from rag_assets.errors import RagAssetsError, WrongUsage
from rag_assets.printable import printable
from rag_assets.serving.access import SCOPE_KEY, Caller, Calling, calling
from rag_assets.serving.budget import shown
from rag_assets.serving.index_runs import IndexRunRequest, IndexRuns
from rag_assets.serving.local_paths import unreadable
from rag_assets.serving.operations import OperationReply, Operations
from rag_assets.serving.operations.ask import as_tools
from rag_assets.serving.operations.status import TOKENS
from rag_assets.serving.requests import OPERATIONS, ReadRequest, StatusRequest, parsed, schema_of, too_slow
from rag_assets.suggestions import nearest
from rag_assets.version import own_version

NAME = "rag-assets"
_log = logging.getLogger("rag_assets.serving.mcp")
_RESOURCE = re.compile(
    r"rag://(?P<label>[^/?]+)/(?:(?P<overview>overview)|(?P<commit>[0-9a-fA-F]{4,64})/(?P<path>[^?]+?))"
    r"(?:\?lines=(?P<lines>\d{1,9}(?:-\d{1,9})?))?"
)
_RESOURCE_TOKENS = 16_000
_FOR_EVER = 365 * 24 * 3600 * 1000
"""Milliseconds: a file at a commit does not change."""
_LISTING_TTL = 3_600_000


_READ_ONLY = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_TOOLS = [
    types.Tool(name=tool.name, description=tool.says, input_schema=schema_of(tool.request), annotations=_READ_ONLY)
    for tool in OPERATIONS
]
_INDEX = types.Tool(
    name="index",
    description="Index the commit that the ref of a label names now. Takes seconds to minutes.",
    input_schema=schema_of(IndexRunRequest),
    annotations=types.ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    ),
)

_PROMPTS: Mapping[str, tuple[str, str, str]] = {
    "explain": (
        "place",
        "Explain a place, a symbol or a behaviour with citations.",
        "Explain {0}. Use search or symbol to find it, read its lines, graph (uses) for what it needs. Say what it "
        "does step by step, each statement with path:lines. Say what you did not find.",
    ),
    "impact-review": (
        "change",
        "What a change of something affects, and which tests to run.",
        "I want to change {0}. Use graph with relation impact (only endpoint, table, document, then test). List what "
        "is affected by kind, each with path:line and how certain the edge is; then the tests worth running, nearest "
        "first; then what the graph cannot know (reflection, configuration, other repositories).",
    ),
    "onboarding": (
        "goal",
        "A first tour of the repository for somebody with a goal.",
        "I am new here and want to {0}. Use status, the overview resource, search and graph. Give me: what the "
        "repository is for, its parts and how they use each other, the five places to read first with path:lines and "
        "why, and what is missing or stale in the index.",
    ),
}


def instructions() -> str:
    """When to use which tool: part of the product, because tools that nobody knows when to call are not called."""
    return resources.files(__package__).joinpath("instructions.md").read_text(encoding="utf-8").strip()


def mcp_server(operations: Operations, runs: IndexRuns | None = None, *, seconds: float | None = None) -> Server[Any]:
    """The server of the protocol on some operations; with `runs` also the tool that indexes, for callers who may. A
    call over HTTP may take so many `seconds`; a local client gives up when it wants to."""
    handlers = _Handlers(operations, runs, seconds)
    return Server(
        NAME,
        version=own_version(),
        title="rag-assets: repositories, indexed",
        instructions=instructions(),
        cache_hints={
            "tools/list": CacheHint(_LISTING_TTL, "public"),
            "prompts/list": CacheHint(_LISTING_TTL, "public"),
            "resources/templates/list": CacheHint(_LISTING_TTL, "public"),
        },
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


Context = ServerRequestContext[Any, Any]


def _calling(context: Context) -> Calling:
    if context.request is not None:
        found = context.request.scope[SCOPE_KEY]
        assert isinstance(found, Calling)
        return found
    return calling.get()


class _Handlers:
    def __init__(self, operations: Operations, runs: IndexRuns | None, seconds: float | None) -> None:
        self._operations = operations
        self._runs = runs
        self._seconds = seconds

    async def list_tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        may_index = self._runs is not None and _calling(context).may_index
        return types.ListToolsResult(tools=[*_TOOLS, _INDEX] if may_index else _TOOLS)

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """The reply of a tool. What the model can repair is an error of the tool, which it reads, never one of the
        protocol."""
        asked = _calling(context)
        try:
            if params.name == _INDEX.name and self._runs is not None and asked.may_index:
                return await self._index(context, parsed(IndexRunRequest, params.arguments or {}), asked.caller)
            limit = None if context.request is None else self._seconds
            with anyio.move_on_after(limit) as scope:
                text, found = await self._reply(params.name, params.arguments or {}, asked)
            if limit is not None and scope.cancelled_caught:
                return _failed(too_slow(limit))
        except RagAssetsError as error:
            return _failed(as_tools(str(error)))
        except OSError as error:
            return _failed(unreadable(error))
        except Exception:  # its text may hold what the caller may not see
            _log.exception("the tool %s failed", params.name)
            return _failed("the server failed; its log says where")
        if not asked.structured:
            return _text(text)
        line = text.partition("\n")[0]
        return types.CallToolResult(content=[types.TextContent(type="text", text=line)], structured_content=found)

    async def _reply(self, name: str, arguments: Mapping[str, Any], asked: Calling) -> tuple[str, Any]:
        """As text, and as an object for a client that wants one."""
        known = {tool.name: tool.request for tool in OPERATIONS}
        if name not in known:
            raise WrongUsage(f"no tool {name!r}{nearest(name, known, 'there are')}")
        request = parsed(known[name], arguments)
        operation: Callable[[Any, Caller], OperationReply] = getattr(self._operations, name)

        def answer() -> tuple[str, Any]:
            reply, budget = operation(request, asked.caller), getattr(request, "max_tokens", TOKENS)
            return shown(reply.text(budget), budget), _printable(reply.as_object()) if asked.structured else None

        return await anyio.to_thread.run_sync(answer, abandon_on_cancel=True)

    async def _index(self, context: Context, request: IndexRunRequest, caller: Caller) -> types.CallToolResult:
        assert self._runs is not None
        label = (await anyio.to_thread.run_sync(self._operations.pool.labels, caller, request.label))[0]
        token = (context.meta or {}).get("progress_token") if isinstance(context.meta, dict) else None

        async def tell(done: int, line: str) -> None:
            if token is not None:
                await context.session.send_progress_notification(token, done, message=line)

        return _text(await self._runs.run(label, tell))

    async def list_resources(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        labels = await anyio.to_thread.run_sync(self._operations.pool.manifests, _calling(context).caller)
        listed = [types.Resource(name="labels", uri="rag://labels", mime_type="application/json")]
        listed += [
            types.Resource(name=f"{label} overview", uri=f"rag://{label}/overview", mime_type="text/plain")
            for label in labels
        ]
        return types.ListResourcesResult(resources=listed)

    async def list_templates(
        self, context: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name="overview", uri_template="rag://{label}/overview", description="What an index is about."
                ),
                types.ResourceTemplate(
                    name="file",
                    uri_template="rag://{label}/{commit}/{+path}{?lines}",
                    description="A file, or lines of it (12-40), at a commit.",
                ),
            ]
        )

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        caller, uri = _calling(context).caller, str(params.uri)
        try:
            text, mime, ttl = await anyio.to_thread.run_sync(self._resource, uri, caller)
        except (RagAssetsError, OSError) as error:
            said = unreadable(error) if isinstance(error, OSError) else str(error)
            raise MCPError(code=types.INVALID_PARAMS, message=said, data={"uri": uri}) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, text=text, mime_type=mime)],
            ttl_ms=ttl,
            cache_scope="private",
        )

    def _resource(self, uri: str, caller: Caller) -> tuple[str, str, int]:
        """Text, MIME type, and for how many milliseconds it stays as it is. Raises WrongUsage for another URI."""
        if uri == "rag://labels":
            return _dumped(self._operations.status(StatusRequest(), caller).as_object()), "application/json", 0
        found = _RESOURCE.fullmatch(uri)
        if found is None:
            raise WrongUsage(
                f"no resource {uri!r}; there are rag://labels, rag://LABEL/overview "
                "and rag://LABEL/COMMIT/PATH?lines=12-40"
            )
        label = unquote(found["label"])
        if found["overview"]:
            return printable(self._operations.overview(label, caller)), "text/plain", 0
        place = unquote(found["path"]) + (f":{found['lines']}" if found["lines"] else "")
        arguments = {"place": place, "label": label, "commit": found["commit"], "max_tokens": _RESOURCE_TOKENS}
        reply = self._operations.read(parsed(ReadRequest, arguments), caller)
        return printable(reply.lines.text), "text/plain", _FOR_EVER

    async def list_prompts(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=name,
                    description=says,
                    arguments=[types.PromptArgument(name=argument, description="In your words", required=True)],
                )
                for name, (argument, says, _) in _PROMPTS.items()
            ]
        )

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in _PROMPTS:
            said = f"no prompt {params.name!r}{nearest(params.name, _PROMPTS, 'there are')}"
            raise MCPError(code=types.INVALID_PARAMS, message=said)
        argument, says, template = _PROMPTS[params.name]
        value = (params.arguments or {}).get(argument, "").strip()
        if not value:
            raise MCPError(code=types.INVALID_PARAMS, message=f"the prompt {params.name} needs the argument {argument}")
        text = types.TextContent(type="text", text=template.format(value))
        return types.GetPromptResult(description=says, messages=[types.PromptMessage(role="user", content=text)])


def _text(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=printable(text))], is_error=True)


def _printable(found: Any) -> Any:
    """An object for a client that shows it to a model as it is."""
    if isinstance(found, str):
        return printable(found)
    if isinstance(found, Mapping):
        return {_printable(key): _printable(value) for key, value in found.items()}
    return [_printable(value) for value in found] if isinstance(found, list | tuple) else found


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)
