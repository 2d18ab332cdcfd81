"""The one mechanism behind every incremental stage: a part, one bucket of a stage, is a pure function of its key.

A key is made of the version of the stage, the configuration it reads and the contents of the parts it reads; never of
a label, a commit or a path of this machine. So a part that any build of any label has made is found by its key and
linked into the next generation that needs it. The files of a part are hard links where the file system has them: what
all generations share lies on the disk once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypedDict, TypeVar

import msgspec

from rag_assets.decoders import from_json
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.versions import stage_version
from rag_assets.stages.workers import map_buckets
from rag_assets.stores.cache import cache_key
from rag_assets.stores.file_digests import sha256_of
from rag_assets.stores.part_cache import PartCache, PartFile, digest_of
from rag_assets.stores.tables import part_path

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Part(Generic[R]):
    """One bucket of a stage in a generation: its key, what its worker returned, a digest of its files, and whether it
    was there already."""

    key: str
    result: R
    digest: str
    reused: bool


@dataclass(frozen=True, slots=True)
class PartsOf(Generic[R]):
    """What the parts of a stage are: the `tables` that have a file for each bucket, and what was counted when they were
    made, which msgspec can encode. `name` is that of the stage, or of one of its steps."""

    name: str
    result: type[R]
    tables: tuple[str, ...]

    def files(self, build: IndexBuild, bucket: int) -> list[PartFile]:
        return [PartFile(table, part_path(build.directory, table, bucket)) for table in self.tables]


def part_key(stage: str, *inputs: str) -> str:
    """The key of a part: 64 hex digits over the version of its stage and everything it is made of."""
    return cache_key(stage, stage_version(stage), *inputs).hex()


class Recorded(TypedDict):
    """What the report of a stage says of its parts."""

    output: str
    parts: list[str]
    part_keys: dict[str, list[str]]


def recorded(stage: str, parts: Sequence[Part[Any]], *more: str, **keys: list[str]) -> Recorded:
    """The data version of a stage's output, a digest over those of its parts and `more`; and what finds the parts
    again. `keys` are those of other caches."""
    digests = [part.digest for part in parts]
    own = [part.key for part in parts if part.key]
    return Recorded(output=cache_key(stage, *digests, *more).hex(), parts=digests, part_keys={stage: own, **keys})


def reused_parts(build: IndexBuild, kind: PartsOf[R], keys: Sequence[str | None]) -> dict[int, Part[R]]:
    """The parts that the cache has, linked into the generation; `keys` are by bucket, None for one not to look for."""
    if build.fresh:
        return {}
    cache = PartCache(build.home.parts)
    found: dict[int, Part[R]] = {}
    for bucket, key in enumerate(keys):
        taken = cache.take(kind.name, key, kind.files(build, bucket)) if key is not None else None
        if taken is not None and key is not None:
            with suppress(msgspec.DecodeError):  # damaged, or of a program that counted something else: made again
                found[bucket] = Part(key, from_json(taken.result, kind.result), taken.digest, True)
    return found


def made_parts(
    build: IndexBuild,
    kind: PartsOf[R],
    keys: Sequence[str],
    work: Callable[..., R],
    *arguments: Any,
    known: Mapping[int, Part[R]] | None = None,
    sizes: Sequence[int] | None = None,
) -> Iterator[Part[R]]:
    """Every part in bucket order: from the cache (`known`, when that has been asked already), or made and kept.

    `work(build, bucket, *arguments)` writes the files of one bucket, in a worker process, and returns what it counted.
    A part is kept as soon as it is made, so a killed build loses only what was being worked on.
    """
    if known is None:
        known = reused_parts(build, kind, keys)
    yield from completed(build, known, partial(_make, kind, work, tuple(keys)), *arguments, sizes=sizes)


def completed(
    build: IndexBuild,
    known: Mapping[int, Part[R]],
    making: Callable[..., Part[R]],
    *arguments: Any,
    sizes: Sequence[int] | None = None,
) -> Iterator[Part[R]]:
    """The known parts and, where there is none, what `making(build, bucket, *arguments)` makes; in bucket order."""
    missing = [bucket for bucket in build.buckets if bucket not in known]
    made = map_buckets(making, build, *arguments, sizes=sizes, buckets=missing)
    for bucket in build.buckets:
        yield known[bucket] if bucket in known else next(made)


def keep_part(build: IndexBuild, kind: PartsOf[R], key: str, bucket: int, result: R) -> Part[R]:
    """Puts the files of a bucket, as they are in the generation now, into the cache."""
    digest = PartCache(build.home.parts).put(
        kind.name, key, kind.files(build, bucket), msgspec.json.encode(result, order="deterministic")
    )
    return Part(key, result, digest, False)


def digest_of_part(build: IndexBuild, kind: PartsOf[R], bucket: int) -> str:
    """The digest of the files of a bucket, as they are in the generation now."""
    return digest_of({file.name: sha256_of(file.path) for file in kind.files(build, bucket)})


def _make(
    kind: PartsOf[R],
    work: Callable[..., R],
    keys: tuple[str, ...],
    build: IndexBuild,
    bucket: int,
    *arguments: Any,
) -> Part[R]:
    """Runs in a worker process."""
    return keep_part(build, kind, keys[bucket], bucket, work(build, bucket, *arguments))
