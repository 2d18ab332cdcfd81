"""Real git repositories, made in the test's own directory with a fixed identity and no configuration of the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag_assets.contracts.source_file import SkippedFile
from rag_assets.sources.discovery import DiscoveredText, discover
from rag_assets.sources.ignore import IgnorePolicy
from rag_assets.sources.snapshot import Snapshot
from rag_assets_tests.git_repository import COMMIT_TIME, COMMIT_TIME_UTC, Repository

__all__ = ["COMMIT_TIME", "COMMIT_TIME_UTC", "Repository"]


@pytest.fixture
def make_repository(tmp_path: Path) -> Callable[..., Repository]:
    """A new repository with one commit of the given files, branch `main`."""

    def make(files: Mapping[str, str | bytes] | None = None, name: str = "shop") -> Repository:
        path = tmp_path / name
        repository = Repository.new(path)
        if files is not None:
            repository.commit(files)
        return repository

    return make


@pytest.fixture
def clone(tmp_path: Path) -> Callable[..., Repository]:
    """A clone of a repository over file://, with the options of `git clone`."""

    def make(origin: Repository, *options: str, name: str = "clone") -> Repository:
        target = tmp_path / name
        origin.git("clone", "--quiet", *options, origin.path.as_uri(), str(target))
        return Repository(target)

    return make


@dataclass(frozen=True)
class Discovered:
    """The outcome of a discovery, ready to be asked."""

    texts: dict[str, DiscoveredText]
    skipped: dict[str, SkippedFile]

    def reasons(self) -> dict[str, str]:
        return {path: skipped.reason.value for path, skipped in self.skipped.items()}


def discover_all(snapshot: Snapshot, policy: IgnorePolicy | None = None) -> Discovered:
    texts: dict[str, DiscoveredText] = {}
    skipped: dict[str, SkippedFile] = {}
    for found in discover(snapshot, policy or IgnorePolicy(), language_of=lambda path: path.rpartition(".")[2]):
        if isinstance(found, DiscoveredText):
            texts[found.file.path] = found
        else:
            skipped[found.path] = found
    return Discovered(texts, skipped)
