"""Finished parts by content key: linked, never half there, never trusted when damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rag_assets.index.cache import PartCache, PartFile, place_link, unshared_bytes

KEY = "ab" * 32


def part(folder: Path, **texts: str) -> list[PartFile]:
    folder.mkdir(parents=True, exist_ok=True)
    found = [PartFile(name, folder / f"{name}.parquet") for name in texts]
    for file in found:
        file.path.write_text(texts[file.name])
    return found


def wanted(folder: Path, *names: str) -> list[PartFile]:
    return [PartFile(name, folder / "new" / f"{name}.parquet") for name in names]


@pytest.fixture
def cache(tmp_path: Path) -> PartCache:
    return PartCache(tmp_path / "cache")


def test_what_was_put_is_taken_as_the_same_file(cache: PartCache, tmp_path: Path) -> None:
    files = part(tmp_path / "old", segments="rows", parsed="health")
    digest = cache.put("segments", KEY, files, b'{"files":1}')
    taken = cache.take("segments", KEY, wanted(tmp_path, "segments", "parsed"))
    assert taken is not None and (taken.result, taken.digest) == (b'{"files":1}', digest)
    assert (tmp_path / "new" / "segments.parquet").samefile(files[0].path), "stored once on the disk"
    assert cache.take("segments", "cd" * 32, wanted(tmp_path, "segments")) is None
    assert cache.take("descriptions", KEY, wanted(tmp_path, "segments")) is None


def test_an_entry_outlives_the_generation_that_made_it(cache: PartCache, tmp_path: Path) -> None:
    (file,) = part(tmp_path / "old", segments="rows")
    cache.put("segments", KEY, [file], b"{}")
    entry = next(entry for _, _, entry in cache.entries())
    assert unshared_bytes(entry) == entry.joinpath("part.json").stat().st_size
    file.path.unlink()
    assert unshared_bytes(entry) > len("rows"), "now only the cache has it"
    assert cache.take("segments", KEY, wanted(tmp_path, "segments")) is not None


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: (entry / "segments").write_text("other"),
        lambda entry: (entry / "segments").unlink(),
        lambda entry: (entry / "part.json").write_text("{"),
        lambda entry: (entry / "part.json").unlink(),
    ],
    ids=["changed", "file gone", "record broken", "record gone"],
)
def test_a_damaged_entry_is_no_entry_and_can_be_put_again(cache: PartCache, tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    (file,) = part(tmp_path / "old", segments="rows")
    cache.put("segments", KEY, [file], b"{}")
    file.path.unlink()
    damage(next(entry for _, _, entry in cache.entries()))
    assert cache.take("segments", KEY, wanted(tmp_path, "segments")) is None
    cache.put("segments", KEY, part(tmp_path / "old", segments="rows"), b"{}")
    assert cache.take("segments", KEY, wanted(tmp_path, "segments")) is not None
    assert (tmp_path / "new" / "segments.parquet").read_text() == "rows"


def test_taking_replaces_what_is_there(cache: PartCache, tmp_path: Path) -> None:
    cache.put("segments", KEY, part(tmp_path / "old", segments="rows"), b"{}")
    half = part(tmp_path / "new", segments="half")
    assert cache.take("segments", KEY, half) is not None
    assert half[0].path.read_text() == "rows"
    assert cache.take("segments", KEY, half) is not None, "the same file again"


def test_without_hard_links_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError("no links on this file system")

    monkeypatch.setattr(os, "link", refused)
    source = tmp_path / "a"
    source.write_text("rows")
    place_link(source, tmp_path / "b" / "c")
    assert (tmp_path / "b" / "c").read_text() == "rows"
    assert not list(tmp_path.rglob("*.tmp"))
    with pytest.raises(FileNotFoundError):
        place_link(tmp_path / "absent", tmp_path / "d")


def test_halves_of_killed_processes_are_listed_and_never_taken(cache: PartCache, tmp_path: Path) -> None:
    cache.put("segments", KEY, part(tmp_path / "old", segments="rows"), b"{}")
    half = cache.root / "segments" / KEY[:2] / f"{KEY}.1f.tmp"
    half.mkdir()
    assert [key for _, key, _ in cache.entries()] == [KEY, half.name]
