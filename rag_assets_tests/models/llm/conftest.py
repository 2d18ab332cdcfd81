"""A model server, and services that ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rag_assets.contracts.llm import StructuredTextLlmService
from rag_assets.models import open_llm
from rag_assets.pipeline.memo import AnswerCache
from rag_assets.settings import LlmSettings
from rag_assets_tests.models.llm.model_server import ModelServer

Opener = Callable[..., StructuredTextLlmService]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def opened(server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opener]:
    """Opens services for `server` with these settings over the defaults; they share one cache folder. Their retries
    come at once."""
    monkeypatch.setattr("rag_assets.models.openai_compat.faults.FIRST_WAIT_SECONDS", 0.01)
    with ExitStack() as services:

        def make(key: str = "", **settings: Any) -> StructuredTextLlmService:
            given: dict[str, Any] = {
                "provider": "openai-compatible",
                "base_url": server.url,
                "model": "m",
                "timeout_seconds": 5,
            }
            environment = {"RAG_ASSETS_LLM_API_KEY": key} if key else {}
            service = open_llm(LlmSettings(**(given | settings)), lambda: AnswerCache(tmp_path), environment)
            return services.enter_context(service)

        yield make
