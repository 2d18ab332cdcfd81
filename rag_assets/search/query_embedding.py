"""The embedding model of an index, loaded beside the opening of its store."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.errors import NoEmbedderError, RagAssetsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_assets.contracts.embedder import Embedder, Vectors
    from rag_assets.index.generations import Manifest
    from rag_assets.index.layout import IndexHome
    from rag_assets.models.openai_compat.embeddings import EndpointEmbedder
    from rag_assets.settings import EmbedderSettings

REST_SECONDS = 30.0
"""After a failed request: questions that come meanwhile are answered by keywords at once, not after a time-out each."""

_ENDPOINT_PREFIX = "openai-compatible/"


def start_loading(
    manifest: Manifest, home: IndexHome, config: Path | None, settings: EmbedderSettings | None = None
) -> Future[Embedder]:
    """Loads the model that made the vectors of an index, in a thread: imports and disk reads overlap with opening
    the store. The future raises NoEmbedderError, and so does the `embed` of a model behind a server.

    Where that server is say the `settings`, or the configuration: `config`, or the file that commands find from here or
    from the home.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="load-embedder")

    def configured() -> EmbedderSettings:
        return settings or _configured(home, config)

    if manifest.embedding_model.startswith(_ENDPOINT_PREFIX):
        future = pool.submit(_remote, manifest.embedding_model, manifest.dimension, configured)
    else:
        future = pool.submit(_on_this_machine, manifest.embedding_model, manifest.dimension, home, configured)
    pool.shutdown(wait=False)
    return future


def _on_this_machine(
    model_id: str, dimension: int, home: IndexHome, configured: Callable[[], EmbedderSettings]
) -> Embedder:
    from rag_assets.models.static_code.table import OWN_PREFIX  # numpy, which the model needs too

    own = _own_table(model_id, home, configured) if model_id.startswith(OWN_PREFIX) else None
    embedder = load_local(model_id, home.cache, own)
    if embedder.dimension != dimension:
        raise NoEmbedderError(
            f"the index has vectors of {dimension} dimensions, {model_id} makes {embedder.dimension}; run: "
            "rag-assets index --force"
        )
    return embedder


@lru_cache(maxsize=2)  # a process that reads several labels loads one model
def load_local(model_id: str, cache: Path, own: Path | None = None) -> Embedder:
    """A model of this machine, for questions; `own`: the file of a table that is not of the package. Raises
    NoEmbedderError."""
    from rag_assets.models.model_files import ModelError
    from rag_assets.models.static_code.embedder import MODEL_ID, StaticEmbedder

    try:
        if model_id == MODEL_ID or own is not None:
            return StaticEmbedder.load(cache, own, for_questions=True)
        from rag_assets.models.minilm.embedder import MiniLmEmbedder, minilm_model_id
        from rag_assets.models.minilm.weights import Precision

        of_minilm = {minilm_model_id(precision): precision for precision in Precision}
        if model_id in of_minilm:
            return MiniLmEmbedder.load(cache, of_minilm[model_id])
        raise NoEmbedderError(
            f"the index was embedded with {model_id}, this version has {', '.join([MODEL_ID, *of_minilm])}; run: "
            "rag-assets index"
        )
    except ModelError as error:
        raise NoEmbedderError(str(error)) from error


def _own_table(model_id: str, home: IndexHome, configured: Callable[[], EmbedderSettings]) -> Path:
    """The file of a table of one's own: where `train-embedder` puts it, else as configured, which costs a search more.
    Raises NoEmbedderError."""
    kept = home.own_table(model_id)
    if kept.is_file():
        return kept
    from rag_assets.models import model_id as id_of

    try:
        settings = configured()
        if settings.table is not None and id_of(settings) == model_id:
            return settings.table
    except RagAssetsError as error:
        raise NoEmbedderError(str(error)) from error
    raise NoEmbedderError(
        f"the index was embedded with {model_id}, and neither {kept} nor embedder.table has it; bring that file back, "
        "or run: rag-assets index"
    )


def _configured(home: IndexHome, config: Path | None) -> EmbedderSettings:
    from rag_assets.settings import load_settings
    from rag_assets.settings.config_file import config_of

    return load_settings(config_of(home.root, config)).embedder


def _remote(model_id: str, dimension: int, configured: Callable[[], EmbedderSettings]) -> Embedder:
    from rag_assets.models import model_id as id_of
    from rag_assets.models.openai_compat.embeddings import EndpointEmbedder

    try:
        settings = configured()
        if id_of(settings) != model_id:  # never mixed: vectors of two models say nothing about each other
            raise NoEmbedderError(
                f"the index was embedded with {model_id}, the configuration has {id_of(settings)}; set embedder to "
                "that model, or run: rag-assets index"
            )
        return _Remote(EndpointEmbedder.for_questions(settings, dimension), dimension)
    except RagAssetsError as error:
        raise NoEmbedderError(str(error)) from error


class _Remote:
    """A model behind a server, for questions. Safe to use from several threads."""

    def __init__(self, embedder: EndpointEmbedder, dimension: int) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._failed: tuple[float, str] | None = None
        self.model_id = embedder.model_id
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises NoEmbedderError, for `REST_SECONDS` after a failure without asking."""
        import numpy as np

        from rag_assets.models.openai_compat.embeddings import EndpointError

        with self._lock:
            failed = self._failed
        if failed is not None and time.monotonic() - failed[0] < REST_SECONDS:
            raise NoEmbedderError(failed[1])
        try:
            vectors: Vectors = np.stack([self._embedder.embed_question(text) for text in texts])
        except EndpointError as error:
            with self._lock:
                self._failed = time.monotonic(), str(error)
            raise NoEmbedderError(str(error)) from error
        return vectors
