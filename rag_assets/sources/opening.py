"""Opening a configured location as a snapshot."""

from __future__ import annotations

from pathlib import Path

from rag_assets.sources.archive import ArchiveSnapshot
from rag_assets.sources.directory import DirectorySnapshot
from rag_assets.sources.entries import Snapshot
from rag_assets.sources.git_snapshot import GitSnapshot, remote_url_of
from rag_assets.sources.ignore import IgnorePolicy
from rag_assets.sources.mirror import update_mirror
from rag_assets.sources.places import PlaceKind, place_of
from rag_assets.sources.refs import resolve
from rag_assets.sources.remote import DEFAULT_NETWORK_TIMEOUT_SECONDS


def open_snapshot(
    location: str,
    *,
    ref: str | None = None,
    commit: str | None = None,
    mirrors: Path,
    base_dir: Path | None = None,
    timeout: float = DEFAULT_NETWORK_TIMEOUT_SECONDS,
    policy: IgnorePolicy | None = None,
) -> Snapshot:
    """The content of a location at `commit`, else at `ref`, else at what HEAD names.

    `location`: git URL (https, ssh, scp-like, file), local repository (normal, bare, worktree, shallow, or a
    directory inside one, which limits the snapshot to it), plain directory, or source archive. Relative paths
    are relative to `base_dir` (default: the working directory). URLs are mirrored below `mirrors`; `timeout`
    bounds each network command in seconds. `policy` decides which files of a plain directory count for its
    content id. Raises SourceError and its kinds.
    """
    place = place_of(location, base_dir)
    if place.kind is PlaceKind.ARCHIVE:
        return ArchiveSnapshot(place.path, ref, commit)
    if place.kind is PlaceKind.DIRECTORY:
        return DirectorySnapshot(place.path, ref, commit, policy or IgnorePolicy())
    if place.kind is PlaceKind.URL:
        mirror = update_mirror(location, mirrors, ref=ref, commit=commit, timeout=timeout)
        return GitSnapshot(mirror, place.where, resolve(mirror, place.where, ref, commit), place.where)
    resolved = resolve(place.git_dir, place.where, ref, commit)
    return GitSnapshot(
        place.git_dir, place.where, resolved, remote_url_of(place.git_dir), subdirectory=place.subdirectory
    )
