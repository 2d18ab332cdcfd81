"""What a shard looks like: its vectors, its payload indexes, and how an empty one is made."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from rag_assets.contracts.payload import PayloadIndex, payload_indexes
from rag_assets.index.disk_usage import written_blocks
from rag_assets.index.vectors.edge import engine_call
from rag_assets.index.vectors.payload_store import PAYLOADS
from rag_assets.index.vectors.vector_api import DENSE, PREFIX_FIELDS, SPARSE

LEVEL = "Confidentiality"
"""Every search asks it of every point that it considers, up to three times what the search takes without. So it is
among the fields that all share where the finished shard has one level; it keeps its index, since the next may not."""

_HNSW_LINKS = 16  # the engine's default; recall@40 .999 on clustered vectors
_HNSW_CANDIDATES = 100  # the engine's default
_HNSW_FULL_SCAN_KB = 10_000  # the engine's default: filters that leave less than this are scanned exactly
_HNSW_THREADS = 1  # several threads insert in any order: two builds of equal points would then rank differently
_COPY_BLOCK = 1 << 16
_MEMORY_FOLDER = Path("/dev/shm")  # Linux; elsewhere the ordinary temporary folder
_MEMORY_NEEDED = 256 << 20
"""Bytes free in the memory folder. The engine maps 190 MB there and touches 36; a mapped write into a full folder
kills the process, and Docker gives 64 MB by default."""


def create_empty_shard(directory: Path, dimension: int, *, without: Collection[str] = ()) -> edge.EdgeShard:
    """A shard at `directory` that has its payload indexes, but of the fields `without`, and no points.

    With each new index the engine syncs the files of all others: 4 s of waiting on a disk that takes 4 ms a sync,
    whatever the number of points. So the empty shard is made in memory, where the system has such a folder, and
    copied; syncing at the end of the build covers what matters.
    """
    with tempfile.TemporaryDirectory(prefix="rag-assets-", dir=_memory_folder()) as folder:
        made = Path(folder) / "shard"
        made.mkdir()
        with engine_call(f"vector shard {directory} cannot be made"):
            shard = edge.EdgeShard.create(str(made), _configuration(dimension))
            try:
                for key, kind in payload_indexes().items():
                    if key not in without:
                        shard.update(edge.UpdateOperation.create_field_index(key, _index_parameters(key, kind)))
                shard.flush()
            finally:
                shard.close()
        shutil.copytree(made, directory, copy_function=_copy_sparse)
    with engine_call(f"vector shard {directory} cannot be made"):
        return edge.EdgeShard.load(str(directory))


def copied_shard(source: Path, directory: Path) -> edge.EdgeShard:
    """An open copy of a finished shard, without the file of payloads, which is written anew. The engine changes its
    files in place, so they cannot be shared. Raises OSError, or what the engine raises."""
    shutil.copytree(source, directory, copy_function=_copy_sparse, ignore=shutil.ignore_patterns(PAYLOADS))
    return edge.EdgeShard.load(str(directory))


def _configuration(dimension: int) -> edge.EdgeConfig:
    dense = {DENSE: edge.EdgeVectorParams(dimension, edge.Distance.Dot)} if dimension else {}
    return edge.EdgeConfig(
        vectors=dense,
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams()},  # no idf modifier: the query carries it
        hnsw_config=edge.HnswIndexConfig(_HNSW_LINKS, _HNSW_CANDIDATES, _HNSW_FULL_SCAN_KB, _HNSW_THREADS),
        optimizers=edge.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1),
        wal_enabled=False,
    )


def _memory_folder() -> Path | None:
    """Where files never reach a disk, or None where there is no such folder with enough room."""
    if os.access(_MEMORY_FOLDER, os.W_OK) and shutil.disk_usage(_MEMORY_FOLDER).free >= _MEMORY_NEEDED:
        return _MEMORY_FOLDER
    return None


def _copy_sparse(source: str, target: str) -> None:
    """Copies a file without its zeros: the engine sets aside 190 MB of them for its first points."""
    with Path(target).open("wb") as writer:
        for offset, data in written_blocks(Path(source), _COPY_BLOCK):
            writer.seek(offset)
            writer.write(data)
        writer.truncate(Path(source).stat().st_size)


def _index_parameters(key: str, kind: PayloadIndex) -> Any:
    # Read from the file when asked, not loaded at every start: 100,000 points open in .4 s and 320 MB instead of
    # 2.1 s and 1.9 GB, and filters cost the same. (Without a graph they are in memory either way: .16 s at 10,000.)
    memory = edge.Memory.Cold
    if kind == "integer":
        return edge.IntegerIndexParams(lookup=True, range=True, memory=memory)
    if kind == "datetime":
        return edge.DatetimeIndexParams(memory=memory)
    return edge.KeywordIndexParams(prefix=key in PREFIX_FIELDS, memory=memory)
