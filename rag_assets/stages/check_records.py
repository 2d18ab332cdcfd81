"""A check that reads whole tables runs once on them: its verdict is kept beside the bytes it is about.

A verdict counts only for exactly these bytes: the files are hashed again, which costs a hundredth of reading their
rows. A changed byte, another record of a stage or another version of the checks means that the check runs again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from rag_assets.decoders import from_json
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.workers import map_buckets, part_sizes
from rag_assets.stores.cache import Cache, cache_key
from rag_assets.stores.file_digests import sha256_of
from rag_assets.stores.home import write_atomically
from rag_assets.stores.tables import digest_files, part_path

CHECKS_VERSION = 2
"""Raise it when a check would find more or less in the same tables."""


CHECKED = "checks"


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


def checked_parts(
    build: IndexBuild, name: str, tables: tuple[str, ...], look: Callable[[IndexBuild, int], R], result: type[R]
) -> Iterator[R]:
    """What `look(build, bucket)` says of each bucket, which depends on nothing but its parts of `tables`.

    What was said of the same bytes by an earlier build counts; the bytes are those on the disk now.
    """
    keys = [checked_key(name, tables, build.directory, bucket) for bucket in build.buckets]
    with Cache(build.home.cache, CHECKED) as cache:
        found = cache.get_many(keys)
        missing = [bucket for bucket, key in enumerate(keys) if key not in found]
        sizes = part_sizes(build, tables[0])
        for bucket, made in zip(missing, map_buckets(look, build, sizes=sizes, buckets=missing), strict=True):
            found[keys[bucket]] = msgspec.json.encode(made, order="deterministic")
        cache.put_many([(keys[bucket], found[keys[bucket]]) for bucket in missing])
    for key in keys:
        yield from_json(found[key], result)


def checked_key(name: str, tables: Iterable[str], directory: Path, bucket: int) -> bytes:
    """Where the cache has what a check said of the bytes that are in a generation now."""
    digests = (sha256_of(part_path(directory, table, bucket)) for table in tables)
    return cache_key(CHECKED, str(CHECKS_VERSION), name, *digests)


def once_per_state(
    *stages: str, beside: Callable[[IndexBuild], str | None] | None = None, touched: bool = False
) -> Callable[[Check], Check]:
    """Keeps the result of a check that reads nothing but the tables and records of `stages`, and what `beside` gives a
    fingerprint of; where that is None, nothing is kept. `touched`: looking may change that fingerprint.

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
            known = _read(path)
            if known is not None and known.subject == subject:
                return known.result
            result = check(build)
            if result.passed and not build.is_finished:
                if beside is not None and touched:
                    subject = _subject(build, check.__name__, stages, beside(build) or "")
                write_atomically(path, msgspec.json.encode(_Record(subject, result), order="sorted"))
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


def _read(path: Path) -> _Record | None:
    try:
        return from_json(path.read_bytes(), _Record)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
