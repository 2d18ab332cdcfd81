"""What differs between two commits, with renames as git sees them; or between two listings, where git cannot say.
Files (`changes_between`), or the lines of each (`changed_files`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rag_assets.sources.git import GitError, run_git
from rag_assets.sources.urls import safe_path

EXACT = 100
"""Percent: moved and not edited."""

_SIMILAR = "-M50%"  # what git itself takes for a rename
_EXACT_ONLY = f"-M{EXACT}%"
_MOST_CANDIDATES = "-l1000"
"""Renames with edits are looked for among that many files at most, as git does unless it is configured otherwise:
every deleted file is compared with every added one. Exact renames are always found."""

_EMPTY_TREES = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""By the length of object ids (SHA-1, SHA-256); git knows them without having them."""

_LISTING = ("-z", "--raw")
_PATCH = ("-p", "-U0", "--no-textconv", "--no-color", "--ignore-cr-at-eol")

_SUBMODULE = b"160000"
_NOTHING = b"000000"


@dataclass(frozen=True, slots=True)
class Rename:
    """`similarity` in percent; 100 is the same content."""

    old: str
    new: str
    similarity: int


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """Paths in order, each once: both paths of a rename are in `renamed` only. Submodules are not files, and a change
    of mode alone is none."""

    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    renamed: tuple[Rename, ...] = ()


