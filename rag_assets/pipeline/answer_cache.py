"""Answers of language models in the cache of all stages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rag_assets.index.cache import Cache
from rag_assets.models.openai_compat.answer_store import CACHE_NAME


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
