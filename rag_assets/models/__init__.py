"""Models behind small contracts: an embedding model in the wheel, MiniLM (an extra), one behind a server, or none.

Importing this costs nothing: numpy and the modules of a model are loaded when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.embedder import BatchEmbedder, EmbeddingWindow
from rag_assets.contracts.llm import DisabledLlmService, StructuredTextLlmService
from rag_assets.models.lexical_only import MODEL_ID as LEXICAL_ONLY
from rag_assets.models.lexical_only import LexicalOnly, lexical_window
from rag_assets.models.static_code import embedder as static_embedder

if TYPE_CHECKING:
    from rag_assets.models.minilm.weights import Precision
    from rag_assets.models.openai_compat.dry_run import AnswerStore
    from rag_assets.settings import EmbedderSettings, LlmSettings


def model_id(settings: EmbedderSettings) -> str:
    """The id that `open_embedder` with these settings will have; needs no model, but for a table of one's own."""
    match settings.provider:
        case "lexical-only":
            return LEXICAL_ONLY
        case "openai-compatible":
            from rag_assets.models.openai_compat.embeddings import endpoint_model_id

            return endpoint_model_id(settings)
        case "minilm":
            from rag_assets.models.minilm.embedder import minilm_model_id

            return minilm_model_id(_precision(settings))
        case "static-code":
            return static_embedder.static_model(settings.table)[0]


def known_dimension(settings: EmbedderSettings) -> int | None:
    """The dimension of `open_embedder(settings)`, without asking: None where only the server knows it."""
    match settings.provider:
        case "lexical-only":
            return LexicalOnly.dimension
        case "openai-compatible":
            return settings.dimension
        case "minilm":
            from rag_assets.models.minilm.embedder import DIMENSION

            return DIMENSION
        case "static-code":
            return static_embedder.static_model(settings.table)[1]


def told_dimension(model_id: str, dimension: int) -> int:
    """The dimension that reports and manifests have: 0 without a model, whose one constant vector only keeps the
    contract that every point has an embedding."""
    return 0 if model_id == LEXICAL_ONLY else dimension


def window_fingerprint(settings: EmbedderSettings) -> str:
    """What of the settings decides the window beyond `model_id`: a part of the configuration hash."""
    return f"{settings.tokenizer}.{settings.max_tokens}" if settings.provider == "openai-compatible" else ""


def require_model(settings: EmbedderSettings, cache: Path) -> None:
    """Raises ModelMissing or ModelCorrupted for a model of this machine that `open_embedder` could not open."""
    if settings.provider == "static-code":
        static_embedder.verify_table(cache, settings.table)
    elif settings.provider == "minilm":
        from rag_assets.models.minilm.weights import locate_model, verify_tokenizer, verify_weights

        files = locate_model()
        verify_weights(files, cache)
        verify_tokenizer(files, cache)


def open_embedder(settings: EmbedderSettings, cache: Path) -> BatchEmbedder:
    """The embedder of the settings; it asks no server yet. Raises ModelMissing or ModelCorrupted for one on this
    machine, ConfigError or TokenizerMissing for one behind a server."""
    match settings.provider:
        case "lexical-only":
            return LexicalOnly()
        case "openai-compatible":
            from rag_assets.models.openai_compat.embeddings import EndpointEmbedder

            return EndpointEmbedder.open(settings)
        case "minilm":
            from rag_assets.models.minilm.embedder import MiniLmEmbedder

            return MiniLmEmbedder.load(cache, _precision(settings), threads=settings.threads)
        case "static-code":
            return static_embedder.StaticEmbedder.load(cache, settings.table)


def embedding_window(settings: EmbedderSettings, cache: Path) -> EmbeddingWindow:
    """The window of `open_embedder(settings, cache)` without its weights. Raises as it does."""
    match settings.provider:
        case "lexical-only":
            return lexical_window()
        case "openai-compatible":
            from rag_assets.models.openai_compat.embeddings import endpoint_window

            return endpoint_window(settings)
        case "minilm":
            from rag_assets.models.minilm.embedder import load_window

            return load_window(cache, _precision(settings))
        case "static-code":
            return static_embedder.static_window(model_id(settings))


@contextmanager
def open_llm(
    settings: LlmSettings,
    open_answers: Callable[[], AnswerStore],
    environment: Mapping[str, str] | None = None,
) -> Iterator[StructuredTextLlmService]:
    """The language model for one run. `open_answers` opens the store of answers; it is called where a model is
    configured. The key comes from `environment` (default: that of the process). Makes no request.

    Raises ConfigError for a key that cannot be sent."""
    if settings.provider == "none":
        yield DisabledLlmService()
        return
    from rag_assets.models.openai_compat.structured import OpenAiCompatibleLlmService

    with OpenAiCompatibleLlmService.open(settings, open_answers(), environment) as service:
        yield service


def _precision(settings: EmbedderSettings) -> Precision:
    from rag_assets.models.minilm.weights import Precision

    return Precision(settings.precision)
