"""Opening a configured location as a snapshot, or the history of it that is on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rag_assets.errors import SourceError
from rag_assets.sources.archive import ArchiveSnapshot
from rag_assets.sources.directory import DirectorySnapshot
from rag_assets.sources.git.git_refs import Resolved, resolve
from rag_assets.sources.git.git_remote import DEFAULT_NETWORK_TIMEOUT_SECONDS
from rag_assets.sources.git.git_snapshot import GitSnapshot, remote_url_of
from rag_assets.sources.git.mirror import mirror_path, update_mirror
from rag_assets.sources.ignore import IgnorePolicy
from rag_assets.sources.locations import LocationKind, location_of
from rag_assets.sources.snapshot import Snapshot


def open_snapshot(
    location: str,
    *,
    ref: str | None = None,
    commit: str | None = None,
    mirrors: Path,
    timeout: float = DEFAULT_NETWORK_TIMEOUT_SECONDS,
    policy: IgnorePolicy | None = None,
) -> Snapshot:
    """The content of a location at `commit`, else at `ref`, else at HEAD.

    `location`: git URL (https, ssh, scp-like, file), local repository (normal, bare, worktree, shallow, or a
    directory inside one, which limits the snapshot to it), plain directory, or source archive. URLs are mirrored below
    `mirrors`; `timeout` bounds each network command in seconds. `policy` decides which files of a plain directory count
    for its content id. Raises SourceError or one of its subclasses.
    """
    place = location_of(location)
    if place.kind is LocationKind.ARCHIVE:
        return ArchiveSnapshot(place.path, ref, commit)
    if place.kind is LocationKind.DIRECTORY:
        return DirectorySnapshot(place.path, ref, commit, policy or IgnorePolicy())
    if place.kind is LocationKind.URL:
        mirror = update_mirror(location, mirrors, ref=ref, commit=commit, timeout=timeout)
        return GitSnapshot(mirror, place.where, resolve(mirror, place.where, ref, commit), place.where)
    resolved = resolve(place.git_dir, place.where, ref, commit)
    return GitSnapshot(
        place.git_dir, place.where, resolved, remote_url_of(place.git_dir), subdirectory=place.subdirectory
    )


@dataclass(frozen=True, slots=True)
class LocalHistory:
    """A repository on this machine. `where` is its name in errors, `subdirectory` the part of it that is indexed."""

    git_dir: Path
    where: str
    subdirectory: str = ""

    def at(self, commit: str) -> GitSnapshot:
        """The content of a commit, by its full id."""
        return GitSnapshot(self.git_dir, self.where, Resolved(commit, commit), "", subdirectory=self.subdirectory)


def local_history(location: str, mirrors: Path) -> LocalHistory:
    """The repository of a location, of a URL its mirror as it was fetched last; never by the network. Raises
    SourceError, or LocationError, where there is none."""
    place = location_of(location)
    if place.kind is LocationKind.URL:
        mirror = mirror_path(mirrors, location)
        if not (mirror / "HEAD").is_file():
            raise SourceError(f"{place.where} has no clone below {mirrors}")
        return LocalHistory(mirror, place.where)
    if place.kind is not LocationKind.REPOSITORY:
        raise SourceError(f"{place.where} is a {place.kind.value}, which has no commits")
    return LocalHistory(place.git_dir, place.where, place.subdirectory)
