"""Is an index as new as its repository? Asked with every answer, so only of what is near and answers at once."""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.index.generations import Manifest
from rag_assets.index.layout import IndexHome

_GIT_SECONDS = 2.0  # rev-parse takes milliseconds; a network file system that hangs must not hold an answer back
_HASHED_BYTES = 64_000_000  # 50 ms; a larger archive is not read for an answer


@dataclass(frozen=True, slots=True)
class Freshness:
    """The indexed commit beside the one the ref names now. `head` is empty when that is unknown, with the reason."""

    indexed: str
    head: str = ""
    reason: str = ""

    @property
    def stale(self) -> bool | None:
        """None where nobody can say."""
        return self.indexed != self.head if self.head else None


def freshness_of(home: IndexHome, manifest: Manifest) -> Freshness:
    """Compares an index with its repository without touching the network. Never fails: an answer is not held back
    because its age is unknown."""
    remembered = remembered_repository(home, manifest.index_label)
    location = str(remembered.get("location", ""))
    indexed = manifest.commit_sha
    if not location:
        return Freshness(indexed, reason="the repository is not remembered")
    path = Path(location)
    if not path.is_absolute():
        from rag_assets.sources.urls import is_remote  # start-up budget: no address of a server is an absolute path

        if is_remote(location):
            return Freshness(indexed, reason="remote")
    if not path.exists():
        return Freshness(indexed, reason=f"{location} is gone")
    try:
        if manifest.is_git:
            return _git_head(indexed, path, manifest.ref)
        if path.is_file():
            from rag_assets.sources.urls import archive_stem  # start-up budget: most repositories are folders

            if archive_stem(location) is not None:
                return _archive_head(indexed, path)
    except OSError as error:
        return Freshness(indexed, reason=f"{location}: {error.strerror or error}")
    return Freshness(indexed, reason="a plain directory has no commits")


def remembered_repository(home: IndexHome, label: str) -> dict[str, Any]:
    """The settings a label was last built with, as plain JSON; empty where there are none, or none to read."""
    try:
        found = json.loads((home.label(label) / "label.json").read_bytes())
    except (FileNotFoundError, ValueError):  # ValueError: no JSON, or no text
        return {}
    return found if isinstance(found, dict) else {}


def _git_head(indexed: str, repository: Path, ref: str) -> Freshness:
    # start-up budget: only a search of the command line asks for the head
    from rag_assets.errors import GitNotFound
    from rag_assets.sources.git import git_environment, git_executable

    try:
        program = git_executable()
    except GitNotFound:
        return Freshness(indexed, reason="git is not installed")
    command = [program, "-C", str(repository), "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"]
    environment = git_environment(network=False)
    try:
        found = subprocess.run(command, env=environment, capture_output=True, timeout=_GIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Freshness(indexed, reason="git did not answer in time")
    if found.returncode != 0:
        return Freshness(indexed, reason=f"{ref} is gone from the repository")
    return Freshness(indexed, found.stdout.decode().strip())


def _archive_head(indexed: str, archive: Path) -> Freshness:
    if archive.stat().st_size > _HASHED_BYTES:
        return Freshness(indexed, reason="the archive is too large to compare each time")
    with archive.open("rb") as file:
        return Freshness(indexed, hashlib.file_digest(file, "sha256").hexdigest())
