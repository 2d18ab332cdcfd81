"""Models behind small contracts: today the local embedding model, or none.

Importing this costs nothing: numpy, tokenizers and onnxruntime are loaded when a model is.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.section import EmbeddingWindow
from rag_assets.models.embedder import BatchEmbedder, LocalEmbedder, load_window, local_model_id
from rag_assets.models.graphs import Precision
from rag_assets.models.lexical import MODEL_ID, LexicalOnly, lexical_window
from rag_assets.models.weights import ModelCorrupted, ModelError, ModelMissing

if TYPE_CHECKING:
    from rag_assets.settings import EmbedderSettings

__all__ = [
    "BatchEmbedder",
    "LexicalOnly",
    "LocalEmbedder",
    "ModelCorrupted",
    "ModelError",
    "ModelMissing",
    "Precision",
    "embedding_window",
    "model_id",
    "open_embedder",
]


def model_id(provider: str, precision: str) -> str:
    """The id that `open_embedder` with these settings will have; needs no model."""
    return MODEL_ID if provider == "lexical-only" else local_model_id(Precision(precision))


def open_embedder(settings: EmbedderSettings, cache: Path) -> BatchEmbedder:
    """The embedder of the settings. Raises ModelMissing or ModelCorrupted."""
    if settings.provider == "lexical-only":
        return LexicalOnly()
    return LocalEmbedder.load(cache, Precision(settings.precision), threads=settings.threads)


def embedding_window(settings: EmbedderSettings, cache: Path) -> EmbeddingWindow:
    """The window of `open_embedder(settings, cache)` without its weights. Raises ModelMissing or ModelCorrupted."""
    if settings.provider == "lexical-only":
        return lexical_window()
    return load_window(cache, Precision(settings.precision))
