"""Embedders for an embedding server that runs in the test."""

from __future__ import annotations

from typing import Any

from rag_assets.models.openai_compat.embeddings import KEY_VARIABLE, EndpointEmbedder
from rag_assets.settings import EmbedderSettings
from rag_assets_tests.models.llm.model_server import ModelServer


def endpoint_settings(server: ModelServer, **settings: Any) -> EmbedderSettings:
    given: dict[str, Any] = {
        "provider": "openai-compatible",
        "base_url": server.url,
        "model": "m",
        "timeout_seconds": 5,
        "batch_texts": 4,
    }
    return EmbedderSettings(**(given | settings))


def opened(server: ModelServer, key: str = "", **settings: Any) -> EndpointEmbedder:
    return EndpointEmbedder.open(endpoint_settings(server, **settings), {KEY_VARIABLE: key} if key else {})
