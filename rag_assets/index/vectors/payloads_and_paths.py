"""The two files beside a shard that say what its points are, so that the engine need not be asked.

`rag_assets.files`: the file of each point. A ranking asks for those of the candidates of every question, and would read
a whole payload of each otherwise. 2.5 MB for 100,000 points.

    8 bytes      name and version of the format
    3 x uint64   n points, m files, bytes of the names of these files
    n x uint64   the first half of the id of each point; ascending by the whole id
    n x uint64   the second half
    n x uint32   the number of the file of each
    m x uint32   where the name of each file ends
    bytes        names of files, ascending: label, zero byte, path; zero byte and priority where it is not the usual one

`rag_assets.payloads`: the whole payloads, in the same order of points. A page of hits reads ten of them. The engine
would take a payload apart and look up again whether it may be seen, on pages that nobody has touched: .5 to 1.4 ms for
ten, and .15 from here.

    8 bytes          name and version of the format
    uint64           n points
    (n+1) x uint64   where the payload of each point begins, and where the last one ends, from the end of these numbers
    bytes            the payloads as JSON, each of them compressed (zlib)

Numbers are as the machine has them, as in the files of the engine. Equal points give equal bytes, whatever they were
before.
"""

from __future__ import annotations

import mmap
import tempfile
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from struct import Struct
from typing import IO

from rag_assets.contracts.retrieval import DEFAULT_PRIORITY
from rag_assets.errors import REBUILD
from rag_assets.index.vectors.vector_api import FileRef, VectorStoreError

POINT_FILES = "rag_assets.files"

Run = tuple[int, int, int | None]
"""Points of an earlier version from a row to another, and the id of a new one after them, where there is one."""

_PATHS_FORMAT = b"files\0\0\2"  # the last byte is the version
_PATHS_HEAD = len(_PATHS_FORMAT) + 3 * 8
_NO_POINTS = _PATHS_FORMAT + bytes(_PATHS_HEAD - len(_PATHS_FORMAT))
_HALF = 64  # bits of an id
_LOWER = (1 << _HALF) - 1
_SEPARATOR = b"\0"  # no path of git has one


class PointPaths:
    """The files of the points of one store; it never changes. Safe to use from several threads."""

    __slots__ = ("_content", "_ends", "_high", "_low", "_names", "_numbers", "_places", "size")

    def __init__(self, content: bytes = _NO_POINTS) -> None:
        """Raises ValueError where `content` is not what it says it is."""
        if len(content) < _PATHS_HEAD or not content.startswith(_PATHS_FORMAT):
            raise ValueError("it is not a file of that format")
        self.size, files, names = memoryview(content)[len(_PATHS_FORMAT) : _PATHS_HEAD].cast("Q")
        low = _PATHS_HEAD + self.size * 8
        numbers = low + self.size * 8
        ends = numbers + self.size * 4
        self._names = ends + files * 4
        if len(content) != self._names + names:
            raise ValueError(f"it should have {self._names + names:,} bytes and has {len(content):,}")
        self._content = content
        self._high = memoryview(content)[_PATHS_HEAD:low].cast("Q")
        self._low = memoryview(content)[low:numbers].cast("Q")
        self._numbers = memoryview(content)[numbers:ends].cast("I")
        self._ends = memoryview(content)[ends : self._names].cast("I")
        self._places: dict[int, FileRef] = {}  # those that were asked for

    def place(self, identifier: str) -> FileRef | None:
        """The file of a point, in O(log n); None where there is no such point."""
        at = self.row(identifier)
        if at is None:
            return None
        number = self._numbers[at]
        found = self._places.get(number)
        if found is None:
            start = self._ends[number - 1] if number else 0
            label, path, *rest = self._name(start, self._ends[number]).split(_SEPARATOR)
            priority = int(rest[0]) if rest else DEFAULT_PRIORITY
            found = self._places[number] = FileRef(label.decode(), path.decode(), priority)
        return found

    def row(self, identifier: str) -> int | None:
        """Which point it is in the order of ids; None where there is no such point."""
        wanted = number_of(identifier)
        at = bisect_left(self._high, wanted >> _HALF)
        if not self.has(wanted, at):  # there is none, or others have the same first half
            at = self.first_from(wanted)
        return at if self.has(wanted, at) else None

    def first_from(self, wanted: int) -> int:
        """Where the first point is whose id is not less than `wanted`."""
        high, low = wanted >> _HALF, wanted & _LOWER
        start = bisect_left(self._high, high)
        return bisect_left(self._low, low, start, bisect_right(self._high, high, start))

    def has(self, wanted: int, at: int) -> bool:
        """Whether that is the id of the point there."""
        return at < self.size and self._low[at] == wanted & _LOWER and self._high[at] == wanted >> _HALF

    def names(self) -> list[bytes]:
        """Of all files, in the order of their numbers."""
        return [self._name(start, end) for start, end in pairwise((0, *self._ends))]

    def rows(self, start: int, end: int) -> tuple[bytes, bytes, bytes]:
        """The points from `start` to `end`: both halves of their ids, and the numbers of their files."""
        return self._high[start:end].tobytes(), self._low[start:end].tobytes(), self._numbers[start:end].tobytes()

    def _name(self, start: int, end: int) -> bytes:
        return self._content[self._names + start : self._names + end]


