"""Blobs that no generation of any label refers to any more: marked by reading every table, then swept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from rag_assets.stores.generations import generations_directory
from rag_assets.stores.home import Home


def referenced_blobs(home: Home) -> set[str]:
    """Addresses in the discovered_files tables of all generations, finished or not."""
    found: set[str] = set()
    for label in home.known_labels():
        for part in generations_directory(home, label).glob("*/discovered_files/part-*.parquet"):
            found.update(pq.read_table(part, columns=["text_sha256"]).column(0).to_pylist())
    return found


def sweep_blobs(home: Home) -> tuple[int, int]:
    """Removes unreferenced blobs; returns (how many, their bytes).

    The caller holds the locks of all labels: a build that is between writing a blob and writing its table would
    lose the blob.
    """
    kept = referenced_blobs(home)
    count = freed = 0
    for path in _blobs(home):
        if path.name not in kept:
            size = path.stat().st_size
            path.unlink()
            count, freed = count + 1, freed + size
    return count, freed


def _blobs(home: Home) -> Iterator[Path]:
    for folder in sorted(home.blobs.glob("??")):
        yield from sorted(path for path in folder.iterdir() if path.is_file())
