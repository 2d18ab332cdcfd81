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
    data = (generation / "shard" / "rag_assets.payloads").read_bytes()
    (points,) = struct.unpack_from("=Q", data, 8)
    starts = struct.unpack_from(f"={points + 1}Q", data, 16)
    bodies = data[16 + (points + 1) * 8 :]
    return [json.loads(zlib.decompress(bodies[a:b])) for a, b in pairwise(starts)]
