"""Whether everything a finished generation is made of is still on disk."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.index.blobs import BlobStore
from rag_assets.index.generations import Generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.tables import TableDamaged, part_path, read_part
from rag_assets.index.vectors import has_vectors, open_vectors
from rag_assets.index.vectors.vector_api import VectorStoreError

_TABLES = ("discovered_files", "summary_sections", "qdrant_points")  # what search results resolve through


def missing_parts(home: IndexHome, generation: Generation) -> list[str]:
    """What is gone, in words; empty for a whole generation. Looks at names, and for documents into their table."""
    return list(_missing(home, generation))


def damage(home: IndexHome, generation: Generation) -> list[str]:
    """What keeps a generation from being served, in words: what is gone, and what cannot be opened or counted."""
    return list(_unreadable(generation)) or missing_parts(home, generation) or list(_miscounted(generation))


def _unreadable(generation: Generation) -> Iterator[str]:
    """Parts of tables whose end, which describes them, is not what it should be: cut off, or overwritten."""
    for name in _TABLES:
        for bucket in range(generation.manifest.bucket_count):
            path = part_path(generation.directory, name, bucket)
            try:
                pq.ParquetFile(path).close()
            except FileNotFoundError:
                continue
            except (pa.ArrowException, OSError):
                yield f"{name}/{path.name} cannot be read"


def _miscounted(generation: Generation) -> Iterator[str]:
    try:
        shard = open_vectors(generation.vectors)  # the engine takes 50 ms to load
        try:
            stored = shard.count()
        finally:
            shard.close()
    except VectorStoreError as error:
        yield str(error)
        return
    declared = generation.manifest.counts.get("points", stored)
    if stored != declared:
        yield f"the vector shard holds {stored} of {declared} points"


def _missing(home: IndexHome, generation: Generation) -> Iterator[str]:
    if not has_vectors(generation.vectors):
        yield "the vector shard"
    if not generation.keyword.is_dir() or not any(generation.keyword.iterdir()):
        yield "the keyword vocabulary"
    if generation.manifest.counts.get("graph_nodes") and not (generation.directory / "graph" / "graph.json").is_file():
        yield "the dependency graph"
    buckets = range(generation.manifest.bucket_count)
    gone = [name for name in _TABLES if not all(part_path(generation.directory, name, b).is_file() for b in buckets)]
    yield from (f"table {name}" for name in gone)
    if "discovered_files" not in gone:
        try:
            absent = _absent_documents(home, generation)
        except TableDamaged:
            yield "table discovered_files"
            return
        if absent:
            yield f"{absent} documents of the blob store"


def _absent_documents(home: IndexHome, generation: Generation) -> int:
    blobs = BlobStore(home.blobs)
    addresses: set[str] = set()
    for bucket in range(generation.manifest.bucket_count):
        column = read_part(generation.directory, "discovered_files", bucket, ["text_sha256"]).column(0)
        addresses.update(address for address in column.to_pylist() if address)
    return sum(not blobs.has(address) for address in addresses)
