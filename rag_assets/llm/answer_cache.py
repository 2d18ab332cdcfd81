"""Answers by prompt, kept in the cache of all stages: the same prompt is never paid for twice."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from rag_assets.contracts.llm import StructuredPrompt
from rag_assets.stores.cache import Cache, cache_key

CACHE_NAME = "llm"


def answer_key(version: int, model: str, schema: dict[str, Any], prompt: StructuredPrompt) -> bytes:
    """All that decides an answer; where the server is does not."""
    return cache_key(
        CACHE_NAME, str(version), model, json.dumps(schema, sort_keys=True), prompt.instructions, prompt.data
    )


class Answers(Protocol):
    """Where a service looks for an answer before it asks, and keeps those that it was given. For several threads."""

    def get(self, key: bytes) -> bytes | None: ...

    def put(self, key: bytes, answer: bytes) -> None: ...

    def close(self) -> None: ...


class AnswerCache:
    """`Cache` for callers on several threads: SQLite wants a connection to stay on one, so it has its own."""

    def __init__(self, directory: Path) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="llm-cache")
        try:
            self._cache = self._thread.submit(Cache, directory, CACHE_NAME).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def get(self, key: bytes) -> bytes | None:
        return self._thread.submit(self._cache.get_many, [key]).result().get(key)

    def put(self, key: bytes, answer: bytes) -> None:
        """Durable on return. Raises OSError naming the file when it cannot be written."""
        self._thread.submit(self._cache.put_many, [(key, answer)]).result()

    def close(self) -> None:
        self._thread.submit(self._cache.close).result()
        self._thread.shutdown()
