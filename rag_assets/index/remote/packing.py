"""Files as blocks of content. Holes of sparse files are no blocks, and blocks that did not change keep their names:
of a vector shard to which a commit added ten points, few go over the network."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from rag_assets.index.disk_usage import written_blocks
from rag_assets.index.remote.objects import RemoteError

BLOCK_BYTES = 1 << 18
"""Small enough that a changed point costs little, large enough that a request is not what costs."""


class ContentBlock(msgspec.Struct, frozen=True, array_like=True):
    """Bytes of a file from `offset`: the object `name`."""

    offset: int
    name: str


class PackedFile(msgspec.Struct, frozen=True):
    """One file of a generation; between its blocks there are zeros."""

    path: str
    size: int
    blocks: tuple[ContentBlock, ...]


def files_of(directory: Path) -> list[Path]:
    """Everything that belongs to a finished generation, sorted."""
    return sorted(path for path in directory.rglob("*") if path.is_file() and path.suffix not in (".tmp", ".pickle"))


def blocks_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of every block of a file that is not all zeros."""
    return written_blocks(path, BLOCK_BYTES)


def packed_file(directory: Path, path: Path) -> PackedFile:
    """What a file is made of, without sending anything."""
    blocks = tuple(ContentBlock(offset, hashlib.sha256(data).hexdigest()) for offset, data in blocks_of(path))
    return PackedFile(path.relative_to(directory).as_posix(), path.stat().st_size, blocks)


def unpacked_path(directory: Path, path: str) -> Path:
    """Where a file goes. Raises RemoteError for a path that could leave `directory`: others may write to the store."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or not pure.parts or ".." in pure.parts or "\\" in path or ":" in path or "\0" in path:
        raise RemoteError(f"a published generation names the file {path!r}, which is no place inside it")
    return directory.joinpath(*pure.parts)


def blocks_by_name(directory: Path) -> dict[str, tuple[Path, int]]:
    """Where each block is in the files of a generation."""
    found: dict[str, tuple[Path, int]] = {}
    for path in files_of(directory):
        for offset, data in blocks_of(path):
            found.setdefault(hashlib.sha256(data).hexdigest(), (path, offset))
    return found


def read_block(path: Path, offset: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(length)
