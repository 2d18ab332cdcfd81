"""The payloads beside an embedded shard, read by the layout that their module describes, with none of our readers."""

from __future__ import annotations

import json
import struct
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any


def payloads_in(generation: Path) -> list[dict[str, Any]]:
    """All payloads of the shard in the folder of a generation."""
    data = (generation / "shard" / "rag_assets.points").read_bytes()
    starts, first = starts_of_payloads(data)
    return [json.loads(zlib.decompress(data[first + a : first + b])) for a, b in pairwise(starts)]


def starts_of_payloads(data: bytes) -> tuple[list[int], int]:
    """(where the payload of each point begins, and where the last one ends; where the first begins in the file)."""
    points, files, names, _ = struct.unpack_from("=4Q", data, 8)
    starts = struct.unpack_from(f"={points + 1}Q", data, 40 + 16 * points)
    return list(starts), 40 + 16 * points + 8 * (points + 1) + 4 * points + 4 * files + names
