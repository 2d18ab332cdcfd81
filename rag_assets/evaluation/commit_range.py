"""Which commits a mined set is of: the snapshot that is indexed, and what came after it, read from the repository."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import msgspec

from rag_assets.errors import RagAssetsError
from rag_assets.evaluation.mining import LaterCommit, Mined, mined, unasked
from rag_assets.sources import Snapshot, redact
from rag_assets.sources.git.git_history import Commit, GitHistory
from rag_assets.sources.snapshot import EntryKind

_SPARE = 1.5
"""Commits that may give a question, for each that is wanted: some are about files newer than the snapshot, 1 % to 65 %
of them, in nine of 13 repositories less than a quarter."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class MiningError(RagAssetsError):
    """A repository, or a part of its history, that gives no questions; the text says why and what to do."""


def _everything(path: str) -> bool:
    return True


def is_date(word: str) -> bool:
    return _DATE.fullmatch(word) is not None


def commit_at(past: GitHistory, date: str) -> str:
    """The last commit of the branch until a date. Raises MiningError where the history begins later."""
    found = past.mainline(until=date)
    if not found:
        raise MiningError(f"there is no commit until {date}; choose a later --since")
    return found[0]


def chosen_snapshot(past: GitHistory, limit: int, sees: Callable[[str], bool] = _everything) -> str:
    """The newest commit of the branch after which come enough commits for `limit` questions, else the one in the
    middle: before that a repository looks too little like today. Raises MiningError for a history of one commit."""
    mainline = past.mainline()
    if len(mainline) < 2:
        raise MiningError("the history has one commit only, and questions are made of later ones")
    nearest, furthest = 1, max(1, len(mainline) // 2)
    while nearest < furthest:  # the further back, the more commits come after it
        middle = (nearest + furthest) // 2
        if sum(unasked(commit) is None for commit in later_commits(past, mainline[middle], sees)) >= limit * _SPARE:
            furthest = middle
        else:
            nearest = middle + 1
    return mainline[nearest]


def later_commits(past: GitHistory, snapshot: str, sees: Callable[[str], bool] = _everything) -> list[LaterCommit]:
    """What came after a commit, newest first, without secrets in what was written. A commit that changed a path which
    the reader does not see is not told of at all: its subject speaks of that file (E12)."""
    ids = past.ids_since(snapshot)
    read, authors = past.read(ids), past.authors(ids)
    return [
        LaterCommit(id=commit, author=authors.get(commit, ""), past=_safe(read[commit]))
        for commit in ids
        if commit in read and all(map(sees, read[commit].paths))
    ]


def mine_after(past: GitHistory, snapshot: Snapshot, limit: int, sees: Callable[[str], bool] = _everything) -> Mined:
    """At most `limit` questions about a snapshot, of the commits that came next: the files are still alike then.
    Raises MiningError where no commit gives one."""
    later = later_commits(past, snapshot.info.commit_sha, sees)
    files = (entry.path for entry in snapshot.entries() if entry.kind is EntryKind.FILE)
    paths = {path for path in files if sees(path)}  # a visible file may have had a hidden place before
    found = mined(later, paths)
    if not found.questions:
        short = snapshot.info.commit_sha[:10]
        reasons = (
            ", ".join(f"{count} {reason.value}" for reason, count in sorted(found.left_out.items())) or "none came"
        )
        raise MiningError(f"no commit after {short} gives a question ({reasons}); choose an earlier --since")
    return replace(found, questions=found.questions[:limit])


def _safe(commit: Commit) -> Commit:
    return msgspec.structs.replace(commit, subject=redact(commit.subject, "").text)
