"""`rag_assets.points` says of each point of a shard which file it is of and what its payload is, without the engine.

A ranking asks for the files of the candidates of every question, and would read a whole payload of each otherwise. A
page of hits reads ten payloads. The engine would take each apart and look up again whether it may be seen, on pages
that nobody has touched: .5 to 1.4 ms for ten, and .15 from here.

    8 bytes          name and version of the format
    4 x uint64       n points, m files, bytes of the names of these files, bytes of the payloads
    n x uint64       the first half of the id of each point; ascending by the whole id
    n x uint64       the second half
    (n+1) x uint64   where the payload of each point begins, and where the last one ends
    n x uint32       the number of the file of each
    m x uint32       where the name of each file ends
    bytes            names of files, ascending: label, zero byte, path; zero byte and priority if not the usual one
    bytes            the payloads as JSON, each of them compressed (zlib)

All but the payloads is read when a shard is opened: 3.3 MB for 100,000 points. Numbers are as the machine has them, as
in the files of the engine. Equal points give equal bytes, whatever they were before.
"""

from __future__ import annotations

import mmap
import tempfile
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate, pairwise
from pathlib import Path
from struct import Struct
from typing import IO

from rag_assets.contracts.retrieval import DEFAULT_PRIORITY
from rag_assets.errors import REBUILD
from rag_assets.index.vectors.vector_api import FileRef, VectorStoreError

POINTS = "rag_assets.points"

_FORMAT = b"points\0\1"  # the last byte is the version
_COUNTS = Struct("=4Q")
_HEAD = len(_FORMAT) + _COUNTS.size
_NO_POINTS = _FORMAT + _COUNTS.pack(0, 0, 0, 0) + bytes(8)
_HALF = 64  # bits of an id
_LOWER = (1 << _HALF) - 1
_SEPARATOR = b"\0"  # no path of git has one
_COMPRESSION = 1
"""Level of zlib: 38 % of the bytes; 6 gives 37 %. It takes 40 µs to write a payload and 11 to read one."""


class PointTable:
    """The files and payloads of the points of one store; it never changes. Safe to use from several threads, until it
    is closed."""

    __slots__ = ("_content", "_ends", "_names", "_payloads", "_places", "high", "low", "numbers", "size", "starts")

    def __init__(self, content: bytes | mmap.mmap = _NO_POINTS) -> None:
        """Raises ValueError where `content` is not what it says it is."""
        if len(content) < _HEAD or content[: len(_FORMAT)] != _FORMAT:
            raise ValueError("it is not a file of that format")
        counts: tuple[int, int, int, int] = _COUNTS.unpack_from(content, len(_FORMAT))
        self.size, files, names, payloads = counts
        lengths = (self.size * 8, self.size * 8, (self.size + 1) * 8, self.size * 4, files * 4, names)
        *columns, self._payloads = accumulate(lengths, initial=_HEAD)
        if len(content) != self._payloads + payloads:
            raise ValueError(f"it should have {self._payloads + payloads:,} bytes and has {len(content):,}")
        self._content = content
        table = content[: self._payloads]
        cuts = [memoryview(table)[start:end] for start, end in pairwise(columns)]
        self.high, self.low, self.starts = (cut.cast("Q") for cut in cuts[:3])
        self.numbers, self._ends = (cut.cast("I") for cut in cuts[3:])
        self._names = table[columns[-1] :]
        self._places: dict[int, FileRef] = {}  # those that were asked for

    def place(self, identifier: str) -> FileRef | None:
        """The file of a point, in O(log n); None where there is no such point."""
        at = self.row(identifier)
        if at is None:
            return None
        number = self.numbers[at]
        found = self._places.get(number)
        if found is None:
            start = self._ends[number - 1] if number else 0
            label, path, *rest = self._names[start : self._ends[number]].split(_SEPARATOR)
            priority = int(rest[0]) if rest else DEFAULT_PRIORITY
            found = self._places[number] = FileRef(label.decode(), path.decode(), priority)
        return found

    def payload(self, row: int) -> bytes:
        """Of the point that is the `row`-th by its id. Raises ValueError where it is damaged."""
        start, end = self.starts[row], self.starts[row + 1]
        try:
            return zlib.decompress(self._content[self._payloads + start : self._payloads + end])
        except zlib.error as error:
            raise ValueError(str(error)) from error

    def row(self, identifier: str) -> int | None:
        """Which point it is in the order of ids; None where there is no such point."""
        wanted = _number_of(identifier)
        at = bisect_left(self.high, wanted >> _HALF)
        if not self.has(wanted, at):  # there is none, or others have the same first half
            at = self.first_from(wanted)
        return at if self.has(wanted, at) else None

    def first_from(self, wanted: int) -> int:
        """Where the first point is whose id is not less than `wanted`."""
        high, low = wanted >> _HALF, wanted & _LOWER
        start = bisect_left(self.high, high)
        return bisect_left(self.low, low, start, bisect_right(self.high, high, start))

    def has(self, wanted: int, at: int) -> bool:
        """Whether that is the id of the point there."""
        return at < self.size and self.low[at] == wanted & _LOWER and self.high[at] == wanted >> _HALF

    def names(self) -> list[bytes]:
        """Of all files, in the order of their numbers."""
        return [self._names[start:end] for start, end in pairwise((0, *self._ends))]

    def write_payloads(self, start: int, end: int, file: IO[bytes]) -> None:
        """Those of the points from `start` to `end`, one after the other. Raises OSError."""
        with memoryview(self._content) as content:
            file.write(content[self._payloads + self.starts[start] : self._payloads + self.starts[end]])

    def close(self) -> None:
        if isinstance(self._content, mmap.mmap):
            self._content.close()


