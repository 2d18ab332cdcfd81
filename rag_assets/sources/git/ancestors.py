"""How far commits are behind another one, in whatever repository is at hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rag_assets.errors import SourceError
from rag_assets.sources.git import GitError, run_git


def git_dir_around(folder: Path) -> Path | None:
    """The repository that a folder is in, or is; None where it is in none."""
    try:
        return Path(run_git("-C", str(folder), "rev-parse", "--absolute-git-dir").decode().strip())
    except (GitError, SourceError):
        return None


def nearest_ancestor(git_dir: Path, commit: str, others: Iterable[str]) -> tuple[str, int] | None:
    """The one of `others` that is `commit` or its nearest ancestor, and how many commits lie between: those that one
    has and the other has not. None where none of them is one, or the repository does not have them."""
    found = [(distance, other) for other in others if (distance := commits_between(git_dir, other, commit)) is not None]
    if not found:
        return None
    distance, other = min(found)
    return other, distance


def commits_between(repository: Path, ancestor: str, commit: str, *, timeout: float | None = None) -> int | None:
    """How many commits another one has that its ancestor has not; None where it is no ancestor, or not in this clone.
    `repository` is its git directory or a folder in it. Raises GitTimeout and GitNotFound."""
    counted = ("rev-list", "--left-right", "--count", f"{ancestor}...{commit}")
    try:
        left, right = run_git("-C", str(repository), *counted, timeout=timeout).split()
    except GitError:
        return None
    return None if int(left) else int(right)
