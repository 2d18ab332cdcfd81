"""The whole payloads of the points of a shard, in one file beside it: a page of hits reads ten of them.

    8 bytes          name and version of the format
    uint64           n points
    (n+1) x uint64   where the payload of each point begins, and where the last one ends, from the end of these numbers
    bytes            the payloads as JSON, each of them compressed (zlib)

Points are in the order of their ids, as in `stores.point_files`, which says where one is. Numbers are as the machine
has them. Equal points give equal bytes, whatever they were before. The engine would take a payload apart and look up
again whether it may be seen, on pages that nobody has touched: .5 to 1.4 ms for ten, and .15 from here.
"""

from __future__ import annotations

import mmap
import tempfile
import zlib
from array import array
from collections.abc import Iterable
from pathlib import Path
from struct import Struct
from typing import IO

from rag_assets.contracts.errors import REBUILD
from rag_assets.stores.point_files import Run, number_of
from rag_assets.stores.points import VectorStoreError

PAYLOADS = "rag_assets.payloads"

_FORMAT = b"payload\1"  # the last byte is the version
_NUMBER = 8  # bytes
_HEAD = len(_FORMAT) + _NUMBER
_COMPRESSION = 1
"""Level of zlib: 38 % of the bytes; 6 gives 37 %. It takes 40 µs to write a payload and 11 to read one."""
_ONE, _TWO = Struct("=Q"), Struct("=2Q")


class Payloads:
    """The payloads of one finished shard, mapped and not read. Safe to use from several threads, until it is closed."""

    __slots__ = ("_bodies", "_content", "size")

    def __init__(self, path: Path) -> None:
        """Raises OSError, or ValueError where the file is not what it says it is."""
        with path.open("rb") as file:
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            if len(self._content) < _HEAD or self._content[: len(_FORMAT)] != _FORMAT:
                raise ValueError("it is not a file of that format")
            (self.size,) = _ONE.unpack_from(self._content, len(_FORMAT))
            self._bodies = _HEAD + (self.size + 1) * _NUMBER
            expected = self._bodies
            if len(self._content) >= expected:
                expected += _ONE.unpack_from(self._content, self._bodies - _NUMBER)[0]
            if len(self._content) != expected:
                raise ValueError(f"it should have {expected:,} bytes and has {len(self._content):,}")
        except ValueError:
            self._content.close()
            raise

    def at(self, row: int) -> bytes:
        """The payload of the point that is the `row`-th by its id. Raises ValueError where it is damaged."""
        start, end = _TWO.unpack_from(self._content, _HEAD + row * _NUMBER)
        try:
            return zlib.decompress(self._content[self._bodies + start : self._bodies + end])
        except zlib.error as error:
            raise ValueError(str(error)) from error

    def starts(self, start: int, end: int) -> array[int]:
        """Where the payloads of these points begin, and where the last one of them ends."""
        return array("Q", self._content[_HEAD + start * _NUMBER : _HEAD + (end + 1) * _NUMBER])

    def together(self, start: int, end: int) -> memoryview:
        """The payloads of these points one after the other. To be released before the file is closed."""
        first, last = self.starts(start, start)[0], self.starts(end, end)[0]
        return memoryview(self._content)[self._bodies + first : self._bodies + last]

    def close(self) -> None:
        self._content.close()


class PayloadsChange:
    """The payloads of the next version of a shard. What is new waits in a file without a name: of 100,000 points it
    would be 100 MB."""

    def __init__(self, folder: Path, base: Payloads | None = None) -> None:
        """`folder` is where that file may be. `base` is closed at the end."""
        self._folder = folder
        self._base = base
        self._new: IO[bytes] | None = None
        self._spans: dict[int, tuple[int, int]] = {}  # id → from, to
        self.size = 0
        """Bytes of what is new."""

    def put(self, identifier: str, payload: bytes) -> None:
        """Raises OSError."""
        if self._new is None:
            self._new = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - `finish` closes it
        packed = zlib.compress(payload, _COMPRESSION)
        self._new.write(packed)
        self._spans[number_of(identifier)] = self.size, self.size + len(packed)
        self.size += len(packed)

    def finish(self, path: Path, runs: Iterable[Run]) -> None:
        """Writes the payloads of all points that there are now; `runs` are those of `PointFilesChange`. Raises
        OSError."""
        order = list(runs)
        with path.open("wb") as file:
            starts = self._starts(order)
            file.write(_FORMAT + _ONE.pack(len(starts) - 1) + starts.tobytes())
            if self._new is None:
                self._write(file, order, None)
            else:
                self._new.flush()
                with self._new, mmap.mmap(self._new.fileno(), 0, access=mmap.ACCESS_READ) as new:
                    self._write(file, order, new)
        if self._base is not None:
            self._base.close()

    def _starts(self, order: list[Run]) -> array[int]:
        starts = array("Q", (0,))
        for start, end, new in order:
            if self._base is not None and start < end:
                before = self._base.starts(start, end)
                moved = starts[-1] - before[0]
                starts.extend([at + moved for at in before[1:]])
            if new is not None:
                first, last = self._spans[new]
                starts.append(starts[-1] + last - first)
        return starts

    def _write(self, file: IO[bytes], order: list[Run], added: mmap.mmap | None) -> None:
        for start, end, new in order:
            if self._base is not None and start < end:
                with self._base.together(start, end) as bodies:
                    file.write(bodies)
            if added is not None and new is not None:
                first, last = self._spans[new]
                file.write(added[first:last])


def read_payloads(directory: Path) -> Payloads | None:
    """The payloads of the points of a shard; None of one that was written before they had a file. Raises
    VectorStoreError where it is damaged."""
    path = directory / PAYLOADS
    try:
        return Payloads(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise VectorStoreError(f"{path} cannot be read: {error}; {REBUILD}") from error
