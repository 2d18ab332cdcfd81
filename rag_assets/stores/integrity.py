"""Whether everything a finished generation is made of is still on disk."""

from __future__ import annotations

from collections.abc import Iterator

from rag_assets.stores.blobs import BlobStore
from rag_assets.stores.generations import Generation
from rag_assets.stores.home import Home
from rag_assets.stores.tables import part_path, read_part

_TABLES = ("discovered_files", "summary_sections", "qdrant_points")  # what search results resolve through


def missing_parts(home: Home, generation: Generation) -> list[str]:
    """What is gone, in words; empty for a whole generation. Looks at names, not at contents."""
    return list(_missing(home, generation))


def _missing(home: Home, generation: Generation) -> Iterator[str]:
    if not (generation.vectors / "edge_config.json").is_file():
        yield "the vector shard"
    if not generation.keyword.is_dir() or not any(generation.keyword.iterdir()):
        yield "the keyword vocabulary"
    buckets = range(generation.manifest.bucket_count)
    gone = [name for name in _TABLES if not all(part_path(generation.directory, name, b).is_file() for b in buckets)]
    yield from (f"table {name}" for name in gone)
    if "discovered_files" not in gone:
        absent = _absent_documents(home, generation)
        if absent:
            yield f"{absent} documents of the blob store"


def _absent_documents(home: Home, generation: Generation) -> int:
    blobs = BlobStore(home.blobs)
    addresses: set[str] = set()
    for bucket in range(generation.manifest.bucket_count):
        column = read_part(generation.directory, "discovered_files", bucket, ["text_sha256"]).column(0)
        addresses.update(address for address in column.to_pylist() if address)
    return sum(not blobs.path(address).is_file() for address in addresses)
