"""Blobs that no generation of any label refers to any more: marked by reading every table, then swept."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa

from rag_assets.contracts.errors import ExpectedError
from rag_assets.stores.generations import all_generations, generation_directory
from rag_assets.stores.home import Home
from rag_assets.stores.tables import TableDamaged, read_file


class SweepError(ExpectedError):
    """It is not known what is needed, so nothing is removed."""


def referenced_blobs(home: Home, *, without: Collection[Path] = ()) -> set[str]:
    """Addresses in the discovered_files tables of all generations, finished or not; `without` are directories of
    generations that do not count. Raises SweepError naming a table that cannot be read."""
    found: set[str] = set()
    for directory in generation_directories(home, without):
        for part in sorted(directory.glob("discovered_files/part-*.parquet")):
            found.update(table_of(part, ["text_sha256"]).column(0).to_pylist())
    return found


def generation_directories(home: Home, without: Collection[Path] = ()) -> Iterator[Path]:
    """Every generation of every label, but for `without`."""
    for label in home.known_labels():
        for known in all_generations(home, label):
            directory = generation_directory(home, label, known)
            if directory not in without:
                yield directory


def table_of(part: Path, columns: list[str]) -> pa.Table:
    """Columns of one part. Raises SweepError: what a damaged table refers to cannot be known."""
    try:
        return read_file(part, columns)
    except (TableDamaged, OSError) as error:
        generation = part.parent.parent
        raise SweepError(
            f"{part} cannot be read ({error.__cause__ or error}), so nobody knows which documents it needs; build "
            f"generation {generation.name} again with: rag-assets index {generation.parent.parent.name} --force, and "
            f"delete {generation}"
        ) from error


def sweep_blobs(home: Home, *, dry_run: bool = False, without: Collection[Path] = ()) -> tuple[int, int]:
    """Removes unreferenced blobs; returns (how many, their bytes). Killed in between, it has removed fewer.

    The caller holds the collection lock and those of all labels: a build that is between writing a blob, or finding
    it there, and writing its table would lose it. Raises SweepError, and removes nothing.
    """
    kept = referenced_blobs(home, without=without)
    count = freed = 0
    for path in _blobs(home):
        if path.name not in kept:
            size = path.stat().st_size
            if not dry_run:
                path.unlink()
            count, freed = count + 1, freed + size
    return count, freed


def _blobs(home: Home) -> Iterator[Path]:
    for folder in sorted(home.blobs.glob("??")):
        yield from sorted(path for path in folder.iterdir() if path.is_file())
