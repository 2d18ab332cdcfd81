"""Garbage collection of a home: what its generations need is marked by reading all of them, the rest is swept.

Each `sweep_…` removes one kind, or in a dry run says what it would remove. Whoever calls them decides what is needed
and holds the locks (`pipeline.collect_garbage`). All can be killed at any moment: each removes things that nothing
refers to, one at a time.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from rag_assets.errors import RagAssetsError
from rag_assets.index.cache import Cache, PartCache, unshared_bytes
from rag_assets.index.disk_files import discard, size_on_disk
from rag_assets.index.generations import all_generations, generation_directory, is_finished, pending_build_id
from rag_assets.index.layout import IndexHome
from rag_assets.index.locks import abandoned_scratch
from rag_assets.index.parquet_parts import read_file

T = TypeVar("T")


class SweepError(RagAssetsError):
    """It is not known what is needed, so nothing is removed."""


def generation_directories(home: IndexHome, without: Collection[Path] = ()) -> Iterator[Path]:
    """Every generation of every label, finished or not, but for `without`."""
    for label in home.known_labels():
        for known in all_generations(home, label):
            directory = generation_directory(home, label, known)
            if directory not in without:
                yield directory


def marked(home: IndexHome, used: Callable[[Path], Iterable[T]], *, without: Collection[Path] = ()) -> Iterator[T]:
    """What `used(directory)` says that each generation needs; `without` are directories of generations that do not
    count. Raises SweepError naming a generation that cannot be read: what it needs cannot be known."""
    for directory in generation_directories(home, without):
        try:
            yield from used(directory)
        except (RagAssetsError, OSError) as error:
            raise SweepError(
                f"{directory} cannot be read ({error.__cause__ or error}), so nobody knows what it needs; build "
                f"generation {directory.name} again with: rag-assets index {directory.parents[1].name} --force, and "
                f"delete {directory}"
            ) from error


def referenced_blobs(home: IndexHome, *, without: Collection[Path] = ()) -> set[str]:
    """Addresses in the discovered_files tables of all generations. Raises SweepError."""
    return set(marked(home, _documents, without=without))


def _documents(directory: Path) -> Iterator[str]:
    for part in sorted(directory.glob("discovered_files/part-*.parquet")):
        yield from read_file(part, ["text_sha256"]).column(0).to_pylist()


UNFINISHED_GRACE_SECONDS = 7 * 24 * 3600.0
"""A build that was stopped on Friday goes on after the weekend."""
LEFTOVER_GRACE_SECONDS = 3600.0
"""Processes without a lock write too: a search its stamps, a clone its mirror. None of their files takes an hour."""
_SHOWN_NAMES = 20
_OWN_TABLES = "static-code-own-*"  # OWN_PREFIX of `models.static_code.table`, which is numpy


@dataclass(frozen=True, slots=True)
class Swept:
    """What went of one kind, or would go; `names` are the first of them, where they have names for people."""

    kind: str
    count: int = 0
    bytes: int = 0
    names: tuple[str, ...] = ()


def abandoned_builds(home: IndexHome, label: str, now: float) -> list[Path]:
    """Unfinished builds that nobody goes on with: not the last one begun, or not touched for a week."""
    found = []
    for known in all_generations(home, label):
        directory = generation_directory(home, label, known)
        if is_finished(home, label, known):
            continue
        fresh = now - _touched(directory) < UNFINISHED_GRACE_SECONDS
        if not (fresh and known == pending_build_id(home, label)):
            found.append(directory)
    return found


def sweep_builds(home: IndexHome, builds: Iterable[tuple[str, Path]], *, dry_run: bool) -> Swept:
    """Removes builds, given with their labels; the caller holds these."""
    names, freed = [], 0
    for label, directory in builds:
        size = size_on_disk(directory)
        if dry_run or discard(directory, home.trash(label)):
            names.append(f"{label}:{directory.name}")
            freed += size
    return Swept("abandoned builds", len(names), freed, tuple(names[:_SHOWN_NAMES]))


def sweep_documents(home: IndexHome, *, without: Collection[Path] = (), dry_run: bool = False) -> Swept:
    """Removes the blobs that no generation refers to. Killed in between, it has removed fewer.

    The caller holds the collection lock and those of all labels: a build that is between writing a blob, or finding
    it there, and writing its table would lose it. Raises SweepError, and removes nothing.
    """
    kept = referenced_blobs(home, without=without)
    count = freed = 0
    for path in _blobs(home):
        if path.name not in kept:
            size = path.stat().st_size
            if not dry_run:
                path.unlink()
            count, freed = count + 1, freed + size
    return Swept("documents", count, freed)


def _blobs(home: IndexHome) -> Iterator[Path]:
    for folder in sorted(home.blobs.glob("??")):
        yield from sorted(path for path in folder.iterdir() if path.is_file())


def sweep_parts(
    home: IndexHome, used: Mapping[str, Collection[str]], *, dry_run: bool, older_than: float | None = None
) -> Swept:
    """Removes the parts that are not `used` (memo → keys), and what killed processes left of others; where somebody
    may be making some, only those `older_than` a time (seconds since 1970). Bytes are counted where a generation has
    none of them: else they are not freed."""
    count = freed = 0
    for kind, key, entry in PartCache(home.cache).entries() if home.parts.is_dir() else ():
        if key in used.get(kind, ()):
            continue
        try:
            if older_than is not None and entry.stat().st_mtime >= older_than:
                continue
            size = unshared_bytes(entry)
            if not dry_run:
                shutil.rmtree(entry)
        except FileNotFoundError:  # its maker has finished, or another process removes it too
            continue
        count, freed = count + 1, freed + size
    return Swept("cached parts", count, freed)


def sweep_cache(home: IndexHome, name: str, used: Iterable[bytes], *, dry_run: bool) -> Swept:
    """Removes the entries of one cache that are not `used`. Raises OSError."""
    kind = f"cache entries of {name}"
    if not (home.cache / f"{name}.sqlite").is_file():
        return Swept(kind)
    with Cache(home.cache, name) as cache:
        return Swept(kind, *cache.sweep(used, dry_run=dry_run))


def sweep_mirrors(home: IndexHome, needed: Collection[Path], now: float, *, dry_run: bool) -> Swept:
    """Removes the mirrors of repositories that nobody needs, and clones that were killed; not what is being fetched."""
    found = [path for path in _children(home.mirrors) if path.suffix == ".git" and path not in needed]
    found += [path for path in _children(home.mirrors) if path.suffix == ".tmp"]
    names, freed = [], 0
    for path in found:
        if path.is_dir() and now - _fetched(path) >= LEFTOVER_GRACE_SECONDS:
            size = size_on_disk(path)
            if dry_run or _remove_mirror(path):
                names.append(path.name)
                freed += size
    return Swept("mirrors", len(names), freed, tuple(names[:_SHOWN_NAMES]))


def sweep_tables(home: IndexHome, needed: Collection[Path], now: float, *, dry_run: bool) -> Swept:
    """Removes the tables of `train-embedder` that nobody needs; not one of this hour, which nobody may have configured
    yet."""
    names, freed = [], 0
    for path in _old(home.models.glob(f"{_OWN_TABLES}.bin"), now):
        if path.resolve() not in needed:
            freed += size_on_disk(path)
            names.append(path.name)
            if not dry_run:
                path.unlink(missing_ok=True)
    return Swept("tables", len(names), freed, tuple(names[:_SHOWN_NAMES]))


def sweep_leftovers(home: IndexHome, labels: Collection[str], now: float, *, dry_run: bool) -> Swept:
    """Removes half-written files, half-deleted folders and set-aside caches; of `labels` only, which the caller
    holds."""
    names, freed = [], 0
    for path in _leftovers(home, labels, now):
        freed += size_on_disk(path)
        names.append(path.relative_to(home.root).as_posix())
        if not dry_run:
            _remove(path)
    return Swept("leftovers", len(names), freed, tuple(names[:_SHOWN_NAMES]))


def _leftovers(home: IndexHome, labels: Collection[str], now: float) -> Iterator[Path]:
    for label in sorted(labels):
        yield from _children(home.trash(label))
        yield from _old(home.label(label).glob("*.tmp"), now)
        yield from _old(home.label(label).glob("generations/**/*.tmp"), now)
    yield from _old(abandoned_scratch(home), now)
    for pattern in ("*.tmp", "models/*.tmp", "blobs/??/*.tmp", "cache/*.tmp", "cache/*.damaged"):
        yield from _old(home.root.glob(pattern), now)


def _old(paths: Iterable[Path], now: float) -> Iterator[Path]:
    for path in sorted(paths):
        try:
            if now - path.stat().st_mtime >= LEFTOVER_GRACE_SECONDS:
                yield path
        except FileNotFoundError:  # its writer has finished
            continue


def _remove(path: Path) -> None:
    while path.is_dir():
        with suppress(FileNotFoundError):  # a build that has ended deletes its old generations beside us
            shutil.rmtree(path)
    path.unlink(missing_ok=True)


def _remove_mirror(path: Path) -> bool:
    """Under the lock that a fetch holds; False while there is one."""
    mirror = path.name[: path.name.index(".git") + len(".git")]
    try:
        with FileLock(path.with_name(f"{mirror}.lock"), timeout=0):
            # The name of a killed clone: a kill in between leaves what the next fetch or collection removes.
            doomed = path if path.suffix == ".tmp" else path.replace(path.with_name(f"{path.name}.removed.tmp"))
            _make_deletable(doomed)
            shutil.rmtree(doomed)
    except Timeout:
        return False
    return True


def _make_deletable(folder: Path) -> None:
    """git makes its objects read-only, and Windows deletes no read-only file."""
    if os.name == "nt":
        for path in folder.rglob("*"):
            path.chmod(stat.S_IREAD | stat.S_IWRITE)


def _children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _touched(directory: Path) -> float:
    """When something was last written into a build: stages add files and folders to its first two levels."""
    return max(path.stat().st_mtime for path in (directory, *directory.glob("*"), *directory.glob("*/*")))


def _fetched(mirror: Path) -> float:
    places = (mirror, mirror / "refs", mirror / "refs" / "heads", mirror / "packed-refs", mirror / "objects" / "pack")
    return max(path.stat().st_mtime for path in places if path.exists())
