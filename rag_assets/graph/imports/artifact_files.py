"""The files of an import: from a folder, an archive or one file, bounded. No other module of imports reads files."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from rag_assets.errors import CorruptArchive
from rag_assets.graph.imports.imported_graph import Problems, UnusableImport
from rag_assets.serialization import from_json
from rag_assets.settings.repositories import ImportFormat
from rag_assets.sources.archive import members_of
from rag_assets.sources.decoding import Binary, decode

MAX_FILE_BYTES = 512 * 1024**2
"""`chunks.json` repeats the code of a solution; half a gigabyte of code is more than one label holds."""
MAX_IMPORT_BYTES = 1024**3

_ROSLYN_FILES = frozenset(
    {"nodes.csv", "edges.csv", "chunks.json", "dependencies.json", "sql_bodies.jsonl", "repo_meta.json"}
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ArtifactFile:
    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Artifacts:
    """The wanted files, ordered by name. `unread` names those that could not be read (damaged, too large, links),
    `passed_over` those that another one stands for."""

    location: str
    files: tuple[ArtifactFile, ...]
    unread: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        return (*self.unread, *self.passed_over)

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

    Nothing is unpacked to disk. Links, names that lead out of the archive and files beyond the limits are left out and
    named. Of several RoslynIndexer files with one name, the one nearest to the top counts. Raises UnusableImport if
    nothing can be read.
    """
    is_wanted = _is_index if form == "scip" else _is_artifact
    if form == "scip" and path.is_file() and (_is_index(path.name) or not path.suffix):
        entries = iter([_Entry(path.name, partial(_read_file, path))])
    elif path.exists():
        found = _of_folder(path) if path.is_dir() else _of_archive(path)
        entries = (entry for entry in found if is_wanted(entry.name))
    else:
        raise UnusableImport(f"{path}: there is no such import; make it, or correct graph_import of the repository")
    unread: list[str] = []
    files = _read(entries, unread)
    files, passed_over = _nearest_to_top(files) if form == "roslyn" else (files, [])
    if not files:
        sought = "a .scip file" if form == "scip" else ", ".join(sorted(_ROSLYN_FILES))
        told = f" ({'; '.join(unread[:3])})" if unread else ""
        raise UnusableImport(f"{path}: nothing to import was found{told}; looked for {sought}")
    return Artifacts(str(path), tuple(files), tuple(unread), tuple(passed_over))


class _Entry(NamedTuple):
    """`read(limit)` gives the bytes or says why not."""

    name: str
    read: Callable[[int], bytes | str]
    problem: str = ""


def _is_artifact(name: str) -> bool:
    return name.rpartition("/")[2].lower() in _ROSLYN_FILES


def _is_index(name: str) -> bool:
    return name.lower().endswith(".scip")


def _of_folder(folder: Path) -> Iterator[_Entry]:
    for directory, subdirectories, names in os.walk(folder):
        subdirectories.sort()
        for name in sorted(names):
            path = Path(directory, name)
            is_plain = path.is_file() and not path.is_symlink()
            problem = "" if is_plain else "it is a link or no regular file"
            yield _Entry(path.relative_to(folder).as_posix(), partial(_read_file, path), problem)


def _of_archive(path: Path) -> Iterator[_Entry]:
    for member in members_of(path, MAX_IMPORT_BYTES):
        name = member.name.decode("utf-8", "replace").replace("\\", "/")
        leads_out = name.startswith("/") or ".." in name.split("/") or name[1:2] == ":"
        problem = "its name leads out of the archive" if leads_out else "it is a link" if member.is_link else ""
        yield _Entry(name, member.read, problem or member.problem)


def _read_file(path: Path, limit: int) -> bytes | str:
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        return error.strerror or type(error).__name__


def _read(entries: Iterator[_Entry], unread: list[str]) -> list[ArtifactFile]:
    """The entries by name; adds to `unread` what cannot be read. A damaged archive gives what stands before the
    damage."""
    files: dict[str, ArtifactFile] = {}
    left = MAX_IMPORT_BYTES
    try:
        for name, read, problem in entries:
            if name in files:
                continue
            limit = min(MAX_FILE_BYTES, left)
            data = problem or read(limit)
            if isinstance(data, bytes) and len(data) > limit:
                data = f"larger than {limit:,} bytes"
            if isinstance(data, str):
                unread.append(f"{name}: not read, {data}")
                continue
            left -= len(data)
            files[name] = ArtifactFile(name, data)
    except CorruptArchive as error:
        unread.append(str(error))
    return [files[name] for name in sorted(files)]


