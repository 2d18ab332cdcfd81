"""Asks a git server, and explains a failure without credentials and with the next step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from rag_assets.errors import SourceRefused, SourceUnreachable
from rag_assets.sources.git import GitError, GitTimeout, run_git
from rag_assets.sources.urls import scrubbed, strip_credentials, without_credentials

DEFAULT_NETWORK_TIMEOUT_SECONDS = 300.0

_SYMREF = re.compile(rb"^ref: (\S+)\tHEAD$", re.MULTILINE)


def list_remote(url: str, patterns: tuple[str, ...], *, timeout: float) -> bytes:
    """The output of `git ls-remote --symref` for a URL. Raises SourceUnreachable."""
    clean, credentials = without_credentials(url)
    with explained(url, timeout):
        return run_git(
            "ls-remote",
            "--symref",
            "--",
            clean,
            *patterns,
            timeout=timeout,
            network=True,
            credentials=credentials,
        )


def remote_branch(listing: bytes) -> str | None:
    """The full ref that HEAD points to in an `ls-remote --symref` listing."""
    match = _SYMREF.search(listing)
    return match[1].decode("utf-8", "replace") if match else None


@contextmanager
def explained(url: str, timeout: float) -> Iterator[None]:
    """Turns git errors about a URL into SourceUnreachable or SourceRefused, without credentials and without a cause."""
    clean = strip_credentials(url)
    try:
        yield
    except GitTimeout:
        raise SourceUnreachable(
            f"{clean}: no answer within {timeout:g} s; check the address, or raise sources.network_timeout_seconds "
            "(of watch and the commit sensor: automation.poll_timeout_seconds)"
        ) from None
    except GitError as error:
        said = scrubbed(error.stderr, url)
        advice, kind = _advice(said)
        raise kind(f"{clean}: git cannot read it: {_last_words(said)}; {advice}") from None


def _last_words(said: str) -> str:
    """The line with the reason; git prints progress and hints around it."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "ERROR:", "remote:", "ssh:"))]
    return " · ".join(fatal or lines[-2:]) or "no message"


def _advice(said: str) -> tuple[str, type[SourceUnreachable]]:
    """The advice and the error class: SourceRefused if a retry cannot help."""
    low = said.lower()
    if any(words in low for words in ("no space left", "read-only file system", "disk quota exceeded")):
        advice = "the disk of the home directory cannot be written: make room, or set `home` to another place"
        return advice, SourceRefused
    if any(words in low for words in ("authentication failed", "could not read username", "401", "403", "denied")):
        return "the server wants (other) credentials: configure a git credential helper or an ssh key", SourceRefused
    if any(words in low for words in ("not found", "does not appear to be a git repository", "does not exist")):
        return "check the address; forges also say so when the credentials are missing", SourceRefused
    return "check the address and the network", SourceUnreachable
