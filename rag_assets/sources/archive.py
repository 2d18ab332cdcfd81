"""Source archives (.zip, .tar and its compressed forms) as snapshots, read in one bounded pass that detects truncation.

Members are copied once into one anonymous file.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, cast

from rag_assets.contracts.source_file import GitRepoInfo, SkippedFile, SkipReason
from rag_assets.errors import CorruptArchive, EmptyRepository, MissingCommit, SourceError
from rag_assets.sources.locations import DEFAULT_ARCHIVE_REF
from rag_assets.sources.snapshot import EntryKind, SnapshotWithoutHistory, TreeEntry, utc_iso
from rag_assets.sources.urls import archive_version, safe_path

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


MAX_EXPANDED_BYTES = 2 * 1024**3
"""The largest expanded size of an archive. The largest source trees (Chromium, LLVM) are beyond it, even compressed."""
MAX_MEMBER_BYTES = 64 * 1024**2
"""Larger members are listed but never expanded; no hand-written text file is near this size."""
MAX_MEMBERS = 200_000
_KEPT_IN_MEMORY = 16 * 1024**2
_RESOURCE_FORKS = "__MACOSX/"


@dataclass(frozen=True, slots=True)
class _Stored:
    offset: int
    size: int


class ArchiveSnapshot(SnapshotWithoutHistory):
    """The Snapshot of a source archive. A single top-level folder, which every forge and sdist adds, is removed.

    `commit_sha` is the sha256 of the archive file; the date is that of its newest member.
    """

    def __init__(self, path: Path, ref: str | None, commit: str | None) -> None:
        self._path = path
        sha256 = archive_id(path)
        if commit is not None and not sha256.startswith(commit.lower()):
            raise MissingCommit(f"{path.name}: the archive is {sha256[:12]}, not {commit}")
        self._stored: dict[str, _Stored] = {}
        self._content: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_KEPT_IN_MEMORY)  # noqa: SIM115
        try:
            entries, newest = self._expand()
        except BaseException:
            self._content.close()
            raise
        self._entries = entries
        self.ref = ref or archive_version(path.name) or DEFAULT_ARCHIVE_REF
        self.info = GitRepoInfo(path.name, self.ref, sha256, utc_iso(newest), is_git=False)

    def entries(self) -> list[TreeEntry]:
        return self._entries

    def read(self, entries: Iterable[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes | SkippedFile]]:
        for entry in entries:
            if entry.refused is not None:
                yield entry, entry.skipped(entry.refused, entry.detail)
            else:
                stored = self._stored[entry.path]
                self._content.seek(stored.offset)
                yield entry, self._content.read(stored.size)

    def close(self) -> None:
        self._content.close()

    def _expand(self) -> tuple[list[TreeEntry], float]:
        entries: dict[str, TreeEntry] = {}
        unsafe: list[TreeEntry] = []
        replaced: list[TreeEntry] = []
        newest = 0.0
        expanded = 0
        for count, member in enumerate(members_of(self._path, MAX_EXPANDED_BYTES)):
            if count >= MAX_MEMBERS:
                raise CorruptArchive(f"{self._path.name}: it has more than {MAX_MEMBERS:,} members")
            entry = _entry_of(member)
            if entry.refused is None and entry.kind is EntryKind.FILE:
                expanded += member.size
                if expanded > MAX_EXPANDED_BYTES:
                    raise CorruptArchive(f"{self._path.name}: it expands to more than {MAX_EXPANDED_BYTES:,} bytes")
                entry = self._store(entry, member)
                newest = max(newest, member.modified)
            if entry.refused is SkipReason.UNSAFE_PATH:
                unsafe.append(entry)
                continue
            earlier = entries.get(entry.path)
            if earlier is not None:  # the last one wins, as in unpacking
                why = "a later member of the same name replaces it"
                replaced.append(replace(earlier, refused=SkipReason.DUPLICATE_PATH, detail=why))
            entries[entry.path] = entry
        if not entries and not unsafe:
            raise EmptyRepository(f"{self._path.name}: the archive contains no file")
        top = _common_folder(entries)
        self._stored = {path.removeprefix(top): stored for path, stored in self._stored.items()}
        within = [replace(entry, path=entry.path.removeprefix(top)) for entry in (*entries.values(), *replaced)]
        return sorted([*within, *unsafe], key=lambda entry: entry.path), newest

    def _store(self, entry: TreeEntry, member: ArchiveMember) -> TreeEntry:
        if member.size > MAX_MEMBER_BYTES:
            return replace(
                entry, refused=SkipReason.TOO_LARGE, detail=f"{member.size:,} bytes, limit {MAX_MEMBER_BYTES:,}"
            )
        data = member.read(MAX_MEMBER_BYTES)
        if isinstance(data, str):
            return replace(entry, refused=SkipReason.UNREADABLE, detail=data)
        self._content.seek(0, 2)
        self._stored[entry.path] = _Stored(self._content.tell(), len(data))
        self._content.write(data)
        return replace(entry, blob_id=hashlib.sha256(data).hexdigest(), size=len(data), modified=member.modified)


def archive_id(path: Path) -> str:
    """The sha256 of the archive file. Raises SourceError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}") from error


def _entry_of(member: ArchiveMember) -> TreeEntry:
    path, problem = safe_path(member.name)
    if problem:
        return TreeEntry(path, "", member.size, EntryKind.FILE, SkipReason.UNSAFE_PATH, problem)
    if member.is_link:
        return TreeEntry(path, "", 0, EntryKind.SYMLINK)
    if member.problem:
        return TreeEntry(path, "", member.size, EntryKind.FILE, SkipReason.UNREADABLE, member.problem)
    return TreeEntry(path, "", member.size)


def _common_folder(paths: Iterable[str]) -> str:
    """`pythonnet-3.2.1/` if it holds every member, else empty."""
    tops = {path.partition("/") for path in paths if not path.startswith(_RESOURCE_FORKS)}
    folders = {f"{top}/" if slash else "" for top, slash, _ in tops}
    return folders.pop() if len(folders) == 1 else ""
