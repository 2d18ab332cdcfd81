"""The embedding model of the package: a vector for each word, their weighted mean for a text. Offline, in the wheel.

No window and no session: a text of any length is one gather of rows and one weighted sum, whatever the order of its
words (static embeddings, as in model2vec; weights as SIF, Arora et al. 2017). The vector of a text is a function of
the text alone (and of the CPU's floating point), so batches and caches do not change it. How the table was trained:
docs/embedder.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.models.lexical_only import lexical_window
from rag_assets.models.model_files import ModelMissing, verify_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.models.static_code.table import StaticTable
    from rag_assets.models.static_code.word_pieces import WordPieces

    Vectors = NDArray[np.float32]
    Numbers = NDArray[np.int64]

MODEL_ID = "static-code-2"
DIMENSION = 256
TABLE_SHA256 = "09ac92be569e3e80614e7389bee810b446d1c89920ed51f7b7e66bc83609b048"
_REPAIR = "pip install --force-reinstall --no-deps rag-assets"
_BATCH = 512  # texts between two yields
_PRODUCT = 1 << 18
"""Multiplications of one matrix product: OpenBLAS hands more of them to threads, and waking these for a few words takes
longer than the product."""


class StaticEmbedder:
    """Texts → unit vectors; a text without a known word has a vector of zeros. Safe to use from several threads."""

    is_instant = True
    may_be_zero = True

    def __init__(self, table: StaticTable, *, for_questions: bool = False, pieces: WordPieces | None = None) -> None:
        """`for_questions`: with the weights that words have in questions, instead of those in documents. `pieces` are
        those of the table, where they are made already."""
        from rag_assets.models.static_code.word_pieces import WordPieces

        self.model_id = table.header.model_id
        self.dimension = table.header.dimension
        self._table = table
        self._for_questions = for_questions
        self._exponent = table.header.tf_exponent
        self._factors = table.scales * (table.query_weights if for_questions else table.document_weights)
        self._pieces = pieces or WordPieces(table.vocabulary)

    @cached_property
    def for_texts(self) -> StaticEmbedder:
        """The same model for documents: a search reads some of them again."""
        return StaticEmbedder(self._table, pieces=self._pieces) if self._for_questions else self

    @classmethod
    def load(cls, cache: Path, own: Path | None = None, *, for_questions: bool = False) -> StaticEmbedder:
        """The table of the package or of one's own, verified; `cache` remembers that of the package. Raises
        ModelMissing or ModelCorrupted with the command that helps."""
        # numpy: only for a model that is used
        from rag_assets.models.static_code.table import open_own_table

        if own is not None:
            return cls(open_own_table(own), for_questions=for_questions)
        verify_table(cache)
        about = table_path().stat()
        table, pieces = _of_package(table_path(), about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
        return cls(table, for_questions=for_questions, pieces=pieces)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """(n, DIMENSION) float32, in the order of `texts`, each of unit length or zero."""
        import numpy as np

        return np.concatenate(
            [np.zeros((0, self.dimension), np.float32), *(made for _, made in self.embed_batches(texts))]
        )

    def embed_batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """Yields (row numbers in `texts`, their vectors), every row once."""
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            yield list(range(start, start + len(batch))), self.read(batch).vectors()

    def read(self, texts: Sequence[str]) -> ReadTexts:
        """Texts whose words are looked up once, for what is asked of them."""
        import numpy as np

        once = np.ones(len(texts), np.int64)
        return ReadTexts(
            self._table, self._factors, self._exponent, list(map(self._pieces.ids, texts)), np.arange(len(texts)), once
        )

    def read_runs(self, runs: Sequence[str], numbers: Numbers, lengths: Numbers) -> ReadTexts:
        """The same of texts that are given by their `lengths` as `numbers` of different `runs` of letters."""
        ids = list(map(self._pieces.ids_of_run, runs))
        return ReadTexts(self._table, self._factors, self._exponent, ids, numbers, lengths)

    def related(self, word: str) -> list[tuple[str, float]]:
        """Whole words that mean about the same as one, with how near they are, the nearest first."""
        ids = self._pieces.ids(word) if self.knows(word) else []
        return self._table.related_to(ids[0]) if len(ids) == 1 else []

    def knows(self, word: str) -> bool:
        """Whether the table has a word as a whole; of others it only knows pieces."""
        return self._pieces.has(word)


class ReadTexts:
    """Texts as runs of letters, and these as entries of a table. The rows that they have are loaded once."""

    def __init__(
        self,
        table: StaticTable,
        factors: Vectors,
        exponent: float,
        ids: Sequence[Sequence[int]],
        numbers: Numbers,
        lengths: Numbers,
    ) -> None:
        """`ids` are the entries of each run; the texts are `lengths` of the `numbers` of runs, one after the other."""
        import numpy as np

        self._numbers, self._lengths = numbers, lengths
        self._sizes = np.fromiter(map(len, ids), np.int64, len(ids))
        self._begins = np.cumsum(self._sizes) - self._sizes
        flat = np.fromiter(chain.from_iterable(ids), np.int64, int(self._sizes.sum()))
        entries, self._columns = np.unique(flat, return_inverse=True)
        self._rows = table.rows[entries].astype(np.float32)
        self._factors, self._exponent = factors[entries], np.float32(exponent)

    def vectors(self) -> Vectors:
        """(texts, dimension) float32, each of unit length or zero."""
        import numpy as np

        count, width = len(self._lengths), max(len(self._rows), 1)
        sizes = self._sizes[self._numbers]
        inside = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        columns = self._columns[np.repeat(self._begins[self._numbers], sizes) + inside]
        owners = np.repeat(np.repeat(np.arange(count), self._lengths), sizes)
        # Each text's different entries, ascending, with how often it has them.
        keys, counts = np.unique(owners * width + columns, return_counts=True)
        owner, column = np.divmod(keys, width)
        shares = counts.astype(np.float32) ** self._exponent * self._factors[column]
        ends = np.searchsorted(owner, np.arange(count), side="right")
        made = np.zeros((count, self._rows.shape[1]), np.float32)
        begin = 0
        for row, end in enumerate(ends):
            if end > begin:
                made[row] = shares[begin:end] @ self._rows[column[begin:end]]
            begin = end
        norms = np.linalg.norm(made, axis=1, keepdims=True)
        vectors: Vectors = np.divide(made, norms, out=made, where=norms > 0)
        return vectors

    def closest(self, words: Vectors) -> Vectors:
        """(words, runs) float32: the cosine between a word, given by its unit vector, and that entry of a run which is
        nearest to it; 0 where either has no known word."""
        import numpy as np

        made = np.zeros((len(words), len(self._sizes)), np.float32)
        filled = np.flatnonzero(self._sizes)
        if not len(filled) or not len(words):
            return made
        norms = np.sqrt(np.einsum("ij,ij->i", self._rows, self._rows))
        at_once = max(1, _PRODUCT // words.size)
        parts = [words @ self._rows[at : at + at_once].T for at in range(0, len(self._rows), at_once)]
        near = (np.concatenate(parts, axis=1) / np.maximum(norms, np.float32(1e-6)))[:, self._columns]
        made[:, filled] = np.maximum.reduceat(near, self._begins[filled], axis=1)
        return made


@lru_cache(maxsize=1)
def _of_package(path: Path, *_: int) -> tuple[StaticTable, WordPieces]:
    """The table of the package, as the numbers say that its file is by now. A process that indexes and then asks loads
    it once."""
    from rag_assets.models.static_code.table import open_table
    from rag_assets.models.static_code.word_pieces import WordPieces

    table = open_table(path, repair=_REPAIR)
    return table, WordPieces(table.vocabulary)


def static_model(own: Path | None) -> tuple[str, int]:
    """The model id and the dimension of the table of the package or of one's own. Raises as `StaticEmbedder.load`."""
    if own is None:
        return MODEL_ID, DIMENSION
    from rag_assets.models.static_code.table import open_own_table

    header = open_own_table(own).header
    return header.model_id, header.dimension


def verify_table(cache: Path, own: Path | None = None) -> None:
    """Raises ModelMissing where there is no table, ModelCorrupted unless it is the one of this version (see
    `verify_file`) or intact."""
    if own is not None:
        static_model(own)
        return
    if not table_path().is_file():
        raise ModelMissing(f"the embedding model is incomplete: no {table_path()}. Run:\n  {_REPAIR}")
    verify_file(table_path(), TABLE_SHA256, cache, repair=_REPAIR)


def table_path() -> Path:
    return Path(str(resources.files(__package__).joinpath("table.bin")))


def static_window(model_id: str) -> EmbeddingWindow:
    """Sections are as long as without a model: the table has no window."""
    estimated = lexical_window()
    return EmbeddingWindow(model_id=model_id, max_tokens=estimated.max_tokens, count=estimated.count)
