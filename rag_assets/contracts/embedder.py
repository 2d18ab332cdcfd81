"""The `IEmbedder` of IDX-069: texts to vectors, and the limits that a model sets for sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """The `IEmbedder` of IDX-069. `embed` returns one L2-normalised float32 row per text, shape (n, dimension)."""

    @property
    def model_id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


@dataclass(frozen=True, slots=True)
class EmbeddingWindow:
    """The limits that an embedding model sets for sections: its id and the length of a text.

    `count` gives the tokens of each text as that model sees them (without special tokens). It is a pure
    function, so sections stay deterministic (A26).
    """

    model_id: str
    max_tokens: int
    count: Callable[[Sequence[str]], list[int]]


class BatchEmbedder(Embedder, Protocol):
    """What a build needs of an embedding model beyond `Embedder`: vectors as they come. `is_instant`: a vector costs
    less than to look it up where the vectors of earlier builds are kept. `may_be_zero`: a text of which the model knows
    nothing has a vector of zeros, and is found by its keywords alone."""

    is_instant: bool
    may_be_zero: bool

    def embed_batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]: ...


def gathered(embedder: BatchEmbedder, texts: Sequence[str]) -> Vectors:
    """(n, dimension) float32, in the order of `texts`, from the batches of an embedder. Raises what these raise."""
    import numpy as np

    vectors = np.empty((len(texts), embedder.dimension), np.float32)
    for rows, batch in embedder.embed_batches(texts):
        vectors[rows] = batch
    return vectors
