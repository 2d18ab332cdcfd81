"""Which file each point of a store is of, in one small file beside it: a ranking asks it of the candidates of every
question, and would read a whole payload of each otherwise.

    8 bytes      name and version of the format
    3 x uint64   n points, m files, bytes of the names of these files
    n x uint64   the first half of the id of each point; ascending by the whole id
    n x uint64   the second half
    n x uint32   the number of the file of each
    m x uint32   where the name of each file ends
    bytes        names of files, ascending: label, zero byte, path

Numbers are as the machine has them, as in the files of the engine. Equal points give equal bytes, whatever they were
before. 2.5 MB for 100,000 points.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from rag_assets.stores.points import Place, VectorStoreError

POINT_FILES = "rag_assets.files"

Run = tuple[int, int, int | None]
"""Points of an earlier version from a row to another, and the id of a new one after them, where there is one."""

_FORMAT = b"files\0\0\1"  # the last byte is the version
_HEAD = len(_FORMAT) + 3 * 8
_NO_POINTS = _FORMAT + bytes(_HEAD - len(_FORMAT))
_HALF = 64  # bits of an id
_LOWER = (1 << _HALF) - 1
_SEPARATOR = b"\0"  # no path of git has one


class PointFiles:
    """The files of the points of one store; it never changes. Safe to use from several threads."""

    __slots__ = ("_content", "_ends", "_high", "_low", "_names", "_numbers", "_places", "size")

    def __init__(self, content: bytes = _NO_POINTS) -> None:
        """Raises ValueError where `content` is not what it says it is."""
        if len(content) < _HEAD or not content.startswith(_FORMAT):
            raise ValueError("it is not a file of that format")
        self.size, files, names = memoryview(content)[len(_FORMAT) : _HEAD].cast("Q")
        low = _HEAD + self.size * 8
        numbers = low + self.size * 8
        ends = numbers + self.size * 4
        self._names = ends + files * 4
        if len(content) != self._names + names:
            raise ValueError(f"it should have {self._names + names:,} bytes and has {len(content):,}")
        self._content = content
        self._high = memoryview(content)[_HEAD:low].cast("Q")
        self._low = memoryview(content)[low:numbers].cast("Q")
        self._numbers = memoryview(content)[numbers:ends].cast("I")
        self._ends = memoryview(content)[ends : self._names].cast("I")
        self._places: dict[int, Place] = {}  # those that were asked for

    def place(self, identifier: str) -> Place | None:
        """The file of a point, in O(log n); None where there is no such point."""
        at = self.row(identifier)
        if at is None:
            return None
        number = self._numbers[at]
        found = self._places.get(number)
        if found is None:
            start = self._ends[number - 1] if number else 0
            label, _, path = self._name(start, self._ends[number]).partition(_SEPARATOR)
            found = self._places[number] = Place(label.decode(), path.decode())
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


class PointFilesChange:
    """What changes between two versions of a store: points that came, that are of another file now, or are gone."""

    def __init__(self, base: PointFiles) -> None:
        self._base = base
        self._changed: dict[int, bytes | None] = {}
        self._names: dict[Place, bytes] = {}  # a file has ten points

    def put(self, points: Iterable[tuple[str, Place]]) -> None:
        """Ids with their files."""
        for identifier, place in points:
            name = self._names.get(place)
            if name is None:
                name = self._names[place] = place.label.encode() + _SEPARATOR + place.path.encode()
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


def read_point_files(directory: Path) -> PointFiles | None:
    """The files of the points of a store; None of one that was written before there were such files, or by a version
    that has others. Raises VectorStoreError where they are damaged."""
    path = directory / POINT_FILES
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VectorStoreError(f"{path} cannot be read: {error}") from error
    if content.startswith(_FORMAT[:-1]) and not content.startswith(_FORMAT):
        return None
    try:
        return PointFiles(content)
    except ValueError as error:
        raise VectorStoreError(f"{path} is damaged: {error}; run: rag-assets index --force") from error


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
    return b"".join((_FORMAT, counts.tobytes(), high, low, numbers.tobytes(), ends.tobytes(), *names))
