"""Texts as numbers, and the order of several columns of numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.graph import column_encoding
from rag_assets.graph.column_encoding import (
    StringColumn,
    StringDictionary,
    list_rows,
    sorted_rows,
    stacked,
    text_rows,
    within,
)

rows = st.lists(st.tuples(*(st.integers(0, limit) for limit in (3, 2**31, 2**62, 2**40, 1))), max_size=30)


@given(rows)
def test_rows_are_ordered_by_the_first_column_then_the_next(rows: list[tuple[int, ...]]) -> None:
    columns = [np.array(column, np.int64) for column in zip(*rows, strict=True)] or [np.zeros(0, np.int64)] * 5
    order = sorted_rows(*columns)
    assert sorted(order.tolist()) == list(range(len(rows)))
    assert [rows[row] for row in order.tolist()] == sorted(rows)


def test_small_unsigned_columns_do_not_overflow() -> None:
    high, low = np.array([255, 1, 255], np.uint8), np.array([7, 9, 2], np.uint32)
    assert sorted_rows(high, low).tolist() == [1, 2, 0]


CHUNKS = [pa.array(["b", "a", "b"]), pa.array([], pa.string()), pa.array(["a", "c"]).dictionary_encode()]


def test_a_text_has_one_number_in_all_columns() -> None:
    texts = StringDictionary()
    found = [texts.coded(chunk).tolist() for chunk in (*CHUNKS, pa.array(["c", "d", "b"]).slice(1))]
    assert found == [[0, 1, 0], [], [1, 2], [3, 0]]
    assert list(texts) == [b"b", b"a", b"c", b"d"]


def test_texts_of_a_dictionary_that_no_row_has_get_no_number() -> None:
    texts = StringDictionary()
    assert texts.coded(pa.array(["x", "y", "x"]).dictionary_encode().slice(1, 1)).tolist() == [0]
    assert list(texts) == [b"y"]


def test_texts_of_some_rows_in_order() -> None:
    texts = StringDictionary()
    column = texts.coded(pa.array(["c", "b", "a", "c"]))
    assert texts.ascending(column[[0, 2, 3]])[0] == [b"a", b"c"]
    assert texts.ascending(column[[0, 2, 3]])[1].tolist() == [1, -1, 0]
    assert texts.among(column[:1], column[1:2]).tolist() == [True, True, False]


@pytest.mark.parametrize("encoded", [False, True], ids=["texts", "a dictionary"])
def test_rows_of_texts(encoded: bool) -> None:
    column = pa.array(["gone", "b", "", "é", "b"])
    made = text_rows("name", (column.dictionary_encode() if encoded else column).slice(1))
    rows = StringColumn.of(made["name"], made["name_sizes"])
    assert [rows[row] for row in range(4)] == [b"b", b"", "é".encode(), b"b"]


@given(st.lists(st.text(max_size=3), min_size=1, max_size=8), st.data())
def test_some_rows_of_texts(texts: list[str], data: st.DataObject) -> None:
    made = text_rows("name", pa.array(texts))
    wanted = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=8))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(column_encoding, "_TAKEN_AT_A_TIME", 3)
        taken = StringColumn.of(made["name"], made["name_sizes"]).rows(np.array(wanted, np.int64))
    assert [taken[row] for row in range(len(wanted))] == [texts[row].encode() for row in wanted]


def test_a_text_outside_of_a_closed_set_is_told() -> None:
    assert [within(chunk, ["c", "b", "a"], "letter").tolist() for chunk in CHUNKS] == [[1, 2, 1], [], [2, 0]]
    with pytest.raises(ValueError, match="unknown letter in the graph: 'c'"):
        within(CHUNKS[2], ["a", "b"], "letter")


def test_lists_of_slices() -> None:
    column = pa.array([["a", "b"], [], ["c"], ["d"]])
    texts = StringDictionary()
    rows = stacked([list_rows("words", part, texts.coded) for part in (column[1:3], column[:1])])
    assert rows["words_sizes"].tolist() == [0, 1, 2]
    assert [list(texts)[code] for code in rows["words"]] == [b"c", b"a", b"b"]
