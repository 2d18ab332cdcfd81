"""What past commits say of the files of a build: read from git once for each commit, then from the cache."""

from __future__ import annotations

import msgspec

from rag_assets.sources import Snapshot, redact
from rag_assets.sources.past import PastCommit, subjects_by_path
from rag_assets.stages.build import IndexBuild
from rag_assets.stores.cache import Cache, cache_key

PAST_COMMITS = "past_commits"
_VERSION = "1"  # raise it when the same commit is read as something else

MOST_FILES = 30
"""Of a commit whose subject says something of each: larger ones reformat, move or import. nDCG@10 as in
`query.ranking.files`: 10 is alike, 100 loses .002 of the mean."""
_SUBJECT_CHARS = 200  # what is longer is no subject but a text in one line


def past_subjects(build: IndexBuild, snapshot: Snapshot) -> dict[str, tuple[str, ...]]:
    """Path → subjects of the commits that changed the file, without secrets; empty where the repository has no history
    or the configuration does not want it. Raises GitError."""
    past = snapshot.past() if build.repository.history else None
    if past is None:
        return {}
    ids = past.ids()
    keys = {commit: cache_key(PAST_COMMITS, _VERSION, commit) for commit in ids}
    with Cache(build.home.cache, PAST_COMMITS) as cache:
        stored = {} if build.fresh else cache.get_many(list(keys.values()))
        known = {
            commit: msgspec.json.decode(stored[key], type=PastCommit) for commit, key in keys.items() if key in stored
        }
        new = {
            commit: msgspec.structs.replace(found, subject=redact(found.subject[:_SUBJECT_CHARS], "").text)
            for commit, found in past.read([commit for commit in ids if commit not in known]).items()
        }
        cache.put_many([(keys[commit], msgspec.json.encode(found)) for commit, found in new.items()])
    known |= new
    return subjects_by_path([known[commit] for commit in ids if commit in known], MOST_FILES)
