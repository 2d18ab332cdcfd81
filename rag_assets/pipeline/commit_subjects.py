"""What past commits say of the files of a build: their subjects, and which commit changed each file last.

The subjects of a commit are read from git once, then from the memo. The last changes need all of history: it is read
once, then only what is new since the active generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from rag_assets.contracts.identity import cache_key
from rag_assets.index.generation_files import check_file
from rag_assets.index.generations import GenerationError, active_pointer, read_generation
from rag_assets.index.layout import write_atomically
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.memo import ItemMemo
from rag_assets.serialization import from_msgpack
from rag_assets.sources.git.git_history import (
    Commit,
    GitHistory,
    LastChange,
    of_whole_months,
    subjects_by_path,
)
from rag_assets.sources.secrets import masked, masked_paths
from rag_assets.sources.snapshot import EntryKind, Snapshot, utc_iso

PAST_COMMITS = "past_commits"
_VERSION = "4"  # raise it when the same commit is read as something else

MOST_FILES = 30
"""Of a commit whose subject says something of each: larger ones reformat, move or import. nDCG@10 as in
`search.ranking`: 10 is alike, 100 loses .002 of the mean."""
_KEYS = "past_commits.keys"
_CHANGES = "last_changes.msgpack"  # no `.json`: those are records of stages
_KEY_BYTES = 32
_SUBJECT_CHARS = 200  # what is longer is no subject but a text in one line


@dataclass(frozen=True, slots=True)
class FileOrigin:
    """Where the text of a file is from: a commit, which has it, and the date of that commit as `2026-01-31T12:00:00Z`
    (R29). `dated` says whether the file was changed then; else it was not later than that.

    Without git the sha256 of the file takes the place of the commit, and the date is the one the source states.
    """

    commit_sha: str
    commit_date: str
    dated: bool


@dataclass(frozen=True, slots=True)
class FilesPast:
    """By path: the subjects of the commits that changed a file, without secrets, for files that one of those looked at
    has changed; and the origin of every file. Whether the clone is `shallow`, so that little is known."""

    subjects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    origins: Mapping[str, FileOrigin] = field(default_factory=dict)
    shallow: bool = False


def past_of_files(build: IndexBuild, snapshot: Snapshot) -> FilesPast:
    """What past commits say of each file; no subjects where the configuration does not want them. Raises GitError."""
    past = snapshot.past()
    if past is None:
        return FilesPast(
            origins={
                entry.path: FileOrigin(entry.blob_id, utc_iso(entry.modified), False) for entry in snapshot.entries()
            }
        )
    git = build.spec.git
    unknown = FileOrigin(git.commit_sha, git.commit_date, False)
    entries = list(snapshot.entries())
    names = masked_paths([entry.path for entry in entries])  # what has a credential in its path is not indexed
    blobs = {
        entry.path: entry.blob_id
        for entry, name in zip(entries, names, strict=True)
        if entry.kind is EntryKind.FILE and entry.path == name
    }
    changes = last_changes(build, blobs, past)
    origins = {path: _origin(changes[path]) if path in changes else unknown for path in blobs}
    subjects = subjects_by_path(_commits(build, past), MOST_FILES) if build.repository.history else {}
    return FilesPast(subjects, origins, bool(past.cut))


def _origin(change: LastChange) -> FileOrigin:
    return FileOrigin(change.commit, utc_iso(change.seconds), change.known)


def _commits(build: IndexBuild, past: GitHistory) -> list[Commit]:
    """The commits whose subjects are searched, newest first."""
    ids = past.ids()
    keys = {commit: cache_key(PAST_COMMITS, _VERSION, commit) for commit in ids}
    _note_keys(build, keys.values())
    with _COMMITS.open(build.home, fresh=build.spec.fresh) as memo:
        stored = memo.known(list(keys.values()))
        known = {commit: stored[key] for commit, key in keys.items() if key in stored}
        new = {
            commit: _without_secrets(found)
            for commit, found in past.read([commit for commit in ids if commit not in known]).items()
        }
        memo.keep((keys[commit], found) for commit, found in new.items())
    known |= new
    return of_whole_months([known[commit] for commit in ids if commit in known])


def _without_secrets(commit: Commit) -> Commit:
    moved = tuple(tuple(masked_paths(pair)) for pair in commit.moved)
    return msgspec.structs.replace(
        commit,
        subject=masked(commit.subject)[:_SUBJECT_CHARS],
        paths=tuple(masked_paths(commit.paths)),
        moved=moved,
    )


def past_keys(directory: Path) -> Iterator[bytes]:
    """The cache keys of the commits that the build in `directory` read; they follow from none of its tables."""
    path = directory / "stages" / _KEYS
    check_file(path, GenerationError)
    try:
        data = path.read_bytes()
    except FileNotFoundError:  # no history
        return
    for start in range(0, len(data), _KEY_BYTES):
        yield data[start : start + _KEY_BYTES]


_COMMITS = ItemMemo(PAST_COMMITS, Commit, past_keys)


def _note_keys(build: IndexBuild, keys: Iterable[bytes]) -> None:
    path = build.directory / "stages" / _KEYS
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, b"".join(keys))


def known_commits(directory: Path) -> Callable[[str], bool]:
    """Whether the build in `directory` read a commit, by its full id: its subject is found then by its own words."""
    known = set(past_keys(directory))
    return lambda commit: cache_key(PAST_COMMITS, _VERSION, commit) in known


class _Changed(msgspec.Struct, array_like=True):
    blob_id: str
    seconds: int
    commit: str


class _Changes(msgspec.Struct):
    """The last change of each file of `commit`. `newest` is the time of the newest commit that led to it. `whole`:
    nothing was left out of the history, so what is new in a later commit is all that its changes can differ by."""

    commit: str
    config_hash: str
    whole: bool
    newest: int
    files: dict[str, _Changed]


def last_changes(build: IndexBuild, blobs: Mapping[str, str], past: GitHistory) -> dict[str, LastChange]:
    """The last change of each file; `blobs` as in `GitHistory.last_changes`. The same whether an earlier build is there
    or not. Raises GitError."""
    found, newest = _later(build, blobs, past) or past.last_changes(blobs)
    known = {path: _Changed(blobs[path], change.seconds, change.commit) for path, change in found.items()}
    kept = _Changes(build.spec.git.commit_sha, build.spec.config_hash, not past.cut, newest, known)
    write_atomically(build.directory / "stages" / _CHANGES, msgspec.msgpack.encode(kept))
    return found


def _later(build: IndexBuild, blobs: Mapping[str, str], past: GitHistory) -> tuple[dict[str, LastChange], int] | None:
    """The last changes by those of the active generation and what happened since; None where that does not tell."""
    earlier = (
        None if build.spec.fresh or past.cut else _of_active(build)
    )  # a cut clone may have known more then, or less
    if earlier is None or not earlier.whole or earlier.config_hash != build.spec.config_hash:
        return None
    if not past.includes(earlier.commit):
        return None
    found, newest = past.last_changes(blobs, since=earlier.commit)
    old = {
        path: LastChange(True, was.seconds, was.commit)
        for path, was in earlier.files.items()
        if blobs.get(path) == was.blob_id
    }
    # Other files may have had their text before, lost it, and have it again by a commit that is not newer.
    other = {
        path: blob
        for path, blob in blobs.items()
        if path not in old and not (path in found and found[path].seconds > earlier.newest)
    }
    if other:
        old |= past.last_changes_before(other, earlier.commit)
    for path, change in old.items():
        found[path] = max(found.get(path, change), change)
    return found, max(newest, earlier.newest)


def _of_active(build: IndexBuild) -> _Changes | None:
    label = build.spec.index_label
    pointer = active_pointer(build.home, label)
    try:
        if pointer is None:
            return None
        path = read_generation(build.home, label, pointer.generation_id).directory / "stages" / _CHANGES
        check_file(path, GenerationError)
        return from_msgpack(path.read_bytes(), _Changes)
    except (GenerationError, FileNotFoundError, msgspec.DecodeError):
        return None
