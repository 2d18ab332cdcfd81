"""A plain directory without git. Opening it hashes its content, and the hash serves as commit id."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from rag_assets.contracts.source_file import GitRepoInfo, SkippedFile, SkipReason
from rag_assets.errors import EmptyRepository, MissingCommit
from rag_assets.sources.default_ignores import VERSION_CONTROL
from rag_assets.sources.ignore import GITIGNORE_FILE, IGNORE_FILE, IgnorePolicy, PathRules
from rag_assets.sources.locations import DEFAULT_DIRECTORY_REF
from rag_assets.sources.snapshot import EntryKind, SnapshotWithoutHistory, TreeEntry, utc_iso
from rag_assets.sources.urls import safe_path

_IGNORE_FILE_BYTES = 1024 * 1024  # a longer list of patterns is not one


class DirectorySnapshot(SnapshotWithoutHistory):
    """The Snapshot of a directory at the moment of construction.

    `commit_sha` is the sha256 over path and content of the files that pass the path rules of `policy`, so build output
    and installed packages do not change it. A file that changes later is reported, not mixed in.
    """

    def __init__(self, root: Path, ref: str | None, commit: str | None, policy: IgnorePolicy) -> None:
        self._root = root
        self._policy = policy
        self._files: dict[str, str] = {}
        self._entries, newest = self._scan()
        digest = hashlib.sha256()
        for entry in self._entries:
            if entry.refused is None and entry.kind is EntryKind.FILE:
                digest.update(entry.path.encode() + b"\0" + entry.blob_id.encode() + b"\n")
        if not self._files:
            raise EmptyRepository(f"{root}: the directory contains no file to index")
        self.ref = ref or DEFAULT_DIRECTORY_REF
        self.info = GitRepoInfo("", self.ref, digest.hexdigest(), utc_iso(newest), is_git=False)
        if commit is not None and not self.info.commit_sha.startswith(commit.lower()):
            raise MissingCommit(
                f"{root}: it is a directory without git and can be read as it is now only, which is "
                f"{self.info.commit_sha[:12]}, not {commit}"
            )

    def entries(self) -> list[TreeEntry]:
        return self._entries

    def read(self, entries: Iterable[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes | SkippedFile]]:
        for entry in entries:
            yield entry, self._content(entry)

    def _content(self, entry: TreeEntry) -> bytes | SkippedFile:
        if entry.refused is not None:
            return entry.skipped(entry.refused, entry.detail)
        try:
            data = Path(self._files[entry.path]).read_bytes()
        except OSError as error:
            return entry.skipped(SkipReason.UNREADABLE, error.strerror or str(error))
        if hashlib.sha256(data).hexdigest() != entry.blob_id:
            return entry.skipped(SkipReason.UNREADABLE, "changed while it was being indexed; index again")
        return data

    def _scan(self) -> tuple[list[TreeEntry], float]:
        """All entries in path order, and the newest modification time of those that can be read."""
        rules = PathRules(self._policy)
        found: list[TreeEntry] = []
        newest = 0.0
        pending = [("", str(self._root))]
        while pending:
            directory, native = pending.pop()
            try:
                with os.scandir(native) as listing:
                    children = sorted(listing, key=lambda child: child.name)
            except OSError as error:
                found.append(_refused(f"{directory}/", SkipReason.UNREADABLE, error.strerror or str(error)))
                continue
            _add_ignore_files(rules, directory, children)
            for child in children:
                path, problem = _path_of(directory, child)
                if child.name in VERSION_CONTROL:
                    continue
                if problem:
                    found.append(_refused(path, SkipReason.UNSAFE_PATH, problem))
                elif _is_link(child):
                    found.append(TreeEntry(path, "", 0, EntryKind.SYMLINK))
                elif child.is_dir(follow_symlinks=False):
                    refusal = rules.refused_directory(path)
                    if refusal is None:
                        pending.append((path, child.path))
                    else:
                        found.append(_refused(f"{path}/", *refusal))
                else:
                    entry, modified = self._file(path, child, rules)
                    found.append(entry)
                    newest = max(newest, modified)
        return sorted(found, key=lambda entry: entry.path), newest

    def _file(self, path: str, child: os.DirEntry[str], rules: PathRules) -> tuple[TreeEntry, float]:
        refusal = rules.refused_path(path)
        try:
            status = child.stat(follow_symlinks=False)
            if refusal is not None:
                return _refused(path, *refusal, size=status.st_size), 0.0
            if not stat.S_ISREG(status.st_mode):
                return _refused(path, SkipReason.UNREADABLE, "not a regular file"), 0.0
            with Path(child.path).open("rb") as file:
                blob_id = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            return _refused(path, SkipReason.UNREADABLE, error.strerror or str(error)), 0.0
        self._files[path] = child.path
        return TreeEntry(path, blob_id, status.st_size, modified=status.st_mtime), status.st_mtime


def _add_ignore_files(rules: PathRules, directory: str, children: list[os.DirEntry[str]]) -> None:
    by_name = {child.name: child for child in children}
    for name in (GITIGNORE_FILE, IGNORE_FILE):
        child = by_name.get(name)
        if child is not None and child.is_file(follow_symlinks=False):
            with Path(child.path).open("rb") as file:
                rules.add_ignore_file(directory, name, file.read(_IGNORE_FILE_BYTES))


def _path_of(directory: str, child: os.DirEntry[str]) -> tuple[str, str]:
    name, problem = safe_path(os.fsencode(child.name))
    return (f"{directory}/{name}" if directory else name), problem


def _is_link(child: os.DirEntry[str]) -> bool:
    """True for symbolic links and for the junctions of Windows, which are links that `is_symlink` does not see."""
    if child.is_symlink():
        return True
    attributes = getattr(child.stat(follow_symlinks=False), "st_file_attributes", 0)
    return bool(attributes & stat.FILE_ATTRIBUTE_REPARSE_POINT)


def _refused(path: str, reason: SkipReason, detail: str, size: int = 0) -> TreeEntry:
    return TreeEntry(path, "", size, EntryKind.FILE, reason, detail)
