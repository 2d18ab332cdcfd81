"""What an agent does in a session, by the client of the SDK."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client

from rag_assets.serving.mcp_server import instructions

SHOP = {"label": "shop@main"}
TOOLS = ["search", "read", "symbol", "graph", "ask", "status"]
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28"}
"""How the client of the SDK connects → the version of the protocol that is spoken then."""


@cache
def _encoding() -> Any:
    import bpe_openai  # here: every process that collects tests would load it for half a second

    return bpe_openai.get_encoding("cl100k_base")


def tokens(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


def ask(transport: Any, talk: Callable[[Client], Awaitable[None]], mode: str = "legacy") -> None:
    async def session() -> None:
        with anyio.fail_after(120):
            async with Client(transport, mode=mode) as client:  # type: ignore[arg-type]
                assert client.protocol_version == MODES[mode]
                await talk(client)

    anyio.run(session)


def said(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


async def everything(client: Client) -> None:
    """What an agent does in a session."""
    assert client.instructions == instructions()
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    assert all(tool.annotations and tool.annotations.open_world_hint is False for tool in tools)
    hits = await client.call_tool("search", SHOP | {"query": "who pays back what a customer returned"})
    assert not hits.is_error and "src/Orders/OrderService.cs:" in said(hits) and hits.structured_content is None
    lines = await client.call_tool("read", SHOP | {"place": "OrderService.RefundOrder"})
    assert "10      public decimal RefundOrder(int orderId)" in said(lines)
    wrong = await client.call_tool("search", SHOP | {"qury": "x"})
    assert wrong.is_error and "did you mean 'query'?" in said(wrong)
    unknown = await client.call_tool("serch", {})
    assert unknown.is_error and "did you mean 'search'?" in said(unknown)
    resources = (await client.list_resources()).resources
    assert {str(one.uri) for one in resources} == {
        "rag://labels",
        "rag://shop@main/overview",
        "rag://site@main/overview",
    }
    labels = await client.read_resource("rag://labels")
    assert isinstance(labels.contents[0], types.TextResourceContents)
    listed = {one["label"]: one for one in json.loads(labels.contents[0].text)["labels"]}
    overview = await client.read_resource("rag://shop@main/overview")
    assert isinstance(overview.contents[0], types.TextResourceContents) and "# Shop" in overview.contents[0].text
    commit = listed["shop@main"]["commit"]
    lines_of_file = await client.read_resource(f"rag://shop@main/{commit}/src/Orders/Invoices.cs?lines=3-3")
    assert isinstance(lines_of_file.contents[0], types.TextResourceContents)
    assert lines_of_file.contents[0].text == "public partial class Invoices"
    with pytest.raises(Exception, match="rag://LABEL/overview"):
        await client.read_resource("rag://shop@main")
    prompts = (await client.list_prompts()).prompts
    assert {one.name for one in prompts} == {"explain", "impact-review", "onboarding"}
    prompt = await client.get_prompt("impact-review", {"change": "Invoices.Post"})
    assert isinstance(prompt.messages[0].content, types.TextContent)
    assert "Invoices.Post" in prompt.messages[0].content.text
