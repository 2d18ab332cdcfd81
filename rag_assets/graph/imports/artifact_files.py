"""The files of an import: from a folder, an archive or one file, bounded. Damaged CSV and JSON give what is readable.

No other module of imports reads files.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from rag_assets.errors import CorruptArchive
from rag_assets.graph.imports.imported_graph import Problems, UnusableImport
from rag_assets.serialization import from_json
from rag_assets.settings.repositories import ImportFormat
from rag_assets.sources.archive import ArchiveMember, members_of
from rag_assets.sources.decoding import Binary, decode

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


UNREADABLE = (msgspec.MsgspecError, RecursionError, ValueError)


def text_of(file: ArtifactFile, problems: Problems) -> str | None:
    """The text of a file whatever its encoding; None where it is none."""
    found = decode(file.data)
    if isinstance(found, Binary):
        problems.add(file.name, "not used, it is no text", detail=found.detail)
        return None
    if found.replaced or "windows" in found.encoding:
        problems.add(file.name, "not UTF-8; names with other letters than ASCII may be wrong", detail=found.encoding)
    return found.text


def csv_rows(
    file: ArtifactFile, columns: Mapping[str, tuple[str, ...]], required: frozenset[str], problems: Problems
) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, values by column) of a CSV file with a header, in any order of its columns.

    `columns` maps our names to those a producer may use, compared without case. A header without the `required` ones
    leaves the file unused; a row that is cut, badly quoted, too long for one field (131,072 characters) or without a
    required value is left out; missing optional columns are ''.
    """
    text = text_of(file, problems)
    if text is None:
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
    except csv.Error:
        header = []
    at = {ours: next((header.index(name) for name in names if name in header), None) for ours, names in columns.items()}
    missing = sorted(name for name in required if at[name] is None)
    if missing:
        problems.add(
            file.name, f"not used, its header lacks {', '.join(missing)}", row=1, detail=",".join(header) or "empty"
        )
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
        if not row:
            continue
        if len(row) > len(header):
            problems.add(file.name, "more fields than the header", row=line, detail=",".join(row))
            continue
        values = {
            ours: row[place].strip() if place is not None and place < len(row) else "" for ours, place in at.items()
        }
        empty = sorted(name for name in required if not values[name])
        if empty:
            problems.add(file.name, f"without {', '.join(empty)}", row=line, detail=",".join(row))
            continue
        yield line, values


def json_lines(file: ArtifactFile, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, object) of a file with one JSON object per line."""
    text = text_of(file, problems)
    for number, line in enumerate((text or "").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = msgspec.json.decode(line)
        except UNREADABLE as error:
            problems.add(file.name, "unreadable line", row=number, detail=str(error))
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            problems.add(file.name, "no JSON object", row=number)


def json_entries(file: ArtifactFile, problems: Problems) -> list[msgspec.Raw]:
    """The entries of a JSON array, undecoded. Of a damaged file those before the damage."""
    text = text_of(file, problems)
    if text is None:
        return []
    try:
        return from_json(text, list[msgspec.Raw])
    except UNREADABLE as error:
        found = [msgspec.Raw(entry) for _, entry in _before_damage(text, "[")]
        problems.add(file.name, f"damaged, {len(found):,} entries before that are used", detail=str(error))
        return found


def json_members(file: ArtifactFile, problems: Problems) -> dict[str, msgspec.Raw]:
    """The members of a JSON object, undecoded. Of a damaged file those before the damage."""
    text = text_of(file, problems)
    if text is None:
        return {}
    try:
        return from_json(text, dict[str, msgspec.Raw])
    except UNREADABLE as error:
        found = {name: msgspec.Raw(entry) for name, entry in _before_damage(text, "{")}
        problems.add(file.name, f"damaged, {len(found):,} entries before that are used", detail=str(error))
        return found


def _before_damage(text: str, opening: str) -> Iterator[tuple[str, str]]:
    """(name, JSON text) of the whole entries of an array or object that ends too early; arrays have no names."""
    decoder = json.JSONDecoder()
    at = _skip(text, 0, " \t\r\n")
    if text[at : at + 1] != opening:
        return
    at += 1
    while True:
        at = _skip(text, at, " \t\r\n,")
        name = ""
        try:
            if opening == "{":
                name, at = decoder.raw_decode(text, at)
                at = _skip(text, at, " \t\r\n:")
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if not isinstance(name, str) or end >= len(text):  # a number at the very end may be cut
            return
        yield name, text[at:end]
        at = end


def _skip(text: str, at: int, chars: str) -> int:
    while at < len(text) and text[at] in chars:
        at += 1
    return at
