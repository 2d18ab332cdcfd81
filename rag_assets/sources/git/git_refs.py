"""From the name of a version (branch, tag, commit) to a commit id, with help if there is none; and the default ref and
the current commit of a location, without opening it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.errors import EmptyRepository, MissingCommit, MissingRef
from rag_assets.sources.git import GitError, run_git
from rag_assets.sources.git.git_remote import DEFAULT_NETWORK_TIMEOUT_SECONDS, list_remote, remote_branch
from rag_assets.sources.locations import DEFAULT_ARCHIVE_REF, DEFAULT_DIRECTORY_REF, LocationKind, location_of
from rag_assets.sources.urls import archive_version

if TYPE_CHECKING:
    from rag_assets.sources.ignore import IgnorePolicy

DEFAULT_HEAD_TIMEOUT_SECONDS = 10.0
"""Less than a build waits, because somebody waits for a status line."""
_ID_LENGTHS = (40, 64)
_STEPS = re.compile(r"(?P<name>.+?)(?P<steps>(?:[~^]\d*)+)")
"""`main~3`, `v1.0^`. No other form that git reads: `:/text` would tell what stands in commits."""
_HEX = re.compile(r"[0-9a-fA-F]{4,64}")  # git abbreviates to four digits at the shortest
_DETACHED_DIGITS = 12
_SHOWN_REFS = 5
_PREFIXES = ("", "refs/", "refs/tags/", "refs/heads/")
"""In the order in which git looks up a short name."""
_LOCAL_PREFIXES = (*_PREFIXES, "refs/remotes/", "refs/remotes/origin/")  # last, what exists on the remote only


@dataclass(frozen=True, slots=True)
class Resolved:
    """A commit and the name it was found under (`main`, `origin/x`, `v1.2`, or the id itself)."""

    commit: str
    name: str


def resolve(git_dir: Path, where: str, ref: str | None, commit: str | None) -> Resolved:
    """The commit to read: `commit` if given, else the one of `ref`, else of HEAD.

    `where` names the repository in errors. Raises MissingRef, MissingCommit or EmptyRepository.
    """
    refs = list_refs(git_dir)
    if commit is not None:
        found = resolve_commit(git_dir, where, commit, refs)
        return Resolved(found, ref or _head_name(git_dir, refs) or found[:_DETACHED_DIGITS])
    if ref is None or ref == "HEAD":
        return _resolve_head(git_dir, where, refs)
    full = find_ref(ref, refs)
    if full is not None:
        return Resolved(_peel(git_dir, where, full), short_name(ref))
    if _HEX.fullmatch(ref):
        found = resolve_commit(git_dir, where, ref, refs)
        return Resolved(found, ref)
    raise MissingRef(_missing_ref(where, ref, refs))


def commit_named(git_dir: Path, where: str, name: str) -> str:
    """The full id of the commit that a branch, a tag, an id, HEAD, or one of them with `~3` or `^` names. Raises as
    `resolve`."""
    stepped = _STEPS.fullmatch(name)
    if stepped is None:
        return resolve(git_dir, where, name, None).commit
    begin = resolve(git_dir, where, stepped["name"], None).commit
    try:
        wanted = f"{begin}{stepped['steps']}^{{commit}}"
        return run_git("rev-parse", "--verify", "--quiet", wanted, git_dir=git_dir).decode().strip()
    except GitError:
        said = f"{where}: {name!r} goes back further than the history of {stepped['name']}"
        if more := _shallow_hint(git_dir):
            raise MissingCommit(f"{said}{more}") from None
        commits = int(run_git("rev-list", "--count", "--first-parent", begin, git_dir=git_dir))
        raise MissingRef(f"{said}, which has {commits} commit{'s' * (commits != 1)}") from None


def resolve_commit(git_dir: Path, where: str, commit: str, refs: list[str]) -> str:
    """The full id of a full or abbreviated commit id. Raises MissingCommit, or EmptyRepository without any ref."""
    if not _HEX.fullmatch(commit):
        raise MissingCommit(f"{where}: {commit!r} is not a commit id (4 to 64 hexadecimal digits)")
    try:
        return run_git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", git_dir=git_dir).decode().strip()
    except GitError:
        raise _why_no_commit(git_dir, where, commit, refs) from None


def list_refs(git_dir: Path) -> list[str]:
    """Full names of all refs, sorted."""
    return run_git("for-each-ref", "--format=%(refname)", git_dir=git_dir).decode("utf-8", "replace").splitlines()


def find_ref(ref: str, refs: list[str]) -> str | None:
    """The full name of a ref, given in short or in full."""
    known = set(refs)
    return next((prefix + ref for prefix in _LOCAL_PREFIXES if prefix + ref in known), None)


def short_name(ref: str) -> str:
    """`refs/heads/main` → `main`, `refs/remotes/origin/x` → `origin/x`; other names as they are."""
    for prefix in ("refs/heads/", "refs/tags/", "refs/remotes/"):
        if ref.startswith(prefix):
            return ref.removeprefix(prefix)
    return ref


def head_branch(git_dir: Path) -> str | None:
    """The full ref that HEAD points to, whether it exists or not; None if HEAD is detached."""
    try:
        return run_git("symbolic-ref", "--quiet", "HEAD", git_dir=git_dir).decode("utf-8", "replace").strip()
    except GitError:
        return None


def near_refs(ref: str, refs: list[str]) -> str:
    """`; near: a, b` for a misspelled ref, `; it has: …` if nothing is near, or an empty text;
    branches come before tags."""
    names = [name for name in dict.fromkeys(short_name(full) for full in sorted(refs)) if name != "HEAD"]
    by_lower = {name.lower(): name for name in names}
    near = [by_lower[name] for name in difflib.get_close_matches(ref.lower(), by_lower, n=_SHOWN_REFS, cutoff=0.5)]
    if near:
        return f"; near names: {', '.join(near)}"
    more = ", …" if len(names) > _SHOWN_REFS else ""
    return f"; it has: {', '.join(names[:_SHOWN_REFS])}{more}" if names else ""


def is_shallow(git_dir: Path) -> bool:
    return run_git("rev-parse", "--is-shallow-repository", git_dir=git_dir).strip() == b"true"


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


def _resolve_head(git_dir: Path, where: str, refs: list[str]) -> Resolved:
    branch = head_branch(git_dir)
    try:
        commit = run_git("rev-parse", "--verify", "--quiet", "HEAD^{commit}", git_dir=git_dir).decode().strip()
    except GitError:
        if not refs:
            raise EmptyRepository(f"{where}: the repository has no commit yet; commit something first") from None
        name = short_name(branch) if branch else "HEAD"
        raise MissingRef(
            f"{where}: HEAD points to {name!r}, which has no commit yet{near_refs(name, refs)}; "
            "name one of them as the ref to index"
        ) from None
    return Resolved(commit, short_name(branch) if branch else commit[:_DETACHED_DIGITS])


def _head_name(git_dir: Path, refs: list[str]) -> str | None:
    branch = head_branch(git_dir)
    return short_name(branch) if branch in refs and branch is not None else None


def _peel(git_dir: Path, where: str, full: str) -> str:
    try:
        return run_git("rev-parse", "--verify", "--quiet", f"{full}^{{commit}}", git_dir=git_dir).decode().strip()
    except GitError:
        raise MissingCommit(
            f"{where}: {short_name(full)!r} does not lead to a commit that this clone has{_shallow_hint(git_dir)}"
        ) from None


def _missing_ref(where: str, ref: str, refs: list[str]) -> str:
    if not refs:
        return f"{where}: no ref {ref!r}; the repository has no commit yet"
    return f"{where}: no branch or tag {ref!r}{near_refs(ref, refs)}"


def _why_no_commit(git_dir: Path, where: str, commit: str, refs: list[str]) -> MissingCommit | EmptyRepository:
    matches = _objects_like(git_dir, commit)
    if len(matches) > 1:
        return MissingCommit(f"{where}: {commit} is ambiguous, it abbreviates {', '.join(matches[:_SHOWN_REFS])}")
    if len(matches) == 1:
        kind = run_git("cat-file", "-t", matches[0], git_dir=git_dir).decode().strip()
        return MissingCommit(f"{where}: {commit} is a {kind}, not a commit")
    if not refs:
        return EmptyRepository(f"{where}: no commit {commit}; the repository has no commit yet")
    return MissingCommit(f"{where}: no commit {commit}{_shallow_hint(git_dir)}{near_refs('', refs)}")


def _objects_like(git_dir: Path, commit: str) -> list[str]:
    """Full ids of the objects that exist and start with `commit`."""
    found = run_git("rev-parse", f"--disambiguate={commit}", git_dir=git_dir).decode().split()
    return [oid for oid in found if _exists(git_dir, oid)]  # git repeats a full id whether it has it or not


def _exists(git_dir: Path, oid: str) -> bool:
    try:
        run_git("cat-file", "-e", oid, git_dir=git_dir)
    except GitError:
        return False
    return True


def _shallow_hint(git_dir: Path) -> str:
    if not is_shallow(git_dir):
        return ""
    return "; the clone is shallow: run `git fetch --unshallow` in it to have the older commits"


def _is_full_id(ref: str) -> bool:
    return len(ref) in _ID_LENGTHS and all(digit in "0123456789abcdef" for digit in ref)


def _listed(listing: bytes) -> dict[str, str]:
    """Ref → commit of an `ls-remote` listing; `tag^{}` is the target of an annotated tag."""
    lines = (line.split("\t") for line in listing.decode("utf-8", "replace").splitlines())
    return {parts[1]: parts[0] for parts in lines if len(parts) == 2 and not parts[0].startswith("ref:")}
