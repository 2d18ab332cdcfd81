"""A question set from the history of a repository: what developers wrote about a change, and where they made it.

A question is the subject of a commit, its answers are the files that the commit changed, by the names that they have in
the *snapshot*, the commit that is indexed. Only commits after the snapshot are taken: an index searches the subjects of
the commits before it, where every question would find its own words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import msgspec

from rag_assets.errors import RagAssetsError
from rag_assets.identifiers import identifier_words
from rag_assets.languages.detection import SourceType, detect_language, source_type
from rag_assets.search.ranking.penalties import is_test_path
from rag_assets.sources.git.git_history import Commit, GitHistory
from rag_assets.sources.secrets.redaction import redact
from rag_assets.sources.snapshot import EntryKind, Snapshot

MOST_ANSWERS = 5
"""Source files beside tests that the commit of a question changed: what touches more is no answer to one question."""
MOST_PATHS = 30
"""Of a commit in all, as `pipeline.commit_subjects` has it: larger ones reformat, move or import."""
LEAST_WORDS = 3  # of a subject: "fix build" asks for nothing
_ID_DIGITS = 10

_PREFIX = re.compile(  # `fix(parser): `, `[api] `
    r"^(?:(?:feat|feature|fix|bugfix|hotfix|docs?|style|refactor|perf|tests?|build|ci|chore)(?:\([^)]*\))?!?:\s+|\[[^\]]*\]\s*)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\s*\((?:#|gh-)?\d+\)\s*$|^(?:#|GH-)\d+[:\s]+", re.IGNORECASE)  # of a pull request
_WORD = re.compile(r"[^\W\d_]{2,}")
_INTERFACE = re.compile(r"^I(?=[A-Z])")
_MERGE = re.compile(r"^(?:auto-?)?merged?\b", re.IGNORECASE)
_REVERT = re.compile(r"^(?:revert(?:s|ed|ing)?|reapply|undo)\b|\bthis reverts\b", re.IGNORECASE)
_BOT = re.compile(
    r"\[bot\]|\bbot\b|dependabot|renovate|greenkeeper|snyk|github[- ]actions?|azure[- ]pipelines|weblate|crowdin"
    r"|all-?contributors|semantic-release|noreply@github\.com.*actions",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"^(?:chore|build)\(deps|\bbump(?:s|ed|ing)?\b|\b(?:up|down)grade|^v?\d+(?:\.\d+)+|\bversion\s+(?:bump|to|\d)"
    r"|\b(?:prepare|start|begin)\w*\s+(?:for\s+)?(?:release|version|v?\d)|^release\b|\bset version\b"
    r"|^updates?\b.*\b(?:packages?|dependenc\w+|nugets?|sdk|to v?\d+(?:\.\d+)+)",
    re.IGNORECASE,
)


class LeftOut(StrEnum):
    """Why a commit gives no question."""

    MERGE = "merge"
    REVERT = "revert"
    BOT = "written by a program"
    VERSION = "version or dependency"
    SHORT = f"fewer than {LEAST_WORDS} words"
    MASS = f"more than {MOST_PATHS} files, or {MOST_ANSWERS} source files"
    NO_SOURCE = "changed no source file beside tests"
    NEW = "its files are not in the snapshot"
    NAMED = "names the file"
    REPEATED = "said of several commits"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterCommit:
    """A commit after the snapshot."""

    id: str
    author: str
    past: Commit


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedQuestion:
    """A row of a mined set. `leaky`: the question spells the name of an answer without naming the file."""

    commit: str
    question: str
    relevant: tuple[str, ...]
    leaky: bool

    def row(self, repository: str, snapshot: str) -> dict[str, Any]:
        """The question in the history form (`evaluation.questions`)."""
        return {
            "id": f"{repository}#c-{self.commit[:_ID_DIGITS]}",
            "repo": repository,
            "snapshot_rev": snapshot,
            "type": "commit",
            "query": self.question,
            "relevant": list(self.relevant),
            "leaky": self.leaky,
            "commit": self.commit,
        }


@dataclass(frozen=True, slots=True)
class Mined:
    """Questions, oldest first, and how many commits gave none for which reason."""

    questions: tuple[MinedQuestion, ...]
    left_out: Mapping[LeftOut, int]


def mined(commits: Sequence[LaterCommit], snapshot_paths: Collection[str]) -> Mined:
    """The questions of `commits`, which came after the snapshot, newest first."""
    present = frozenset(snapshot_paths)
    names: dict[str, str] = {}  # a later name → the one in the snapshot
    found: list[MinedQuestion] = []
    left_out: Counter[LeftOut] = Counter()
    said = Counter(_asked(commit.past.subject).casefold() for commit in commits)
    for commit in reversed(commits):
        for old, new in commit.past.moved:
            names[new] = names.pop(old, old)
        reason = unasked(commit)
        if reason is None and said[_asked(commit.past.subject).casefold()] > 1:
            reason = LeftOut.REPEATED
        relevant = tuple(sorted({names.get(path, path) for path in answers(commit.past.paths)} & present))
        if reason is None and not relevant:
            reason = LeftOut.NEW
        question = _asked(commit.past.subject)
        if reason is None and _names_a_file(question, relevant):
            reason = LeftOut.NAMED
        if reason is not None:
            left_out[reason] += 1
        else:
            found.append(
                MinedQuestion(
                    commit=commit.id, question=question, relevant=relevant, leaky=spells_an_answer(question, relevant)
                )
            )
    return Mined(tuple(found), left_out)


def unasked(commit: LaterCommit) -> LeftOut | None:
    """Why a commit gives no question, as far as it alone says; None where it may give one."""
    subject = commit.past.subject
    for pattern, reason in ((_MERGE, LeftOut.MERGE), (_REVERT, LeftOut.REVERT), (_VERSION, LeftOut.VERSION)):
        if pattern.search(subject):
            return reason
    if _BOT.search(commit.author):
        return LeftOut.BOT
    if len(_WORD.findall(_asked(subject))) < LEAST_WORDS:
        return LeftOut.SHORT
    sources = answers(commit.past.paths)
    if len(commit.past.paths) > MOST_PATHS or len(sources) > MOST_ANSWERS:
        return LeftOut.MASS
    return None if sources else LeftOut.NO_SOURCE


def answers(paths: Sequence[str]) -> list[str]:
    """Those of changed paths that can answer a question: code and SQL beside tests."""
    kinds = (SourceType.CODE, SourceType.SQL)
    return [path for path in paths if source_type(detect_language(path)) in kinds and not is_test_path(path)]


def spells_an_answer(question: str, relevant: Sequence[str]) -> bool:
    """Whether the name of an answer is in the question, in whatever spelling: `OrderService`, `order service`,
    `IOrderService` of the file `OrderService.cs`. A name of one word must stand alone: `Log` is not in `catalog`."""
    words = [word.lower() for run in _WORD.findall(question.replace("_", " ")) for word in identifier_words(run)]
    return any(_holds(words, name) for path in relevant for name in _stems(path) if name)


def _holds(words: list[str], name: list[str]) -> bool:
    if len(name) > 1:
        return "".join(name) in "".join(words)
    return any(word in (name[0], f"{name[0]}s") for word in words)


def _stems(path: str) -> list[list[str]]:
    """The words of a file name in lower case, also without the `I` of an interface."""
    stem = path.rpartition("/")[2].partition(".")[0]
    return [[word.lower() for word in identifier_words(name)] for name in {stem, _INTERFACE.sub("", stem)}]


def _names_a_file(question: str, relevant: Sequence[str]) -> bool:
    """Whether the question has a file name with its ending in it: who knows that does not ask."""
    low = question.lower()
    return any(path.rpartition("/")[2].lower() in low for path in relevant)


def _asked(subject: str) -> str:
    """A subject without what is written for tools: the kind of change before it and the number of a pull request."""
    return _NUMBER.sub("", _PREFIX.sub("", _NUMBER.sub("", subject.strip()))).strip()


_SPARE = 1.5
"""Commits that may give a question, for each that is wanted: some are about files newer than the snapshot, 1 % to 65 %
of them, in nine of 13 repositories less than a quarter."""
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class MiningError(RagAssetsError):
    """A repository, or a part of its history, that gives no questions; the text says why and what to do."""


def _everything(path: str) -> bool:
    return True


def is_date(word: str) -> bool:
    return _DATE.fullmatch(word) is not None


def commit_at(past: GitHistory, date: str) -> str:
    """The last commit of the branch until a date. Raises MiningError where the history begins later."""
    found = past.mainline(until=date)
    if not found:
        raise MiningError(f"there is no commit until {date}; choose a later --since")
    return found[0]


def chosen_snapshot(past: GitHistory, limit: int, sees: Callable[[str], bool] = _everything) -> str:
    """The newest commit of the branch after which come enough commits for `limit` questions, else the one in the
    middle: before that a repository looks too little like today. Raises MiningError for a history of one commit."""
    mainline = past.mainline()
    if len(mainline) < 2:
        raise MiningError("the history has one commit only, and questions are made of later ones")
    nearest, furthest = 1, max(1, len(mainline) // 2)
    while nearest < furthest:  # the further back, the more commits come after it
        middle = (nearest + furthest) // 2
        if sum(unasked(commit) is None for commit in later_commits(past, mainline[middle], sees)) >= limit * _SPARE:
            furthest = middle
        else:
            nearest = middle + 1
    return mainline[nearest]


def later_commits(past: GitHistory, snapshot: str, sees: Callable[[str], bool] = _everything) -> list[LaterCommit]:
    """What came after a commit, newest first, without secrets in what was written. A commit that changed a path which
    the reader does not see is not told of at all: its subject speaks of that file (E12)."""
    ids = past.ids_since(snapshot)
    read, authors = past.read(ids), past.authors(ids)
    return [
        LaterCommit(id=commit, author=authors.get(commit, ""), past=_safe(read[commit]))
        for commit in ids
        if commit in read and all(map(sees, read[commit].paths))
    ]


def mine_after(past: GitHistory, snapshot: Snapshot, limit: int, sees: Callable[[str], bool] = _everything) -> Mined:
    """At most `limit` questions about a snapshot, of the commits that came next: the files are still alike then.
    Raises MiningError where no commit gives one."""
    later = later_commits(past, snapshot.info.commit_sha, sees)
    files = (entry.path for entry in snapshot.entries() if entry.kind is EntryKind.FILE)
    paths = {path for path in files if sees(path)}  # a visible file may have had a hidden place before
    found = mined(later, paths)
    if not found.questions:
        short = snapshot.info.commit_sha[:10]
        reasons = (
            ", ".join(f"{count} {reason.value}" for reason, count in sorted(found.left_out.items())) or "none came"
        )
        raise MiningError(f"no commit after {short} gives a question ({reasons}); choose an earlier --since")
    return replace(found, questions=found.questions[:limit])


def _safe(commit: Commit) -> Commit:
    return msgspec.structs.replace(commit, subject=redact(commit.subject, "").text)
