"""The nouns of a snapshot, common to git, directories and archives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, Self

from rag_assets.contracts.source_file import GitRepoInfo, SkippedFile, SkipReason

if TYPE_CHECKING:
    from rag_assets.sources.git.git_diff import TreeDiff
    from rag_assets.sources.git.git_history import GitHistory

_LAST_SECOND = 253_402_300_799  # 9999-12-31T23:59:59Z, the last one `datetime` can hold


class EntryKind(StrEnum):
    FILE = "file"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One thing a snapshot contains. `path` is relative to the root of the source, with `/`.

    `blob_id` is the git object id, or the sha256 of the bytes without git. `refused` is set if the source
    itself cannot or must not give out the content. `modified` is what a source without git says of the time, in seconds
    since 1970. `taken`: a rule with `!` names it, so it is indexed although a tool wrote it.
    """

    path: str
    blob_id: str
    size: int
    kind: EntryKind = EntryKind.FILE
    refused: SkipReason | None = None
    detail: str = ""
    modified: float = 0.0
    taken: bool = field(default=False, compare=False)

    def skipped(self, reason: SkipReason, detail: str) -> SkippedFile:
        return SkippedFile(self.path, reason, detail, self.size, self.blob_id)


class Snapshot(Protocol):
    """A source at one moment. Reading it twice gives the same bytes; it is closed by `with` or `close()`."""

    @property
    def info(self) -> GitRepoInfo:
        """The origin of the content, without credentials."""
        ...

    @property
    def ref(self) -> str:
        """The requested branch or tag, or the default one."""
        ...

    @property
    def has_gitignore(self) -> bool:
        """True if `.gitignore` has not been applied yet. Files that git tracks are never ignored."""
        ...

    def entries(self) -> Iterable[TreeEntry]:
        """All entries of the snapshot in path order, unreadable ones too."""
        ...

    def read(self, entries: Iterable[TreeEntry]) -> Iterator[tuple[TreeEntry, bytes | SkippedFile]]:
        """The content of files or the reason for its absence, in the given order, one in memory at a time."""
        ...

    def changes_since(self, commit: str) -> TreeDiff | None:
        """The differences from an earlier commit; None without history, or if that commit is gone from it."""
        ...

    def past(self) -> GitHistory | None:
        """The commits that led to this one; None without history."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class SnapshotWithoutHistory:
    """What an archive and a folder have in common: nobody knows what was before."""

    has_gitignore = True

    def changes_since(self, commit: str) -> TreeDiff | None:
        return None

    def past(self) -> GitHistory | None:
        return None

    def close(self) -> None:
        """Nothing is held between calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def utc_iso(seconds: float) -> str:
    """Seconds since 1970 as `2024-01-31T12:00:00Z`; dates beyond the calendar are moved to its ends."""
    bounded = int(min(max(seconds, 0.0), _LAST_SECOND)) if math.isfinite(seconds) else 0
    return f"{datetime.fromtimestamp(bounded, UTC):%Y-%m-%dT%H:%M:%SZ}"
