"""The memo of the pipeline: what a stage computes is kept under a key of everything that it depends on.

A key is made of the version of the stage, the configuration it reads and the content of what it reads; never of a
label, a commit or a path of this machine. So what any build of any label has made is found by its key and taken into
the next generation that needs it. Each stage declares its memos and makes their keys:

    stage_memo   a stage of one generation: its report, which says what it was made of
    BucketMemo   a function of one bucket: the files of its tables and a result; files are linked into generations
    ItemMemo     a function of one item (a file, a text, a commit): one value

A bucket may also depend on the rest of the label, through lookups that nobody knows before it is made. They are
recorded while it is made (`dependency_trace`), and under the key of its own inputs lie the traces of such buckets.
A build replays each trace: the lookups and the results they have in this label make the key of the bucket itself. An
item keeps its trace and the digest of the results beside its value. These are verifying traces with the value kept
(Mokhov, Mitchell and Peyton Jones, "Build Systems à la Carte", 2018).

Garbage collection asks `ITEM_MEMOS` which items a generation still uses, and the reports of its stages for the buckets.

Answers of language models in the cache of all stages.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypedDict, TypeVar, cast

import msgspec
import pyarrow as pa

from rag_assets.contracts.identity import cache_key
from rag_assets.contracts.source_file import RefusedFile
from rag_assets.dependency_trace import Question, encoded_questions, replayed
from rag_assets.dependency_trace import digest_of as digest_of_lookups
from rag_assets.index.cache import Cache, PartCache, PartFile, TakenPart, digest_of
from rag_assets.index.disk_files import sha256_of
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import part_path
from rag_assets.models.openai_compat.dry_run import CACHE_NAME
from rag_assets.pipeline.build import IndexBuild, StageReport, read_reports
from rag_assets.pipeline.versions import stage_version
from rag_assets.pipeline.workers.file_guard import REFUSED_FILES, Attempts, FileGuard, Refusal, guard_files
from rag_assets.pipeline.workers.worker_pool import map_buckets
from rag_assets.serialization import from_json, from_msgpack

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")

Lookups = dict[Question, Any]
"""What a bucket looked up in the rest of the label, with the results."""

_MOST_TRACES = 4  # of one bucket: it looks up something else when a base class moves, and it may move back


# --- items -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ItemMemo(Generic[V]):
    """The values of a function of one item by key, in the cache of that name.

    `value` is their type, which msgspec can encode; bytes are kept as they are. `used` gives the keys that a build of
    the generation in a folder would look for; it raises what reading the folder raises. `batch` values are written at a
    time: what a killed build computes again at most. Large ones are kept `compressed`.
    """

    name: str
    value: type[V]
    used: Callable[[Path], Iterable[bytes]]
    batch: int = 64
    compressed: bool = False

    def __post_init__(self) -> None:
        ITEM_MEMOS[self.name] = self

    def open(self, home: IndexHome, *, fresh: bool = False) -> Items[V]:
        """A context manager. With `fresh` nothing is known yet. Raises OSError, OtherFormat."""
        return Items(self, Cache(home.cache, self.name), fresh)


ITEM_MEMOS: dict[str, ItemMemo[Any]] = {}
"""Every memo of items by name. Answers of a language model are none: they cost money, so they are never collected."""


_CODEC = "zstd"
_LENGTH = 4  # bytes before a compressed value: how long it is


class Items(Generic[V]):
    """An open memo of items. Leaving the context writes what is waiting, unless an error ends it."""

    def __init__(self, memo: ItemMemo[V], cache: Cache, fresh: bool) -> None:
        self._memo = memo
        self._cache = cache
        self._fresh = fresh
        self._waiting: list[tuple[bytes, bytes]] = []

    def known(self, keys: Sequence[bytes]) -> dict[bytes, V]:
        """The values that are kept, by key."""
        return {key: self._decoded(data) for key, data in self._stored(keys).items()}

    def each(
        self,
        keys: Sequence[bytes],
        make: Callable[[int], V | Refusal],
        *,
        holds: Callable[[int, V], bool] = lambda row, value: True,
        keeps: bool = True,
    ) -> Iterator[tuple[V | Refusal, bool]]:
        """The value of every key, in order, and whether it was made now: by `make(row)`, where none is kept that
        `holds(row, value)`; then it is kept, if `keeps` and it is no refusal. Values are decoded one at a time."""
        stored = self._stored(keys)
        for row, key in enumerate(keys):
            if key in stored and holds(row, value := self._decoded(stored[key])):
                yield value, False
                continue
            made = make(row)
            if keeps and not isinstance(made, Refusal):
                self.keep([(key, made)])
            yield made, True

    def keep(self, values: Iterable[tuple[bytes, V]]) -> None:
        """Keeps values under their keys, instead of what is there."""
        self._waiting += [(key, self._encoded(value)) for key, value in values]
        if len(self._waiting) >= self._memo.batch:
            self._write()

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {} if self._fresh else self._cache.get_many(keys)

    def _encoded(self, value: V) -> bytes:
        data = value if isinstance(value, bytes) else msgspec.msgpack.encode(value)
        if not self._memo.compressed:
            return data
        packed: bytes = pa.compress(data, codec=_CODEC, asbytes=True)
        return len(data).to_bytes(_LENGTH, "big") + packed

    def _decoded(self, data: bytes) -> V:
        if self._memo.compressed:
            length = int.from_bytes(data[:_LENGTH], "big")
            data = pa.decompress(data[_LENGTH:], length, codec=_CODEC, asbytes=True)
        return cast(V, data) if self._memo.value is bytes else from_msgpack(data, self._memo.value)

    def _write(self) -> None:
        self._cache.replace_many(self._waiting)
        self._waiting = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if kind is None:
                self._write()
        finally:
            self._cache.close()


# --- buckets ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CachedBucket(Generic[R]):
    """One bucket of a stage in a generation: its key ('' where it is not kept), what its worker returned, a digest of
    its files, whether it was there already, and the files that its worker refused (it is not kept then)."""

    key: str
    result: R
    digest: str
    reused: bool
    refused: tuple[RefusedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class BucketMemo(Generic[R]):
    """The buckets of a stage, or of one of its steps, by key.

    `result` is the type of what was counted when they were made, which msgspec can encode; `tables` have a file for
    each bucket. `version` is that of the code, default: of the stage of this name. One of `files` reads texts: it
    guards them, and is given a FileGuard after the bucket. What the stage `after` which it comes has refused, it does
    not look at.
    """

    name: str
    result: type[R]
    tables: tuple[str, ...] = ()
    version: str = ""
    files: bool = False
    after: str = ""

    def key(self, *inputs: str) -> str:
        """64 hex digits over the version of the code and everything that the bucket is made of."""
        return cache_key(self.name, self.version or stage_version(self.name), *inputs).hex()

    def cached(self, build: IndexBuild, keys: Sequence[str | None]) -> dict[int, CachedBucket[R]]:
        """The buckets that the cache has, linked into the generation; `keys` are by bucket, None for one not to look
        for."""
        return dict(self._decoded(keys, self._taken(build, keys)))

    def _taken(self, build: IndexBuild, keys: Sequence[str | None]) -> dict[int, TakenPart]:
        if build.spec.fresh:
            return {}
        cache = PartCache(build.home.cache)
        taken = {
            bucket: cache.take(self.name, key, self._files(build, bucket))
            for bucket, key in enumerate(keys)
            if key is not None
        }
        return {bucket: part for bucket, part in taken.items() if part is not None}

    def _decoded(
        self, keys: Sequence[str | None], taken: Mapping[int, TakenPart]
    ) -> Iterator[tuple[int, CachedBucket[R]]]:
        for bucket, part in taken.items():
            with suppress(msgspec.DecodeError):  # damaged: made again
                yield bucket, CachedBucket(keys[bucket] or "", from_json(part.result, self.result), part.digest, True)

    def map(
        self,
        build: IndexBuild,
        keys: Sequence[str],
        work: Callable[..., Any],
        *arguments: Any,
        services: Sequence[object] | None = None,
        known: Mapping[int, CachedBucket[R]] | None = None,
        sizes: Callable[[int], int] | None = None,
        meanwhile: Callable[[Collection[int]], object] | None = None,
    ) -> Iterator[CachedBucket[R]]:
        """Every bucket in order: from the cache (`known`, when that has been asked already), or made and kept.

        `work(build, bucket, *arguments)` writes the files of one bucket, in a worker process, and returns its result;
        with `services`, which answer lookups about the rest of the label, the result and the lookups that it made.
        A bucket is kept as soon as it is made, so a killed build loses only what was being worked on.

        Worker processes have begun with buckets of `files` when this returns: before what others told is decoded and
        their lookups are replayed, and before `meanwhile` is called with the known buckets.
        """
        before = build.required(self.after).refused if self.after else ()
        lost = frozenset(file.path for file in before)
        attempts = Attempts(build.directory, self.name) if self.files else None
        own = partial(_made, self, lost, work, services is not None, tuple(keys))
        make = partial(map_buckets, own, build, *arguments, sizes=sizes, attempts=attempts)
        found = dict(known or {})
        taken = self._taken(build, keys) if known is None and services is None else {}
        traces = self._traces(build, keys) if known is None and services is not None else {}
        met = found.keys() | taken.keys() | traces.keys()
        new = [bucket for bucket in build.buckets if bucket not in met]
        made: Iterator[CachedBucket[R]] = make(buckets=new)
        found |= self._decoded(keys, taken)
        found |= self._verified(build, keys, traces, services or ())
        if meanwhile is not None:
            meanwhile(found)
        changed = [bucket for bucket in sorted(met) if bucket not in found]
        if changed:
            found |= zip(new, made, strict=True)  # all of them: only one map has attempts at a time
            made = make(buckets=changed)
        return (found[bucket] if bucket in found else next(made) for bucket in build.buckets)

    def keep(self, build: IndexBuild, bucket: int, key: str, result: R) -> CachedBucket[R]:
        """Puts the files of a bucket, as they are in the generation now, into the cache."""
        counted = msgspec.json.encode(result, order="deterministic")
        digest = PartCache(build.home.cache).put(self.name, key, self._files(build, bucket), counted)
        return CachedBucket(key, result, digest, False)

    def unkept(self, build: IndexBuild, bucket: int, result: R, refused: Sequence[RefusedFile] = ()) -> CachedBucket[R]:
        """A bucket whose files are in the generation now, and that a later build must not take for finished."""
        digest = digest_of({file.name: sha256_of(file.path) for file in self._files(build, bucket)})
        return CachedBucket("", result, digest, False, tuple(refused))

    @contextmanager
    def guard(self, build: IndexBuild, bucket: int, lost: frozenset[str]) -> Iterator[tuple[FileGuard, ...]]:
        """What `work` is given beside the bucket; it refuses the `lost` files and does not list them."""
        if not self.files:
            yield ()
            return
        attempts = Attempts(build.directory, self.name)
        with guard_files(build, attempts, bucket, self.version or stage_version(self.name), lost) as guard:
            yield (guard,)

    def _traces(self, build: IndexBuild, keys: Sequence[str]) -> dict[int, list[bytes]]:
        """Those of the buckets that an earlier build has made."""
        if build.spec.fresh:
            return {}
        own = [bytes.fromhex(key) for key in keys]
        with TRACES.open(build.home) as memo:
            known = memo.known(own)
        return {bucket: known[key] for bucket, key in enumerate(own) if key in known}

    def _verified(
        self, build: IndexBuild, keys: Sequence[str], traces: Mapping[int, Sequence[bytes]], services: Sequence[object]
    ) -> dict[int, CachedBucket[R]]:
        """The buckets that the cache has, made with the same results of all lookups."""
        found: dict[int, CachedBucket[R]] = {}
        for attempt in range(max(map(len, traces.values()), default=0)):
            wanted: list[str | None] = [None] * len(keys)
            for bucket, known in traces.items():
                if bucket not in found and attempt < len(known):
                    wanted[bucket] = self._replayed(keys[bucket], known[attempt], services)
            found |= self.cached(build, wanted)
        return found

    def _replayed(self, key: str, trace: bytes, services: Sequence[object]) -> str | None:
        """The key of the bucket itself; None where nobody answers a lookup."""
        found = replayed(services, trace)
        return None if found is None else self.key(key, found[1])

    def _files(self, build: IndexBuild, bucket: int) -> list[PartFile]:
        return [PartFile(table, part_path(build.directory, table, bucket)) for table in self.tables]


def _made(
    memo: BucketMemo[R],
    lost: frozenset[str],
    work: Callable[..., Any],
    looks_up: bool,
    keys: Sequence[str],
    build: IndexBuild,
    bucket: int,
    *arguments: Any,
) -> CachedBucket[R]:
    """Runs in a worker process. Work that `looks_up` returns its lookups beside its result."""
    with memo.guard(build, bucket, lost) as guard:
        made = work(build, bucket, *guard, *arguments)
    result, lookups = made if looks_up else (made, None)
    refused = [file for one in guard for file in one.refused]
    if refused:
        return memo.unkept(build, bucket, result, refused)
    if lookups is None:
        return memo.keep(build, bucket, keys[bucket], result)
    kept = memo.keep(build, bucket, memo.key(keys[bucket], digest_of_lookups(lookups)), result)
    own, trace = bytes.fromhex(keys[bucket]), encoded_questions(lookups)
    with TRACES.open(build.home) as traces:
        before = [known for known in traces.known([own]).get(own, []) if known != trace]
        traces.keep([(own, [trace, *before[: _MOST_TRACES - 1]])])
    return kept


def bucket_inputs(build: IndexBuild, *stages: str) -> list[tuple[str, ...]]:
    """By bucket, the digests of what stages made of it: what the key of a later stage is made of."""
    return list(zip(*(build.required(stage).parts for stage in stages), strict=True))


# --- stages ----------------------------------------------------------------------------------------------------------


def stage_memo(
    stage: str, *upstream: str
) -> Callable[[Callable[Concatenate[IndexBuild, P], StageReport]], Callable[Concatenate[IndexBuild, P], StageReport]]:
    """Makes a function the one of a stage that reads what `upstream` stages made: on inputs that it has finished with,
    its report is given back as `unchanged`; else what it returns becomes the report of the stage."""

    def decorated(
        run: Callable[Concatenate[IndexBuild, P], StageReport],
    ) -> Callable[Concatenate[IndexBuild, P], StageReport]:
        @functools.wraps(run)
        def finished(build: IndexBuild, /, *args: P.args, **kwargs: P.kwargs) -> StageReport:
            inputs = build.inputs_of(stage, *upstream)
            done = build.finished(stage, inputs)
            return done if done is not None else build.finish(replace(run(build, *args, **kwargs), inputs=inputs))

        return finished

    return decorated


class Recorded(TypedDict):
    """What the report of a stage says of itself and of its buckets."""

    stage: str
    version: str
    output: str
    parts: list[str]
    part_keys: dict[str, list[str]]
    refused: list[RefusedFile]


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """What a stage records of the buckets of the steps before its last one."""

    part_keys: dict[str, list[str]] = field(default_factory=dict)
    refused: list[RefusedFile] = field(default_factory=list)

    def add(self, memo: BucketMemo[Any], buckets: Sequence[CachedBucket[Any]]) -> Self:
        self.part_keys[memo.name] = _keys_of(buckets)
        self.refused.extend(_refused_in(buckets))
        return self


def _keys_of(buckets: Sequence[CachedBucket[Any]]) -> list[str]:
    return [bucket.key for bucket in buckets if bucket.key]


def _refused_in(buckets: Sequence[CachedBucket[Any]]) -> list[RefusedFile]:
    return [file for bucket in buckets for file in bucket.refused]


def recorded(
    stage: str,
    buckets: Sequence[CachedBucket[Any]],
    *more: str,
    first: FirstSteps | None = None,
    traces: list[str] | None = None,
) -> Recorded:
    """The data version of a stage's output, a digest over those of its buckets and `more`; and what finds the buckets
    again, those of its `first` steps and the `traces` of lookups too."""
    digests = [bucket.digest for bucket in buckets]
    first = first or FirstSteps()
    return Recorded(
        stage=stage,
        version=stage_version(stage),
        output=cache_key(stage, *digests, *more).hex(),
        parts=digests,
        part_keys={stage: _keys_of(buckets), **first.part_keys, **({TRACES.name: traces} if traces else {})},
        refused=[*first.refused, *_refused_in(buckets)],
    )


def used_buckets(directory: Path) -> dict[str, set[str]]:
    """Name of a memo → keys of the buckets that the generation in a folder is made of. Raises BuildError for a damaged
    report of a stage."""
    found: dict[str, set[str]] = {}
    for report in read_reports(directory):
        for name, keys in report.part_keys.items():
            found.setdefault(name, set()).update(keys)
    return found


def _used_traces(directory: Path) -> Iterator[bytes]:
    return map(bytes.fromhex, used_buckets(directory).get(TRACES.name, ()))


def _used_refusals(directory: Path) -> Iterator[bytes]:
    return (bytes.fromhex(file.key) for report in read_reports(directory) for file in report.refused)


ItemMemo(REFUSED_FILES, Refusal, _used_refusals)

TRACES: ItemMemo[list[bytes]] = ItemMemo("questions", list[bytes], _used_traces)
"""Encoded lookups of each bucket by the key of its own inputs, the latest first."""


class AnswerCache:
    """`Cache` for callers on several threads: SQLite wants a connection to stay on one, so it has its own."""

    def __init__(self, directory: Path) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="llm-cache")
        try:
            self._cache = self._thread.submit(Cache, directory, CACHE_NAME).result()
        except BaseException:
            self._thread.shutdown()
            raise

    def get(self, key: bytes) -> bytes | None:
        return self._thread.submit(self._cache.get_many, [key]).result().get(key)

    def put(self, key: bytes, answer: bytes) -> None:
        """Durable on return. Raises OSError naming the file when it cannot be written."""
        self._thread.submit(self._cache.put_many, [(key, answer)]).result()

    def close(self) -> None:
        self._thread.submit(self._cache.close).result()
        self._thread.shutdown()
