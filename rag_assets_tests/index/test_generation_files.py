"""Digests of the files of a generation: what is opened is checked, and one changed bit anywhere is found."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from rag_assets.errors import RagAssetsError
from rag_assets.index import generation_files
from rag_assets.index.generation_files import check_file, check_opened, damaged_files, list_files
from rag_assets.index.layout import RecordDamaged, read_record, write_record

CONTENTS = {
    "shard/small": b"abc",
    "shard/deep/large": b"x" * 300_000,
    "table/part-000.parquet": b"rows",
    "one.txt": b"1",
}


@pytest.fixture
def generation(tmp_path: Path) -> Path:
    for name, content in CONTENTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    with (tmp_path / "shard" / "sparse").open("wb") as file:
        file.truncate(50_000_000)
        file.seek(20_000_000)
        file.write(b"in the middle")
    list_files(tmp_path)
    write_record(tmp_path / "manifest.json", {"generation_id": "g"})
    return tmp_path


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        changed = file.read(1)[0] ^ 1
        file.seek(at)
        file.write(bytes([changed]))


def test_a_whole_generation_has_no_damage(generation: Path) -> None:
    assert list(damaged_files(generation)) == []
    check_opened(generation / "shard", RagAssetsError, nested=True)
    check_file(generation / "table" / "part-000.parquet", RagAssetsError)


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("shard/small", 2),
        ("shard/deep/large", 299_999),
        ("shard/sparse", 20_000_003),
        ("shard/sparse", 7),
        ("one.txt", 0),
    ],
    ids=["small", "end of a large one", "sparse", "hole", "beside the folders"],
)
def test_one_flipped_bit_is_found(generation: Path, name: str, at: int) -> None:
    flip(generation / name, at)
    assert list(damaged_files(generation)) == [f"{name} is damaged: its bytes are not those that were written"]
    if name.startswith("shard/"):
        with pytest.raises(RagAssetsError, match=rf"{name} is damaged.*run: rag-assets index"):
            check_opened(generation / "shard", RagAssetsError, nested=True)


def test_a_flipped_bit_of_a_table_is_found_when_it_is_read(generation: Path) -> None:
    flip(generation / "table" / "part-000.parquet", 1)
    with pytest.raises(RagAssetsError, match=r"part-000\.parquet is damaged"):
        check_file(generation / "table" / "part-000.parquet", RagAssetsError)


def test_opening_checks_no_more_than_its_budget(generation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation_files, "OPENING_BYTES", 100_000)
    flip(generation / "shard" / "deep" / "large", 5)
    check_opened(generation / "shard", RagAssetsError, nested=True)
    assert len(list(damaged_files(generation))) == 1, "the whole check finds it"


@pytest.mark.parametrize("listed", ["is gone", "is damaged"])
def test_a_finished_generation_needs_its_list(generation: Path, listed: str) -> None:
    path = generation / "files.json"
    path.unlink() if listed == "is gone" else flip(path, 200)
    with pytest.raises(RagAssetsError, match=rf"files\.json {listed}"):
        check_opened(generation / "shard", RagAssetsError, nested=True)
    assert list(damaged_files(generation)) == [f"files.json {listed}"]


def test_an_unfinished_generation_is_not_checked(generation: Path) -> None:
    (generation / "manifest.json").unlink()
    flip(generation / "shard" / "small", 0)
    check_opened(generation / "shard", RagAssetsError, nested=True)


def test_what_is_listed_again_blesses_nothing_else(generation: Path) -> None:
    flip(generation / "one.txt", 0)
    flip(generation / "shard" / "small", 0)
    list_files(generation, again=("shard/",))
    assert [found.split()[0] for found in damaged_files(generation)] == ["one.txt"]


def test_what_a_generation_shares_with_another_is_listed_as_it_is_there(generation: Path) -> None:
    other = generation.parent / f"{generation.name}-next"
    shutil.copytree(generation, other, copy_function=os.link)
    (other / "files.json").unlink()
    (other / "shard" / "small").unlink()
    (other / "shard" / "small").write_bytes(b"new")
    flip(other / "table" / "part-000.parquet", 0)  # of both
    list_files(other, like=generation)
    assert [found.split()[0] for found in damaged_files(other)] == ["table/part-000.parquet"]
    flip(other / "shard" / "small", 0)
    assert {found.split()[0] for found in damaged_files(other)} == {"shard/small", "table/part-000.parquet"}
    list_files(other, like=other.parent / "no-such-generation")
    assert not list(damaged_files(other))


def test_every_flipped_bit_of_a_record_is_found(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_record(path, {"label": "shop@main", "former": ["a", "b"], "number": 7})
    whole = path.read_bytes()
    silent = []
    for bit in range(len(whole) * 8):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            read_record(path, dict)
            silent.append(bit)
        except RecordDamaged:
            pass
    assert silent == []
