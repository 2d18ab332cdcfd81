"""No embedding model: keyword search alone, and an estimate of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rag_assets.contracts.embedder import EmbeddingWindow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

MAX_TOKENS = 256
"""About what a person reads at once, and the window of MiniLM."""

MODEL_ID = "lexical-only"
_TOKEN = re.compile(r"\w{1,4}|[^\s\w]")
"""Four characters of a word of code: sections only need to be of about the same size as with a model."""


class LexicalOnly:
    """Every text has the same vector of length 1, because a point needs one (B18); nothing ranks by it."""

    is_instant = False
    may_be_zero = False
    model_id = MODEL_ID
    dimension = 1

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        return np.ones((len(texts), self.dimension), np.float32)

    def embed_batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        if texts:
            yield list(range(len(texts))), self.embed(texts)


def lexical_window() -> EmbeddingWindow:
    """Sections of about the same size with every local model: 256 estimated tokens."""
    return EmbeddingWindow(model_id=MODEL_ID, max_tokens=MAX_TOKENS, count=_estimate)


def _estimate(texts: Sequence[str]) -> list[int]:
    return [len(_TOKEN.findall(text)) for text in texts]