class FileChange(StrEnum):
    """What became of a file."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line that is there on one side only: its 1-based number on that side, and its bytes without the line end."""

    number: int
    content: bytes


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of a diff. `old_path` is '' of an added file, `path` of a deleted one is its old path, `blob_id` is that
    of the new side, '' where there is none. `removed` and `added` are its lines; where git does not take it for text
    (`is_binary`), nobody knows which they are."""

    change: FileChange
    path: str
    old_path: str
    blob_id: str = ""
    removed: tuple[ChangedLine, ...] = ()
    added: tuple[ChangedLine, ...] = ()
    is_binary: bool = False


def changes_between(git_dir: Path, old: str | None, new: str, subdirectory: str = "") -> TreeDiff | None:
    """From commit `old` (None: from nothing) to `new`, by `git diff-tree -M`; copies are additions.

    None where the clone does not have `old` any more: shallow, or rewritten and collected. Raises GitError.
    """
    if old is not None and not _has_commit(git_dir, old):
        return None
    before = _EMPTY_TREES[len(new)] if old is None else old
    try:
        listing = _diff(git_dir, before, new, subdirectory, _SIMILAR)
    except GitError:  # similarity needs contents, which a partial clone may lack
        listing = _diff(git_dir, before, new, subdirectory, _EXACT_ONLY)
    return _changes(listing)


def changed_files(git_dir: Path, old: str, new: str, subdirectory: str = "") -> list[ChangedFile]:
    """The files that differ between two commits which the clone has, by path, with their lines. A change of line ends
    or of mode alone is no change of a line. Raises GitError."""
    try:
        renames, listing = _SIMILAR, _diff(git_dir, old, new, subdirectory, _SIMILAR)
    except GitError:  # as above
        renames, listing = _EXACT_ONLY, _diff(git_dir, old, new, subdirectory, _EXACT_ONLY)
    lines = _lines(_diff(git_dir, old, new, subdirectory, renames, _PATCH))
    found = []
    for status, modes, blobs, paths in _records(listing):
        was, now = (mode not in (_SUBMODULE, _NOTHING) for mode in modes)
        if not was and not now:
            continue
        removed, added, is_binary = lines.get(blobs, ((), (), False))
        change = FileChange.MODIFIED
        if status.startswith(b"R") and was and now:
            change = FileChange.RENAMED
        elif not (was and now):
            change = FileChange.ADDED if now else FileChange.DELETED
        old_path = "" if change is FileChange.ADDED else paths[0]
        blob = blobs[1].decode() if now else ""
        found.append(ChangedFile(change, paths[-1], old_path, blob, removed, added, is_binary))
    return sorted(found, key=lambda file: file.path)


def changes_of(old: Mapping[str, str], new: Mapping[str, str], git: TreeDiff | None) -> TreeDiff:
    """From one listing (path → blob id) to another. Renames are those that `git` found, else equal blobs."""
    gone, come = old.keys() - new.keys(), new.keys() - old.keys()
    if git is None:
        renamed = tuple(_exact(old, new, gone, come))
    else:
        renamed = tuple(found for found in git.renamed if found.old in gone and found.new in come)
    return TreeDiff(
        added=tuple(sorted(come - {found.new for found in renamed})),
        modified=tuple(sorted(path for path in old.keys() & new.keys() if old[path] != new[path])),
        deleted=tuple(sorted(gone - {found.old for found in renamed})),
        renamed=renamed,
    )


def _has_commit(git_dir: Path, commit: str) -> bool:
    try:
        run_git("cat-file", "-e", f"{commit}^{{tree}}", git_dir=git_dir)
    except GitError:
        return False
    return True


def _diff(git_dir: Path, old: str, new: str, subdirectory: str, renames: str, form: Sequence[str] = _LISTING) -> bytes:
    where = ["--", f":(literal){subdirectory}"] if subdirectory else []
    options = ["-r", *form, "--full-index", "--no-ext-diff", renames, _MOST_CANDIDATES]
    return run_git("diff-tree", *options, old, new, *where, git_dir=git_dir)


_BLOBS = re.compile(rb"index (?P<old>[0-9a-f]+)\.\.(?P<new>[0-9a-f]+)")
_HUNK = re.compile(rb"@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)(?:,\d+)? @@")
_Lines = tuple[tuple[ChangedLine, ...], tuple[ChangedLine, ...], bool]


def _lines(patch: bytes) -> dict[tuple[bytes, bytes], _Lines]:
    """(old blob, new blob) → lines that went, lines that came, whether git takes it for text. Names of files in a patch
    are written in several ways; blobs are not."""
    found: dict[tuple[bytes, bytes], _Lines] = {}
    blobs: tuple[bytes, bytes] | None = None
    removed: list[ChangedLine] = []
    added: list[ChangedLine] = []
    old = new = 0
    is_binary = in_hunk = False

    def finish() -> None:
        if blobs is not None:
            found[blobs] = tuple(removed), tuple(added), is_binary

    for line in patch.split(b"\n"):
        sign = line[:1]
        if in_hunk and sign == b"-":
            removed.append(ChangedLine(old, line[1:]))
            old += 1
        elif in_hunk and sign == b"+":
            added.append(ChangedLine(new, line[1:]))
            new += 1
        elif hunk := _HUNK.match(line):
            old, new, in_hunk = int(hunk["old"]), int(hunk["new"]), True
        elif line.startswith(b"diff --git "):
            finish()
            blobs, removed, added, is_binary, in_hunk = None, [], [], False, False
        elif named := _BLOBS.match(line):
            blobs = named["old"], named["new"]
        elif line.startswith(b"Binary files "):
            is_binary = True
    finish()
    return found


def _changes(listing: bytes) -> TreeDiff:
    added, modified, deleted = set[str](), set[str](), set[str]()
    renamed: list[Rename] = []
    for status, modes, blobs, paths in _records(listing):
        was, now = (mode not in (_SUBMODULE, _NOTHING) for mode in modes)
        if status.startswith(b"R") and was and now:
            renamed.append(Rename(paths[0], paths[1], int(status[1:])))
        elif was and now:
            if blobs[0] != blobs[1]:
                modified.add(paths[0])
        elif now:
            added.add(paths[-1])
        elif was:
            deleted.add(paths[0])
    return TreeDiff(
        added=tuple(sorted(added)),
        modified=tuple(sorted(modified)),
        deleted=tuple(sorted(deleted)),
        renamed=tuple(sorted(renamed, key=lambda found: found.new)),
    )


def _records(listing: bytes) -> Iterator[tuple[bytes, tuple[bytes, bytes], tuple[bytes, bytes], list[str]]]:
    """(status, modes, blob ids, one path or two): `:100644 100644 1f… 2e… R086` NUL old NUL new NUL."""
    fields = iter(listing.split(b"\0"))
    for field in fields:
        if not field:
            continue
        old_mode, new_mode, old_blob, new_blob, status = field.removeprefix(b":").split(b" ")
        paths = [safe_path(next(fields))[0] for _ in range(2 if status.startswith(b"R") else 1)]
        yield status, (old_mode, new_mode), (old_blob, new_blob), paths


def _exact(old: Mapping[str, str], new: Mapping[str, str], gone: set[str], come: set[str]) -> Iterator[Rename]:
    """Paths that went paired with paths that came with the same blob, both in path order, each used once."""
    free: dict[str, list[str]] = {}
    for path in sorted(gone, reverse=True):
        free.setdefault(old[path], []).append(path)
    for path in sorted(come):
        if free.get(new[path]):
            yield Rename(free[new[path]].pop(), path, EXACT)
