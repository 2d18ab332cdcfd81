"""When each file of a build was changed last: read from all of git's history once, then from what is new in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from rag_assets.decoders import from_msgpack
from rag_assets.sources import Snapshot
from rag_assets.sources.past import MOST_COMMITS, Past, PastCommit, changes_by_path
from rag_assets.stages.build import IndexBuild
from rag_assets.stores.generations import GenerationError, active_pointer, read_generation
from rag_assets.stores.home import write_atomically

_FILE = "file_dates.msgpack"  # no `.json`: those are records of stages


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
    past: Past,
    read: Callable[[Sequence[str]], Mapping[str, PastCommit]],
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
    write_atomically(build.directory / "stages" / _FILE, msgspec.msgpack.encode(known))
    return known.dates


def _later(build: IndexBuild, past: Past, read: Callable[[Sequence[str]], Mapping[str, PastCommit]]) -> _Dates | None:
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
        return from_msgpack((active.directory / "stages" / _FILE).read_bytes(), _Dates)
    except (GenerationError, FileNotFoundError, msgspec.DecodeError):
        return None
