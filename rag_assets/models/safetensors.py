"""Safetensors files as memory maps.

The `safetensors` package copies what it reads; a map costs no time and no memory until a page is touched,
and of the 46 MB word embeddings a search touches a few rows.
Format: 8 bytes little-endian length of the header, JSON header, data.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.models.atomic_write import write_whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LENGTH_BYTES = 8
_ALIGNMENT = 64  # a cache line; the widest vector load of any CPU
_DTYPES = {"F32": "<f4", "I8": "|i1", "I64": "<i8"}  # the ones of the model and of its int8 form
_MAX_HEADER = 1 << 20  # the header of the model has 11 KB; more is a damaged length


class TensorFileError(ValueError):
    """Not a tensor file, or a damaged one."""


@dataclass(frozen=True, slots=True)
class TensorFile:
    """`tensors` are read-only views of the file; they keep it open. `data` is the whole data section."""

    metadata: dict[str, str]
    tensors: dict[str, NDArray[Any]]
    data: NDArray[np.uint8]


def map_tensors(path: Path) -> TensorFile:
    """Opens `path` without reading its data. Raises OSError, and TensorFileError for a malformed file."""
    import numpy as np

    if path.stat().st_size < _LENGTH_BYTES:
        raise TensorFileError(f"{path}: too short for a tensor file")
    content = np.asarray(np.memmap(path, np.uint8, "r"))
    start = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES].tobytes(), "little")
    if start - _LENGTH_BYTES > _MAX_HEADER or start > len(content):
        raise TensorFileError(f"{path}: the header is longer than the file")
    data = content[start:]
    try:
        header: dict[str, Any] = json.loads(content[_LENGTH_BYTES:start].tobytes())
        metadata: dict[str, str] = header.pop("__metadata__", {})
        tensors = {name: _view(data, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TensorFileError(f"{path}: malformed header: {error}") from error
    return TensorFile(metadata, tensors, data)


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Writes `path` as `write_whole` does; the same input gives the same bytes. Raises OSError."""
    names = {dtype: name for name, dtype in _DTYPES.items()}
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    offset = 0
    for name, tensor in sorted(tensors.items()):
        end = offset + tensor.nbytes
        header[name] = {"dtype": names[tensor.dtype.str], "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-(_LENGTH_BYTES + len(encoded)) % _ALIGNMENT)
    start = [len(encoded).to_bytes(_LENGTH_BYTES, "little"), encoded]
    write_whole(path, chain(start, (tensor.tobytes() for _, tensor in sorted(tensors.items()))))


def _view(data: NDArray[np.uint8], entry: dict[str, Any]) -> NDArray[Any]:
    start, end = entry["data_offsets"]
    if not 0 <= start <= end <= len(data):
        raise ValueError(f"data_offsets {start}..{end} outside of {len(data)} bytes")
    return data[start:end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
