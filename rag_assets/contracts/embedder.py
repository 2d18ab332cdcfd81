"""The `IEmbedder` of IDX-069: texts to vectors, and the limits that a model sets for sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
