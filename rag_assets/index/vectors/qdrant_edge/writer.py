"""Writes the embedded vector store: one Qdrant Edge shard per generation, made in one go and never changed again."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import qdrant_edge as edge

from rag_assets.contracts.payload import PayloadIndex, payload_indexes
from rag_assets.errors import REBUILD
from rag_assets.index.disk_files import size_on_disk
from rag_assets.index.generation_files import copy_folder, written_blocks
from rag_assets.index.vectors.point_table import POINTS, PointTableChange, read_point_table
from rag_assets.index.vectors.qdrant_edge import COMMON, DIGEST, common_of, digests_of, engine_call, leave_open
from rag_assets.index.vectors.vector_api import DENSE, PREFIX_FIELDS, SPARSE, FileRef, StoredPoint, VectorStoreError
from rag_assets.serialization import from_json

LEVEL = "Confidentiality"
"""Every search asks it of every point that it considers, up to three times what the search takes without. So it is
among the fields that all share where the finished shard has one level; it keeps its index, since the next may not."""

_HNSW_LINKS = 16  # the engine's default; recall@40 .999 on clustered vectors
_HNSW_CANDIDATES = 100  # the engine's default
_HNSW_FULL_SCAN_KB = 10_000  # the engine's default: filters that leave less than this are scanned exactly
_HNSW_THREADS = 1  # several threads insert in any order: two builds of equal points would then rank differently
_SMALL_PAGE_REGIONS = 2  # 256 kB of 4 MB
_SMALL_TRACKER = 64 << 10  # of 1 MB: the places of 4,000 points
Block = tuple[int, bytes]  # offset in a file, bytes
_MEMORY_FOLDER = Path("/dev/shm")  # Linux; elsewhere the ordinary temporary folder
_MEMORY_NEEDED = 256 << 20
"""Bytes free in the memory folder. The engine maps 190 MB there and touches 36; a mapped write into a full folder
kills the process, and Docker gives 64 MB by default."""


def create_empty_shard(directory: Path, dimension: int, *, without: Collection[str] = ()) -> edge.EdgeShard:
    """A shard at `directory` without points that has its payload indexes, except for the fields `without`."""
    with engine_call(f"vector shard {directory} cannot be made"):
        for name, size, blocks in _empty_shard_files(dimension, frozenset(without)):
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                for offset, data in blocks:
                    file.seek(offset)
                    file.write(data)
                file.truncate(size)
        return edge.EdgeShard.load(str(directory))


@cache
def _empty_shard_files(dimension: int, without: frozenset[str]) -> tuple[tuple[str, int, tuple[Block, ...]], ...]:
    """Path, size and blocks of each file of an empty shard: 119 files with 8 kB that are not zero.

    With each new payload index the engine syncs the files of all others: 4 s of waiting on a disk that takes 4 ms a
    sync. So the engine creates an empty shard once per process, in memory if the system has a folder for that; syncing
    at the end of a build covers what matters.
    """
    with tempfile.TemporaryDirectory(prefix="rag-assets-", dir=_memory_folder()) as folder:
        shard = edge.EdgeShard.create(folder, _configuration(dimension))
        try:
            for key in payload_indexes():
                if key not in without:
                    shard.update(_index_of(key))
            shard.flush()
        finally:
            shard.close()
        for configuration in sorted(Path(folder).rglob("payload_index/*/config.json")):
            _start_small(configuration.parent)
        files = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        return tuple(
            (path.relative_to(folder).as_posix(), path.stat().st_size, tuple(written_blocks(path))) for path in files
        )


def _start_small(store: Path) -> None:
    """Lets an empty store of the engine begin with smaller files, which grow in the same way.

    For each payload index the engine sets aside five megabytes, and reads them all whenever it opens them: most of the
    time and the memory of a small shard. It finds the size of a page where it has written it. A store that does not
    look as expected stays as it is.
    """
    configuration, page, tracker = (store / name for name in ("config.json", "page_0.dat", "tracker.dat"))
    bitmask, gaps = store / "bitmask.dat", store / "gaps.dat"  # a bit for each block, a gap for each region
    written = from_json(configuration.read_bytes(), dict[str, Any])
    size, block = written["page_size_bytes"], written["block_size_bytes"]
    regions, rest = divmod(size, block * written["region_size_blocks"])
    gap = gaps.stat().st_size // regions
    if rest or (page.stat().st_size, bitmask.stat().st_size, gaps.stat().st_size) != (
        size,
        size // block // 8,
        gap * regions,
    ):
        return
    small = _SMALL_PAGE_REGIONS * size // regions
    configuration.write_bytes(msgspec.json.encode(written | {"page_size_bytes": small}))
    for path, length in (
        (page, small),
        (bitmask, small // block // 8),
        (gaps, gap * _SMALL_PAGE_REGIONS),
        (tracker, _SMALL_TRACKER),
    ):
        os.truncate(path, length)


def copied_shard(source: Path, directory: Path) -> edge.EdgeShard:
    """An open copy of a finished shard, without the table of points, which is written anew. The engine changes its
    files in place, so they cannot be shared. Raises OSError, or what the engine raises."""
    copy_folder(source, directory, without=(POINTS,))
    return edge.EdgeShard.load(str(directory))


def _configuration(dimension: int) -> edge.EdgeConfig:
    dense = {DENSE: edge.EdgeVectorParams(dimension, edge.Distance.Dot)} if dimension else {}
    return edge.EdgeConfig(
        vectors=dense,
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams()},  # no idf modifier: the query carries it
        hnsw_config=edge.HnswIndexConfig(_HNSW_LINKS, _HNSW_CANDIDATES, _HNSW_FULL_SCAN_KB, _HNSW_THREADS),
        optimizers=edge.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1),
        wal_enabled=False,
    )


def _memory_folder() -> Path | None:
    """Where files never reach a disk, or None where there is no such folder with enough room."""
    if os.access(_MEMORY_FOLDER, os.W_OK) and shutil.disk_usage(_MEMORY_FOLDER).free >= _MEMORY_NEEDED:
        return _MEMORY_FOLDER
    return None


def _index_of(key: str) -> edge.UpdateOperation:
    return edge.UpdateOperation.create_field_index(key, _index_parameters(key, payload_indexes()[key]))


def _index_parameters(key: str, kind: PayloadIndex) -> Any:
    # Read from the file when asked, not loaded at every start: 100,000 points open in .4 s and 320 MB instead of
    # 2.1 s and 1.9 GB, and filters cost the same. (Without a graph they are in memory either way: .16 s at 10,000.)
    memory = edge.Memory.Cold
    if kind == "integer":
        return edge.IntegerIndexParams(lookup=True, range=True, memory=memory)
    if kind == "datetime":
        return edge.DatetimeIndexParams(memory=memory)
    return edge.KeywordIndexParams(prefix=key in PREFIX_FIELDS, memory=memory)


HNSW_FROM_POINTS = 20_000
"""Below this the flat scan is kept: exact, 5 ms at 20,000 points (29 ms at 100,000), and the graph would take
22 s to build. From here on the graph answers in 2 ms."""

_log = logging.getLogger(__name__)

_UPSERT_BATCH = 500  # points in one engine call; larger ones are no faster and only cost memory
_DELETE_BATCH = 5_000
_READ_BATCH = 1_000
_REOPEN_AFTER = 5_000
"""Points written before the shard is closed and opened again: what the engine keeps beside the points that it was given
since it was opened takes as much memory as they do (28,600 points: a peak of 292 MB without, 212 with). A quarter of
the shard where that is more, because opening takes time with its size."""
_JOURNAL = "tracker_journal.dat"
_ABOUT = "rag_assets.json"  # beside the engine's own files, which it leaves alone
_MOST_CHANGES = 0.1  # of the points: the engine frees what was replaced, but its bytes stay in the file
_FEW_CHANGES = 100  # not worth a new shard, however small it is
_FREE_BYTES = 64 << 20
"""The engine maps its files, and a mapped write into a full disk kills the process: there has to be room before."""
_FILTERED = (*payload_indexes(), "ContentHash")


class _About(msgspec.Struct):
    """What a finished shard says of itself. `digests`: id → digest of its points, as the engine gave them out when it
    had opened the finished shard; a quarter of a second for 10,000, and another to open it."""

    changes: int
    digests: dict[str, str]


def held_digests(directory: Path) -> dict[str, str]:
    """id → digest of what the finished shard held when it was opened again. Raises VectorStoreError."""
    try:
        return from_json((directory / _ABOUT).read_bytes(), _About).digests
    except (OSError, msgspec.DecodeError) as error:
        raise VectorStoreError(f"{directory / _ABOUT} cannot be read: {error}; {REBUILD}") from error


class ShardWriter:
    """A `PointTarget` of one shard: a copy of that of an earlier generation, brought to what is declared, or a new one.

    Whatever a killed build left in `directory` is removed first, never appended to. `dimension` 0 makes a lexical shard
    without dense vectors. Points are readable once `finish` has returned. `common` are payload fields that have the
    same value in all points: kept once, they need no index, and a filter on them is settled before a search begins.
    So is one on a field that no point has; the first point that has it brings the index, ten files that every reader
    would open.
    """

    def __init__(
        self,
        directory: Path,
        dimension: int,
        *,
        hnsw_from_points: int = HNSW_FROM_POINTS,
        base: Path | None = None,
        common: Mapping[str, str] | None = None,
    ) -> None:
        """`base` is the folder of a finished shard with the same vectors and payload indexes; a damaged one, or one
        that has been changed so often that a new one is better, is not used. Raises VectorStoreError."""
        self._directory = directory
        self._dimension = dimension
        self._hnsw_from_points = hnsw_from_points
        self._common = dict(common or {})
        self._fields = tuple(key for key in _FILTERED if key not in self._common)
        self._absent = payload_indexes().keys() - self._common.keys() - {LEVEL}  # fields that no point has
        self._stored: dict[str, str] = {}
        self._changes = 0  # points replaced in, or deleted from, the shards that this one is a copy of
        self._is_new = True
        self._lost_points = False
        self._since_opened = 0
        self._written: set[str] = set()
        self._points = PointTableChange(directory)
        try:
            if directory.exists():
                shutil.rmtree(directory)
            directory.parent.mkdir(parents=True, exist_ok=True)
            self._require_room(size_on_disk(base) if base is not None else 0)
            self._opened = self._copied(base)
            directory.mkdir(exist_ok=True)
        except OSError as error:
            raise VectorStoreError(f"vector shard {directory} cannot be made: {error}") from error

    def stored(self) -> dict[str, str]:
        return dict(self._stored)

    def upsert(self, batch: Sequence[StoredPoint]) -> None:
        for start in range(0, len(batch), _UPSERT_BATCH):
            self._require_room()
            some = batch[start : start + _UPSERT_BATCH]
            points = [self._point(point) for point in some]
            self._index_fields([point.payload for point in some])
            self._update(edge.UpdateOperation.upsert_points(points))
            self._stored.update((point.id, point.digest) for point in some)
            self._written.update(point.id for point in some)
            self._changes += len(points)
            self._since_opened += len(points)
            if self._since_opened >= max(_REOPEN_AFTER, len(self._stored) // 4):
                self._reopen()

    def delete(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _DELETE_BATCH):
            self._update(edge.UpdateOperation.delete_points(list(ids[start : start + _DELETE_BATCH])))
        self._lost_points |= bool(ids)
        for known in ids:
            self._stored.pop(known, None)
            self._written.discard(known)
        self._points.drop(ids)
        self._changes += len(ids)

    def finish(self) -> None:
        """Builds the HNSW graph when there are enough points, makes everything durable and closes the shard."""
        self._require_room(self._points.size)
        with engine_call(f"vector shard {self._directory} could not be finished"):
            points = int(self._shard.count(edge.CountRequest()))
            has_graph = bool(self._dimension) and points >= self._hnsw_from_points
            if has_graph:
                self._shard.optimize()
            self._shard.flush()  # `close` writes all files too, and says nothing of what it cannot write
            common = self._one_level(points) | self._common | dict.fromkeys(self._absent, "")
            finished = self._opened_again() if self._is_new or self._lost_points or has_graph else self._settled()
            held = self._held(finished)
            if self._is_new:
                finished.close()
            about = msgspec.json.encode(_About(0 if self._is_new else self._changes, held))
            (self._directory / _ABOUT).write_bytes(about)
            self._points.write(self._directory / POINTS)
            (self._directory / COMMON).write_bytes(msgspec.json.encode(common, order="sorted"))
            if not self._is_new:  # few of its points are new, and read back in less time than it takes to open it
                leave_open(self._directory, finished)

    @property
    def _shard(self) -> edge.EdgeShard:
        """The copy, or an empty shard, which is made when the fields of the first points are known."""
        if self._opened is None:
            without = {*self._common, *self._absent}
            self._opened = create_empty_shard(self._directory, self._dimension, without=without)
        return self._opened

    def _index_fields(self, payloads: Sequence[Mapping[str, Any]]) -> None:
        """Before these are written."""
        new = {key for key in self._absent if any(payload.get(key) for payload in payloads)}
        self._absent -= new
        for key in sorted(new) if self._opened is not None else ():
            self._update(_index_of(key))

    def _opened_again(self) -> edge.EdgeShard:
        """The finished shard as a reader opens it. The engine keeps journals, and applies them when it opens them: a
        reader would change the files."""
        self._shard.close()
        finished = edge.EdgeShard.load(str(self._directory))
        if not self._is_new:
            finished.flush()
        return finished

    def _settled(self) -> edge.EdgeShard:
        """The same, where points have only been written and flushed: opening would remove the journals, which have been
        applied, and nothing else, and takes .15 s at 18,000 points."""
        for journal in self._directory.rglob(_JOURNAL):
            journal.unlink()
        return self._shard

    def _held(self, finished: edge.EdgeShard) -> dict[str, str]:
        """What the finished shard holds. Points that it was copied with are as they were where nothing has come or gone
        unseen, so only those that were written are asked for."""
        written = sorted(self._written)
        if self._is_new or int(finished.count(edge.CountRequest())) != len(self._stored):
            return digests_of(finished)
        found = dict.fromkeys(written, "")
        for start in range(0, len(written), _READ_BATCH):
            records = finished.retrieve(list(written[start : start + _READ_BATCH]), [DIGEST], False)
            found.update((str(record.id), (record.payload or {}).get(DIGEST, "")) for record in records)
        return self._stored | found

    def _one_level(self, points: int) -> dict[str, str]:
        """The confidentiality of all points, where they have the same. The engine counts those that are there now: 6 ms
        at 30,000 points."""
        found = list(self._shard.facet(edge.FacetRequest(LEVEL, limit=2, exact=True)))
        return {LEVEL: str(found[0].value)} if found and found[0].count == points else {}

    def _reopen(self) -> None:
        with engine_call(f"vector shard {self._directory} cannot be written"):
            self._shard.flush()
            self._shard.close()
            self._opened = edge.EdgeShard.load(str(self._directory))
        self._since_opened = 0

    def _require_room(self, more: int = 0) -> None:
        free = shutil.disk_usage(self._directory.parent).free
        if free < _FREE_BYTES + more:
            raise VectorStoreError(
                f"vector shard {self._directory}: the disk has {free >> 20} MB left and "
                f"{(_FREE_BYTES + more) >> 20} MB are needed; free some (rag-assets gc, rag-assets generations prune), "
                "then run it again"
            )

    def _copied(self, base: Path | None) -> edge.EdgeShard | None:
        """A copy of `base`, ready to be changed; None where it cannot, or should not, be used."""
        if base is None:
            return None
        try:
            about = from_json((base / _ABOUT).read_bytes(), _About)
            common = common_of(base)
            absent = {key for key, value in common.items() if not value}
            declared = {key: common[key] for key in common.keys() - absent if key in self._common or key != LEVEL}
            points = read_point_table(base)
            if declared != self._common:
                return None
            with engine_call("it cannot be opened"):
                shard = copied_shard(base, self._directory)
                count = int(shard.count(edge.CountRequest()))
            if count != len(about.digests):
                raise VectorStoreError("it does not hold what it says")
        except (VectorStoreError, OSError, msgspec.DecodeError) as error:  # whatever it is, a new shard needs no base
            _log.warning("vector shard %s cannot be built upon (%s); making a new one", base, error)
            shutil.rmtree(self._directory, ignore_errors=True)
            return None
        if about.changes > max(len(about.digests) * _MOST_CHANGES, _FEW_CHANGES):
            shard.close()
            shutil.rmtree(self._directory)
            return None
        self._stored, self._changes, self._is_new, self._absent = about.digests, about.changes, False, absent
        self._points = PointTableChange(self._directory, points)
        return shard

    def _point(self, point: StoredPoint) -> edge.Point:
        vectors: dict[str, Any] = {}
        dense = point.dense_in(self._dimension, "shard")
        if dense is not None:
            vectors[DENSE] = dense.tolist()  # the engine takes lists faster than arrays
        indices, values = point.sparse
        if len(indices):
            vectors[SPARSE] = edge.SparseVector(indices.tolist(), values.tolist())
        for key, value in self._common.items():
            if point.payload.get(key) != value:
                raise VectorStoreError(
                    f"point {point.id} is of {key} {point.payload.get(key)!r}, the shard of {value!r}"
                )
        try:
            self._points.put(point.id, FileRef.of(point.payload), msgspec.json.encode(point.payload))
            return edge.Point(point.id, vectors, self._filtered(point))
        except (TypeError, ValueError) as error:  # not a UUID, or a payload that is not JSON
            raise VectorStoreError(f"point {point.id} of {point.payload.get('Path', '?')}: {error}") from error

    def _filtered(self, point: StoredPoint) -> dict[str, Any]:
        """What the engine keeps of a payload: the fields it filters on, and the digest. It takes 7 µs to convert a text
        field and there are about forty."""
        kept = {key: point.payload[key] for key in self._fields if key in point.payload}
        return {**kept, DIGEST: point.digest}

    def _update(self, operation: edge.UpdateOperation) -> None:
        with engine_call(f"vector shard {self._directory} cannot be written"):
            self._shard.update(operation)
