"""The points of a generation in FAISS: the same contract as the embedded shard (`index.vectors.vector_api`), with
exact search.

Filters become the rows that the search may look at, so they hold before the top k (R17).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from rag_assets.closeable import Closeable
from rag_assets.index.vectors.conditions import KnownValues, conditions_of
from rag_assets.index.vectors.faiss.column_filter import FieldMasks
from rag_assets.index.vectors.faiss.files import faiss_module, read_files
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.index.vectors.vector_api import FileRef, ScoredPoint, VectorStoreError, best_with_ties

if TYPE_CHECKING:
    from rag_assets.index.vectors.faiss.column_filter import Mask
    from rag_assets.index.vectors.vector_api import Dense


class FaissReader(Closeable):
    """Reads one finished generation. Safe to use from several threads."""

    def __init__(self, directory: Path) -> None:
        """Raises VectorStoreError where there is no readable one, or no FAISS."""
        self._directory = directory
        self._files = read_files(directory)
        points = self._files.points
        self._ids = points.ids
        self._row_of = {known: row for row, known in enumerate(points.ids)}
        self._masks = FieldMasks(points.fields, self._row_of)
        self._dense_rows = np.frombuffer(points.dense_rows, np.int32)
        self._terms = np.frombuffer(points.postings.terms, np.uint32)
        self._offsets = np.frombuffer(points.postings.offsets, np.int64)
        self._rows = np.frombuffer(points.postings.rows, np.int32)
        self._weights = np.frombuffer(points.postings.weights, np.float32)
        self._known = KnownValues(self.values)  # a finished generation never changes

    def count(self, scope: SearchScope | None = None) -> int:
        return len(self._ids) if scope is None else int(self._mask(scope).sum())

    def dense(self, vector: Dense, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        """The nearest points by inner product, best first, equal scores by id. Every point of the scope is compared."""
        index = self._files.index
        if index is None or vector.shape != (index.d,):
            held = "no vectors" if index is None else f"vectors of {index.d} dimensions"
            raise VectorStoreError(
                f"FAISS store {self._directory} cannot be searched with a vector of shape {vector.shape}: it has {held}"
            )
        faiss = faiss_module()
        allowed = self._mask(scope)[self._dense_rows]
        within = int(allowed.sum())
        if not within:
            return []
        bits = np.packbits(allowed, bitorder="little")
        selected = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))
        question = np.ascontiguousarray(vector, np.float32)[None]

        def search(asked: int) -> list[ScoredPoint]:
            scores, found = index.search(question, min(asked, within), params=selected)
            rows = self._dense_rows[found[0]].tolist()
            return [ScoredPoint(self._ids[row], score) for row, score in zip(rows, scores[0].tolist(), strict=True)]

        return best_with_ties(search, limit, lambda hit: hit.id)

    def sparse(
        self, indices: Sequence[int], values: Sequence[float], scope: SearchScope, limit: int
    ) -> list[ScoredPoint]:
        """The points with the highest keyword score, best first, equal scores by id; only points that share a term."""
        scores = np.zeros(len(self._ids))
        touched = np.zeros(len(self._ids), np.bool_)
        for index, value in zip(indices, values, strict=True):
            at = int(np.searchsorted(self._terms, index))
            if at < len(self._terms) and self._terms[at] == index:
                part = slice(self._offsets[at], self._offsets[at + 1])
                scores[self._rows[part]] += float(value) * self._weights[part]
                touched[self._rows[part]] = True
        if not touched.any():
            return []
        rows = np.flatnonzero(touched & self._mask(scope))
        best = rows[np.lexsort((rows, -scores[rows]))][:limit].tolist()
        return [ScoredPoint(self._ids[row], float(scores[row])) for row in best]

    def retrieve(self, ids: Sequence[str], scope: SearchScope) -> dict[str, dict[str, Any]]:
        """id → payload of the points of `ids` that exist within the scope."""
        rows = [self._row_of[known] for known in dict.fromkeys(ids) if known in self._row_of]
        if not rows:
            return {}
        mask = self._mask(scope)
        return {self._ids[row]: msgspec.json.decode(self._files.payload(row)) for row in rows if mask[row]}

    def places(self, ids: Sequence[str], scope: SearchScope) -> dict[str, FileRef]:
        """id → file of the points of `ids`, which a search within the scope has found."""
        return {known: FileRef.of(payload) for known, payload in self.retrieve(ids, scope).items()}

    def digests(self) -> dict[str, str]:
        """id → digest of every point, of every tenant: for checks, not for answers."""
        return dict(zip(self._ids, self._files.points.digests, strict=True))

    def ids(self, scope: SearchScope | None = None) -> dict[str, str]:
        """id → ContentHash of every point of the scope. Without one, of every tenant: for checks, not for answers."""
        mask: Mask = np.ones(len(self._ids), np.bool_) if scope is None else self._mask(scope)
        return {self._ids[row]: self._files.points.hashes[row] for row in np.flatnonzero(mask).tolist()}

    def values(self, key: str, scope: SearchScope) -> dict[str, int]:
        """Distinct values of an indexed payload field within the scope, and how many points have each; sorted."""
        return dict(sorted(self._masks.counts(key, self._mask(scope)).items()))

    def close(self) -> None:
        """Nothing is held but memory."""

    def _mask(self, scope: SearchScope) -> Mask:
        return self._masks.all_of(conditions_of(scope, self._known.within(scope)))
