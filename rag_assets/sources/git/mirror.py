"""Mirrors of URLs: a bare repository each under the home directory, fetched under a lock, never left incomplete."""

from __future__ import annotations

import hashlib
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rag_assets.errors import MissingCommit, MissingRef, SourceUnreachable
from rag_assets.sources.git import GitError, run_git
from rag_assets.sources.git.git_remote import explained, list_remote, remote_branch
from rag_assets.sources.urls import default_repository_id, strip_credentials, without_credentials

# Branches and tags, not `refs/*`: forges keep every pull request under refs/pull, often most of the objects.
_REFSPECS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_NOT_THERE = ("find remote ref", "not our ref", "unadvertised object", "no such remote ref", "bad object")
_FULL_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def mirror_path(mirrors: Path, url: str) -> Path:
    """The folder of the mirror of a URL: readable, and unique by the URL without its credentials."""
    clean = strip_credentials(url)
    digest = hashlib.sha256(clean.encode()).hexdigest()[:12]
    return mirrors / f"{default_repository_id(url)}-{digest}.git"


def update_mirror(url: str, mirrors: Path, *, ref: str | None, commit: str | None, timeout: float) -> Path:
    """The up-to-date bare mirror of `url`, cloned or fetched.

    A full commit id that the mirror already has needs no network. Raises SourceUnreachable, or MissingCommit
    or MissingRef if the server says so.
    """
    mirror = mirror_path(mirrors, url)
    if commit is not None and _has_commit(mirror, commit):
        return mirror
    with _locked(mirror, url, timeout):
        for leftover in mirrors.glob(f"{mirror.name}.*.tmp"):  # of a clone that was killed; we hold the lock
            shutil.rmtree(leftover)
        if not _is_repository(mirror):
            _clone(url, mirror, timeout)
        else:
            with explained(url, timeout):
                _fetch(url, mirror, *_REFSPECS, timeout=timeout)
            if ref is None:
                _follow_head(url, mirror, timeout)
        if ref is not None and ref.startswith("refs/") and not ref.startswith(("refs/heads/", "refs/tags/")):
            _fetch_extra(url, mirror, f"+{ref}:{ref}", MissingRef(f"{strip_credentials(url)}: no ref {ref!r}"), timeout)
        if commit is not None and _FULL_ID.fullmatch(commit) and not _has_commit(mirror, commit):
            missing = MissingCommit(f"{strip_credentials(url)}: no commit {commit} in any branch or tag")
            _fetch_extra(url, mirror, commit, missing, timeout)
    return mirror


def _clone(url: str, mirror: Path, timeout: float) -> None:
    """Clones into a folder beside the mirror and moves it there, so that no interrupted clone looks complete."""
    clean, credentials = without_credentials(url)
    if mirror.exists():
        shutil.rmtree(mirror)  # not a repository: the remains of a damaged disk
    temporary = mirror.with_name(f"{mirror.name}.{uuid.uuid4().hex}.tmp")
    options = ("--bare", "--quiet", "--template=")
    try:
        with explained(url, timeout):
            run_git(
                "clone", *options, "--", clean, str(temporary), timeout=timeout, network=True, credentials=credentials
            )
        temporary.replace(mirror)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _fetch(url: str, mirror: Path, *refspecs: str, timeout: float) -> None:
    clean, credentials = without_credentials(url)
    options = ("--quiet", "--prune", "--update-shallow", "--no-tags", "--no-write-fetch-head")
    run_git(
        "fetch",
        *options,
        "--",
        clean,
        *refspecs,
        git_dir=mirror,
        timeout=timeout,
        network=True,
        credentials=credentials,
    )


def _fetch_extra(url: str, mirror: Path, refspec: str, missing: MissingRef | MissingCommit, timeout: float) -> None:
    """Fetches one more ref or commit. Raises `missing` if the server lacks it or does not give it out."""
    with explained(url, timeout):
        try:
            _fetch(url, mirror, refspec, timeout=timeout)
        except GitError as error:
            if any(words in error.stderr.lower() for words in _NOT_THERE):
                raise missing from None
            raise


def _follow_head(url: str, mirror: Path, timeout: float) -> None:
    """Points HEAD to the target of the server's HEAD, which follows a renamed default branch."""
    branch = remote_branch(list_remote(url, ("HEAD",), timeout=timeout))
    if branch is not None:
        run_git("symbolic-ref", "HEAD", branch, git_dir=mirror)


def _is_repository(mirror: Path) -> bool:
    if not (mirror / "HEAD").is_file():
        return False
    try:
        run_git("rev-parse", "--git-dir", git_dir=mirror)
    except GitError:
        return False
    return True


def _has_commit(mirror: Path, commit: str) -> bool:
    if not _FULL_ID.fullmatch(commit) or not _is_repository(mirror):
        return False
    try:
        run_git("cat-file", "-e", f"{commit}^{{commit}}", git_dir=mirror)
    except GitError:
        return False
    return True


@contextmanager
def _locked(mirror: Path, url: str, timeout: float) -> Iterator[None]:
    mirror.parent.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(mirror.with_name(f"{mirror.name}.lock")).acquire(timeout=timeout)
    except Timeout:
        raise SourceUnreachable(
            f"{strip_credentials(url)}: another process has been fetching it for {timeout:g} s; "
            "wait for it, or raise sources.network_timeout_seconds"
        ) from None
    with held:
        yield
