"""Is an index as new as its repository? Asked with every answer, so only of what is near and answers at once.

Files of a work tree that differ from HEAD are counted without `git status`, which runs the filters that a repository
configures: git names the files of its index, and what looks changed is hashed here.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import GitNotFound, SourceError
from rag_assets.index.generations import Manifest
from rag_assets.index.layout import IndexHome, RecordDamaged, read_record, record_if_whole

_GIT_SECONDS = 2.0  # rev-parse takes milliseconds; a network file system that hangs must not hold an answer back
_FILE = "label.json"
_HASHED_BYTES = 64_000_000  # 50 ms; a larger archive is not read for an answer
_MOST_FILES = 30_000  # of a work tree; to look at more takes longer than an answer
_IN_INDEX = re.compile(
    rb"(?P<mode>\d+) (?P<oid>[0-9a-f]+) \d\t(?P<path>[^\0]+)\0.*\n.*mtime: (?P<s>\d+):(?P<ns>\d+)\n(?:.*\n){2}"
    rb".*size: (?P<size>\d+)\tflags: (?P<flags>[0-9a-f]+)\n"
)
"""An entry of `git ls-files --stage --debug -z`."""
_PATHS_IN_INDEX = re.compile(rb"[0-9a-f]{40,64} \d\t([^\0]+)\0")
_REGULAR = b"100"
_NOT_CHECKED_OUT = 0x4000_0000  # the bit of git for a file outside of a sparse checkout


@dataclass(frozen=True, slots=True)
class Freshness:
    """The indexed commit beside the one the ref names now. `head` is empty when that is unknown, with the reason.
    `changed_files` of the work tree differ from HEAD, untracked ones included: no index has them. 0 where the ref is
    not checked out, None where there are too many files to look at."""

    indexed: str
    head: str = ""
    reason: str = ""
    changed_files: int | None = 0

    @property
    def stale(self) -> bool | None:
        """None where nobody can say."""
        return self.indexed != self.head if self.head else None


FreshnessOf = Mapping[str, Freshness]
"""By label."""


def uncommitted(changed_files: int | None) -> str:
    """What no index has of a work tree, to follow a statement about the commit; empty where there is nothing."""
    if not changed_files:
        return ""
    said = "1 file differs" if changed_files == 1 else f"{changed_files:,} files differ"
    return f"; {said} from HEAD and {'is' if changed_files == 1 else 'are'} not indexed"


def freshness_of(
    home: IndexHome, manifest: Manifest, clearance: Confidentiality = Confidentiality.RESTRICTED
) -> Freshness:
    """Compares an index with its repository without touching the network; only changed files that `clearance` may see
    are counted. Never fails: an answer is not held back because its age is unknown."""
    indexed = manifest.commit_sha
    record = home.label(manifest.index_label) / _FILE
    try:
        location = str(read_record(record, dict[str, Any])["location"])
    except FileNotFoundError:
        return Freshness(indexed, reason="the repository is not remembered")
    except (RecordDamaged, KeyError) as error:
        return Freshness(indexed, reason=f"{record} is damaged: {error}; run: rag-assets index PATH_OR_URL")
    path = Path(location)
    if not path.is_absolute():
        from rag_assets.sources.urls import is_remote  # start-up budget: no address of a server is an absolute path

        if is_remote(location):
            return Freshness(indexed, reason="remote")
    if not path.exists():
        return Freshness(indexed, reason=f"{location} is gone")
    try:
        if manifest.is_git:
            return _git_head(manifest, path, clearance)
        if path.is_file():
            from rag_assets.sources.urls import archive_stem  # start-up budget: most repositories are folders

            if archive_stem(location) is not None:
                return _archive_head(indexed, path)
    except OSError as error:
        return Freshness(indexed, reason=f"{location}: {error.strerror or error}")
    return Freshness(indexed, reason="a plain directory has no commits")


def file_differs(home: IndexHome, manifest: Manifest, path: str, blob_id: str) -> bool | None:
    """Whether the file of the work tree is another one than the indexed, whose content has this id; None where there is
    no work tree to look at, or nobody can tell."""
    from rag_assets.sources.file_version import work_tree_of

    location = str(remembered_repository(home, manifest.index_label).get("location", ""))
    if not Path(location).is_absolute() or not blob_id:
        return None
    try:
        root = work_tree_of(location)
        if root is None:
            return None
        file = root / path
        if not file.is_file():
            return True
        if file.stat().st_size > _HASHED_BYTES:
            return None
        content = file.read_bytes()
    except (OSError, SourceError):
        return None
    return not _is_blob(content, blob_id) if manifest.is_git else hashlib.sha256(content).hexdigest() != blob_id


def labels_of_folder(home: IndexHome, known: Sequence[str], folder: Path) -> list[str]:
    """The labels whose repository a folder belongs to; of several those that are checked out there, if any are."""
    here = [label for label in known if _covers(home, label, folder)]
    if len(here) > 1:
        here = [label for label in here if branch_of(folder) == remembered_repository(home, label).get("ref")] or here
    return here


def branch_of(folder: Path) -> str:
    """The branch that is checked out in a folder."""
    # Start-up budget: loaded when it runs, not for --help and completion.
    from rag_assets.sources.git import git_environment, git_executable

    command = [git_executable(), "-C", str(folder), "symbolic-ref", "--quiet", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, env=git_environment(network=False), check=False)
    return os.fsdecode(done.stdout).strip()


def _covers(home: IndexHome, label: str, folder: Path) -> bool:
    from rag_assets.sources.urls import is_remote  # start-up budget: asked only where several labels are indexed

    location = str(remembered_repository(home, label).get("location", ""))
    if not location or is_remote(location):
        return False
    root, here = Path(location), folder.resolve()
    if not here.is_relative_to(root):
        return False
    between = [place for place in (here, *here.parents) if place != root and place.is_relative_to(root)]
    return not any((place / ".git").exists() for place in between)  # another repository inside of this one


def remembered_repository(home: IndexHome, label: str) -> dict[str, Any]:
    """The settings a label was last built with, as plain JSON; empty where there are none, or none to read."""
    return record_if_whole(home.label(label) / _FILE, dict[str, Any]) or {}


def _git_head(manifest: Manifest, repository: Path, clearance: Confidentiality) -> Freshness:
    indexed, ref, levels = manifest.commit_sha, manifest.ref, manifest.levels
    try:
        head = _git(repository, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if head is None:
            return Freshness(indexed, reason=f"{ref} is gone from the repository")
        head = head.strip()
        changed = _changed_files(repository, head)
        seen = None if changed is None else sum(levels.visible(path, clearance) for path in changed)
        return Freshness(indexed, head.decode(), changed_files=seen)
    except GitNotFound:
        return Freshness(indexed, reason="git is not installed")
    except subprocess.TimeoutExpired:
        return Freshness(indexed, reason="git did not answer in time")


def _git(repository: Path, *arguments: str) -> bytes | None:
    """What git prints; None where it fails. Raises GitNotFound and TimeoutExpired."""
    from rag_assets.sources.git import git_environment, git_executable  # start-up budget: as above

    command = [git_executable(), "-C", str(repository), *arguments]
    environment = git_environment(network=False)
    done = subprocess.run(command, env=environment, capture_output=True, timeout=_GIT_SECONDS, check=False)
    return done.stdout if done.returncode == 0 else None


def _changed_files(repository: Path, commit: bytes) -> set[str] | None:
    """The paths of files that differ from a commit that is checked out here, none where it is not; of a folder in a
    repository those in the folder. None where there are too many to look at. Raises as `_git`."""
    where = _git(repository, "rev-parse", "--show-toplevel", "HEAD", "--show-prefix")
    top, checked_out, prefix = (where or b"").split(b"\n")[:3] if where else (b"", b"", b"")
    if not top or checked_out != commit:
        return set()
    found = _differing(Path(os.fsdecode(top)), "HEAD", prefix)
    return None if found is None else set(found.paths)


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """A work tree and the paths in it, as snapshots have them, of the files that differ from a commit: staged or not,
    deleted, or untracked and not ignored. Git does not see the `gone` ones of them any more."""

    root: Path
    paths: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()


def changed_since(folder: Path, commit: str, prefix: str = "") -> ChangedFiles | str:
    """What differs from a commit in the work tree around a folder; else the reason why nobody can say. Runs no filter
    of the repository, asks no network and never fails."""
    try:
        where = _git(folder, "rev-parse", "--show-toplevel", f"{commit}^{{commit}}")
        if where is None:
            return f"{folder} is in no checkout that has commit {commit[:10]}"
        root = Path(os.fsdecode(where.split(b"\n", 1)[0]))
        found = _differing(root, commit, os.fsencode(f"{prefix}/" if prefix else ""))
    except GitNotFound:
        return "git is not installed"
    except subprocess.TimeoutExpired:
        return "git did not answer in time"
    except OSError as error:
        return f"{folder}: {error.strerror or error}"
    if found is None:
        return f"{root} has too many files to look at"
    return found


def folder_in_repository(location: str) -> str:
    """The path of a folder in its repository; '' of a whole repository, and where nobody knows."""
    folder = Path(location)
    if not folder.is_absolute() or not folder.is_dir() or (folder / ".git").exists():
        return ""
    try:
        found = _git(folder, "rev-parse", "--show-prefix")
    except (GitNotFound, subprocess.TimeoutExpired, OSError):
        return ""
    return os.fsdecode(found or b"").strip("\n").removesuffix("/")


def _differing(root: Path, commit: str, prefix: bytes) -> ChangedFiles | None:
    """The files of a work tree that differ from a commit; None where there are too many. Raises as `_git`."""
    known = _git(root, "ls-files", "--stage", "--debug", "-z")
    staged = _git(root, "diff-index", "--cached", "--name-only", "--no-renames", "-z", commit)
    untracked = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    if known is None or staged is None or untracked is None or known.count(b"\0") > _MOST_FILES:
        return None
    new = set(untracked.split(b"\0"))
    changed = new.union(staged.split(b"\0"), _edited(root, known))
    below = {path for path in changed if path.startswith(prefix) and path and not path.endswith(b"/")}
    gone = below - new - set(_PATHS_IN_INDEX.findall(known)) if staged else ()
    return ChangedFiles(root, frozenset(map(os.fsdecode, below)), frozenset(map(os.fsdecode, gone)))


def _edited(root: Path, known: bytes) -> Iterator[bytes]:
    """The files that are not what the index of git has. Links and submodules are left out, as they are not indexed."""
    for entry in _IN_INDEX.finditer(known):
        if not entry["mode"].startswith(_REGULAR):
            continue
        file = root / os.fsdecode(entry["path"])
        if int(entry["flags"], 16) & _NOT_CHECKED_OUT and not os.path.lexists(file):
            continue
        try:
            about = file.lstat()
            is_known = about.st_size == int(entry["size"]) and about.st_mtime_ns == int(
                f"{int(entry['s'])}{int(entry['ns']):09}"
            )
            if is_known or (about.st_size <= _HASHED_BYTES and _is_blob(file.read_bytes(), entry["oid"].decode())):
                continue
        except OSError:
            pass  # it is gone, or nobody can tell
        yield entry["path"]


def _is_blob(content: bytes, oid: str) -> bool:
    """Whether a file is a blob of git, which may keep CRLF as LF."""
    method = "sha1" if len(oid) == 40 else "sha256"
    return any(
        hashlib.new(method, b"blob %d\0%b" % (len(stored), stored)).hexdigest() == oid
        for stored in (content, content.replace(b"\r\n", b"\n"))
    )


def _archive_head(indexed: str, archive: Path) -> Freshness:
    if archive.stat().st_size > _HASHED_BYTES:
        return Freshness(indexed, reason="the archive is too large to compare each time")
    with archive.open("rb") as file:
        return Freshness(indexed, hashlib.file_digest(file, "sha256").hexdigest())
