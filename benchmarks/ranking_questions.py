"""Questions of public repositories for `ranking_weights.py`: what developers wrote about later commits, what the
documentation comments of the snapshot say (emptied before it is indexed), and names that one file declares.

The same repository, snapshot and last commit give the same questions.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from retrieval_questions import Question, Snapshot

from rag_assets.evaluation.mining import later_commits, mined
from rag_assets.identifiers import identifier_words
from rag_assets.languages.detection import detect_language
from rag_assets.sources.git import run_git
from rag_assets.sources.git.git_history import GitHistory
from rag_assets.training.extraction import source_files
from rag_assets.training.units import cleaned_doc, units

COMMITS, DOCUMENTATION, NAMES = 60, 40, 24
_LEAST_WORDS = 5
_LINE_COMMENTS = {"csharp": "///", "go": "//"}
_BLOCK_COMMENTS = frozenset({"java", "typescript", "javascript"})
_AS_TYPESCRIPT = {"tsx": "typescript", "jsx": "typescript", "javascript": "typescript"}
_GO_DECLARATION = re.compile(r"(?:func|type)\b")
_SENTENCE = re.compile(r"(?<=[a-z\)])\.\s")


@dataclass(frozen=True, slots=True)
class Repository:
    name: str
    snapshot: str
    until: str


def read_repositories(path: Path) -> list[Repository]:
    rows = path.read_text("utf-8").splitlines()[1:]
    return [Repository(*row.split("\t")) for row in rows]


def mined_questions(repository: Repository, mirror: Path) -> tuple[Snapshot, list[Question]]:
    """The snapshot to index and what to ask of it."""
    rnd = random.Random(repository.name)
    documented, declared = _declarations(repository, mirror)
    rnd.shuffle(documented)
    asked: dict[str, Question] = {}
    blanked: dict[str, tuple[tuple[int, int], ...]] = {}
    for path, sentence, lines in documented:
        if len(asked) < DOCUMENTATION and sentence not in asked:
            asked[sentence] = _question(repository, "doc", sentence, [path], "")
            blanked[path] = (*blanked.get(path, ()), lines)
    names = sorted(name for name, paths in declared.items() if len(paths) == 1 and len(identifier_words(name)) > 1)
    rnd.shuffle(names)
    named = [
        _question(repository, "ident", " ".join(identifier_words(name)).lower() if at % 2 else name, declared[name], "")
        for at, name in enumerate(names[:NAMES])
    ]
    snapshot = Snapshot(repository=repository.name, revision=repository.snapshot, blanked=blanked)
    questions = [*_of_commits(repository, mirror), *asked.values(), *named]
    return snapshot, [replace(one, id=f"{repository.name}#{at}") for at, one in enumerate(questions)]


def _question(repository: Repository, kind: str, text: str, relevant: list[str] | set[str], group: str) -> Question:
    return Question(id="", set=kind, repository=repository.name, text=text, relevant=frozenset(relevant), group=group)


def _of_commits(repository: Repository, mirror: Path) -> list[Question]:
    paths = run_git("ls-tree", "-r", "-z", "--name-only", repository.snapshot, git_dir=mirror).decode(
        "utf-8", "replace"
    )
    later = later_commits(GitHistory(mirror, repository.until), repository.snapshot)
    return [
        _question(repository, "commit", found.question, list(found.relevant), "leaky" if found.leaky else "non-leaky")
        for found in mined(later, paths.split("\0")).questions[:COMMITS]
    ]


def _declarations(
    repository: Repository, mirror: Path
) -> tuple[list[tuple[str, str, tuple[int, int]]], dict[str, set[str]]]:
    """(path, sentence, lines) of documentation comments, and name → the files that declare it."""
    documented = []
    declared: dict[str, set[str]] = {}
    for path, text in source_files(mirror, repository.snapshot):
        language = detect_language(path)
        documented += [(path, sentence, lines) for sentence, lines in documentation(language, text)]
        if language in (*_LINE_COMMENTS, *_BLOCK_COMMENTS, *_AS_TYPESCRIPT, "python"):
            for unit in units(path, _AS_TYPESCRIPT.get(language, language), text):
                declared.setdefault(unit.name, set()).add(path)
    return documented, declared


def documentation(language: str, text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The first sentence of each documentation comment with its lines (1-based, inclusive)."""
    language = _AS_TYPESCRIPT.get(language, language)
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        end = _comment_end(language, lines, at)
        if end is not None:
            said = cleaned_doc(language, _without_quotes(language, "\n".join(lines[at : end + 1]).strip()))
            sentence = _SENTENCE.split(said)[0].rstrip(".")
            if len(sentence.split()) >= _LEAST_WORDS:
                yield sentence, (at + 1, end + 1)
        at = (at if end is None else end) + 1


def _without_quotes(language: str, comment: str) -> str:
    """A string of Python without its prefix and quotes; comments of other languages as they are."""
    return comment.lstrip("rRbuU").strip("\"'") if language == "python" else comment


def _comment_end(language: str, lines: list[str], at: int) -> int | None:
    """The last line of the documentation comment that begins at a line; None where none does."""
    first = lines[at].strip()
    end = at
    if language in _LINE_COMMENTS and first.startswith(_LINE_COMMENTS[language]):
        while end + 1 < len(lines) and lines[end + 1].strip().startswith(_LINE_COMMENTS[language]):
            end += 1
        declares = language != "go" or (end + 1 < len(lines) and _GO_DECLARATION.match(lines[end + 1]))
        return end if declares else None
    if language in _BLOCK_COMMENTS and first.startswith("/**"):
        while end + 1 < len(lines) and "*/" not in lines[end]:
            end += 1
        return end
    if language == "python" and at and first.lstrip("rR").startswith('"""') and lines[at - 1].rstrip().endswith(":"):
        while end + 1 < len(lines) and (lines[end].count('"""') < 2 if end == at else '"""' not in lines[end]):
            end += 1
        return end
    return None
