"""Whether everything that a finished generation is made of is on the disk as it was written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rag_assets.index.blobs import BlobStore
from rag_assets.index.generation_files import RUNS, damaged_files, listed_files
from rag_assets.index.generations import Generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import TableDamaged, part_path, read_part
from rag_assets.index.vectors import has_vectors, open_vectors
from rag_assets.index.vectors.vector_api import VectorStoreError

_SHOWN = 5
_TABLES = ("discovered_files", "summary_sections", "qdrant_points")  # what search results resolve through


def damage(home: IndexHome, generation: Generation) -> list[str]:
    """What is gone or not what was written, in words; empty for a whole generation. Reads all its files and documents
    and asks no vector server. Runs of question sets are left out: they can be asked again."""
    found = list(damage_of_files(generation))
    lost = len(lost_documents(home, generation))
    if lost:
        found.append(f"{lost} documents of the blob store are gone or damaged")
    return [*found[:_SHOWN], f"{len(found) - _SHOWN} more"] if len(found) > _SHOWN + 1 else found


def damage_of_files(generation: Generation) -> Iterator[str]:
    """The same without the documents, which all generations share."""
    yield from (name for name in damaged_files(generation.directory) if not name.startswith((RUNS, "threshold.json")))
    yield from _never_written(generation)


def lost_documents(home: IndexHome, generation: Generation) -> list[str]:
    """The addresses of documents that are gone or damaged, as far as the tables that name them can be read."""
    blobs = BlobStore(home.blobs)
    found = set[str]()
    for bucket in range(generation.manifest.bucket_count):
        try:
            column = read_part(generation.directory, "discovered_files", bucket, ["text_sha256"]).column(0)
        except (FileNotFoundError, TableDamaged):
            continue
        found.update(address for address in column.to_pylist() if address and not blobs.is_whole(address))
    return sorted(found)


def unservable(home: IndexHome, generation: Generation) -> list[str]:
    """The same of a generation that is whole here, and of its points where they are in a server."""
    return damage(home, generation) or list(filter(None, [_miscounted(generation)]))


def _miscounted(generation: Generation) -> str:
    try:
        with open_vectors(generation.vectors) as vectors:  # the engine takes 50 ms to load
            stored = vectors.count()
    except VectorStoreError as error:
        return str(error)
    declared = generation.manifest.counts.get("points", stored)
    return "" if stored == declared else f"the vector store holds {stored} of {declared} points"


def _never_written(generation: Generation) -> Iterator[str]:
    """What a generation that was made from the catalog lacks."""
    if not has_vectors(generation.vectors):
        yield "the vector store is gone"
    if not generation.keyword.is_dir() or not any(generation.keyword.iterdir()):
        yield "the keyword vocabulary is gone"
    buckets = range(generation.manifest.bucket_count)
    listed = listed_files(generation.directory).keys()
    for name in _TABLES:
        if not {part_path(Path(), name, bucket).as_posix() for bucket in buckets} <= listed:
            yield f"table {name} is gone"
