"""Arrow columns from Python values."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from rag_assets.index.parquet_parts import arrow_table, column, distinct_texts, lists, matrix, texts, to_numpy

_IMPORTS_NO_PANDAS = """
import sys
from pathlib import Path
sys.modules.pop("pandas", None)
class Refused:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise AssertionError("pandas was imported")
sys.meta_path.insert(0, Refused())
import pyarrow as pa
from rag_assets.index.parquet_parts import to_numpy
from rag_assets.index.parquet_parts import read_part, rows_with, write_part
schema = pa.schema([("path", pa.string()), ("lines", pa.int64()), ("notes", pa.list_(pa.string()))])
write_part(Path(sys.argv[1]), "files", 0, schema, {"path": ["a", "b"], "lines": [1, 2], "notes": [[], ["x"]]})
read = read_part(Path(sys.argv[1]), "files", 0)
print(rows_with(read, "path", "b"), to_numpy(read.column("lines").combine_chunks()))
"""


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        pytest.param(["a", "", "Größe \U0001f600", "\0"], pa.string(), id="texts"),
        pytest.param(["a", "", "Größe"], pa.large_string(), id="texts with long offsets"),
        pytest.param([b"", b"\xff\x00"], pa.binary(), id="bytes"),
        pytest.param([1, -(2**63), 2**63 - 1], pa.int64(), id="numbers"),
        pytest.param([True, False] * 9, pa.bool_(), id="truth values"),
        pytest.param([["a"], [], ["b", "c"]], pa.list_(pa.string()), id="lists of texts"),
        pytest.param([[1, 2], []], pa.list_(pa.uint32()), id="lists of numbers"),
        pytest.param([], pa.string(), id="no texts"),
        pytest.param([], pa.list_(pa.float32()), id="no lists"),
    ],
)
def test_equal_to_what_arrow_makes(values: list[Any], kind: pa.DataType) -> None:
    made = column(values, kind)
    made.validate(full=True)
    assert made.equals(pa.array(values, kind))


def test_arrays_of_numpy_need_not_be_contiguous_or_of_the_type() -> None:
    assert column(np.arange(10, dtype=np.int64)[::2], pa.uint32()).to_pylist() == [0, 2, 4, 6, 8]


def test_lists_by_offsets() -> None:
    assert lists([0, 2, 2, 3], [7, 8, 9], pa.uint32()).to_pylist() == [[7, 8], [], [9]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param(pa.array([1, 2, 3, 4], pa.uint32())[1:3], [2, 3], id="a slice"),
        pytest.param(pa.array([], pa.float32()), [], id="nothing"),
        pytest.param(pa.chunked_array([[]], pa.int64()).combine_chunks(), [], id="no chunk"),
    ],
)
def test_back_to_numpy(values: pa.Array, expected: list[int]) -> None:
    assert to_numpy(values).tolist() == expected


TEXTS = ["b", "", "Größe \U0001f600", "b", "\0", ""]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
@pytest.mark.parametrize(("start", "stop"), [(0, 6), (2, 5), (3, 3)], ids=["all", "a slice", "none"])
def test_back_to_texts(kind: pa.DataType, start: int, stop: int) -> None:
    rows, wanted = pa.array(TEXTS, kind)[start:stop], [text.encode() for text in TEXTS[start:stop]]
    distinct, codes = distinct_texts(rows)
    assert [distinct[code] for code in codes] == wanted
    assert len(set(distinct)) == len(distinct)
    if not pa.types.is_dictionary(kind):
        assert texts(rows) == wanted
        assert set(distinct) == set(wanted)


def test_texts_without_any_byte() -> None:
    assert texts(pa.array(["", ""])) == [b"", b""]
    assert texts(pa.array([], pa.string())) == []


def test_lists_of_one_length_to_rows() -> None:
    values = pa.FixedSizeListArray.from_arrays(pa.array([1, 2, 3, 4, 5, 6], pa.float32()), 2)
    assert matrix(values[1:]).tolist() == [[3, 4], [5, 6]]
    assert matrix(values[:0]).shape == (0, 2)


def test_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="date32"):
        column([1], pa.date32())


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(pa.ArrowInvalid):
        arrow_table({"a": ["x"], "b": []}, pa.schema([("a", pa.string()), ("b", pa.string())]))


def test_writing_and_reading_a_table_does_not_import_pandas(tmp_path: Any) -> None:
    """It may be installed for other things, and takes half a second in each process."""
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTS_NO_PANDAS, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[{'path': 'b', 'lines': 2, 'notes': ['x']}] [1 2]"
