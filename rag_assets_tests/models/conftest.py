"""The model, loaded once per precision for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.models.minilm.embedder import MiniLmEmbedder
from rag_assets.models.minilm.tokenizer import WordPieceTokenizer
from rag_assets.models.minilm.weights import ModelFiles, Precision, locate_model


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model-cache")


@pytest.fixture(scope="session")
def model_files() -> ModelFiles:
    return locate_model()


@pytest.fixture(scope="session")
def encoder(model_files: ModelFiles) -> WordPieceTokenizer:
    return WordPieceTokenizer.load(model_files.tokenizer)


@pytest.fixture(scope="session")
def int8(model_cache: Path) -> MiniLmEmbedder:
    return MiniLmEmbedder.load(model_cache, Precision.INT8, threads=2)


@pytest.fixture(scope="session")
def fp32(model_cache: Path) -> MiniLmEmbedder:
    return MiniLmEmbedder.load(model_cache, Precision.FP32, threads=2)
