"""The current commit of a source, without opening it. Every search asks for it (is the index stale?), so this loads
little."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.errors import MissingRef
from rag_assets.sources.git.git_remote import DEFAULT_NETWORK_TIMEOUT_SECONDS, list_remote, remote_branch
from rag_assets.sources.git.resolve import near_refs, resolve, short_name
from rag_assets.sources.locations import DEFAULT_ARCHIVE_REF, DEFAULT_DIRECTORY_REF, LocationKind, location_of
from rag_assets.sources.urls import archive_version

if TYPE_CHECKING:
    from rag_assets.sources.ignore import IgnorePolicy

DEFAULT_HEAD_TIMEOUT_SECONDS = 10.0
"""Less than a build waits, because somebody waits for a status line."""
_ID_LENGTHS = (40, 64)
_PREFIXES = ("", "refs/", "refs/tags/", "refs/heads/")  # the order in which git looks a short name up


@dataclass(frozen=True, slots=True)
class RemoteRefs:
    """One answer of a server: its default branch, if it says so, and ref → commit of everything it has."""

    default: str | None
    commits: dict[str, str]

    def commit_of(self, ref: str) -> str | None:
        """The commit of a branch or tag (full or short name) or of a full commit id; None if there is none."""
        if _is_full_id(ref):
            return ref
        names = [known for prefix in _PREFIXES if (known := prefix + ref) in self.commits]
        return next((self.commits.get(f"{name}^{{}}", self.commits[name]) for name in names), None)


def remote_refs(location: str, *, timeout: float = DEFAULT_HEAD_TIMEOUT_SECONDS) -> RemoteRefs:
    """All refs of a URL, with one `git ls-remote`. Raises SourceUnreachable, or SourceRefused."""
    listing = list_remote(location, (), timeout=timeout)
    branch = remote_branch(listing)
    return RemoteRefs(short_name(branch) if branch else None, _listed(listing))


def default_ref(
    location: str,
    *,
    mirrors: Path | None = None,
    timeout: float = DEFAULT_NETWORK_TIMEOUT_SECONDS,
) -> str:
    """The ref that `open_snapshot` uses by default. Asks the server of a URL. Raises SourceError."""
    place = location_of(location)
    if place.kind is LocationKind.ARCHIVE:
        return archive_version(place.path.name) or DEFAULT_ARCHIVE_REF
    if place.kind is LocationKind.DIRECTORY:
        return DEFAULT_DIRECTORY_REF
    if place.kind is LocationKind.REPOSITORY:
        return resolve(place.git_dir, place.where, None, None).name
    listing = list_remote(location, ("HEAD",), timeout=timeout)
    branch = remote_branch(listing)
    if branch is not None:
        return short_name(branch)
    if mirrors is not None and not listing.strip():
        # Nothing under HEAD: let the mirror say whether the repository is empty or its HEAD unborn.
        from rag_assets.sources.git.mirror import update_mirror

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
    policy: IgnorePolicy | None = None,
) -> str:
    """The commit that `ref` (default: HEAD) of a location names now, to compare with the indexed one.

    Local sources are asked without network, a URL with one `git ls-remote`. Raises SourceError.
    """
    place = location_of(location)
    if place.kind is LocationKind.ARCHIVE:
        from rag_assets.sources.archive import archive_id  # a query asks about a git repository, as a rule

        return archive_id(place.path)
    if place.kind is LocationKind.DIRECTORY:
        from rag_assets.sources.directory import DirectorySnapshot
        from rag_assets.sources.ignore import IgnorePolicy

        return DirectorySnapshot(place.path, ref, None, policy or IgnorePolicy()).info.commit_sha
    if place.kind is LocationKind.REPOSITORY:
        return resolve(place.git_dir, place.where, ref, None).commit
    wanted = ref or "HEAD"
    if _is_full_id(wanted):
        return wanted
    if wanted == "HEAD":
        refs = RemoteRefs(None, _listed(list_remote(location, ("HEAD",), timeout=timeout)))
    else:
        refs = remote_refs(location, timeout=timeout)
    found = refs.commit_of(wanted)
    if found is None:
        known = [name for name in refs.commits if not name.endswith("^{}")]
        raise MissingRef(f"{place.where}: no branch or tag {wanted!r}{near_refs(wanted, known)}")
    return found


def _is_full_id(ref: str) -> bool:
    return len(ref) in _ID_LENGTHS and all(digit in "0123456789abcdef" for digit in ref)


def _listed(listing: bytes) -> dict[str, str]:
    """Ref → commit of an `ls-remote` listing; `tag^{}` is the target of an annotated tag."""
    lines = (line.split("\t") for line in listing.decode("utf-8", "replace").splitlines())
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2 and not parts[0].startswith("ref:")}
