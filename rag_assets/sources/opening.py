"""Opening a configured location: the one place that tells URLs, repositories, directories and archives apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from rag_assets.sources.archive import DEFAULT_ARCHIVE_REF, ArchiveSnapshot, archive_id
from rag_assets.sources.directory import DEFAULT_DIRECTORY_REF, DirectorySnapshot
from rag_assets.sources.entries import Snapshot
from rag_assets.sources.errors import GitNotFound, LocationError, MissingRef
from rag_assets.sources.git import GitError, run_git
from rag_assets.sources.git_snapshot import GitSnapshot, remote_url_of
from rag_assets.sources.ignore import IgnorePolicy
from rag_assets.sources.mirror import list_remote, remote_branch, update_mirror
from rag_assets.sources.refs import near_refs, resolve, short_name
from rag_assets.sources.urls import archive_stem, archive_version, check_location, is_remote, strip_credentials

DEFAULT_NETWORK_TIMEOUT_SECONDS = 300.0
DEFAULT_HEAD_TIMEOUT_SECONDS = 10.0
"""A status line waits less than a build does."""
_ID_LENGTHS = (40, 64)


class _Kind(Enum):
    URL = "url"
    REPOSITORY = "repository"
    DIRECTORY = "directory"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class _Place:
    """A location on this machine, or a URL. `where` is how errors call it."""

    kind: _Kind
    where: str
    path: Path = Path()
    git_dir: Path = Path()
    subdirectory: str = ""


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
    place = _place(location, base_dir)
    if place.kind is _Kind.ARCHIVE:
        return ArchiveSnapshot(place.path, ref, commit)
    if place.kind is _Kind.DIRECTORY:
        return DirectorySnapshot(place.path, ref, commit, policy or IgnorePolicy())
    if place.kind is _Kind.URL:
        mirror = update_mirror(location, mirrors, ref=ref, commit=commit, timeout=timeout)
        return GitSnapshot(mirror, place.where, resolve(mirror, place.where, ref, commit), place.where)
    resolved = resolve(place.git_dir, place.where, ref, commit)
    return GitSnapshot(
        place.git_dir, place.where, resolved, remote_url_of(place.git_dir), subdirectory=place.subdirectory
    )


def default_ref(
    location: str,
    *,
    mirrors: Path | None = None,
    base_dir: Path | None = None,
    timeout: float = DEFAULT_NETWORK_TIMEOUT_SECONDS,
) -> str:
    """The ref that `open_snapshot` takes when it is given none. Asks the server of a URL. Raises SourceError."""
    place = _place(location, base_dir)
    if place.kind is _Kind.ARCHIVE:
        return archive_version(place.path.name) or DEFAULT_ARCHIVE_REF
    if place.kind is _Kind.DIRECTORY:
        return DEFAULT_DIRECTORY_REF
    if place.kind is _Kind.REPOSITORY:
        return resolve(place.git_dir, place.where, None, None).name
    listing = list_remote(location, ("HEAD",), timeout=timeout)
    branch = remote_branch(listing)
    if branch is not None:
        return short_name(branch)
    if mirrors is not None and not listing.strip():
        # Nothing under HEAD: let the mirror say whether the repository is empty or its HEAD unborn.
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
    place = _place(location, base_dir)
    if place.kind is _Kind.ARCHIVE:
        return archive_id(place.path)
    if place.kind is _Kind.DIRECTORY:
        return DirectorySnapshot(place.path, ref, None, policy or IgnorePolicy()).info.commit_sha
    if place.kind is _Kind.REPOSITORY:
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


def _place(location: str, base_dir: Path | None) -> _Place:
    """Raises LocationError for what is not there, is neither directory nor archive, or is refused."""
    check_location(location)
    path = ((base_dir or Path.cwd()) / Path(location).expanduser()).resolve()
    if is_remote(location) and ("://" in location or not path.exists()):
        return _Place(_Kind.URL, strip_credentials(location))
    if path.is_file():
        if archive_stem(path.name) is None:
            raise LocationError(
                f"{path}: a file, but not a source archive (.zip, .tar, .tar.gz, .tar.bz2, .tar.xz); "
                "name its directory to index it"
            )
        return _Place(_Kind.ARCHIVE, path.name, path)
    if not path.is_dir():
        raise LocationError(f"{path}: no such directory, repository or archive; check `location` in rag_assets.yaml")
    return _local_directory(path)


def _local_directory(path: Path) -> _Place:
    """A repository, a part of one, or a plain directory. A directory that git does not track is a plain one."""
    plain = _Place(_Kind.DIRECTORY, str(path), path)
    if not _may_be_repository(path):
        return plain
    if _looks_bare(path):
        return _Place(_Kind.REPOSITORY, str(path), path, git_dir=path)
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
    return _Place(_Kind.REPOSITORY, str(path), path, Path(git_dir), subdirectory)


def _may_be_repository(path: Path) -> bool:
    """Cheap, and without git: so that a machine without git can index a plain directory."""
    return _looks_bare(path) or any((folder / ".git").exists() for folder in (path, *path.parents))


def _looks_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def _is_tracked(git_dir: Path, subdirectory: str) -> bool:
    try:
        listing = run_git("ls-tree", "-z", "--full-tree", "HEAD", "--", f":(literal){subdirectory}", git_dir=git_dir)
    except GitNotFound:
        raise
    except GitError:
        return False  # HEAD is unborn: nothing is tracked yet
    return bool(listing)
