"""The cache of a home: results of stages by content key, shared by every label, disposable at any time.

    cache/format                                  the version of all below
          {name}.sqlite                           `Cache`: sha256 key → checksum and bytes
          parts/{memo}/{2 digits}/{key}/{table}   `PartCache`: the files of one bucket of a stage
                                       /part.json their digests, and what the stage counted

A stage is a pure function of (stage version, configuration that matters, input). `cache_key` makes the key
of exactly these, so a hit is always right and nothing is ever invalidated by hand. Keys and values carry
no paths of this machine. Files of parts are hard links to those of the generations, or copies where the file system has
no links. A part appears by one rename and is never changed; what does not match its digest is thrown away.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import uuid
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec
from filelock import FileLock

from rag_assets.closeable import Closeable
from rag_assets.index.disk_files import crc32_of, is_intact, sha256_of
from rag_assets.index.layout import (
    RecordDamaged,
    read_record,
    record_if_whole,
    require_format,
    sealed_record,
    sqlite_uri,
    write_atomically,
)

CACHE_FORMAT = 2
"""Raise it when this version could misread an entry that another one wrote under the same key."""

_FORMAT = "format"
_PARTS = "parts"
_ABOUT = "part.json"
_QUERY_BATCH = 500  # bound variables per statement; old SQLite builds allow 999
_BUSY_SECONDS = 60.0  # several builds write the same file; a writer holds it for one batch only


CacheEntries = dict[Path, dict[bytes, bytes]]
"""What was put into caches, by their files."""

_aside: CacheEntries | None = None


@contextlib.contextmanager
def set_entries_aside() -> Iterator[CacheEntries]:
    """While the context lasts, for a process that must not open the files, as they are on another machine: caches are
    empty, and what is put into them is in the given entries once they are closed. For one thread at a time."""
    global _aside
    _aside = {}
    try:
        yield _aside
    finally:
        _aside = None


def keep_entries(entries: Mapping[Path, Mapping[bytes, bytes]]) -> None:
    """Puts entries that were set aside elsewhere into their caches. Raises OSError naming the file."""
    for path, found in entries.items():
        with Cache(path.parent, path.stem) as cache:
            cache.replace_many(list(found.items()))


def require_cache_format(directory: Path) -> None:
    """Makes the folder of a cache, or checks that this version reads what is in it. Raises OtherFormat."""
    found = _format_of(directory)
    if found == 0 and not any(directory.glob("*.sqlite")) and not (directory / _PARTS).exists():
        write_atomically(directory / _FORMAT, str(CACHE_FORMAT).encode())
        return
    # Another process may have made the cache since: it writes the format before the first entry.
    require_format(f"cache {directory}", found or _format_of(directory), CACHE_FORMAT, "run: rag-assets reset --cache")


def _format_of(directory: Path) -> int:
    """0 where it is not known."""
    try:
        return int((directory / _FORMAT).read_bytes())
    except (FileNotFoundError, ValueError):
        return 0


class Cache(Closeable):
    """A namespace of the cache, one SQLite file. Every `put` is durable against a killed process.

    Everything in it can be computed again: a damaged entry is none, a damaged file gives way to an empty cache.
    """

    def __init__(self, directory: Path, name: str) -> None:
        self.path = directory / f"{name}.sqlite"
        self._entries = None if _aside is None else _aside.setdefault(self.path, {})
        if self._entries is not None:
            self._connection = self._open(":memory:")
            return
        require_cache_format(directory)
        with FileLock(self.path.with_suffix(".lock")):  # two first openings at once: WAL mode does not wait its turn
            self._connection = self._open_or_replace()

    def _open_or_replace(self) -> sqlite3.Connection:
        try:
            return self._open(self.path)
        except sqlite3.DatabaseError as error:
            self._set_aside(error)
            return self._open(self.path)

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Raises OSError where the file is not damaged, but busy, or the disk full or read-only."""
        if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
            raise OSError(f"cache {self.path}: {error}") from error
        self.path.replace(self.path.with_suffix(".damaged"))
        for log in ("-wal", "-shm"):  # else they would be those of the new file
            self.path.with_name(f"{self.path.name}{log}").unlink(missing_ok=True)

    def _replace(self, error: sqlite3.DatabaseError) -> None:
        """Goes on with an empty cache."""
        self._connection.close()
        with FileLock(self.path.with_suffix(".lock")):
            self._set_aside(error)
            self._connection = self._open(self.path)

    def _open(self, path: Path | str) -> sqlite3.Connection:
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        except BaseException:
            connection.close()
            raise
        return connection

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The entries that exist, in no particular order. Raises OSError naming the file."""
        found: dict[bytes, bytes] = {}
        try:
            for start in range(0, len(keys), _QUERY_BATCH):
                batch = keys[start : start + _QUERY_BATCH]
                marks = ",".join("?" * len(batch))
                rows = self._connection.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", batch)
                found.update((key, stored[_CHECKSUM:]) for key, stored in rows if _is_whole(key, stored))
        except sqlite3.DatabaseError as error:
            self._replace(error)
        return found

    def put_many(self, entries: Sequence[tuple[bytes, bytes]]) -> None:
        """Writes a batch in one transaction; what is there stays. Raises OSError naming the file when the disk is full
        or read-only."""
        self._insert("INSERT OR IGNORE", entries)

    def replace_many(self, entries: Sequence[tuple[bytes, bytes]]) -> None:
        """Writes a batch in one transaction, whatever was there. Raises OSError naming the file."""
        self._insert("INSERT OR REPLACE", entries)

    def _insert(self, statement: str, entries: Sequence[tuple[bytes, bytes]]) -> None:
        if not entries:
            return
        rows = [(key, _checksum(key, value) + value) for key, value in entries]
        try:
            self._write(statement, rows)
        except sqlite3.DatabaseError as error:
            self._replace(error)
            self._write(statement, rows)

    def _write(self, statement: str, rows: Sequence[tuple[bytes, bytes]]) -> None:
        with self._transaction():
            self._connection.executemany(f"{statement} INTO entries VALUES (?, ?)", rows)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def sweep(self, used: Iterable[bytes], *, dry_run: bool = False) -> tuple[int, int]:
        """Removes every entry whose key is not `used`; returns how many and the bytes of their keys and values.

        The keys are kept in a temporary table, so memory stays small. The file shrinks where the disk has room for a
        copy of what stays; else its free pages are used again. Raises OSError naming the file.
        """
        unused = "FROM entries WHERE NOT EXISTS (SELECT 1 FROM used WHERE used.key = entries.key)"
        try:
            self._connection.execute("CREATE TEMP TABLE used (key BLOB PRIMARY KEY) WITHOUT ROWID")
            keys = iter(used)
            while batch := [(key,) for key in islice(keys, _QUERY_BATCH)]:
                self._connection.execute("BEGIN")
                self._connection.executemany("INSERT OR IGNORE INTO used VALUES (?)", batch)
                self._connection.execute("COMMIT")
            size = f"SELECT count(*), coalesce(sum(length(key) + length(value)), 0) {unused}"
            count, freed = self._connection.execute(size).fetchone()
            if count and not dry_run:
                with self._transaction():
                    self._connection.execute(f"DELETE {unused}")
                self._shrink()
        except sqlite3.DatabaseError as error:
            self._replace(error)
            return 0, 0
        return int(count), int(freed)

    def _shrink(self) -> None:
        with contextlib.suppress(sqlite3.OperationalError):  # a full disk, or another reader: the next sweep does it
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM entries").fetchone()[0])

    def close(self) -> None:
        if self._entries is not None:
            rows = self._connection.execute("SELECT key, value FROM entries")
            self._entries.update((key, stored[_CHECKSUM:]) for key, stored in rows)
        self._connection.close()


_CHECKSUM = 4  # bytes before a value


def _checksum(key: bytes, value: bytes) -> bytes:
    return zlib.crc32(value, zlib.crc32(key)).to_bytes(_CHECKSUM, "big")


def _is_whole(key: bytes, stored: bytes) -> bool:
    return isinstance(stored, bytes) and stored[:_CHECKSUM] == _checksum(key, stored[_CHECKSUM:])


def damaged_caches(directory: Path) -> Iterator[str]:
    """What of a cache folder is not what was written, in words. Reads everything and changes nothing. Raises
    OtherFormat."""
    for path in sorted(directory.glob("*.sqlite")):
        try:
            with contextlib.closing(sqlite3.connect(sqlite_uri(path), uri=True)) as connection:
                problem = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
                rows = connection.execute("SELECT key, value FROM entries")
                damaged = sum(not _is_whole(key, stored) for key, stored in rows)
        except sqlite3.DatabaseError as error:
            problem, damaged = str(error), 0
        if damaged or problem != "ok":
            yield f"{path.name}: {problem if problem != 'ok' else f'{damaged} damaged entries'}"
    if (directory / _PARTS).is_dir():
        parts = PartCache(directory)
        damaged = sum(not parts.is_whole(entry) for _, _, entry in parts.entries())
        if damaged:
            yield f"{damaged} damaged parts"


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file of a part: its name in the cache, and where a generation has it."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class TakenPart:
    """`result` is the JSON text that was put with the part; `digest` is over its files."""

    result: bytes
    digest: str


class _File(msgspec.Struct):
    sha256: str
    crc32: int


class _About(msgspec.Struct):
    files: dict[str, _File]  # by name
    result: msgspec.Raw


@dataclass(frozen=True, slots=True)
class PartCache:
    """The parts of a cache folder."""

    directory: Path

    def __post_init__(self) -> None:
        """Raises OtherFormat."""
        require_cache_format(self.directory)

    @property
    def root(self) -> Path:
        return self.directory / _PARTS

    def take(self, stage: str, key: str, files: Sequence[PartFile]) -> TakenPart | None:
        """Links the files of a part to where they are wanted, or None where the part is not there or not whole."""
        entry = self._entry(stage, key)
        about = record_if_whole(entry / _ABOUT, _About)
        if about is None:
            return None
        try:
            for file in files:
                place_link(entry / file.name, file.path)
        except FileNotFoundError:
            return None
        if not _are_intact(files, about.files):
            self._discard(entry)
            for file in files:
                file.path.unlink(missing_ok=True)
            return None
        return TakenPart(bytes(about.result), digest_of({name: known.sha256 for name, known in about.files.items()}))

    def put(self, stage: str, key: str, files: Sequence[PartFile], result: bytes) -> str:
        """Keeps a part that lies in a generation and returns the digest of its files. What was kept under the key
        before is replaced: equal, or damaged."""
        known = {file.name: _File(sha256_of(file.path), crc32_of(file.path)) for file in files}
        entry = self._entry(stage, key)
        making = entry.with_name(f"{key}.{uuid.uuid4().hex}.tmp")
        try:
            making.mkdir(parents=True)
            for file in files:
                place_link(file.path, making / file.name)
            about = msgspec.json.encode(_About(known, msgspec.Raw(result)), order="sorted")
            (making / _ABOUT).write_bytes(sealed_record(about))
            self._publish(making, entry)
        finally:
            shutil.rmtree(making, ignore_errors=True)
        return digest_of({name: file.sha256 for name, file in known.items()})

    def is_whole(self, entry: Path) -> bool:
        """Whether an entry is what was put there; also true for halves that a killed process left."""
        if entry.suffix:
            return True
        try:
            files = read_record(entry / _ABOUT, _About).files
            return all(is_intact(entry / name, known.sha256, known.crc32) for name, known in files.items())
        except (FileNotFoundError, RecordDamaged):
            return False

    def entries(self) -> Iterator[tuple[str, str, Path]]:
        """(kind, key, folder) of every entry, in order. Halves that a killed process left have a key of no part."""
        for kind in sorted(self.root.glob("*")):
            for entry in sorted(kind.glob("??/*")):
                yield kind.name, entry.name, entry

    def _publish(self, making: Path, entry: Path) -> None:
        for _ in range(2):
            try:
                making.replace(entry)
                return
            except OSError:  # there is one already, maybe made by another process in this moment
                if not entry.exists():
                    raise
                self._discard(entry)

    def _discard(self, entry: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(entry)

    def _entry(self, stage: str, key: str) -> Path:
        return self.root / stage / key[:2] / key


def _are_intact(files: Sequence[PartFile], known: Mapping[str, _File]) -> bool:
    return known.keys() == {file.name for file in files} and all(
        is_intact(file.path, known[file.name].sha256, known[file.name].crc32) for file in files
    )


def unshared_bytes(entry: Path) -> int:
    """The bytes that deleting an entry would free: those of files that no generation has."""
    return sum(known.st_size for known in map(Path.stat, entry.iterdir()) if known.st_nlink == 1)


def place_link(source: Path, target: Path) -> None:
    """Makes `target` the same file as `source`, or a copy of it, in one step. Raises FileNotFoundError."""
    with contextlib.suppress(OSError):  # there is nothing yet, and the folder is
        os.link(source, target)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        try:
            os.link(source, temporary)
        except FileNotFoundError:
            raise
        except OSError:  # no hard links here, or too many of this file
            shutil.copyfile(source, temporary)
        temporary.replace(target)  # does nothing, and keeps its source, where both are one file already
    finally:
        temporary.unlink(missing_ok=True)


def digest_of(digests: Mapping[str, str]) -> str:
    """One digest over those of several named files."""
    digest = hashlib.sha256()
    for name, value in sorted(digests.items()):
        digest.update(f"{name}\0{value}\n".encode())
    return digest.hexdigest()
