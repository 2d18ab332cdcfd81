"""The table before training: what a transformer says of each entry alone, in fewer dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.training.model import Table
from rag_assets.training.pairs import Pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIF = 1e-3
"""Of Arora et al. 2017, "A simple but tough-to-beat baseline for sentence embeddings": weight a / (a + p(entry))."""
_QUESTION_WEIGHT = 5  # a token of a question against one of a text, in the frequency of an entry


def vectors_of(vocabulary: list[str], cache: Path) -> NDArray[np.float32]:
    """MiniLM's vector of every entry, unit rows."""
    from rag_assets.models.minilm.embedder import MiniLmEmbedder
    from rag_assets.models.minilm.weights import Precision

    embedder = MiniLmEmbedder.load(cache, Precision.INT8, threads=1)
    return np.asarray(embedder.embed([entry.removeprefix("##") for entry in vocabulary]), np.float32)


def start(vectors: NDArray[np.float32], pairs: Pairs, dimension: int) -> tuple[Table, float]:
    """The first `dimension` principal components of the vectors, unit rows, SIF weights; and the share of the variance
    that they keep."""
    entries = len(vectors)
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    values, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])  # a sign is no one's choice
    rows = centred @ axes[:, :dimension]
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    count = np.bincount(pairs.texts.ids, minlength=entries).astype(np.float64)
    _, asked = pairs.texts.rows(pairs.column("question"))
    count += _QUESTION_WEIGHT * np.bincount(asked, minlength=entries)
    weight = np.log(_SIF / (_SIF + (count + 1) / count.sum())).astype(np.float32)
    table = Table(rows.astype(np.float32), weight, weight.copy())
    return table, float(values[::-1][:dimension].sum() / values.sum())
