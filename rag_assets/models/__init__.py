"""Models behind small contracts: the local embedding model, one behind a server, or none.

Importing this costs nothing: numpy, tokenizers and onnxruntime are loaded when a model is.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.models.embedder import DIMENSION, BatchEmbedder, LocalEmbedder, load_window, local_model_id
from rag_assets.models.openai_compat.usage import EmbeddingUsage, Metered
from rag_assets.models.tokenizer import MODEL_ID as LEXICAL_ONLY
from rag_assets.models.tokenizer import LexicalOnly, lexical_window
from rag_assets.models.weights import ModelCorrupted, ModelError, ModelMissing, Precision

if TYPE_CHECKING:
    from rag_assets.settings import EmbedderSettings

__all__ = [
    "LEXICAL_ONLY",
    "BatchEmbedder",
    "EmbeddingUsage",
    "LexicalOnly",
    "LocalEmbedder",
    "Metered",
    "ModelCorrupted",
    "ModelError",
    "ModelMissing",
    "Precision",
    "embedding_window",
    "known_dimension",
    "model_id",
    "open_embedder",
    "told_dimension",
    "window_fingerprint",
]


def model_id(settings: EmbedderSettings) -> str:
    """The id that `open_embedder` with these settings will have; needs no model."""
    if settings.provider == "lexical-only":
        return LEXICAL_ONLY
    if settings.provider == "openai-compatible":
        from rag_assets.models.openai_compat.embeddings import endpoint_model_id

        return endpoint_model_id(settings)
    return local_model_id(Precision(settings.precision))


def known_dimension(settings: EmbedderSettings) -> int | None:
    """The dimension of `open_embedder(settings)`, without asking: None where only the server knows it."""
    if settings.provider == "lexical-only":
        return LexicalOnly.dimension
    return settings.dimension if settings.provider == "openai-compatible" else DIMENSION


def told_dimension(model_id: str, dimension: int) -> int:
    """The dimension that reports and manifests have: 0 without a model, whose one constant vector only keeps the
    contract that every point has an embedding."""
    return 0 if model_id == LEXICAL_ONLY else dimension


def window_fingerprint(settings: EmbedderSettings) -> str:
    """What of the settings decides the window beyond `model_id`: a part of the configuration hash."""
    return f"{settings.tokenizer}.{settings.max_tokens}" if settings.provider == "openai-compatible" else ""


def open_embedder(settings: EmbedderSettings, cache: Path) -> BatchEmbedder:
    """The embedder of the settings; it asks no server yet. Raises ModelMissing or ModelCorrupted for the local one,
    ConfigError or TokenizerMissing for one behind a server."""
    if settings.provider == "lexical-only":
        return LexicalOnly()
    if settings.provider == "openai-compatible":
        from rag_assets.models.openai_compat.embeddings import EndpointEmbedder

        return EndpointEmbedder.open(settings)
    return LocalEmbedder.load(cache, Precision(settings.precision), threads=settings.threads)


def embedding_window(settings: EmbedderSettings, cache: Path) -> EmbeddingWindow:
    """The window of `open_embedder(settings, cache)` without its weights. Raises as it does."""
    if settings.provider == "lexical-only":
        return lexical_window()
    if settings.provider == "openai-compatible":
        from rag_assets.models.openai_compat.embeddings import endpoint_window

        return endpoint_window(settings)
    return load_window(cache, Precision(settings.precision))
