"""Makes the rows of the list: revision, licence and language of repositories, and why one is left out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path, PurePosixPath

from rag_assets.sources.git import run_git
from rag_assets.training.errors import TrainingError
from rag_assets.training.extraction import wanted
from rag_assets.training.units import LANGUAGES
from training.repositories import TRAIN, Banned, Repository, git_dir_of, licence_of

_LATER_COMMITS = 600
"""Of a repository that is not trained on, after its snapshot, or a third of its history."""


def row_of(name: str, mirrors: Path, banned: Banned, role: str) -> Repository:
    """The row of a repository. Raises TrainingError with the reason why nothing may be learnt from it."""
    if banned.refuses(name):
        raise TrainingError(f"{name}: the project is judged on it")
    mirror = mirrors / name.replace("/", "+") / "repo"
    if not mirror.is_dir():
        raise TrainingError(f"{name}: no mirror at {mirror.relative_to(mirrors)}; clone it there (git clone --bare)")
    git_dir = git_dir_of(mirror)
    licence = licence_of(git_dir, "HEAD")
    if not licence:
        raise TrainingError(f"{name}: its licence files name no permissive licence, or another beside it")
    commits = run_git("rev-list", "--first-parent", "HEAD", git_dir=git_dir).decode().split()
    back = min(_LATER_COMMITS, len(commits) // 3) if role != TRAIN else 0
    listing = run_git("ls-tree", "-r", "--name-only", commits[back], git_dir=git_dir)
    paths = listing.decode("utf-8", "replace").splitlines()
    kinds = Counter(LANGUAGES[PurePosixPath(p).suffix.lower()] for p in paths if wanted(p))
    del kinds["markdown"]
    language = min(kinds, key=lambda kind: (kind == "sql", -kinds[kind], kind), default="")
    if not language:
        raise TrainingError(f"{name}: no code in the languages that are read")
    return Repository(name, commits[back], licence, role, language)
