"""Hard negatives: texts of the same repository, but of another file, that a ranking puts first for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rag_assets.training.evaluation import bm25
from rag_assets.training.model import Table
from rag_assets.training.pairs import Pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_KEPT = 4
_SKIPPED = 1  # the first may be an answer that the history does not know
_MOST_QUESTIONS = 4_000  # of a repository: a matrix of questions and texts is held at once


def mine(pairs: Pairs, entries: int, table: Table | None) -> Ints:
    """A row of `_KEPT` texts a pair, -1 where there are none; ranked by BM25, or by the table."""
    found = np.full((len(pairs.table), _KEPT), -1, np.int64)
    for repository in np.unique(pairs.column("repository")):
        rows = np.flatnonzero(pairs.column("repository") == repository)[:_MOST_QUESTIONS]
        texts, first = np.unique(pairs.column("code")[rows], return_index=True)
        if len(texts) <= _KEPT + _SKIPPED:
            continue
        questions = pairs.column("question")[rows]
        if table is None:
            scores = bm25(pairs.texts, questions, texts, entries)
        else:
            scores = (
                table.embed(pairs.texts, questions, questions=True) @ table.embed(pairs.texts, texts, questions=False).T
            )
        path = pairs.column("path")[rows]
        scores[path[:, None] == path[first]] = -np.inf
        first_ones = np.sort(np.argpartition(-scores, _KEPT + _SKIPPED, axis=1)[:, : _KEPT + _SKIPPED], axis=1)
        order = np.argsort(-np.take_along_axis(scores, first_ones, axis=1), axis=1, kind="stable")
        best = np.take_along_axis(first_ones, order, axis=1)[:, _SKIPPED:]
        possible = np.isfinite(np.take_along_axis(scores, best, axis=1))
        found[rows] = np.where(possible, texts[best], -1)
    return found