class PointTableChange:
    """What changes between two versions of a store: points that came, or have another file or payload now, and those
    that are gone. New payloads wait in a file without a name: of 100,000 points they would be 100 MB."""

    def __init__(self, folder: Path, base: PointTable | None = None) -> None:
        """`folder` is where that file may be. `base` is closed at the end."""
        self._folder = folder
        self._base = base or PointTable()
        self._files = {name: number for number, name in enumerate(self._base.names())}
        self._new: IO[bytes] | None = None
        self._changed: dict[int, tuple[int, int, int] | None] = {}
        """Id → number of the file, and where the payload begins and ends among the new ones; None where it is gone."""
        self.size = 0
        """Bytes of new payloads."""

    def put(self, identifier: str, place: FileRef, payload: bytes) -> None:
        """Raises OSError, or ValueError for an id that is no UUID."""
        if self._new is None:
            self._new = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - `write` closes it
        packed = zlib.compress(payload, _COMPRESSION)
        self._new.write(packed)
        number = self._files.setdefault(_name_of(place), len(self._files))
        self._changed[_number_of(identifier)] = number, self.size, self.size + len(packed)
        self.size += len(packed)

    def drop(self, ids: Iterable[str]) -> None:
        self._changed |= dict.fromkeys(map(_number_of, ids))

    def write(self, path: Path) -> None:
        """All points that there are now. Raises OSError."""
        with path.open("wb") as file, self._new_payloads() as added:
            file.write(self._table())
            for start, end, new in self._runs():
                self._base.write_payloads(start, end, file)
                if new is not None:
                    _, first, last = new[1]
                    file.write(added[first:last])
        self._base.close()

    def _runs(self) -> Iterator[tuple[int, int, tuple[int, tuple[int, int, int]] | None]]:
        """All points in the order of their ids: rows of `base` from one to another, and the new point after them with
        its id, where there is one."""
        done = 0
        for wanted, new in sorted(self._changed.items()):
            at = self._base.first_from(wanted)
            yield done, at, (wanted, new) if new is not None else None
            done = at + self._base.has(wanted, at)
        yield done, self._base.size, None

    def _table(self) -> bytes:
        """The file before the payloads."""
        base = self._base
        high, low, starts, numbers = array("Q"), array("Q"), array("Q", (0,)), array("I")
        for start, end, new in self._runs():
            high.frombytes(base.high[start:end].tobytes())
            low.frombytes(base.low[start:end].tobytes())
            numbers.frombytes(base.numbers[start:end].tobytes())
            moved = starts[-1] - base.starts[start]
            starts.extend([at + moved for at in base.starts[start + 1 : end + 1]])
            if new is not None:
                identifier, (number, first, last) = new
                high.append(identifier >> _HALF)
                low.append(identifier & _LOWER)
                numbers.append(number)
                starts.append(starts[-1] + last - first)
        numbers, names = _in_order(numbers, list(self._files))
        ends = array("I", accumulate(map(len, names)))
        counts = _COUNTS.pack(len(numbers), len(names), sum(map(len, names)), starts[-1])
        columns = (column.tobytes() for column in (high, low, starts, numbers, ends))
        return b"".join((_FORMAT, counts, *columns, *names))

    @contextmanager
    def _new_payloads(self) -> Iterator[bytes | mmap.mmap]:
        if self._new is None:
            yield b""
            return
        self._new.flush()
        with self._new, mmap.mmap(self._new.fileno(), 0, access=mmap.ACCESS_READ) as added:
            yield added


def read_point_table(directory: Path) -> PointTable:
    """The files and payloads of the points of a shard. Raises VectorStoreError where they are missing or damaged."""
    path = directory / POINTS
    try:
        with path.open("rb") as file:
            return PointTable(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except FileNotFoundError as error:
        raise VectorStoreError(f"{path} is missing; {REBUILD}") from error
    except (OSError, ValueError) as error:
        raise VectorStoreError(f"{path} cannot be read: {error}; {REBUILD}") from error


def _number_of(identifier: str) -> int:
    """The 128 bits of a UUID. Raises ValueError for what is none."""
    return int(identifier.replace("-", ""), 16)


def _name_of(place: FileRef) -> bytes:
    priority = [str(place.priority)] if place.priority != DEFAULT_PRIORITY else []
    return _SEPARATOR.join(part.encode() for part in (place.label, place.path, *priority))


def _in_order(numbers: array[int], names: list[bytes]) -> tuple[array[int], list[bytes]]:
    """The numbers of points after the order of the names of their files, and these names; files without points are
    left out."""
    used = sorted(set(numbers), key=names.__getitem__)
    if used != list(range(len(used))):
        new = dict(zip(used, range(len(used)), strict=True))
        numbers = array("I", [new[number] for number in numbers])
    return numbers, [names[number] for number in used]
