"""What past commits say of the files of a build: read from git once for each commit, then from the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from rag_assets.decoders import from_json
from rag_assets.sources import Snapshot, redact
from rag_assets.sources.entries import utc_iso
from rag_assets.sources.past import PastCommit, of_whole_months, subjects_by_path
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.file_dates import dates_of_files
from rag_assets.stores.cache import Cache, cache_key
from rag_assets.stores.home import write_atomically

PAST_COMMITS = "past_commits"
_VERSION = "3"  # raise it when the same commit is read as something else

MOST_FILES = 30
"""Of a commit whose subject says something of each: larger ones reformat, move or import. nDCG@10 as in
`query.ranking.files`: 10 is alike, 100 loses .002 of the mean."""
_KEYS = "past_commits.keys"
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
    with Cache(build.home.cache, PAST_COMMITS) as cache:
        stored = {} if build.fresh else cache.get_many(list(keys.values()))
        known = {commit: from_json(stored[key], PastCommit) for commit, key in keys.items() if key in stored}
        new = {
            commit: msgspec.structs.replace(found, subject=redact(found.subject[:_SUBJECT_CHARS], "").text)
            for commit, found in past.read([commit for commit in ids if commit not in known]).items()
        }
        cache.put_many([(keys[commit], msgspec.json.encode(found)) for commit, found in new.items()])
    known |= new

    def read(wanted: Sequence[str]) -> dict[str, PastCommit]:
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
    except FileNotFoundError:  # no history, or a build from before there was any
        return
    for start in range(0, len(data), _KEY_BYTES):
        yield data[start : start + _KEY_BYTES]


def _note_keys(build: IndexBuild, keys: Iterable[bytes]) -> None:
    path = build.directory / "stages" / _KEYS
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, b"".join(keys))


def known_commits(directory: Path) -> Callable[[str], bool]:
    """Whether the build in `directory` read a commit, by its full id: its subject is found then by its own words."""
    known = set(past_keys(directory))
    return lambda commit: cache_key(PAST_COMMITS, _VERSION, commit) in known
