"""The members of tar and zip archives in one form, read in one bounded pass that detects a truncated file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, cast

from rag_assets.errors import CorruptArchive

_LARGEST_READ = 64 * 1024**2  # tarfile reads extended headers whole; an honest one has a few kilobytes
_BLOCK = 512  # a tar file ends with blocks of zeros
_CHUNK = 128 * _BLOCK
_DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    NotImplementedError,  # a compression method that Python does not have
    RuntimeError,  # zipfile: a password is needed
)


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """One file or link of an archive. `read(limit)` returns the bytes or a reason; call it before taking the next."""

    name: bytes
    size: int
    modified: float
    read: Callable[[int], bytes | str]
    is_link: bool = False
    problem: str = ""


def members_of(path: Path, max_expanded: int) -> Iterator[ArchiveMember]:
    """The members in archive order, without directories. Raises CorruptArchive naming the file and the cause."""
    with _explained(path.name):
        with path.open("rb") as file:
            is_zip = file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")
        yield from _zip_members(path) if is_zip else _tar_members(path, max_expanded)


@contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise CorruptArchive(
            f"{name}: the archive is truncated or damaged ({error or type(error).__name__}); fetch it again"
        ) from error


def _zip_members(path: Path) -> Iterator[ArchiveMember]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            # Old .NET versions wrote backslashes as separators, which the format does not allow.
            name = info.orig_filename.replace("\\", "/")
            if name.endswith("/"):
                continue
            mode = info.external_attr >> 16
            yield ArchiveMember(
                name=name.encode("utf-8", "surrogateescape").removeprefix(b"./"),
                size=info.file_size,
                modified=_zip_time(info),
                read=lambda limit, info=info: _read_zip(archive, info, limit),  # type: ignore[misc]
                is_link=stat.S_ISLNK(mode),
                problem="encrypted" if info.flag_bits & 1 else "",
            )


def _read_zip(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes | str:
    try:
        with archive.open(info) as file:
            data = file.read(limit + 1)
    except _DAMAGED as error:
        return f"damaged member: {error}"
    return data if len(data) <= limit else f"expands to more than {limit:,} bytes"


def _zip_time(info: zipfile.ZipInfo) -> float:
    try:
        return datetime(*info.date_time, tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0  # an impossible date


def _tar_members(path: Path, max_expanded: int) -> Iterator[ArchiveMember]:
    with path.open("rb") as raw, _decompressed(raw, path.name) as plain:
        stream = _ForwardStream(plain, max_expanded, path.name)
        with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r:", errorlevel=2) as archive:
            for info in archive:
                archive.members = []  # type: ignore[attr-defined]  # the list would only grow, and nobody goes back
                if info.isdir():
                    continue
                yield ArchiveMember(
                    name=info.name.encode("utf-8", "surrogateescape").removeprefix(b"./"),
                    size=info.size,
                    modified=float(info.mtime),
                    read=lambda limit, info=info: _read_tar(archive, info, path.name),  # type: ignore[misc]
                    is_link=info.issym() or info.islnk(),
                    problem="" if info.isreg() or info.issym() or info.islnk() else "not a regular file",
                )
        stream.drain()


def _read_tar(archive: tarfile.TarFile, info: tarfile.TarInfo, name: str) -> bytes | str:
    with _explained(name):
        file = archive.extractfile(info)
        if file is None:
            return "not a regular file"
        data = file.read()
        if len(data) != info.size:
            raise EOFError(f"member {info.name} ends after {len(data):,} of {info.size:,} bytes")
        return data


def _decompressed(raw: IO[bytes], name: str) -> IO[bytes]:
    """The plain bytes of a compressed file, recognised by its first bytes. These readers raise on a truncated file."""
    magic = raw.read(6)
    raw.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=raw))
    if magic.startswith(b"BZh"):
        return cast(IO[bytes], bz2.BZ2File(raw))
    if magic.startswith(b"\xfd7zXZ\0"):
        return cast(IO[bytes], lzma.LZMAFile(raw))
    if not name.lower().endswith(".tar"):
        raise CorruptArchive(f"{name}: the archive is damaged, it does not begin as its format does; fetch it again")
    return raw


class _ForwardStream:
    """A file object for tarfile that only goes forward. It is bounded and detects a missing end mark."""

    def __init__(self, plain: IO[bytes], limit: int, name: str) -> None:
        self._plain = plain
        self._limit = limit
        self._name = name
        self._position = 0
        self._tail = b""

    def read(self, size: int) -> bytes:
        if size > _LARGEST_READ:
            raise CorruptArchive(f"{self._name}: a header of {size:,} bytes does not belong into a source archive")
        data = self._plain.read(size)
        self._position += len(data)
        if self._position > self._limit:
            raise CorruptArchive(f"{self._name}: it expands to more than {self._limit:,} bytes")
        self._tail = (self._tail + data)[-_BLOCK:]
        return data

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> int:
        while self._position < position:
            if not self.read(min(position - self._position, _CHUNK)):
                raise EOFError("unexpected end of data")
        if self._position > position:
            raise io.UnsupportedOperation("the stream only goes forward")
        return position

    def drain(self) -> None:
        """Reads to the end, which verifies the checksum of the compression, and looks for tar's end mark."""
        while self.read(_CHUNK):
            continue
        if self._tail.strip(b"\0") or len(self._tail) < _BLOCK:
            raise EOFError("the end mark is missing")
