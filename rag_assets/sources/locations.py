"""Tells what a configured location is: a URL, a git repository, a plain directory, or a source archive."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from rag_assets.errors import LocationError
from rag_assets.sources.git import GitError, run_git
from rag_assets.sources.urls import archive_stem, check_location, is_remote, strip_credentials

DEFAULT_ARCHIVE_REF = "archive"
DEFAULT_DIRECTORY_REF = "directory"
"""The ref of a source without versions."""


class LocationKind(Enum):
    URL = "url"
    REPOSITORY = "repository"
    DIRECTORY = "directory"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class Location:
    """A location on this machine, or a URL. `where` is its name in errors."""

    kind: LocationKind
    where: str
    path: Path = Path()
    git_dir: Path = Path()
    subdirectory: str = ""


def location_of(location: str) -> Location:
    """Raises LocationError for a location that is missing, is neither directory nor archive, or is refused."""
    check_location(location)
    if "://" in location:
        return Location(LocationKind.URL, strip_credentials(location))
    path = Path(location).expanduser().resolve()
    if is_remote(location) and not path.exists():
        return Location(LocationKind.URL, strip_credentials(location))
    if path.is_file():
        if archive_stem(path.name) is None:
            raise LocationError(
                f"{path}: a file, but not a source archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz); "
                "name its directory to index it"
            )
        return Location(LocationKind.ARCHIVE, path.name, path)
    if not path.is_dir():
        raise LocationError(f"{path}: no such directory, repository or archive; check its `location`")
    return _local_directory(path)


def _local_directory(path: Path) -> Location:
    """A repository, a part of one, or a plain directory. A directory that git does not track is a plain one."""
    plain = Location(LocationKind.DIRECTORY, str(path), path)
    if not _may_be_repository(path):
        return plain
    if _looks_bare(path):
        return Location(LocationKind.REPOSITORY, str(path), path, git_dir=path)
    try:
        # One call: the directory may be a work tree, a linked one, inside `.git`, or none of these.
        answer = run_git("-C", str(path), "rev-parse", "--absolute-git-dir", "--show-prefix").decode("utf-8", "replace")
    except GitError as error:
        if "not a git repository" in error.stderr:
            return plain
        raise
    git_dir, _, prefix = answer.rstrip("\n").partition("\n")
    subdirectory = prefix.rstrip("/")
    if subdirectory and not _is_tracked(Path(git_dir), subdirectory):
        return plain
    return Location(LocationKind.REPOSITORY, str(path), path, Path(git_dir), subdirectory)


def _may_be_repository(path: Path) -> bool:
    """A cheap check without git, so that a machine without git can index a plain directory."""
    return _looks_bare(path) or any((folder / ".git").exists() for folder in (path, *path.parents))


def _looks_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _is_tracked(git_dir: Path, subdirectory: str) -> bool:
    try:
        listing = run_git("ls-tree", "-z", "--full-tree", "HEAD", "--", f":(literal){subdirectory}", git_dir=git_dir)
    except GitError:
        return False  # HEAD is unborn: nothing is tracked yet
    return bool(listing)
