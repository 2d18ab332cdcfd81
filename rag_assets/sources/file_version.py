"""One file at a commit or in the work tree, found, decoded and redacted by the rules that `discover` has for all."""

from __future__ import annotations

import stat
from collections.abc import Callable, Collection
from pathlib import Path

from rag_assets.contracts.source_file import SkippedFile, SkipReason
from rag_assets.errors import LocationError
from rag_assets.sources.discovery import DiscoveredText, examined, refused_name, rules_of
from rag_assets.sources.git import run_git
from rag_assets.sources.ignore import GITIGNORE_FILE, IGNORE_FILE, IgnorePolicy, PathRules
from rag_assets.sources.locations import LocationKind, location_of
from rag_assets.sources.snapshot import EntryKind, Snapshot, TreeEntry

_IGNORED_BY_GIT = "git ignores it"


def file_of_snapshot(
    snapshot: Snapshot, path: str, policy: IgnorePolicy, language_of: Callable[[str], str]
) -> DiscoveredText | SkippedFile | None:
    """What `discover` finds at a path of a snapshot; None where there is nothing. Raises SourceError."""
    return files_of_snapshot(snapshot, {path}, policy, language_of).get(path)


def files_of_snapshot(
    snapshot: Snapshot, paths: Collection[str], policy: IgnorePolicy, language_of: Callable[[str], str]
) -> dict[str, DiscoveredText | SkippedFile]:
    """Path → what `discover` finds there, of those paths that a snapshot has. Raises SourceError."""
    entries = list(snapshot.entries())
    wanted = [entry for entry in entries if entry.path in paths]
    if not wanted:
        return {}
    rules = rules_of(snapshot, policy, entries)
    found: dict[str, DiscoveredText | SkippedFile] = {}
    readable = []
    for entry in wanted:
        refused = refused_name(entry) or rules.refused_entry(entry)
        if refused is not None:
            found[entry.path] = refused
        else:
            readable.append(entry)
    for entry, content in snapshot.read(readable):
        known = examined(entry, content, policy, language_of) if isinstance(content, bytes) else content
        found.setdefault(entry.path, known)
    return found


def work_tree_of(location: str) -> Path | None:
    """The folder that the paths of a location begin at; None of a URL, an archive and a bare repository. Raises
    LocationError for one that is gone."""
    place = location_of(location)
    if place.kind is LocationKind.DIRECTORY:
        return place.path
    if place.kind is not LocationKind.REPOSITORY or place.git_dir == place.path:
        return None
    depth = len(place.subdirectory.split("/")) if place.subdirectory else 0
    return place.path.parents[depth - 1] if depth else place.path


def file_of_work_tree(
    location: str, path: str, policy: IgnorePolicy, language_of: Callable[[str], str]
) -> DiscoveredText | SkippedFile | None:
    """The file of a work tree as it is now, None where there is none. Links are not followed, and what git ignores is
    not read. Raises LocationError where the location has no work tree, OSError for a file that cannot be read."""
    root = work_tree_of(location)
    if root is None:
        raise LocationError(f"{location} has no work tree; read the file as it is indexed, without --work-tree")
    file = root / path
    try:
        about = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    is_link = stat.S_ISLNK(about.st_mode) or file.resolve() != root.resolve() / path
    entry = TreeEntry(path, "", about.st_size, EntryKind.SYMLINK if is_link else EntryKind.FILE)
    if not is_link and not stat.S_ISREG(about.st_mode):
        return entry.skipped(SkipReason.UNREADABLE, "not a regular file")
    is_git = location_of(location).kind is LocationKind.REPOSITORY
    refused = refused_name(entry) or _rules(root, path, policy, with_gitignore=not is_git).refused_entry(entry)
    if refused is not None:
        return refused
    if is_git and not _is_seen_by_git(root, path):
        return entry.skipped(SkipReason.IGNORED, _IGNORED_BY_GIT)
    return examined(entry, file.read_bytes(), policy, language_of)


def _rules(root: Path, path: str, policy: IgnorePolicy, *, with_gitignore: bool) -> PathRules:
    """The policy with the ignore files of the folders around a path."""
    rules = PathRules(policy)
    names = (GITIGNORE_FILE, IGNORE_FILE) if with_gitignore else (IGNORE_FILE,)
    parts = path.split("/")[:-1]
    for name in names:
        for depth in range(len(parts) + 1):
            folder = "/".join(parts[:depth])
            file = root / folder / name
            if file.is_file() and not file.is_symlink():
                rules.add_ignore_file(folder, name, file.read_bytes())
    return rules


def _is_seen_by_git(root: Path, path: str) -> bool:
    """Whether a file is tracked, or would be with `git add`."""
    listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", f":(literal){path}")
    return bool(run_git("-C", str(root), *listed))