class PointPathsChange:
    """What changes between two versions of a store: points that came, that are of another file now, or are gone."""

    def __init__(self, base: PointPaths) -> None:
        self._base = base
        self._changed: dict[int, bytes | None] = {}
        self._names: dict[FileRef, bytes] = {}  # a file has ten points

    def put(self, points: Iterable[tuple[str, FileRef]]) -> None:
        """Ids with their files."""
        for identifier, place in points:
            name = self._names.get(place)
            if name is None:
                parts = [place.label, place.path]
                parts += [str(place.priority)] if place.priority != DEFAULT_PRIORITY else []
                name = self._names[place] = _SEPARATOR.join(part.encode() for part in parts)
            self._changed[number_of(identifier)] = name

    def drop(self, ids: Iterable[str]) -> None:
        self._changed |= dict.fromkeys(map(number_of, ids))

    def runs(self) -> Iterator[Run]:
        """All points that there are now, in the order of their ids."""
        base, done = self._base, 0
        for wanted in sorted(self._changed):
            at = base.first_from(wanted)
            yield done, at, wanted if self._changed[wanted] is not None else None
            done = at + base.has(wanted, at)
        yield done, base.size, None

    def content(self) -> bytes:
        """The files of all points that there are now, as they are written."""
        base = self._base
        numbers = {name: number for number, name in enumerate(base.names())}
        rows = []
        for start, end, new in self.runs():
            rows.append(base.rows(start, end))
            name = None if new is None else self._changed[new]
            if new is not None and name is not None:
                number = numbers.setdefault(name, len(numbers))
                halves = array("Q", (new >> _HALF,)), array("Q", (new & _LOWER,))
                rows.append((halves[0].tobytes(), halves[1].tobytes(), array("I", (number,)).tobytes()))
        high, low, of_points = (b"".join(column) for column in zip(*rows, strict=True))
        return _packed(high, low, *_in_order(array("I", of_points), list(numbers)))


def read_point_files(directory: Path) -> PointPaths:
    """The files of the points of a shard. Raises VectorStoreError where they are missing or damaged."""
    path = directory / POINT_FILES
    try:
        return PointPaths(path.read_bytes())
    except FileNotFoundError as error:
        raise VectorStoreError(f"{path} is missing; {REBUILD}") from error
    except OSError as error:
        raise VectorStoreError(f"{path} cannot be read: {error}") from error
    except ValueError as error:
        raise VectorStoreError(f"{path} is damaged: {error}; {REBUILD}") from error


def number_of(identifier: str) -> int:
    """The 128 bits of a UUID. Raises ValueError for what is none."""
    return int(identifier.replace("-", ""), 16)