def _nearest_to_top(files: list[ArtifactFile]) -> tuple[list[ArtifactFile], list[str]]:
    """One file of each name, and why the others are not used: a second bundle in a folder below is another import."""
    chosen: dict[str, ArtifactFile] = {}
    passed_over = []
    for file in sorted(files, key=lambda file: (file.name.count("/"), file.name)):
        kind = file.name.rpartition("/")[2].lower()
        if chosen.setdefault(kind, file) is not file:
            passed_over.append(f"{file.name}: not used, {chosen[kind].name} is")
    return sorted(chosen.values(), key=lambda file: file.name), passed_over


def _text_of(file: ArtifactFile, problems: Problems) -> str | None:
    """The text of a file in any encoding; None, and a problem, for one that is no text."""
    found = decode(file.data)
    if isinstance(found, Binary):
        problems.add(file.name, "not used, it is no text", detail=found.detail)
        return None
    return found.text


def csv_rows(
    file: ArtifactFile, columns: Mapping[str, tuple[str, ...]], required: frozenset[str], problems: Problems
) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, values by column) of a CSV file with a header, in any order of its columns.

    `columns` maps our names to those that a producer may use, compared without case. A file whose header lacks a
    `required` column is not used, and neither is a row that cannot be read or lacks such a value. Optional columns may
    be absent: their values are ''.
    """
    text = _text_of(file, problems)
    if text is None:
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
    except csv.Error:
        header = []
    at = {ours: next((header.index(name) for name in names if name in header), -1) for ours, names in columns.items()}
    missing = sorted(name for name in required if at[name] < 0)
    if missing:
        problems.add(file.name, f"not used, its header lacks {', '.join(missing)}", row=1, detail=",".join(header))
        return
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(file.name, "unreadable row", row=line, detail=str(error))
            continue
        values = {ours: row[place].strip() if 0 <= place < len(row) else "" for ours, place in at.items()}
        empty = sorted(name for name in required if not values[name])
        if empty and row:
            problems.add(file.name, f"without {', '.join(empty)}", row=line, detail=",".join(row))
        elif row:
            yield line, values


def json_of(file: ArtifactFile, kind: type[T], problems: Problems) -> T | None:
    """A JSON file as `kind`; None, and a problem, for one that is damaged or something else."""
    text = _text_of(file, problems)
    return None if text is None else _decoded(file, text, kind, problems, "not used, it is damaged")


def json_lines(file: ArtifactFile, kind: type[T], problems: Problems) -> Iterator[tuple[int, T]]:
    """(line, value) of a file with one JSON value per line."""
    for number, line in enumerate((_text_of(file, problems) or "").split("\n"), start=1):
        found = _decoded(file, line, kind, problems, "unreadable line", number) if line.strip() else None
        if found is not None:
            yield number, found


def json_entries(file: ArtifactFile, kind: type[T], problems: Problems) -> Iterator[tuple[int, T]]:
    """(position from 1, value) of a JSON array."""
    for number, raw in enumerate(json_of(file, list[msgspec.Raw], problems) or (), start=1):
        found = _decoded(file, raw, kind, problems, "unreadable entry", number)
        if found is not None:
            yield number, found


def json_members(file: ArtifactFile, kind: type[T], problems: Problems) -> Iterator[tuple[str, T]]:
    """(name, value) of a JSON object."""
    for number, (name, raw) in enumerate((json_of(file, dict[str, msgspec.Raw], problems) or {}).items(), start=1):
        found = _decoded(file, raw, kind, problems, "unreadable entry", number)
        if found is not None:
            yield name, found


def _decoded(
    file: ArtifactFile, data: Any, kind: type[T], problems: Problems, reason: str, row: int | None = None
) -> T | None:
    try:
        return from_json(data, kind)
    except (msgspec.DecodeError, ValueError) as error:
        problems.add(file.name, reason, row=row, detail=str(error))
        return None
