"""The files of an import: from a folder, an archive or one file, bounded. The only module of imports that reads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rag_assets.errors import CorruptArchive
from rag_assets.graph.imports.imported_graph import UnusableImport
from rag_assets.settings.repositories import ImportFormat
from rag_assets.sources.archive import ArchiveMember, members_of

MAX_FILE_BYTES = 512 * 1024**2
"""`chunks.json` repeats the code of a solution; half a gigabyte of code is more than one label holds."""
MAX_IMPORT_BYTES = 1024**3
MAX_ENTRIES = 500_000
"""Of a folder or an archive. RoslynIndexer writes a file per body, which are passed over."""

_ROSLYN_FILES = frozenset(
    {"nodes.csv", "edges.csv", "chunks.json", "dependencies.json", "sql_bodies.jsonl", "repo_meta.json"}
)


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Artifacts:
    """What was read: the wanted files, ordered by name. `problems` say why others were not, `unread` which of these
    should have been: damaged, too large, links."""

    location: str
    files: tuple[ArtifactFile, ...]
    problems: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def fingerprint(self) -> str:
        """64 hex digits over names and contents: the same for a folder and an archive of it."""
        digest = hashlib.sha256()
        for file in self.files:
            name = file.name.encode("utf-8", "surrogateescape")
            digest.update(f"{len(name)} {len(file.data)} ".encode())
            digest.update(name)
            digest.update(file.data)
        return digest.hexdigest()


def read_artifacts(path: Path, form: ImportFormat) -> Artifacts:
    """The files that `form` consists of, below `path`: a folder, a zip or tar archive, or (SCIP) one index.

    Nothing is unpacked to disk, links are not followed, names that lead out of the archive are refused, and what is
    larger than the limits is left out; each with a problem. Of several RoslynIndexer files of one name the one
    nearest to the top counts. Raises UnusableImport when nothing at all can be read.
    """
    wanted = _is_index if form == "scip" else _is_artifact
    problems = _Told()
    if path.is_dir():
        entries = _folder_entries(path, wanted, problems)
    elif not path.is_file():
        raise UnusableImport(f"{path}: there is no such import; make it, or correct graph_import of the repository")
    elif form == "scip" and (_is_index(path.name) or not path.suffix):
        entries = iter([(path.name, path.stat().st_size, lambda limit: _read_file(path, limit))])
    else:
        entries = _archive_entries(path, wanted, problems)
    files = _read(entries, problems)
    if form == "roslyn":
        files = _nearest_to_top(files, problems)
    if not files:
        sought = "a .scip file" if form == "scip" else ", ".join(sorted(_ROSLYN_FILES))
        told = f" ({'; '.join(problems.texts[:3])})" if problems.texts else ""
        raise UnusableImport(f"{path}: nothing to import was found{told}; looked for {sought}")
    return Artifacts(str(path), tuple(files), tuple(problems.texts), tuple(problems.unread))


@dataclass(frozen=True, slots=True)
class _Told:
    """Problems in the order they were met, and those of files that were wanted and could not be read."""

    texts: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.texts.append(text)

    def lost(self, text: str) -> None:
        self.texts.append(text)
        self.unread.append(text)


_Entry = tuple[str, int, Callable[[int], bytes | str]]


def _is_artifact(name: str) -> bool:
    return name.rpartition("/")[2].lower() in _ROSLYN_FILES


def _is_index(name: str) -> bool:
    return name.lower().endswith(".scip")


def _read(entries: Iterator[_Entry], problems: _Told) -> list[ArtifactFile]:
    files: dict[str, ArtifactFile] = {}
    left = MAX_IMPORT_BYTES
    for name, size, read in entries:
        limit = min(MAX_FILE_BYTES, left)
        if name in files:
            problems.note(f"{name}: it is there twice; the first one counts")
            continue
        data = f"larger than {limit:,} bytes" if size > limit else read(limit)
        if isinstance(data, str):
            problems.lost(f"{name}: not read, {data}")
            continue
        left -= len(data)
        files[name] = ArtifactFile(name, data)
    return [files[name] for name in sorted(files)]


def _folder_entries(folder: Path, wanted: Callable[[str], bool], problems: _Told) -> Iterator[_Entry]:
    seen = 0
    for directory, subdirectories, names in os.walk(folder, followlinks=False):
        subdirectories.sort()
        seen += len(names)
        if seen > MAX_ENTRIES:
            problems.lost(f"{folder.name}: more than {MAX_ENTRIES:,} files; the rest was not looked at")
            return
        for name in sorted(names):
            path = Path(directory, name)
            relative = path.relative_to(folder).as_posix()
            if not wanted(relative):
                continue
            if path.is_symlink() or not path.is_file():
                problems.lost(f"{relative}: not read, it is a link or no regular file")
                continue
            yield relative, path.stat().st_size, lambda limit, path=path: _read_file(path, limit)  # type: ignore[misc]


def _archive_entries(path: Path, wanted: Callable[[str], bool], problems: _Told) -> Iterator[_Entry]:
    try:
        for seen, member in enumerate(members_of(path, MAX_IMPORT_BYTES)):
            if seen >= MAX_ENTRIES:
                problems.lost(f"{path.name}: more than {MAX_ENTRIES:,} entries; the rest was not looked at")
                return
            name = member.name.decode("utf-8", "replace").replace("\\", "/")
            if not wanted(name):
                continue
            problem = member.problem or ("it is a link" if member.is_link else "")
            if name.startswith("/") or ".." in name.split("/") or name[1:2] == ":":
                problem = "its name leads out of the archive"
            if problem:
                problems.lost(f"{name}: not read, {problem}")
                continue
            yield name, member.size, lambda limit, member=member: _read_member(member, limit)  # type: ignore[misc]
    except CorruptArchive as error:
        problems.lost(str(error))  # what came before the damage was read whole


def _read_member(member: ArchiveMember, limit: int) -> bytes | str:
    try:
        return member.read(limit)
    except CorruptArchive as error:
        return str(error)


def _read_file(path: Path, limit: int) -> bytes | str:
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        return error.strerror or type(error).__name__
    return data if len(data) <= limit else f"larger than {limit:,} bytes"


def _nearest_to_top(files: list[ArtifactFile], problems: _Told) -> list[ArtifactFile]:
    """One file of each name: a second bundle in a folder below is another import, or an old one."""
    chosen: dict[str, ArtifactFile] = {}
    for file in sorted(files, key=lambda file: (file.name.count("/"), file.name)):
        kind = file.name.rpartition("/")[2].lower()
        if kind in chosen:
            problems.note(f"{file.name}: not used, {chosen[kind].name} is")
        else:
            chosen[kind] = file
    return sorted(chosen.values(), key=lambda file: file.name)
