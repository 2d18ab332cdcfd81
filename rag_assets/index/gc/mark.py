"""What the generations of a home need, so that nothing of it is swept: marked by reading all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from rag_assets.errors import RagAssetsError
from rag_assets.index.generations import all_generations, generation_directory
from rag_assets.index.layout import IndexHome
from rag_assets.index.tables import read_file

T = TypeVar("T")


class SweepError(RagAssetsError):
    """It is not known what is needed, so nothing is removed."""


def generation_directories(home: IndexHome, without: Collection[Path] = ()) -> Iterator[Path]:
    """Every generation of every label, finished or not, but for `without`."""
    for label in home.known_labels():
        for known in all_generations(home, label):
            directory = generation_directory(home, label, known)
            if directory not in without:
                yield directory


def marked(home: IndexHome, used: Callable[[Path], Iterable[T]], *, without: Collection[Path] = ()) -> Iterator[T]:
    """What `used(directory)` says that each generation needs; `without` are directories of generations that do not
    count. Raises SweepError naming a generation that cannot be read: what it needs cannot be known."""
    for directory in generation_directories(home, without):
        try:
            yield from used(directory)
        except (RagAssetsError, OSError) as error:
            raise SweepError(
                f"{directory} cannot be read ({error.__cause__ or error}), so nobody knows what it needs; build "
                f"generation {directory.name} again with: rag-assets index {directory.parents[1].name} --force, and "
                f"delete {directory}"
            ) from error


def referenced_blobs(home: IndexHome, *, without: Collection[Path] = ()) -> set[str]:
    """Addresses in the discovered_files tables of all generations. Raises SweepError."""
    return set(marked(home, _documents, without=without))


def _documents(directory: Path) -> Iterator[str]:
    for part in sorted(directory.glob("discovered_files/part-*.parquet")):
        yield from read_file(part, ["text_sha256"]).column(0).to_pylist()
