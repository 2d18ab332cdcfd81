"""What past commits say of the files of a build: their subjects, and when each file was changed last.

A commit is read from git once, then from the memo. Dates need all of history: it is read once, then only what is new
since the active generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from rag_assets.contracts.identity import cache_key
from rag_assets.index.generations import GenerationError, active_pointer, read_generation
from rag_assets.index.layout import write_atomically
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.memo import ItemMemo
from rag_assets.serialization import from_msgpack
from rag_assets.sources import Snapshot, redact
from rag_assets.sources.git.git_history import (
    MOST_COMMITS,
    Commit,
    GitHistory,
    changes_by_path,
    of_whole_months,
    subjects_by_path,
)
from rag_assets.sources.snapshot import utc_iso

PAST_COMMITS = "past_commits"
_VERSION = "3"  # raise it when the same commit is read as something else

MOST_FILES = 30
"""Of a commit whose subject says something of each: larger ones reformat, move or import. nDCG@10 as in
`search.ranking`: 10 is alike, 100 loses .002 of the mean."""
_KEYS = "past_commits.keys"
_DATES = "file_dates.msgpack"  # no `.json`: those are records of stages
_KEY_BYTES = 32
_SUBJECT_CHARS = 200  # what is longer is no subject but a text in one line


@dataclass(frozen=True, slots=True)
class FilesPast:
    """By path: the subjects of the commits that changed a file, without secrets, and when the last of them was
    committed, as `2026-01-31T12:00:00Z`. Files that no commit among those looked at has changed are in neither; whether
    that is because the clone is `shallow`."""

    subjects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)
    shallow: bool = False


def past_of_files(build: IndexBuild, snapshot: Snapshot) -> FilesPast:
    """What the newest commits say of each file; nothing where the repository has no history or the configuration does
    not want it. Raises GitError."""
    past = snapshot.past() if build.repository.history else None
    if past is None:
        return FilesPast()
    ids = past.ids()
    keys = {commit: cache_key(PAST_COMMITS, _VERSION, commit) for commit in ids}
    _note_keys(build, keys.values())
    with _COMMITS.open(build.home, fresh=build.fresh) as memo:
        stored = memo.known(list(keys.values()))
        known = {commit: stored[key] for commit, key in keys.items() if key in stored}
        new = {
            commit: msgspec.structs.replace(found, subject=redact(found.subject[:_SUBJECT_CHARS], "").text)
            for commit, found in past.read([commit for commit in ids if commit not in known]).items()
        }
        memo.keep((keys[commit], found) for commit, found in new.items())
    known |= new

    def read(wanted: Sequence[str]) -> dict[str, Commit]:
        others = [commit for commit in wanted if commit not in known]
        found = known | past.read(others) if others else known
        return {commit: found[commit] for commit in wanted if commit in found}

    commits = of_whole_months([known[commit] for commit in ids if commit in known])
    changed = {path: utc_iso(seconds) for path, seconds in dates_of_files(build, snapshot, past, read).items()}
    return FilesPast(subjects_by_path(commits, MOST_FILES), changed, bool(past.cut))


def past_keys(directory: Path) -> Iterator[bytes]:
    """The cache keys of the commits that the build in `directory` read; they follow from none of its tables."""
    try:
        data = (directory / "stages" / _KEYS).read_bytes()
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


class _Dates(msgspec.Struct):
    """`dates`: path → seconds since 1970, of the files of `commit` whose change is known. `whole`: nothing was left
    out of the history that led to it, so that what is new in a later commit is all that its dates can differ by."""

    commit: str
    config_hash: str
    whole: bool
    dates: dict[str, int]


def dates_of_files(
    build: IndexBuild,
    snapshot: Snapshot,
    past: GitHistory,
    read: Callable[[Sequence[str]], Mapping[str, Commit]],
) -> dict[str, int]:
    """Path → when the last commit that changed, made or moved the file was committed, in seconds since 1970; of the
    files whose history was read. `read` gives commits by their ids. The same whether an earlier build is there or not.
    Raises GitError."""
    commit = build.spec.git.commit_sha
    present = {entry.path for entry in snapshot.entries()}
    known = _later(build, past, read)
    if known is None or not present <= known.dates.keys():  # a merge can bring back what had been deleted
        found, whole = past.dates()
        known = _Dates(commit, build.spec.config_hash, whole, found)
    known.dates = {path: seconds for path, seconds in known.dates.items() if path in present}
    write_atomically(build.directory / "stages" / _DATES, msgspec.msgpack.encode(known))
    return known.dates


def _later(build: IndexBuild, past: GitHistory, read: Callable[[Sequence[str]], Mapping[str, Commit]]) -> _Dates | None:
    """The dates of the active generation with what happened since; None where that is not all there is to know."""
    if past.cut:  # the earlier build may have known more of history, or less
        return None
    earlier = None if build.fresh else _of_active(build)
    if earlier is None or not earlier.whole or earlier.config_hash != build.spec.config_hash:
        return None
    if not past.includes(earlier.commit):
        return None
    new = past.ids_since(earlier.commit)
    if len(new) == MOST_COMMITS:
        return None
    since = changes_by_path(read(new).values())
    newest = {path: max(seconds, earlier.dates.get(path, 0)) for path, seconds in since.items()}
    return _Dates(build.spec.git.commit_sha, earlier.config_hash, True, earlier.dates | newest)


def _of_active(build: IndexBuild) -> _Dates | None:
    label = build.spec.index_label
    pointer = active_pointer(build.home, label)
    try:
        if pointer is None:
            return None
        active = read_generation(build.home, label, pointer.generation_id)
        return from_msgpack((active.directory / "stages" / _DATES).read_bytes(), _Dates)
    except (GenerationError, FileNotFoundError, msgspec.DecodeError):
        return None