def _in_order(numbers: array[int], names: list[bytes]) -> tuple[array[int], list[bytes]]:
    """The numbers of points after the order of the names of their files, and these names; files without points are
    left out."""
    used = sorted(set(numbers), key=names.__getitem__)
    if used != list(range(len(used))):
        new = dict(zip(used, range(len(used)), strict=True))
        numbers = array("I", [new[number] for number in numbers])
    return numbers, [names[number] for number in used]


def _packed(high: bytes, low: bytes, numbers: array[int], names: list[bytes]) -> bytes:
    ends, end = array("I"), 0
    for name in names:
        end += len(name)
        ends.append(end)
    counts = array("Q", (len(numbers), len(ends), end))
    return b"".join((_PATHS_FORMAT, counts.tobytes(), high, low, numbers.tobytes(), ends.tobytes(), *names))


PAYLOADS = "rag_assets.payloads"

_PAYLOADS_FORMAT = b"payload\1"  # the last byte is the version
_NUMBER = 8  # bytes
_PAYLOADS_HEAD = len(_PAYLOADS_FORMAT) + _NUMBER
_COMPRESSION = 1
"""Level of zlib: 38 % of the bytes; 6 gives 37 %. It takes 40 µs to write a payload and 11 to read one."""
_ONE, _TWO = Struct("=Q"), Struct("=2Q")


class PayloadStore:
    """The payloads of one finished shard, mapped and not read. Safe to use from several threads, until it is closed."""

    __slots__ = ("_bodies", "_content", "size")

    def __init__(self, path: Path) -> None:
        """Raises OSError, or ValueError where the file is not what it says it is."""
        with path.open("rb") as file:
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            if len(self._content) < _PAYLOADS_HEAD or self._content[: len(_PAYLOADS_FORMAT)] != _PAYLOADS_FORMAT:
                raise ValueError("it is not a file of that format")
            (self.size,) = _ONE.unpack_from(self._content, len(_PAYLOADS_FORMAT))
            self._bodies = _PAYLOADS_HEAD + (self.size + 1) * _NUMBER
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
        start, end = _TWO.unpack_from(self._content, _PAYLOADS_HEAD + row * _NUMBER)
        try:
            return zlib.decompress(self._content[self._bodies + start : self._bodies + end])
        except zlib.error as error:
            raise ValueError(str(error)) from error

    def starts(self, start: int, end: int) -> array[int]:
        """Where the payloads of these points begin, and where the last one of them ends."""
        return array("Q", self._content[_PAYLOADS_HEAD + start * _NUMBER : _PAYLOADS_HEAD + (end + 1) * _NUMBER])

    def together(self, start: int, end: int) -> memoryview:
        """The payloads of these points one after the other. To be released before the file is closed."""
        first, last = self.starts(start, start)[0], self.starts(end, end)[0]
        return memoryview(self._content)[self._bodies + first : self._bodies + last]

    def close(self) -> None:
        self._content.close()


class PayloadStoreChange:
    """The payloads of the next version of a shard. What is new waits in a file without a name: of 100,000 points it
    would be 100 MB."""

    def __init__(self, folder: Path, base: PayloadStore | None = None) -> None:
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
        """Writes the payloads of all points that there are now; `runs` are those of `PointPathsChange`. Raises
        OSError."""
        order = list(runs)
        with path.open("wb") as file:
            starts = self._starts(order)
            file.write(_PAYLOADS_FORMAT + _ONE.pack(len(starts) - 1) + starts.tobytes())
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


def read_payloads(directory: Path) -> PayloadStore:
    """The payloads of the points of a shard. Raises VectorStoreError where they are missing or damaged."""
    path = directory / PAYLOADS
    try:
        return PayloadStore(path)
    except FileNotFoundError as error:
        raise VectorStoreError(f"{path} is missing; {REBUILD}") from error
    except (OSError, ValueError) as error:
        raise VectorStoreError(f"{path} cannot be read: {error}; {REBUILD}") from error
