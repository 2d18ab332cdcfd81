"""The embedded vector store, one Qdrant Edge shard per generation: how it is read, and what its writer shares.

Without a write-ahead log there is no lock: any number of processes can open a finished shard, while another generation
is being built beside it. The engine opens its files for writing, and writes equal content; where it may not, it opens a
copy in a temporary folder.

The engine raises plain Exception for what it refuses. Bytes that it did not expect end in a panic, of which it also
writes a line of its own to stderr.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import qdrant_edge as edge

from rag_assets.closeable import Closeable
from rag_assets.errors import REBUILD, is_panic
from rag_assets.index.generation_files import copy_folder
from rag_assets.index.vectors.conditions import (
    Absent,
    AllOf,
    AnyOf,
    BeginsWith,
    Between,
    Condition,
    Equal,
    HasId,
    Holds,
    KnownValues,
    Not,
    OneOf,
    all_hold,
    conditions_of,
    settled,
)
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.index.vectors.point_table import POINTS, read_point_table
from rag_assets.index.vectors.vector_api import (
    DENSE,
    SPARSE,
    FileRef,
    ScoredPoint,
    StoreNotWritable,
    VectorStoreError,
    all_values,
    best_with_ties,
    dense_of,
)
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    from rag_assets.index.vectors.vector_api import Dense

DIGEST = "Digest"
"""What a point has beside the fields it is filtered by: the digest of its content."""

COMMON = "rag_assets.common.json"
"""The file with the payload fields that all points share, '' for those that none has; read whenever a shard is
opened."""

_COPY = "rag-assets-shard-"  # how the folder of a copy is called
_COPY_IS_LEFT_SECONDS = 24 * 60 * 60
_NOTHING_WRITABLE = ("Permission denied", "os error 30", "os error 28")  # no permission, read-only, no space


@contextmanager
def engine_call(failed: str, *, repair: str = "") -> Iterator[None]:
    """Raises VectorStoreError `failed: what the engine says; what to do` for whatever the engine raises inside.

    `repair` is what to do about damage of what is read; StoreNotWritable says that there is none, only no permission
    or no space.
    What ends the program, as Ctrl-C does, passes.
    """
    try:
        yield
    except VectorStoreError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        said = str(error)
        if repair and any(words in said for words in _NOTHING_WRITABLE):
            raise StoreNotWritable(f"{failed}: {said}") from error
        raise VectorStoreError("; ".join(filter(None, (f"{failed}: {error}", repair)))) from error


def common_of(directory: Path) -> dict[str, str]:
    """The fields that are the same in all points of a shard. Raises VectorStoreError where they are missing or damaged:
    without them the points would seem to belong to nobody."""
    note = directory / COMMON
    try:
        return from_json(note.read_bytes(), dict[str, str])
    except FileNotFoundError as error:
        raise VectorStoreError(f"{note} is missing; {REBUILD}") from error
    except msgspec.DecodeError as error:
        raise VectorStoreError(f"{note} is damaged: {error}; {REBUILD}") from error


_SCROLL_BATCH = 1_000  # records in one engine call: their payloads are in memory at the same time
_KEPT_VALUES = (
    4  # fields whose values are kept: an overview asks for all paths, and their count takes as long as its answer
)
_KEPT_FILTERS = 16
"""Scopes whose filter is kept: a search asks three times, a user again, and a glob over 10,000 paths takes 2 ms."""


class ShardReader(Closeable):
    """A `VectorReader` of one finished shard."""

    def __init__(self, directory: Path) -> None:
        """Raises VectorStoreError where there is no readable shard."""
        self._directory = directory
        if not (directory / "edge_config.json").is_file():
            raise VectorStoreError(f"no vector shard in {directory}; {REBUILD}")
        self._points = read_point_table(directory)
        self._common = common_of(directory)
        self._shard = opened_shard(directory)
        problem = self._mismatch()
        if problem:
            self.close()
            raise VectorStoreError(f"vector shard {directory} {problem}; {REBUILD}")
        self._known = KnownValues(self.values)  # a finished shard never changes
        self._conditions = lru_cache(maxsize=_KEPT_FILTERS)(self._conditions_of)
        self._compile = lru_cache(maxsize=_KEPT_FILTERS)(self._filter_of)
        self._holds = lru_cache(maxsize=_KEPT_FILTERS)(self._predicate_of)
        self._values = lru_cache(maxsize=_KEPT_VALUES)(self._values_of)

    def count(self, scope: SearchScope | None = None) -> int:
        return self._size if scope is None else self._counted(self._compile(scope))

    def dense(self, vector: Dense, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        return self._search(vector, DENSE, scope, limit)

    def sparse(
        self, indices: Sequence[int], values: Sequence[float], scope: SearchScope, limit: int
    ) -> list[ScoredPoint]:
        if not len(indices):
            return []
        return self._search(_sparse_vector(indices, values), SPARSE, scope, limit)

    def retrieve(self, ids: Sequence[str], scope: SearchScope) -> dict[str, dict[str, Any]]:
        if not ids:
            return {}
        holds = self._holds(scope)
        read = self._payloads(sorted(set(ids)))
        return {known: payload for known, payload in read.items() if holds(known, payload)}

    def places(self, ids: Sequence[str], scope: SearchScope) -> dict[str, FileRef]:
        found = ((known, self._points.place(known)) for known in ids)
        return {known: place for known, place in found if place is not None}

    def vector(self, identifier: str) -> Dense | None:
        with engine_call(f"vector shard {self._directory} cannot be read", repair=REBUILD):
            records = self._shard.retrieve([identifier], False, True)
        return dense_of(records[0].vector) if records else None

    def digests(self) -> dict[str, str]:
        found: dict[str, str] = self._call(digests_of, self._shard)
        return found

    def ids(self, scope: SearchScope | None = None) -> dict[str, str]:
        condition = None if scope is None else self._compile(scope)
        return _field_of_all(partial(self._call, self._shard.scroll), "ContentHash", condition)

    def values(self, key: str, scope: SearchScope) -> dict[str, int]:
        return dict(self._values(key, scope))

    def _values_of(self, key: str, scope: SearchScope) -> dict[str, int]:
        if key in self._common:
            value = self._common[key]
            return {value: count} if value and (count := self.count(scope)) else {}
        condition = self._compile(scope)

        def facet(limit: int) -> list[Any]:
            request = edge.FacetRequest(key, limit=limit, exact=True, filter=condition)
            return list(self._call(self._shard.facet, request))

        return dict(sorted((str(hit.value), hit.count) for hit in all_values(facet, self.count())))

    def close(self) -> None:
        self._points.close()
        with engine_call(f"vector shard {self._directory} cannot be closed"):
            self._shard.close()

    @cached_property
    def _size(self) -> int:
        """Of all points: 7 ms at 100,000 of them."""
        return self._counted(None)

    def _counted(self, condition: edge.Filter | None) -> int:
        return int(self._call(self._shard.count, edge.CountRequest(filter=condition)))

    def _mismatch(self) -> str:
        """What is wrong with the file beside those of the engine; '' where it belongs to its points."""
        size = self._points.size
        return f"has {self._size} points, {POINTS} {size}" if size != self._size else ""

    def _payloads(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Of the points that there are, whoever may see them."""
        rows = [(known, row) for known in ids if (row := self._points.row(known)) is not None]
        try:
            return {known: msgspec.json.decode(self._points.payload(row)) for known, row in rows}
        except (ValueError, msgspec.DecodeError) as error:
            raise VectorStoreError(f"{self._directory / POINTS} cannot be read: {error}; {REBUILD}") from error

    def _search(self, vector: Any, using: str, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        query = edge.Query.Nearest(vector, using=using)
        condition = self._compile(scope)

        def search(asked: int) -> Sequence[Any]:
            request = edge.QueryRequest(asked, query=query, filter=condition, with_payload=False)
            found: Sequence[Any] = self._call(self._shard.query, request)
            return found

        return best_with_ties(search, limit, lambda point: str(point.id))

    def _call(self, method: Any, request: Any) -> Any:
        with engine_call(f"vector shard {self._directory} cannot be searched", repair=REBUILD):
            return method(request)

    def _conditions_of(self, scope: SearchScope) -> Sequence[Condition]:
        return conditions_of(scope, self._known.within(scope))

    def _filter_of(self, scope: SearchScope) -> edge.Filter:
        """The engine's filter for a scope; all of it is applied before the top k (R17)."""
        return edge.Filter(must=[_compiled(condition) for condition in settled(self._conditions(scope), self._common)])

    def _predicate_of(self, scope: SearchScope) -> Holds:
        """The same for payloads that were read; these say themselves whose they are, so nothing is settled before."""
        return all_hold(self._conditions(scope))


_left_open: dict[tuple[int, int], edge.EdgeShard] = {}
"""The shard that this process has finished last, by inode and time of its folder."""


def leave_open(directory: Path, shard: edge.EdgeShard) -> None:
    """Lets the next `opened_shard` have a finished shard as it is: to open one of 7,000 points takes .1 s, and a build
    reads back what it has stored."""
    for earlier in _left_open.values():
        earlier.close()
    _left_open.clear()
    _left_open[_identity(directory)] = shard


def _identity(directory: Path) -> tuple[int, int]:
    known = directory.stat()
    return known.st_ino, known.st_mtime_ns


def opened_shard(directory: Path) -> edge.EdgeShard:
    """A finished shard, opened where it is, or a copy of it where nothing can be written. Raises VectorStoreError."""
    shard = _left_open.pop(_identity(directory), None)
    if shard is not None:
        return shard
    failed = f"vector shard {directory} cannot be opened"
    try:
        with engine_call(failed, repair=REBUILD):
            return edge.EdgeShard.load(str(directory))
    except StoreNotWritable as refused:
        try:  # what is mapped stays when the folder goes; Windows keeps the folder
            _delete_left_copies()
            with tempfile.TemporaryDirectory(prefix=_COPY, ignore_cleanup_errors=True) as folder:
                copy = Path(folder) / directory.name
                copy_folder(directory, copy, without=(POINTS,))
                with engine_call(failed, repair=REBUILD):
                    return edge.EdgeShard.load(str(copy))
        except (OSError, StoreNotWritable) as error:  # the second one: there is no room for what opening writes
            reason = error.__cause__ if isinstance(error, StoreNotWritable) else error
            raise VectorStoreError(
                f"{refused}, and no copy of it can be opened in {tempfile.tempdir or 'a temporary folder'} ({reason}); "
                "set TMPDIR to a folder with room for one, or make the index writable and free some space"
            ) from error


def _delete_left_copies() -> None:
    """Copies of a process that was killed while it opened one, which takes seconds. Nobody else's: all users share the
    temporary folder."""
    own = getattr(os, "geteuid", lambda: 0)()  # Windows has none, and a temporary folder for each user
    for folder in Path(tempfile.gettempdir()).glob(f"{_COPY}*"):
        with suppress(OSError):  # somebody else deletes it as well
            known = folder.lstat()
            is_old = time.time() - known.st_mtime > _COPY_IS_LEFT_SECONDS
            if is_old and known.st_uid == own and stat.S_ISDIR(known.st_mode):
                shutil.rmtree(folder, ignore_errors=True)


def _sparse_vector(indices: Any, values: Any) -> edge.SparseVector:
    return edge.SparseVector(indices, values)  # takes arrays as they are, though its stub says lists


def digests_of(shard: edge.EdgeShard) -> dict[str, str]:
    """id → digest of every point of an open shard."""
    return _field_of_all(shard.scroll, DIGEST)


def _field_of_all(scroll: Callable[[edge.ScrollRequest], Any], key: str, condition: Any = None) -> dict[str, str]:
    """id → value of a payload field of every point that meets the condition; '' where it is absent."""
    found: dict[str, str] = {}
    offset: Any = None
    while True:
        records, offset = scroll(edge.ScrollRequest(offset, _SCROLL_BATCH, filter=condition, with_payload=[key]))
        found.update((str(record.id), (record.payload or {}).get(key, "")) for record in records)
        if offset is None:
            return found


def _compiled(condition: Condition) -> Any:
    match condition:
        case AnyOf():
            return edge.Filter(should=[_compiled(found) for found in condition.conditions])
        case AllOf():
            return edge.Filter(must=[_compiled(found) for found in condition.conditions])
        case Not():
            return edge.Filter(must_not=[_compiled(condition.condition)])
        case HasId():
            return edge.HasIdCondition(set(condition.ids))
        case Absent():
            return edge.IsEmptyCondition(condition.key)
        case Equal():
            return _match(condition.key, edge.MatchValue(condition.value))
        case OneOf():
            return _match(condition.key, edge.MatchAny(list(condition.values)))
        case Between():
            return edge.FieldCondition(
                condition.key, range=edge.RangeDateTime(gte=condition.since, lt=condition.before)
            )
        case BeginsWith():
            return _match(condition.key, edge.MatchPrefix(condition.prefix))


def _match(key: str, match: Any) -> edge.FieldCondition:
    return edge.FieldCondition(key, match=match)
