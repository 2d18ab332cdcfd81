"""Safetensors files as memory maps, against the format's own library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.models.minilm.weights import ModelFiles, TensorFileError, map_tensors, write_tensors

TENSORS: dict[str, np.ndarray[Any, np.dtype[Any]]] = {
    "b": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a": np.array([[-64, 64]], np.int8),
    "empty": np.zeros((0, 4), np.float32),
}


def with_header(header: object, data: bytes = b"") -> bytes:
    encoded = json.dumps(header).encode()
    return len(encoded).to_bytes(8, "little") + encoded + data


def test_written_tensors_are_read_back(tmp_path: Path) -> None:
    write_tensors(tmp_path / "x.safetensors", TENSORS, {"key": "value"})
    read = map_tensors(tmp_path / "x.safetensors")
    assert read.metadata == {"key": "value"}
    assert list(read.tensors) == ["a", "b", "empty"]
    for name, tensor in TENSORS.items():
        assert read.tensors[name].dtype == tensor.dtype
        np.testing.assert_array_equal(read.tensors[name], tensor)
    assert not read.tensors["b"].flags.writeable
    assert list(tmp_path.iterdir()) == [tmp_path / "x.safetensors"]  # no temporary file stays


def test_the_same_tensors_give_the_same_bytes(tmp_path: Path) -> None:
    write_tensors(tmp_path / "x", TENSORS, {"k": "v", "a": "b"})
    write_tensors(tmp_path / "y", dict(reversed(TENSORS.items())), {"a": "b", "k": "v"})
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


def test_the_library_agrees(tmp_path: Path, model_files: ModelFiles) -> None:
    library = pytest.importorskip("safetensors.numpy", reason="compares with the safetensors package")
    write_tensors(tmp_path / "x.safetensors", TENSORS, {"key": "value"})
    for file in (tmp_path / "x.safetensors", model_files.weights):
        mapped = map_tensors(file).tensors
        expected = library.load_file(file)
        assert set(mapped) == set(expected)
        for name, tensor in expected.items():
            np.testing.assert_array_equal(mapped[name], tensor)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x01\x00", id="shorter than the length"),
        pytest.param((1 << 60).to_bytes(8, "little") + b"{}", id="header longer than the file"),
        pytest.param((1 << 63).to_bytes(8, "little") + b"{}", id="absurd length"),
        pytest.param(b"\x02\x00\x00\x00\x00\x00\x00\x00[]", id="header is no object"),
        pytest.param(b"\x02\x00\x00\x00\x00\x00\x00\x00\xff{", id="header is no JSON"),
        pytest.param(with_header({"a": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}), id="unknown type"),
        pytest.param(with_header({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}), id="no data"),
        pytest.param(with_header({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}}, bytes(8)), id="shape"),
        pytest.param(with_header({"a": {"dtype": "F32", "shape": [1]}}, bytes(8)), id="no offsets"),
        pytest.param(with_header({"a": 1}), id="entry is no object"),
    ],
)
def test_a_malformed_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(TensorFileError):
        map_tensors(tmp_path / "x")


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        write_tensors(tmp_path / "x", {"a": np.zeros(1, np.complex64)}, {"k": "v"})
    assert not list(tmp_path.iterdir())
