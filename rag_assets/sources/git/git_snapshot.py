"""One commit of a git repository, read from the object store: no checkout, no index, no working tree."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from subprocess import Popen
from typing import IO, Self

from rag_assets.contracts.source_file import GitRepoInfo, SkippedFile, SkipReason
from rag_assets.errors import LocationError, SourceError
from rag_assets.sources.git import GitError, open_git, run_git, stop
from rag_assets.sources.git.git_diff import TreeDiff, changes_between
from rag_assets.sources.git.git_history import GitHistory
from rag_assets.sources.git.git_refs import Resolved
from rag_assets.sources.snapshot import EntryKind, TreeEntry, utc_iso
from rag_assets.sources.urls import is_remote, safe_path, strip_credentials

_KINDS = {b"120000": EntryKind.SYMLINK, b"160000": EntryKind.SUBMODULE}
_WINDOW = 60
"""Requests in flight. 60 object ids (41 or 65 bytes) stay under 4,096 bytes, which every pipe buffers
without a reader. So writing them never waits for git while git waits for us."""
_MISSING = "the object is not in this clone (partial or damaged)"


class GitSnapshot:
    """The Snapshot of one commit. `subdirectory` limits it to a part of the tree; paths stay those of the root."""

    has_gitignore = False

    def __init__(self, git_dir: Path, where: str, resolved: Resolved, remote_url: str, subdirectory: str = "") -> None:
        self._git_dir = git_dir
        self._where = where
        self._subdirectory = subdirectory
        self._entries: list[TreeEntry] | None = None
        self.ref = resolved.name
        self.info = GitRepoInfo(
            remote_url=remote_url,
            branch=resolved.name,
            commit_sha=resolved.commit,
            commit_date=commit_date(git_dir, resolved.commit),
        )

    def entries(self) -> list[TreeEntry]:
        if self._entries is None:
            found = list_tree(self._git_dir, self.info.commit_sha, self._subdirectory)
            if self._subdirectory and not found:
                raise LocationError(
                    f"{self._where}: {self.ref} ({self.info.commit_sha[:12]}) has no directory {self._subdirectory}"
                )
            self._entries = sorted(found, key=lambda entry: entry.path)
        return self._entries

    def read(self, entries: Iterable[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes | SkippedFile]]:
        """Streams blobs through one `cat-file --batch`. Raises SourceError if git dies meanwhile."""
        process = open_git("cat-file", "--batch", git_dir=self._git_dir)
        try:
            yield from self._stream(process, iter(entries))
        finally:
            stop(process)

    def changes_since(self, commit: str) -> TreeDiff | None:
        return changes_between(self._git_dir, commit, self.info.commit_sha, self._subdirectory)

    def past(self) -> GitHistory | None:
        return GitHistory(self._git_dir, self.info.commit_sha, self._subdirectory)

    def close(self) -> None:
        """Nothing is held between calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stream(
        self, process: Popen[bytes], entries: Iterator[TreeEntry]
    ) -> Iterator[tuple[TreeEntry, bytes | SkippedFile]]:
        requests, answers = process.stdin, process.stdout
        assert requests is not None and answers is not None  # open_git made both
        in_flight: deque[TreeEntry] = deque()
        while True:
            if len(in_flight) <= _WINDOW // 2:
                wanted = list(islice(entries, _WINDOW - len(in_flight)))
                in_flight.extend(wanted)
                self._ask(requests, [entry for entry in wanted if entry.refused is None])
            if not in_flight:
                return
            entry = in_flight.popleft()
            if entry.refused is not None:
                yield entry, entry.skipped(entry.refused, entry.detail)
            else:
                yield entry, self._answer(answers, entry)

    def _ask(self, requests: IO[bytes], wanted: list[TreeEntry]) -> None:
        try:
            requests.write(b"".join(entry.blob_id.encode() + b"\n" for entry in wanted))
            requests.flush()
        except OSError as error:
            raise SourceError(f"{self._where}: git cat-file stopped while files were read: {error}") from error

    def _answer(self, answers: IO[bytes], entry: TreeEntry) -> bytes | SkippedFile:
        header = answers.readline().split()
        if header[1:] == [b"missing"]:
            return entry.skipped(SkipReason.MISSING_BLOB, _MISSING)
        if len(header) != 3:
            raise SourceError(f"{self._where}: git cat-file stopped at {entry.path}; run `git fsck` in it")
        size = int(header[2])
        data = answers.read(size + 1)  # git ends each object with a newline of its own
        if len(data) != size + 1:
            raise SourceError(f"{self._where}: git cat-file stopped inside {entry.path}; run `git fsck` in it")
        return data[:size]


