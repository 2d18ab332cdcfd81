"""A plain directory without git. Its content is hashed when it is opened, which gives it a commit id of its own."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from rag_assets.contracts.source_file import GitRepoInfo, SkippedFile, SkipReason
from rag_assets.sources.changes import Changes
from rag_assets.sources.conventions import VERSION_CONTROL
from rag_assets.sources.entries import Entry, EntryKind, safe_path, utc_iso
from rag_assets.sources.errors import EmptyRepository, MissingCommit
from rag_assets.sources.ignore import GITIGNORE_FILE, IGNORE_FILE, IgnorePolicy, PathRules
from rag_assets.sources.past import Past
from rag_assets.sources.places import DEFAULT_DIRECTORY_REF

_IGNORE_FILE_BYTES = 1024 * 1024  # a longer list of patterns is not one


class DirectorySnapshot:
    """The Snapshot of a directory as it was when this was made.

    `commit_sha` is the sha256 over path and content of the files that the path rules of `policy` let through,
    so build output and installed packages do not change it. A file that changes later is reported, not mixed in.
    """

    has_gitignore = True

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

    def entries(self) -> list[Entry]:
        return self._entries

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes | SkippedFile]]:
        for entry in entries:
            yield entry, self._content(entry)

    def head_of(self, ref: str) -> str:
        """The content id of the directory now; a directory has one version, whatever `ref` says."""
        return DirectorySnapshot(self._root, ref, None, self._policy).info.commit_sha

    def changes_since(self, commit: str) -> Changes | None:
        """A directory has no history."""
        return None

    def past(self) -> Past | None:
        """A directory has no history."""
        return None

    def close(self) -> None:
        """Nothing is held between calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _content(self, entry: Entry) -> bytes | SkippedFile:
        if entry.refused is not None:
            return entry.skipped(entry.refused, entry.detail)
        try:
            data = Path(self._files[entry.path]).read_bytes()
        except OSError as error:
            return entry.skipped(SkipReason.UNREADABLE, error.strerror or str(error))
        if hashlib.sha256(data).hexdigest() != entry.blob_id:
            return entry.skipped(SkipReason.UNREADABLE, "changed while it was being indexed; index again")
        return data

    def _scan(self) -> tuple[list[Entry], float]:
        """All entries in path order, and the newest modification time of those that can be read."""
        rules = PathRules(self._policy)
        found: list[Entry] = []
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
                    found.append(Entry(path, "", 0, EntryKind.SYMLINK))
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

    def _file(self, path: str, child: os.DirEntry[str], rules: PathRules) -> tuple[Entry, float]:
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
        return Entry(path, blob_id, status.st_size), status.st_mtime


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


def _refused(path: str, reason: SkipReason, detail: str, size: int = 0) -> Entry:
    return Entry(path, "", size, EntryKind.FILE, reason, detail)
