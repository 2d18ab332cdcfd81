"""Agents over HTTP: the client of the SDK in both generations of the protocol."""

from __future__ import annotations

import pytest
from mcp.client.streamable_http import streamable_http_client

from rag_assets_tests.serving.agents import MODES, ask, everything
from rag_assets_tests.serving.conftest import Server


@pytest.mark.parametrize("mode", MODES)
def test_a_session_over_http(server: Server, mode: str) -> None:
    ask(streamable_http_client(f"{server.address}/mcp"), everything, mode)