def list_tree(git_dir: Path, commit: str, subdirectory: str = "") -> list[TreeEntry]:
    """Every file, link and submodule of a commit, in git's order."""
    absent = _absent_objects(git_dir, commit)
    # To tell the size of an absent object git would fetch it, which it must not. Without sizes it does not look.
    sizes = [] if absent else ["-l"]
    where = ["--", f":(literal){subdirectory}"] if subdirectory else []
    listing = run_git("ls-tree", "-r", "-z", *sizes, "--full-tree", commit, *where, git_dir=git_dir)
    known = {} if sizes else _sizes(git_dir, listing, absent)
    return [_entry(record, known, absent) for record in listing.split(b"\0") if record]


def commit_date(git_dir: Path, commit: str) -> str:
    """The committer date as ISO 8601 UTC."""
    header = run_git("cat-file", "commit", commit, git_dir=git_dir).partition(b"\n\n")[0]
    for line in header.split(b"\n"):
        if line.startswith(b"committer "):
            return utc_iso(float(line.split()[-2]))
    raise SourceError(f"commit {commit} has no committer line; run `git fsck` in the repository")


def remote_url_of(git_dir: Path) -> str:
    """The origin of a local clone, without credentials; empty without a remote or if the remote is a path."""
    try:
        url = run_git("config", "--get", "remote.origin.url", git_dir=git_dir).decode("utf-8", "replace").strip()
    except GitError:
        return ""
    return strip_credentials(url) if is_remote(url) and not url.startswith("file:") else ""


def _entry(record: bytes, sizes: dict[bytes, int], absent: frozenset[bytes]) -> TreeEntry:
    meta, _, raw_path = record.partition(b"\t")
    mode, _, oid, *stated = meta.split()
    path, problem = safe_path(raw_path)
    size = int(stated[0]) if stated and stated[0].isdigit() else sizes.get(oid, 0)
    kind = _KINDS.get(mode, EntryKind.FILE)
    blob_id = oid.decode()
    if problem:
        return TreeEntry(path, blob_id, size, kind, SkipReason.UNSAFE_PATH, problem)
    if kind is EntryKind.FILE and (oid in absent or stated == [b"BAD"]):
        return TreeEntry(path, blob_id, 0, kind, SkipReason.MISSING_BLOB, _MISSING)
    return TreeEntry(path, blob_id, size, kind)


def _absent_objects(git_dir: Path, commit: str) -> frozenset[bytes]:
    """Objects of a partial clone that were never fetched. For an ordinary clone empty, at no cost."""
    try:
        run_git("config", "--get-regexp", r"^(remote\..*\.promisor|extensions\.partialclone)$", git_dir=git_dir)
    except GitError:
        return frozenset()
    listed = run_git(
        "rev-list", "--objects", "--no-object-names", "--missing=print", f"{commit}^{{tree}}", git_dir=git_dir
    )
    return frozenset(line[1:] for line in listed.split() if line.startswith(b"?"))


def _sizes(git_dir: Path, listing: bytes, absent: frozenset[bytes]) -> dict[bytes, int]:
    """Object id → size of the blobs of an `ls-tree` listing that the clone has."""
    oids = sorted({record.split()[2] for record in listing.split(b"\0") if b" blob " in record[:20]} - absent)
    sizes: dict[bytes, int] = {}
    process = open_git("cat-file", "--batch-check", git_dir=git_dir)
    try:
        requests, answers = process.stdin, process.stdout
        assert requests is not None and answers is not None  # open_git made both
        for start in range(0, len(oids), _WINDOW):
            window = oids[start : start + _WINDOW]
            requests.write(b"\n".join(window) + b"\n")
            requests.flush()
            for oid in window:
                header = answers.readline().split()
                if len(header) == 3:
                    sizes[oid] = int(header[2])
    finally:
        stop(process)
    return sizes
