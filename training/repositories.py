"""What may be learnt from: the list of repositories, their licences, and what the project is judged on."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rag_assets.sources.git import run_git
from rag_assets.sources.locations import location_of
from rag_assets.training.errors import TrainingError
from rag_assets.training.git_objects import blobs, folded

LIST = Path(__file__).with_name("repositories.tsv")
_FIELDS = ("name", "revision", "licence", "role", "language")
TRAIN, HELD_OUT, JUDGED = "train", "held-out", "judged"
"""What is learnt from, what recipes are chosen on, and what the chosen one is scored on once."""

_LICENCE_FILE = re.compile(r"(?:.*[-_.])?(?:licen[cs]e|copying|unlicense)(?:[-_.].*)?", re.IGNORECASE)
_PERMISSIVE = (
    ("Apache-2.0", re.compile(r"apache license,?\s+version 2\.0")),
    ("Unlicense", re.compile(r"this is free and unencumbered software released into the public domain")),
    ("MIT", re.compile(r"permission is hereby granted, free of charge, to any person obtaining a copy")),
    ("BSD", re.compile(r"redistribution and use in source and binary forms")),
    ("PostgreSQL", re.compile(r"permission to use, copy, modify, and distribute this software and its documentation")),
    ("ISC", re.compile(r"permission to use, copy, modify,? (?:and|and/or) distribute this software for any purpose")),
)
# A licence text that also names one of these may bind part of the code to it.
_NOT_PERMISSIVE = re.compile(
    r"\bgnu (?:affero |lesser |library )?general public|\b[al]?gpl\b|commons clause|business source licen|elastic licen"
    r"|server side public|polyform|non-?commercial|mozilla public|eclipse public|microsoft reciprocal|creative commons"
)

_COPY_SHARE = 0.3
"""Lines that a file shares with what the project is judged on, above which it is a copy. Licence headers and lists of
imports reach .1 to .2."""
_LINE_LENGTH = 30  # shorter lines are in every file
_COMMON_NAMES = frozenset(
    {
        *("core", "context", "express", "black", "requests", "plug", "rack", "gin", "chi", "cats", "ai"),
        *("framework", "server", "json", "redis"),
    }
)
"""Names of banned repositories that are also words: a folder of that name is no copy."""


@dataclass(frozen=True, slots=True)
class Repository:
    """`name` is owner/name on GitHub; of one that is not trained on, `revision` is the snapshot that is ranked."""

    name: str
    revision: str
    licence: str
    role: str
    language: str

    @property
    def stem(self) -> str:
        """The name in one piece, as folders of mirrors and files of pairs have it."""
        return self.name.replace("/", "+")

    def mirror(self, mirrors: Path) -> Path:
        return git_dir_of(mirrors / self.stem / "repo")


def git_dir_of(mirror: Path) -> Path:
    """That of a clone, bare or not. Raises LocationError where there is none."""
    return location_of(str(mirror)).git_dir or mirror


def read_list(path: Path = LIST) -> list[Repository]:
    """The repositories of the list, in its order. Raises TrainingError for a repository that is listed twice."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [Repository(**row) for row in csv.DictReader(file, delimiter="\t")]
    names = [row.name.lower() for row in rows]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise TrainingError(f"{path.name} lists twice: {', '.join(sorted(twice))}. Delete one row of each")
    return rows


def write_list(rows: Iterable[Repository], path: Path = LIST) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(_FIELDS)
        writer.writerows(
            [getattr(row, field) for field in _FIELDS] for row in sorted(rows, key=lambda r: r.name.lower())
        )


def licence_of(mirror: Path, revision: str) -> str:
    """The permissive licence of a revision by its licence files at the root; "" if there is none, or another beside."""
    names = run_git("ls-tree", "--name-only", revision, git_dir=mirror).decode("utf-8", "replace").splitlines()
    found = ""
    for name in sorted(filter(_LICENCE_FILE.fullmatch, names)):
        if run_git("cat-file", "-t", f"{revision}:{name}", git_dir=mirror).strip() != b"blob":
            continue
        said = run_git("cat-file", "blob", f"{revision}:{name}", git_dir=mirror).decode("utf-8", "replace")
        text = " ".join(said.lower().split())
        if _NOT_PERMISSIVE.search(text):
            return ""
        found = found or next((licence for licence, words in _PERMISSIVE if words.search(text)), "")
    return found


@dataclass(frozen=True, slots=True)
class Banned:
    """What the project is judged on, and may not be learnt from: repositories, copies of their files, questions."""

    names: frozenset[str]
    lines: frozenset[int] = frozenset()
    questions: frozenset[str] = frozenset()

    def refuses(self, repository: str) -> bool:
        return repository.lower() in self.names

    def is_copy(self, path: str, text: str) -> bool:
        """A file in a folder or a namespace of a banned repository, or with its lines."""
        folders = {folder.lower().strip("_") for folder in PurePosixPath(path).parts[:-1]}
        bare = self._bare_names()
        if folders & bare:
            return True
        spaces = re.findall(r"^\s*namespace\s+([\w.]+)", text, re.MULTILINE)
        if any(space.lower() == name or space.lower().startswith(name + ".") for space in spaces for name in bare):
            return True
        kept = set(_lines(text))
        return bool(kept) and len(kept & self.lines) > _COPY_SHARE * len(kept)

    def _bare_names(self) -> frozenset[str]:
        return frozenset(name.partition("/")[2] for name in self.names) - _COMMON_NAMES

    def asks(self, text: str) -> bool:
        """Whether a text is a question of a question set, whatever its punctuation and case."""
        return folded(text) in self.questions


def read_banned(names: Path, questions: Iterable[Path] = (), mirrors: Path | None = None) -> Banned:
    """`names`: a file with one owner/name a line, `#` before comments. `questions`: files of question sets (JSON or
    JSON lines; every value of a key `query`, `question` or `text`). `mirrors`: where banned repositories may lie whose
    lines mark copies. Raises TrainingError if `names` has none."""
    rows = [line.strip().lower() for line in names.read_text(encoding="utf-8").splitlines()]
    listed = frozenset(row for row in rows if row and not row.startswith("#"))
    if not listed:
        raise TrainingError(f"{names} names no repository; without that list nothing may be trained")
    asked = frozenset(folded(text) for path in questions for text in _questions(path))
    lines: set[int] = set()
    for name in sorted(listed):
        for mirror in mirrors.glob("*+*/repo") if mirrors else ():
            if mirror.parent.name.lower() == name.replace("/", "+"):
                lines |= _mirror_lines(mirror)
    return Banned(listed, frozenset(lines), asked)


def _questions(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r'"(?:query|question|text)":\s*("(?:[^"\\]|\\.)*")', text):
        yield found[1].encode().decode("unicode_escape", "replace").strip('"') if "\\u" in found[1] else found[1][1:-1]


def _lines(text: str) -> Iterator[int]:
    for line in text.splitlines():
        bare = line.strip()
        if len(bare) >= _LINE_LENGTH:
            yield int.from_bytes(hashlib.blake2b(bare.encode("utf-8", "replace"), digest_size=6).digest(), "big")


_SOURCE = (".cs", ".py", ".js", ".ts", ".tsx", ".java", ".go", ".sql")


def _mirror_lines(mirror: Path) -> set[int]:
    made: set[int] = set()
    for blob in blobs(git_dir_of(mirror), "HEAD", lambda path, _: path.endswith(_SOURCE)):
        made.update(_lines(blob[1]))
    return made
