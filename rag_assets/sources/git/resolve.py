"""From the name of a version (branch, tag, commit) to a commit id, with help if there is none."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from rag_assets.errors import EmptyRepository, MissingCommit, MissingRef
from rag_assets.sources.git import GitError, run_git

_STEPS = re.compile(r"(?P<name>.+?)(?P<steps>(?:[~^]\d*)+)")
"""`main~3`, `v1.0^`. No other form that git reads: `:/text` would tell what stands in commits."""
_HEX = re.compile(r"[0-9a-fA-F]{4,64}")  # git abbreviates to four digits at the shortest
_DETACHED_DIGITS = 12
_SHOWN_REFS = 5
# The order in which git looks up a short name; last come branches that exist on the remote only.
_PREFIXES = ("", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/", "refs/remotes/origin/")


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
    return next((prefix + ref for prefix in _PREFIXES if prefix + ref in known), None)


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
    """`; near: a, b` for a misspelled ref, `; it has: …` if nothing is near, or an empty text."""
    names = sorted({short_name(full) for full in refs} - {"HEAD"})
    by_lower = {name.lower(): name for name in names}
    near = [by_lower[name] for name in difflib.get_close_matches(ref.lower(), by_lower, n=_SHOWN_REFS, cutoff=0.5)]
    if near:
        return f"; near names: {', '.join(near)}"
    more = ", …" if len(names) > _SHOWN_REFS else ""
    return f"; it has: {', '.join(names[:_SHOWN_REFS])}{more}" if names else ""


def is_shallow(git_dir: Path) -> bool:
    return run_git("rev-parse", "--is-shallow-repository", git_dir=git_dir).strip() == b"true"


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
