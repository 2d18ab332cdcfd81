"""Statistics of the terms of a label, put together from its buckets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rag_assets.index.keyword.bm25f import hashes_of
from rag_assets.pipeline.bm25_artifacts import _balanced, _LabelTerms

FIRST, SECOND, THIRD = {"cart": (1, 0), "order": (2, 1)}, {"apple": (0, 4)}, {"order": (3, 0), "éclair": (1, 1)}


def table(terms: dict[str, tuple[int, int]]) -> pa.Table:
    column = pa.DictionaryArray.from_arrays(pa.array(range(len(terms)), pa.int32()), pa.array(list(terms), pa.string()))
    return pa.table({"term": column, "sections": pa.array(list(terms.values()), pa.list_(pa.int64(), 2))})


def test_terms_are_the_same_whenever_their_buckets_come() -> None:
    for order in ([[FIRST, SECOND, THIRD]], [[THIRD], [], [SECOND, FIRST]], [[SECOND], [FIRST], [THIRD]]):
        terms = _LabelTerms()
        for buckets in order:
            terms.add(map(table, buckets))
        known, holding = terms.ordered()
        assert known == ["apple", "cart", "order", "éclair"]
        assert holding.tolist() == [[0, 1, 5, 1], [4, 0, 1, 1]]
        assert terms.hashes == hashes_of(known)


def test_texts_count_as_much_as_the_code_at_most() -> None:
    holding = np.array([[3, 0, 10, 0], [0, 1, 40, 6]])
    sections, frequencies = _balanced([10, 40], holding)
    assert (sections, frequencies.tolist()) == (20, [3, 1, 20, 2])
    assert _balanced([10, 9], holding)[0] == 19 and _balanced([0, 9], holding)[0] == 9
