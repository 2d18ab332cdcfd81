"""Finished parts of stages by content key, shared by every label of a home and disposable at any time.

    cache/parts/{stage}/{2 digits}/{key}/{table}.parquet    the files of a part
                                        /part.json          their digests, and what the stage counted

Files are hard links to those of the generations, or copies where the file system has no links. An entry appears by one
rename and is never changed. What does not match its digest is thrown away and made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rag_assets.decoders import from_json
from rag_assets.stores.file_digests import crc32_of, is_intact, sha256_of

_ABOUT = "part.json"


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
    """The parts under one folder."""

    root: Path

    def take(self, stage: str, key: str, files: Sequence[PartFile]) -> TakenPart | None:
        """Links the files of a part to where they are wanted, or None where the part is not there or not whole."""
        entry = self._entry(stage, key)
        try:
            about = from_json((entry / _ABOUT).read_bytes(), _About)
        except (FileNotFoundError, msgspec.DecodeError):
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
            (making / _ABOUT).write_bytes(msgspec.json.encode(_About(known, msgspec.Raw(result)), order="sorted"))
            self._publish(making, entry)
        finally:
            shutil.rmtree(making, ignore_errors=True)
        return digest_of({name: file.sha256 for name, file in known.items()})

    def entries(self) -> Iterator[tuple[str, str, Path]]:
        """(kind, key, folder) of every entry, in order. Halves that a killed process left have a key of no part."""
        for kind in sorted(self.root.glob("*")):
            for entry in sorted(kind.glob("??/*")):
                yield kind.name, entry.name, entry

    def _publish(self, making: Path, entry: Path) -> None:
        for _ in range(2):
            try:
                making.rename(entry)
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
