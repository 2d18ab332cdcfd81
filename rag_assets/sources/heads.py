"""Which commit a source is at now, without opening it. Every search asks (is the index stale?), so it loads little."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.sources.errors import MissingRef
from rag_assets.sources.places import DEFAULT_ARCHIVE_REF, DEFAULT_DIRECTORY_REF, PlaceKind, place_of
from rag_assets.sources.refs import near_refs, resolve, short_name
from rag_assets.sources.remote import DEFAULT_NETWORK_TIMEOUT_SECONDS, list_remote, remote_branch
from rag_assets.sources.urls import archive_version

if TYPE_CHECKING:
    from rag_assets.sources.ignore import IgnorePolicy

DEFAULT_HEAD_TIMEOUT_SECONDS = 10.0
"""A status line waits less than a build does."""
_ID_LENGTHS = (40, 64)


def default_ref(
    location: str,
    *,
    mirrors: Path | None = None,
    base_dir: Path | None = None,
    timeout: float = DEFAULT_NETWORK_TIMEOUT_SECONDS,
) -> str:
    """The ref that `open_snapshot` takes when it is given none. Asks the server of a URL. Raises SourceError."""
    place = place_of(location, base_dir)
    if place.kind is PlaceKind.ARCHIVE:
        return archive_version(place.path.name) or DEFAULT_ARCHIVE_REF
    if place.kind is PlaceKind.DIRECTORY:
        return DEFAULT_DIRECTORY_REF
    if place.kind is PlaceKind.REPOSITORY:
        return resolve(place.git_dir, place.where, None, None).name
    listing = list_remote(location, ("HEAD",), timeout=timeout)
    branch = remote_branch(listing)
    if branch is not None:
        return short_name(branch)
    if mirrors is not None and not listing.strip():
        # Nothing under HEAD: let the mirror say whether the repository is empty or its HEAD unborn.
        from rag_assets.sources.mirror import update_mirror

        mirror = update_mirror(location, mirrors, ref=None, commit=None, timeout=timeout)
        return resolve(mirror, place.where, None, None).name
    if not listing.strip():
        raise MissingRef(f"{place.where}: the repository has no default branch; name a ref to index")
    return listing.split()[0].decode()[:12]


def remote_head(
    location: str,
    ref: str | None = None,
    *,
    timeout: float = DEFAULT_HEAD_TIMEOUT_SECONDS,
    base_dir: Path | None = None,
    policy: IgnorePolicy | None = None,
) -> str:
    """The commit that `ref` (default: HEAD) of a location names now, to compare with the indexed one.

    Local sources are asked without network, a URL with one `git ls-remote`. Raises SourceError.
    """
    place = place_of(location, base_dir)
    if place.kind is PlaceKind.ARCHIVE:
        from rag_assets.sources.archive import archive_id  # a query asks about a git repository, as a rule

        return archive_id(place.path)
    if place.kind is PlaceKind.DIRECTORY:
        from rag_assets.sources.directory import DirectorySnapshot
        from rag_assets.sources.ignore import IgnorePolicy

        return DirectorySnapshot(place.path, ref, None, policy or IgnorePolicy()).info.commit_sha
    if place.kind is PlaceKind.REPOSITORY:
        return resolve(place.git_dir, place.where, ref, None).commit
    if ref is None or ref == "HEAD":
        listed = _listed(list_remote(location, ("HEAD",), timeout=timeout))
        found = listed.get("HEAD")
    else:
        if len(ref) in _ID_LENGTHS and all(digit in "0123456789abcdef" for digit in ref):
            return ref
        listed = _listed(list_remote(location, (), timeout=timeout))
        names = [prefix + ref for prefix in ("", "refs/", "refs/tags/", "refs/heads/")]
        found = next((listed.get(f"{name}^{{}}", listed[name]) for name in names if name in listed), None)
    if found is None:
        known = [name for name in listed if not name.endswith("^{}")]
        raise MissingRef(f"{place.where}: no branch or tag {ref or 'HEAD'!r}{near_refs(ref or 'HEAD', known)}")
    return found


def _listed(listing: bytes) -> dict[str, str]:
    """Ref → commit of an `ls-remote` listing; `tag^{}` is what an annotated tag leads to."""
    lines = (line.split("\t") for line in listing.decode("utf-8", "replace").splitlines())
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2 and not parts[0].startswith("ref:")}
