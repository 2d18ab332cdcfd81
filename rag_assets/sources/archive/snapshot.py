"""A source archive (.zip, .tar and its compressed forms). Members are copied once into one anonymous temporary
file. So the archive chooses no file name on disk, and every later read is a seek."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Self

from rag_assets.contracts.source_file import GitRepoInfo, SkippedFile, SkipReason
from rag_assets.errors import CorruptArchive, EmptyRepository, MissingCommit, SourceError
from rag_assets.sources.archive.members import ArchiveMember, members_of
from rag_assets.sources.git.git_diff import TreeDiff
from rag_assets.sources.git.git_history import GitHistory
from rag_assets.sources.locations import DEFAULT_ARCHIVE_REF
from rag_assets.sources.safe_paths import safe_path
from rag_assets.sources.snapshot import EntryKind, TreeEntry, utc_iso
from rag_assets.sources.urls import archive_version

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


class ArchiveSnapshot:
    """The Snapshot of a source archive. A single top-level folder, which every forge and sdist adds, is removed.

    `commit_sha` is the sha256 of the archive file; the date is that of its newest member.
    """

    has_gitignore = True

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

    def head_of(self, ref: str) -> str:
        """The present sha256 of the archive file, whatever `ref` says: an archive has one version."""
        return archive_id(self._path)

    def changes_since(self, commit: str) -> TreeDiff | None:
        """An archive has no history."""
        return None

    def past(self) -> GitHistory | None:
        """An archive has no history."""
        return None

    def close(self) -> None:
        self._content.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        return replace(entry, blob_id=hashlib.sha256(data).hexdigest(), size=len(data))


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
