"""Files at a commit or in the work tree, found, decoded and redacted by the rules that `discover` has for all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from rag_assets.contracts.source_file import SkippedFile, SkipReason
from rag_assets.errors import LocationError
from rag_assets.sources.default_ignores import OF_TEMPLATES, TEMPLATE
from rag_assets.sources.discovery import DiscoveredText, examined, refused_name, rules_of
from rag_assets.sources.git import run_git
from rag_assets.sources.ignore import GITIGNORE_FILE, IGNORE_FILE, IgnorePolicy, PathRules
from rag_assets.sources.locations import LocationKind, location_of
from rag_assets.sources.snapshot import EntryKind, Snapshot, TreeEntry
from rag_assets.sources.urls import raw_path

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
        admitted = refused_name(entry) or rules.admitted(entry)
        if isinstance(admitted, SkippedFile):
            found[entry.path] = admitted
        else:
            readable.append(admitted)
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
        raise LocationError(f"{location} has no work tree; read the file as it is indexed")
    is_git = location_of(location).kind is LocationKind.REPOSITORY
    rules = rules_of_work_tree(root, [path], policy, with_gitignore=not is_git)
    found = _entry_of(root, path, rules)
    if not isinstance(found, TreeEntry):
        return found
    if is_git and not _is_seen_by_git(root, path):
        return found.skipped(SkipReason.IGNORED, _IGNORED_BY_GIT)
    return examined(found, _on_disk(root, path).read_bytes(), policy, language_of)


def files_of_work_tree(
    root: Path, paths: Iterable[str], rules: PathRules, policy: IgnorePolicy, language_of: Callable[[str], str]
) -> Iterator[tuple[str, DiscoveredText | SkippedFile | None, float]]:
    """Files of a work tree of git as they are now, None where there is none, each with when it was written, in seconds
    since 1970. Git has named `paths`: it ignores none of them. One that cannot be read is skipped."""
    for path in paths:
        modified = 0.0
        found: DiscoveredText | SkippedFile | TreeEntry | None
        try:
            found = _entry_of(root, path, rules)
            if isinstance(found, TreeEntry):
                modified = found.modified
                found = examined(found, _on_disk(root, path).read_bytes(), policy, language_of)
        except OSError as error:
            found = SkippedFile(path, SkipReason.UNREADABLE, error.strerror or str(error))
        yield path, found, modified


def _on_disk(root: Path, path: str) -> Path:
    return root / os.fsdecode(raw_path(path))


def _entry_of(root: Path, path: str, rules: PathRules) -> TreeEntry | SkippedFile | None:
    """A file that may be read, or why not; None where there is none. Links are not followed. Raises OSError."""
    file = _on_disk(root, path)
    try:
        about = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    is_link = stat.S_ISLNK(about.st_mode) or file.resolve() != root.resolve() / file.relative_to(root)
    kind = EntryKind.SYMLINK if is_link else EntryKind.FILE
    entry = TreeEntry(path, "", about.st_size, kind, modified=about.st_mtime)
    if not is_link and not stat.S_ISREG(about.st_mode):
        return entry.skipped(SkipReason.UNREADABLE, "not a regular file")
    return refused_name(entry) or rules.admitted(entry)


def rules_of_work_tree(
    root: Path, paths: Iterable[str], policy: IgnorePolicy, *, with_gitignore: bool = False, prefix: str = ""
) -> PathRules:
    """The policy with the ignore files of the folders around some paths, of those below `prefix`."""
    rules = PathRules(policy)
    paths = list(paths)
    beside = (f"{path.rpartition('.')[0]}{TEMPLATE}" for path in paths if path.lower().endswith(OF_TEMPLATES))
    # `Path.is_file` raises for a name that is too long.
    rules.add_templates(path for path in beside if os.path.isfile(_on_disk(root, path)))  # noqa: PTH113
    folders = {folder for path in paths for folder in _folders_around(path) if f"{folder}/".startswith(prefix)}
    for name in (GITIGNORE_FILE, IGNORE_FILE) if with_gitignore else (IGNORE_FILE,):
        for folder in sorted(folders):
            file = _on_disk(root, f"{folder}/{name}" if folder else name)
            if file.is_file() and not file.is_symlink():
                rules.add_ignore_file(folder, name, file.read_bytes())
    return rules


def _folders_around(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _is_seen_by_git(root: Path, path: str) -> bool:
    """Whether a file is tracked, or would be with `git add`."""
    listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", f":(literal){path}")
    return bool(run_git("-C", str(root), *listed))
