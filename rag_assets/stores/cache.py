"""The one cache of all stages: sha256 key → bytes, shared by every label, disposable at any time.

A stage is a pure function of (stage version, configuration that matters, input). `cache_key` makes the key
of exactly these, so a hit is always right and nothing is ever invalidated by hand. Keys and values carry
no paths of this machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from filelock import FileLock

from rag_assets.closing import Closing

_QUERY_BATCH = 500  # bound variables per statement; old SQLite builds allow 999
_BUSY_SECONDS = 60.0  # several builds write the same file; a writer holds it for one batch only


def cache_key(*parts: str) -> bytes:
    """32 bytes over the parts; lengths are part of it, so that ("ab","c") and ("a","bc") differ."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


class Cache(Closing):
    """A namespace of the cache, one SQLite file. Every `put` is durable against a killed process.

    A damaged file is set aside and an empty cache takes its place: everything in it can be computed again.
    """

    def __init__(self, directory: Path, name: str) -> None:
        self.path = directory / f"{name}.sqlite"
        directory.mkdir(parents=True, exist_ok=True)
        with FileLock(self.path.with_suffix(".lock")):  # two first openings at once: WAL mode does not wait its turn
            self._connection = self._open_or_replace()

    def _open_or_replace(self) -> sqlite3.Connection:
        try:
            return self._open()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
                raise OSError(f"cache {self.path}: {error}") from error
            self.path.replace(self.path.with_suffix(".damaged"))
            return self._open()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        except BaseException:
            connection.close()
            raise
        return connection

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The entries that exist, in no particular order."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _QUERY_BATCH):
            batch = keys[start : start + _QUERY_BATCH]
            marks = ",".join("?" * len(batch))
            rows = self._connection.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", batch)
            found.update(rows)
        return found

    def put_many(self, entries: Sequence[tuple[bytes, bytes]]) -> None:
        """Writes a batch in one transaction. Raises OSError naming the file when the disk is full or read-only."""
        if not entries:
            return
        try:
            with self._transaction():
                self._connection.executemany("INSERT OR IGNORE INTO entries VALUES (?, ?)", entries)
        except sqlite3.OperationalError as error:
            raise OSError(f"cache {self.path}: {error}") from error

    def replace(self, key: bytes, value: bytes) -> None:
        """Writes one entry, whatever was there. Raises OSError naming the file."""
        self.replace_many([(key, value)])

    def replace_many(self, entries: Sequence[tuple[bytes, bytes]]) -> None:
        """Writes a batch in one transaction, whatever was there. Raises OSError naming the file."""
        if not entries:
            return
        try:
            with self._transaction():
                self._connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", entries)
        except sqlite3.OperationalError as error:
            raise OSError(f"cache {self.path}: {error}") from error

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
        except sqlite3.OperationalError as error:
            raise OSError(f"cache {self.path}: {error}") from error
        return int(count), int(freed)

    def _shrink(self) -> None:
        with contextlib.suppress(sqlite3.OperationalError):  # a full disk, or another reader: the next sweep does it
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def count(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM entries").fetchone()[0])

    def close(self) -> None:
        self._connection.close()
