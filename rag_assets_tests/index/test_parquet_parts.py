"""Bucketed Parquet tables: equal rows give equal bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from rag_assets.index.parquet_parts import (
    MAX_BUCKETS,
    TableDamaged,
    bucket_count,
    bucket_of,
    digest_files,
    read_part,
    read_rows,
    write_part,
)

SCHEMA = pa.schema([("path", pa.string()), ("n", pa.int64())])


@pytest.mark.parametrize(
    ("files", "buckets"),
    [(0, 1), (1, 1), (64, 1), (75, 1), (100, 2), (1_200, 16), (1_250, 16), (15_000, 256), (10**7, MAX_BUCKETS)],
)
def test_bucket_count_grows_with_the_snapshot(files: int, buckets: int) -> None:
    assert bucket_count(files) == buckets


def test_buckets_do_not_depend_on_the_process() -> None:
    """Pinned values: blake2b, not the salted hash of the interpreter."""
    assert [bucket_of(path, 16) for path in ("src/A.cs", "src/B.cs", "ü.cs")] == [13, 2, 9]
    spread = {bucket_of(f"src/File{i}.cs", 16) for i in range(400)}
    assert spread == set(range(16))


def test_equal_rows_are_equal_bytes(tmp_path: Path) -> None:
    columns = {"path": ["a", "b"], "n": [1, 2]}
    one = write_part(tmp_path / "1", "t", 0, SCHEMA, columns)
    two = write_part(tmp_path / "2", "t", 0, SCHEMA, columns)
    assert one.read_bytes() == two.read_bytes()
    assert digest_files([one], tmp_path / "1") == digest_files([two], tmp_path / "2")
    three = write_part(tmp_path / "3", "t", 0, SCHEMA, {"path": ["a", "b"], "n": [1, 3]})
    assert digest_files([three], tmp_path / "3") != digest_files([one], tmp_path / "1")


def test_rows_come_back(tmp_path: Path) -> None:
    write_part(tmp_path, "t", 3, SCHEMA, {"path": ["a"], "n": [7]})
    assert read_rows(tmp_path, "t", 3) == [{"path": "a", "n": 7}]
    assert list((tmp_path / "t").iterdir()) == [tmp_path / "t" / "part-003.parquet"], "no temporary file stays"


def test_vectors_come_back_bit_for_bit(tmp_path: Path) -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 8), dtype=np.float32)
    schema = pa.schema([("vector", pa.list_(pa.float32(), 8))])
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), 8)
    write_part(tmp_path, "e", 0, schema, {"vector": column}, vectors=("vector",))
    flat = read_part(tmp_path, "e", 0).column("vector").combine_chunks().flatten().to_numpy()
    assert np.array_equal(flat.reshape(-1, 8), vectors)


def test_a_failed_write_leaves_the_old_part(tmp_path: Path) -> None:
    path = write_part(tmp_path, "t", 0, SCHEMA, {"path": ["a"], "n": [1]})
    before = path.read_bytes()
    with pytest.raises(ValueError):
        write_part(tmp_path, "t", 0, SCHEMA, {"path": ["a"], "n": ["x"]})
    assert path.read_bytes() == before


def test_a_damaged_part_is_named_with_its_label_and_what_to_do(tmp_path: Path) -> None:
    for folder, said in (("labels/shop@main/generations/g1", "shop@main: "), ("cache", "")):
        path = write_part(tmp_path / folder, "files", 0, SCHEMA, {"path": ["a"], "n": [1]})
        path.write_bytes(path.read_bytes()[:20])
        with pytest.raises(TableDamaged) as met:
            read_part(tmp_path / folder, "files", 0)
        label = said.removesuffix(": ")
        assert str(met.value).startswith(f"{said}{path} cannot be read: ")
        assert str(met.value).endswith(f"run: rag-assets index {label} --force".replace("  ", " "))
