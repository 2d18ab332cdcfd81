"""The files that training reads of git, and the hash by which it chooses among texts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from rag_assets.sources.git.git_refs import Resolved
from rag_assets.sources.git.git_snapshot import GitSnapshot
from rag_assets.sources.snapshot import EntryKind


def blobs(
    git_dir: Path, revision: str, wanted: Callable[[str, int], bool], most: int | None = None
) -> Iterator[tuple[str, str]]:
    """(path, text) of the files for which `wanted(path, size)` holds; at most `most`, chosen by the hash of the path.
    Files that a partial clone lacks are left out. Raises SourceError."""
    snapshot = GitSnapshot(git_dir, str(git_dir), Resolved(revision, revision), remote_url="")
    files = [entry for entry in snapshot.entries() if entry.kind is EntryKind.FILE and entry.refused is None]
    found = [entry for entry in files if wanted(entry.path, entry.size)]
    chosen = sorted(sorted(found, key=lambda entry: digest(entry.path))[:most], key=lambda entry: entry.path)
    for entry, content in snapshot.read(chosen):
        if isinstance(content, bytes):
            yield entry.path, content.decode("utf-8", "replace")


def folded(text: str) -> str:
    """A text without case and punctuation: what makes two texts the same question or the same code."""
    return " ".join(re.findall(r"\w+", text.lower()))


def digest(text: str) -> int:
    """48 bits of the folded text."""
    return int.from_bytes(hashlib.blake2b(folded(text).encode(), digest_size=6).digest(), "big")
