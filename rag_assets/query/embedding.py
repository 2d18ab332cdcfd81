"""The embedding model of an index, loaded beside the opening of its store."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_assets.contracts.section import Embedder


class NoEmbedderError(Exception):
    """Questions cannot be embedded as the index was; the text says why and what to do."""


def start_loading(model_id: str, cache: Path) -> Future[Embedder]:
    """Loads the model that made the vectors of an index, in a thread: imports and disk reads overlap with opening
    the store. The future raises NoEmbedderError."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="load-embedder")
    future = pool.submit(_load, model_id, cache)
    pool.shutdown(wait=False)
    return future


@lru_cache(maxsize=2)  # a process that reads several labels loads one model
def _load(model_id: str, cache: Path) -> Embedder:
    from rag_assets.models import LocalEmbedder, ModelError, Precision
    from rag_assets.models.embedder import local_model_id

    known = {local_model_id(precision): precision for precision in Precision}
    if model_id not in known:
        raise NoEmbedderError(
            f"the index was embedded with {model_id}, this version has {', '.join(known)}; run: rag-assets index"
        )
    try:
        return LocalEmbedder.load(cache, known[model_id])
    except ModelError as error:
        raise NoEmbedderError(str(error)) from error
