"""A check that reads whole tables runs once on them: its verdict is kept beside the bytes it is about.

A verdict counts only for exactly these bytes: the files are hashed again, which costs a hundredth of reading their
rows. A changed byte, another record of a stage or another version of the checks means that the check runs again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from rag_assets.contracts.identity import cache_key
from rag_assets.index.disk_files import sha256_of
from rag_assets.index.layout import IndexHome, record_if_whole, write_record
from rag_assets.index.parquet_parts import digest_files, part_path
from rag_assets.pipeline.build import IndexBuild, read_spec
from rag_assets.pipeline.memo import ItemMemo
from rag_assets.pipeline.workers.worker_pool import map_buckets, part_sizes
from rag_assets.serialization import from_json

CHECKS_VERSION = 3
"""Raise it when a check would find more or less in the same tables."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The verdict of one check, with numbers and examples for the person who must act on it."""

    passed: bool
    description: str
    numbers: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)


Check = Callable[[IndexBuild], CheckResult]
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Record:
    subject: str
    result: CheckResult


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """What looking at one bucket gave: its rows, problems by name, and examples."""

    rows: int
    problems: dict[str, int]
    examples: list[str]


@dataclass(frozen=True, slots=True)
class BucketCheck(Generic[R]):
    """A look at each bucket alone, which depends on nothing but its parts of `tables`; `result` is what it returns."""

    name: str
    tables: tuple[str, ...]
    result: type[R]

    def __post_init__(self) -> None:
        _BUCKET_CHECKS.append(self)

    def each(self, build: IndexBuild, look: Callable[[IndexBuild, int], R]) -> Iterator[R]:
        """`look(build, bucket)` of each bucket, in worker processes where there are several to look at. What was said
        of the same bytes by an earlier build counts; the bytes are those on the disk now."""
        keys = [self.key(build.directory, bucket) for bucket in build.buckets]
        with _VERDICTS.open(build.home) as memo:
            found = memo.known(keys)
            missing = [bucket for bucket, key in enumerate(keys) if key not in found]
            made: Iterator[R] = map(partial(look, build), missing)
            if len(missing) > 1:
                made = map_buckets(look, build, sizes=part_sizes(build, self.tables[0]), buckets=missing)
            new = {keys[bucket]: msgspec.json.encode(result) for bucket, result in zip(missing, made, strict=True)}
            memo.keep(new.items())
        found |= new
        for key in keys:
            yield from_json(found[key], self.result)

    def kept(self, home: IndexHome, directory: Path, buckets: Iterable[int]) -> list[R | None]:
        """What is kept of each of these buckets of a generation."""
        keys = [self.key(directory, bucket) for bucket in buckets]
        with _VERDICTS.open(home) as memo:
            found = memo.known(keys)
        return [from_json(found[key], self.result) if key in found else None for key in keys]

    def keep(self, home: IndexHome, directory: Path, results: Mapping[int, R]) -> None:
        """Keeps the results of buckets of a generation."""
        with _VERDICTS.open(home) as memo:
            memo.keep((self.key(directory, bucket), msgspec.json.encode(result)) for bucket, result in results.items())

    def key(self, directory: Path, bucket: int) -> bytes:
        """Raises FileNotFoundError for a bucket that has not all its tables yet."""
        digests = (sha256_of(part_path(directory, table, bucket)) for table in self.tables)
        return cache_key(_VERDICTS.name, str(CHECKS_VERSION), self.name, *digests)


_BUCKET_CHECKS: list[BucketCheck[Any]] = []


def _used_verdicts(directory: Path) -> Iterator[bytes]:
    for check in _BUCKET_CHECKS:
        for bucket in range(read_spec(directory).bucket_count):
            with suppress(FileNotFoundError):  # a build that has not come so far
                yield check.key(directory, bucket)


_VERDICTS = ItemMemo("checks", bytes, _used_verdicts)
"""What `BucketCheck`s returned, as JSON."""


def once_per_state(*stages: str, beside: Callable[[IndexBuild], str | None] | None = None) -> Callable[[Check], Check]:
    """Keeps the result of a check that reads nothing but the tables and records of `stages`, and what `beside` gives a
    fingerprint of; where that is None, nothing is kept.

    Only a check that passed is kept: what failed is looked at again, and a finished generation is not written to.
    """

    def decorated(check: Check) -> Check:
        @functools.wraps(check)
        def checked(build: IndexBuild) -> CheckResult:
            own = beside(build) if beside is not None else ""
            if own is None:
                return check(build)
            subject = _subject(build, check.__name__, stages, own)
            path = build.directory / "checks" / f"{check.__name__}.json"
            known = record_if_whole(path, _Record)
            if known is not None and known.subject == subject:
                return known.result
            result = check(build)
            if result.passed and not build.is_finished:
                write_record(path, _Record(subject, result), order="sorted")
            return result

        return checked

    return decorated


def _subject(build: IndexBuild, name: str, stages: tuple[str, ...], own: str) -> str:
    """The fingerprint of all that the check reads: the tables as they are now, and what the stages counted and
    reported; how much work that was is no part of it."""
    counted = [
        msgspec.json.encode((record.counts, record.problems), order="sorted").decode() if record is not None else ""
        for record in map(build.record, stages)
    ]
    parts = [part_path(build.directory, stage, bucket) for stage in stages for bucket in build.buckets]
    present = [path for path in parts if path.is_file()]
    return cache_key("check", str(CHECKS_VERSION), name, own, *counted, digest_files(present, build.directory)).hex()
