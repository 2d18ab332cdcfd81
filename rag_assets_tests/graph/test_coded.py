"""Texts as numbers, and the order of several columns of numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.graph.coded import Coded, ascending, flattened, numbered, rows_of_texts

rows = st.lists(st.tuples(*(st.integers(0, limit) for limit in (3, 2**31, 2**62, 2**40, 1))), max_size=30)


@given(rows)
def test_rows_are_ordered_by_the_first_column_then_the_next(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)] or [np.zeros(0, np.int64)] * 5
    order = ascending(*columns)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert [rows[row] for row in order.tolist()] == sorted(rows)


def test_small_unsigned_columns_do_not_overflow() -> None:
    high, low = np.array([255, 1, 255], np.uint8), np.array([7, 9, 2], np.uint32)
    assert ascending(high, low).tolist() == [1, 2, 0]


CHUNKS = [pa.array(["b", "a", "b"]), pa.array([], pa.string()), pa.array(["a", "c"]).dictionary_encode()]


def test_a_column_in_parts() -> None:
    coded = Coded.of(CHUNKS)
    assert [coded[row] for row in range(5)] == [b"b", b"a", b"b", b"a", b"c"] == rows_of_texts(CHUNKS)
    assert coded.numbers(numbered([b"a", b"b"])).tolist() == [1, 0, 1, 0, -1]
    assert set(coded.rows(np.array([0, 2])).occurring()) == {b"b"}


def test_a_text_outside_of_a_closed_set_is_told() -> None:
    assert Coded.of(CHUNKS).within(["c", "b", "a"], "letter").tolist() == [1, 2, 1, 2, 0]
    with pytest.raises(ValueError, match="unknown letter in the graph: 'c'"):
        Coded.of(CHUNKS).within(["a", "b"], "letter")


def test_lists_of_slices() -> None:
    column = pa.array([["a", "b"], [], ["c"], ["d"]])
    sizes, values = flattened([column[1:3], column[:1]])
    assert sizes.tolist() == [0, 1, 2]
    assert rows_of_texts(values) == [b"c", b"a", b"b"]
