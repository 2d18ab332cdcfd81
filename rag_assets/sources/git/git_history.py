"""The history of the files of a repository before a commit: subjects and paths of the commits that led to it.

The commits at which the history of a shallow clone begins; they seem to have made every file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from rag_assets.sources.git import GitError, open_git, run_git, stop
from rag_assets.sources.urls import raw_path, safe_path


def cut_commits(git_dir: Path) -> frozenset[str]:
    """The ids of the commits whose parents a shallow clone lacks, so that their changes are unknown. Empty, after one
    short call of git, for a complete clone. Raises GitError.

    git also lists a root commit that it was asked to stop at. That one has no parents: it did make its files.
    """
    listed = Path(run_git("rev-parse", "--git-path", "shallow", git_dir=git_dir).decode().removesuffix("\n"))
    try:
        ids = listed.read_text(encoding="ascii").split()
    except FileNotFoundError:
        return frozenset()
    return frozenset(commit for commit, header in _headers(git_dir, ids).items() if b"\nparent " in header)


def merge_base(git_dir: Path, one: str, other: str) -> str:
    """The last commit that two of them have in common, '' where there is none. Raises GitError."""
    try:
        return run_git("merge-base", one, other, git_dir=git_dir).decode().strip()
    except GitError as error:
        if error.returncode == _UNRELATED:
            return ""
        raise


_UNRELATED = 1


def _headers(git_dir: Path, ids: list[str]) -> dict[str, bytes]:
    """Id → headers of a commit, for those that the clone has, read from the objects themselves."""
    process = open_git("cat-file", "--batch", git_dir=git_dir)
    try:
        answers, _ = process.communicate("".join(f"{commit}\n" for commit in ids).encode())
    finally:
        stop(process)
    if process.returncode != 0:
        raise GitError("cat-file", process.returncode, "the commits at which the clone was cut could not be read")
    found: dict[str, bytes] = {}
    at = 0
    for commit in ids:
        end = answers.index(b"\n", at)
        stated = answers[at:end].split()
        at = end + 1
        if len(stated) == 3:  # else `id missing`: the clone was fetched anew and pruned
            size = int(stated[2])
            found[commit] = answers[at : at + size].partition(b"\n\n")[0]
            at += size + 1
    return found


PAST_VERSION = 4
"""Raise it when the same history gives another result for a file."""

MOST_COMMITS = 2_000
"""Commits read for subjects: years of most repositories. git takes a second for a large one, once; then each new commit
costs itself."""

_MOST_PATHS = 500  # of one command line; for more files all of history is listed
_CHUNK = 1 << 16
_RENAMES = ("-M50%", "-l1000")
_FIELDS = "--format=%H%x00%ct%x00%s"
_NO_ANCESTOR = (1, 128)  # no; and no such commit here
_STATUS = re.compile(rb"[A-Z]\d{0,3}")


class Commit(msgspec.Struct, frozen=True, omit_defaults=True):
    """One commit: its subject, the changed paths, (old, new) of moved ones, and the commit time in seconds since 1970.
    Merges are not included."""

    subject: str
    paths: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    committed: int = 0


class LastChange(NamedTuple):
    """The commit that gave a file its present text: the newest of those that did. `known` is false where a shallow
    clone ends with it, so that an earlier one may have done so. The greatest of several is the one that counts."""

    known: bool
    seconds: int
    commit: str


class GitHistory:
    """The commits that led to one, itself included. In a shallow clone, only those whose changes are known."""

    def __init__(self, git_dir: Path, commit: str, subdirectory: str = "") -> None:
        self._git_dir = git_dir
        self._commit = commit
        self._where = ("--", f":(literal){subdirectory}") if subdirectory else ()

    @cached_property
    def cut(self) -> frozenset[str]:
        """The commits at which a shallow clone ends; no list of changes includes them. Raises GitError."""
        return cut_commits(self._git_dir)

    def ids(self) -> list[str]:
        """The newest MOST_COMMITS commits, newest first; fewer in a shallow clone. Raises GitError."""
        return self._changing(self._commit, *self._where)

    def ids_of(self, paths: Sequence[str]) -> list[str]:
        """The newest MOST_COMMITS of those that changed one of these files, newest first. Raises GitError."""
        return self._changing(self._commit, "--", *(f":(literal){path}" for path in paths))

    def ids_since(self, commit: str) -> list[str]:
        """The newest MOST_COMMITS of those that did not lead to `commit`, a full id, newest first. Raises GitError."""
        return self._changing(self._commit, f"^{commit}", *self._where)

    def mainline(self, *, until: str = "") -> list[str]:
        """The newest MOST_COMMITS of the branch itself, merges among them, newest first: each the first parent of the
        one before. `until` is a date that git understands. Raises GitError."""
        return self._listed("--first-parent", *([f"--until={until}"] if until else []), self._commit)

    def includes(self, commit: str) -> bool:
        """Whether `commit`, a full id, is this commit or one of its ancestors. Raises GitError."""
        try:
            run_git("merge-base", "--is-ancestor", commit, self._commit, git_dir=self._git_dir)
        except GitError as error:
            if error.returncode in _NO_ANCESTOR:
                return False
            raise
        return True

    def last_changes(self, blobs: Mapping[str, str], *, since: str = "") -> tuple[dict[str, LastChange], int]:
        """(path → its last change, time of the newest commit). `blobs` are the object ids of the files at this commit,
        by path. With `since`, a full id, only commits that did not lead to it are read, and files that none of them
        changed are left out. A commit takes 50 to 150 µs. Raises GitError."""
        return self._changes(blobs, self._commit, *([f"^{since}"] if since else []), *self._where)

    def last_changes_before(self, blobs: Mapping[str, str], commit: str) -> dict[str, LastChange]:
        """The same for few files, as far as `commit`, a full id, or one that led to it gave them this text. Raises
        GitError."""
        paths = [f":(literal){path}" for path in blobs] if len(blobs) <= _MOST_PATHS else []
        found, _ = self._changes(blobs, "--full-history", commit, *(["--", *paths] if paths else self._where))
        return found

    def _changes(self, blobs: Mapping[str, str], *arguments: str) -> tuple[dict[str, LastChange], int]:
        # `-c` lists of a merge what it took from none of its parents: the text of anything else is that of a parent.
        options = ("-c", "--raw", "--no-abbrev", "--no-renames", "-z", "--format=%ct %H")
        process = open_git("log", *options, *arguments, git_dir=self._git_dir)
        try:
            assert process.stdout is not None  # open_git made it
            found = _last_changes(process.stdout, blobs, self.cut)
            process.wait()
        finally:
            stop(process)
        if process.returncode != 0:
            raise GitError("log", process.returncode, "the past of files could not be read")
        return found

    def read(self, ids: Sequence[str]) -> dict[str, Commit]:
        """id → commit. Raises GitError."""
        if not ids:
            return {}
        try:
            listing = self._log(ids, _FIELDS, "--name-status", "--no-ext-diff", *_RENAMES)
        except GitError:  # similarity needs contents, which a partial clone may lack
            listing = self._log(ids, _FIELDS, "--name-status", "--no-ext-diff", "-M100%")
        return _commits(listing)

    def authors(self, ids: Sequence[str]) -> dict[str, str]:
        """id → `name <address>` of the author of a commit. Raises GitError."""
        if not ids:
            return {}
        listing = self._log(ids, "--no-patch", "--format=%H%x00%an <%ae>").decode("utf-8", "replace")
        tokens = listing.removesuffix("\0").split("\0")
        return dict(zip(tokens[::2], tokens[1::2], strict=True))

    def _changing(self, *arguments: str) -> list[str]:
        return [commit for commit in self._listed("--no-merges", *arguments) if commit not in self.cut]

    def _listed(self, *arguments: str) -> list[str]:
        options = (f"--max-count={MOST_COMMITS}", *arguments)
        return run_git("rev-list", *options, git_dir=self._git_dir).decode().split()

    def _log(self, ids: Sequence[str], *options: str) -> bytes:
        process = open_git("log", "--stdin", "--no-walk=unsorted", "-z", *options, git_dir=self._git_dir)
        try:
            listing, _ = process.communicate("".join(f"{known}\n" for known in ids).encode())
        finally:
            stop(process)
        if process.returncode != 0:
            raise GitError("log", process.returncode, "the past of files could not be read")
        return listing


def _last_changes(
    listing: IO[bytes], blobs: Mapping[str, str], cut: frozenset[str]
) -> tuple[dict[str, LastChange], int]:
    """`seconds id NUL LF :modes ids status NUL path NUL :… NUL path NUL seconds id …`, with more NULs around commits;
    the last id before the status is that of the text that the commit gave the file."""
    wanted = {raw_path(path): (path, blob.encode()) for path, blob in blobs.items()}
    found: dict[str, LastChange] = {}
    change, newest = LastChange(False, 0, ""), 0
    tokens = _tokens(listing)
    for token in filter(None, tokens):
        if token.startswith((b":", b"\n:")):
            path, blob = wanted.get(next(tokens), ("", b""))
            if blob and token.rsplit(b" ", 2)[1] == blob:
                found[path] = max(found.get(path, change), change)
        else:
            when, commit = token.decode().split()
            change = LastChange(commit not in cut, int(when), commit)
            newest = max(newest, change.seconds)
    return found, newest


def _tokens(stream: IO[bytes]) -> Iterator[bytes]:
    """What NUL separates."""
    rest = b""
    while chunk := stream.read(_CHUNK):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _commits(listing: bytes) -> dict[str, Commit]:
    """`id NUL seconds NUL subject NUL LF M NUL path NUL R086 NUL old NUL new NUL id …`, a commit without files ends
    after its subject."""
    tokens = iter(listing.split(b"\0"))
    found: dict[str, Commit] = {}
    commit, committed, subject = "", 0, ""
    paths: list[str] = []
    moved: list[tuple[str, str]] = []

    def finish() -> None:
        if commit:
            found[commit] = Commit(subject, tuple(paths), tuple(moved), committed)

    for token in tokens:
        status = token.removeprefix(b"\n")
        if not status:
            continue
        if _STATUS.fullmatch(status):
            path = safe_path(next(tokens))[0]
            if status[:1] in b"RC":
                old, path = path, safe_path(next(tokens))[0]
                if status[:1] == b"R":
                    moved.append((old, path))
            if status[:1] != b"D":
                paths.append(path)
        else:
            finish()
            commit, committed, paths, moved = token.decode(), int(next(tokens)), [], []
            subject = next(tokens).decode("utf-8", "replace")
    finish()
    return found


def subjects_by_path(commits: Sequence[Commit], most_files: int) -> dict[str, tuple[str, ...]]:
    """Path → the distinct subjects of the commits (newest first) that changed the file, under its earlier names too.

    Commits of more than `most_files` files are skipped, because they say nothing about any of them. The subjects are
    sorted, so the result does not depend on the order of merges.
    """
    today: dict[str, str] = {}  # an earlier name → the name at the end
    found: dict[str, set[str]] = {}
    for commit in commits:
        if len(commit.paths) <= most_files and commit.subject:
            for path in commit.paths:
                found.setdefault(today.get(path, path), set()).add(commit.subject)
        for old, new in commit.moved:
            today[old] = today.get(new, new)
    return {path: tuple(sorted(subjects)) for path, subjects in found.items()}


def of_whole_months(commits: Sequence[Commit]) -> list[Commit]:
    """The newest commits. If there are MOST_COMMITS, and so probably more, those of the oldest month (UTC) are dropped.
    So the limit moves once a month and not with every commit, and the results of untouched files stay the same."""
    if len(commits) < MOST_COMMITS:
        return list(commits)
    oldest = datetime.fromtimestamp(commits[-1].committed, UTC)
    begin = datetime(oldest.year + oldest.month // 12, oldest.month % 12 + 1, 1, tzinfo=UTC).timestamp()
    return [commit for commit in commits if commit.committed >= begin] or list(commits)
