"""The nouns of a snapshot, and which paths are safe to carry: what git, a directory and an archive have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, Self

from rag_assets.contracts.source_file import GitRepoInfo, SkippedFile, SkipReason

if TYPE_CHECKING:
    from rag_assets.sources.changes import Changes
    from rag_assets.sources.past import Past

_LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z, the last one `datetime` can hold
_DRIVE = re.compile(rb"[A-Za-z]:")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


class EntryKind(StrEnum):
    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing a snapshot contains. `path` is relative to the root of the source, with `/`.

    `blob_id` is the git object id, or the sha256 of the bytes without git. `refused` is set where the source
    itself cannot or must not hand out the content.
    """

    path: str
    blob_id: str
    size: int
    kind: EntryKind = EntryKind.FILE
    refused: SkipReason | None = None
    detail: str = ""

    def skipped(self, reason: SkipReason, detail: str) -> SkippedFile:
        return SkippedFile(self.path, reason, detail, self.size, self.blob_id)


class Snapshot(Protocol):
    """A source at one moment. Reading it twice gives the same bytes; it is closed by `with` or `close()`."""

    @property
    def info(self) -> GitRepoInfo:
        """Where the content comes from, without credentials."""
        ...

    @property
    def ref(self) -> str:
        """The branch or tag that was asked for, or the default one."""
        ...

    @property
    def has_gitignore(self) -> bool:
        """True where nobody has applied `.gitignore` yet; what git tracks is by definition not ignored."""
        ...

    def entries(self) -> Iterable[Entry]:
        """Everything the snapshot contains, including what cannot be read, in path order."""
        ...

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes | SkippedFile]]:
        """The content of files, in the order asked for, one in memory at a time; or why there is none."""
        ...

    def head_of(self, ref: str) -> str:
        """The commit that `ref` names in the local source now, without network. Raises SourceError."""
        ...

    def changes_since(self, commit: str) -> Changes | None:
        """What differs from an earlier commit; None where that cannot be read: without history, or gone from it."""
        ...

    def past(self) -> Past | None:
        """The commits that led to this one; None without history."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def safe_path(raw: bytes) -> tuple[str, str]:
    """(text of a repository path, why it is unsafe or empty).

    Bytes that are not UTF-8 become `\\xNN`, so that every name has one printable, reversible text; a name with
    a backslash of its own is refused, which keeps that text unique and keeps Windows from seeing a separator.
    """
    problem = ""
    if _CONTROL.search(raw):
        problem = "control character in the name"
    elif b"\\" in raw:
        problem = "backslash in the name"
    elif raw.startswith(b"/") or _DRIVE.match(raw):
        problem = "absolute path"
    elif any(part in (b"", b".", b"..") for part in raw.split(b"/")):
        problem = "path traversal" if b".." in raw.split(b"/") else "empty path component"
    text = raw.decode("utf-8", "backslashreplace")
    return (_CONTROL_TEXT.sub(_escaped, text) if problem else text), problem


_CONTROL_TEXT = re.compile(r"[\x00-\x1f\x7f]")


def _escaped(match: re.Match[str]) -> str:
    return f"\\x{ord(match.group()):02x}"  # a name must not be able to speak to the terminal that lists it


def utc_iso(seconds: float) -> str:
    """Seconds since 1970 as `2024-01-31T12:00:00Z`; dates that no calendar has are moved to its ends."""
    bounded = int(min(max(seconds, 0.0), _LAST_SECOND)) if math.isfinite(seconds) else 0
    return f"{datetime.fromtimestamp(bounded, UTC):%Y-%m-%dT%H:%M:%SZ}"
