"""The model service that the settings name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.llm import DisabledLlmService, StructuredTextLlmService
from rag_assets.descriptions.refinement import REFINEMENT_VERSION

if TYPE_CHECKING:
    from rag_assets.llm.answer_cache import Answers
    from rag_assets.settings import LlmSettings

COMPLETIONS = "/chat/completions"
KEY_VARIABLE = "RAG_ASSETS_LLM_API_KEY"

MAX_REPLY_BYTES = 1 << 20
"""An answer is a few kilobytes; models that send their reasoning along stay far below a megabyte."""


@contextmanager
def open_llm(
    settings: LlmSettings,
    answers: Path | Answers,
    environment: Mapping[str, str] | None = None,
    *,
    note_call: Callable[[], object] = lambda: None,
) -> Iterator[StructuredTextLlmService]:
    """The service for one run; `answers` is the folder of the shared cache, or where else answers are kept. The key
    comes from `environment` (default: that of the process). Every request is told to `note_call` before it is made.
    Makes no request. Raises ConfigError for a key that cannot be sent."""
    if settings.provider == "none":
        yield DisabledLlmService()
        return
    # The HTTP client is only loaded for a server that is configured.
    from rag_assets.llm.answer_cache import AnswerCache
    from rag_assets.llm.meter import Meter
    from rag_assets.llm.service import OpenAiCompatibleLlmService
    from rag_assets.model_server.api_key import ApiKey
    from rag_assets.model_server.transport import Transport

    key = ApiKey.of(os.environ if environment is None else environment, KEY_VARIABLE)
    with OpenAiCompatibleLlmService(
        Transport(
            settings.base_url + COMPLETIONS, settings.timeout_seconds, section="llm", max_reply_bytes=MAX_REPLY_BYTES
        ),
        settings.model,
        AnswerCache(answers) if isinstance(answers, Path) else answers,
        Meter(settings.max_calls, settings.price_in, settings.price_out, note_call),
        key=key,
        max_concurrency=settings.max_concurrency,
    ) as service:
        yield service


def llm_fingerprint(settings: LlmSettings) -> str:
    """What of these settings and this code decides a description: a part of the configuration hash.

    Where the server is, what it costs and how often it may be asked do not.
    """
    if settings.provider == "none":
        return "none"
    from rag_assets.llm.service import SERVICE_VERSION

    versions = f"{SERVICE_VERSION}.{REFINEMENT_VERSION}"
    return json.dumps([settings.provider, settings.model, settings.refine, versions])
