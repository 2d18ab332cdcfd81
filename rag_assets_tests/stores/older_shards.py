"""Shards as earlier versions wrote them."""

from __future__ import annotations

from pathlib import Path

import qdrant_edge as edge

from rag_assets.stores.payload_file import PAYLOADS, Payloads
from rag_assets.stores.shard_reader import ShardReader
from rag_assets.stores.shard_schema import WHOLE


def from_before_payload_files(folder: Path) -> Path:
    """The finished shard in `folder` as one that keeps the whole payload of a point in the engine."""
    with ShardReader(folder) as reader:
        ids = sorted(reader.ids())
    payloads = Payloads(folder / PAYLOADS)
    shard = edge.EdgeShard.load(str(folder))
    for row, known in enumerate(ids):
        whole = {WHOLE: payloads.at(row).decode()}
        shard.update(edge.UpdateOperation.set_payload([known], whole))
    shard.flush()
    shard.close()
    payloads.close()
    (folder / PAYLOADS).unlink()
    return folder
