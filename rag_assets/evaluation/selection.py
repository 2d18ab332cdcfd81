"""Which questions of a set an index is asked: those about its repository, the leaky ones marked or left out; and which
of the expected files the index has. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, replace

from rag_assets.evaluation.questions import LEAKY, QuestionSet, QuestionSetError, split_target
from rag_assets.index.generations import Manifest
from rag_assets.suggestions import near_paths

KNOWN = "known-commit"
"""Tag of a question whose commit is part of the history that the index searches: it finds its own words there."""


def about(
    questions: QuestionSet, manifest: Manifest, name: str = "", knows: Callable[[str], bool] = lambda commit: False
) -> QuestionSet:
    """The questions of a set that are about the repository of an index, or about the one that is called `name`; those
    that name no repository are about any.

    Questions that were written for a commit of the history that the index `knows` are about it, whatever it is called
    here; else a name is that of the set (`owner/repo`) or its last part, as in forks and mirrors. Raises
    QuestionSetError for a set about other repositories only, or about several that could be meant.
    """
    named = list(dict.fromkeys(question.repository for question in questions.questions if question.repository))
    if not named:
        return questions
    wanted = [name] if name else [name_of_address(manifest.remote_url), manifest.repository_id]
    meant = [] if name else _of_history(questions, lambda commit: commit == manifest.commit_sha or knows(commit))
    meant = meant or next((found for word in wanted if word and (found := _matches(named, word))), [])
    if len(meant) > 1:
        raise QuestionSetError(f"{questions.name}: {' and '.join(meant)} may be meant; choose one with --repository")
    kept = tuple(question for question in questions.questions if question.repository in ("", *meant))
    if not kept:
        raise QuestionSetError(
            f"{questions.name}: no question is about {name or manifest.repository_id}; it has questions about: "
            f"{', '.join(named)}; where one of them is the same repository under another name, say so with --repository"
        )
    return replace(questions, questions=kept)


def marked(questions: QuestionSet, knows: Callable[[str], bool]) -> QuestionSet:
    """The same questions; those whose commit the index `knows` are tagged `KNOWN`. Tags are not part of the
    fingerprint, so two generations can still be compared."""
    return replace(
        questions,
        questions=tuple(
            replace(question, tags=tuple(dict.fromkeys([*question.tags, KNOWN])))
            if question.commit and knows(question.commit)
            else question
            for question in questions.questions
        ),
    )


def without_leaky(questions: QuestionSet) -> QuestionSet:
    """The questions that neither name their answer nor are of a commit that the index knows. The set has a name of its
    own: a run of it must not take the place of one of all questions. Raises QuestionSetError where none is left."""
    kept = tuple(question for question in questions.questions if {LEAKY, KNOWN}.isdisjoint(question.tags))
    if not kept:
        raise QuestionSetError(
            f"{questions.name}: every question is leaky: it names its answer, or the index knows the commit that it is "
            "of; ask an index of the commit that the set was made for"
        )
    return replace(questions, name=f"{questions.name}-without-leaky", questions=kept)


def written_for_another(questions: QuestionSet, commit: str) -> str:
    """The revision that questions were written for where it is not this commit; nothing where they fit."""
    revisions = {question.revision for question in questions.questions if question.revision}
    return next((known for known in sorted(revisions) if not commit.startswith(known)), "")


def _of_history(questions: QuestionSet, knows: Callable[[str], bool]) -> list[str]:
    commits = [(commit, found.repository) for found in questions.questions for commit in (found.revision, found.commit)]
    return list(dict.fromkeys(name for commit, name in dict.fromkeys(commits) if commit and name and knows(commit)))


def _matches(named: list[str], word: str) -> list[str]:
    """The whole name, else those that end alike."""
    whole = [known for known in named if known.casefold() == word.casefold()]
    last = word.casefold().rpartition("/")[2]
    return whole or [known for known in named if known.casefold().rpartition("/")[2] == last]


def name_of_address(url: str) -> str:
    """`owner/repo` of a URL, as the hosts of repositories write them."""
    parts = url.replace("\\", "/").replace(":", "/").rstrip("/").removesuffix(".git").split("/")
    return "/".join(parts[-2:]) if len(parts) > 1 else ""


_LIKENED = 3  # missing files that are told with a near one: looking for one takes 10 ms for each 1,000 files


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """The files that questions have as answers: how many of them, and which are `missing`, sorted; `near` is missing →
    what it may be called, of the first few. `hopeless`: not one question has an answer that could be found."""

    expected: int
    missing: tuple[str, ...]
    near: dict[str, str]
    hopeless: bool


def file_coverage(questions: QuestionSet, present: Set[str]) -> FileCoverage:
    """What a set expects of an index with the files `present`. Symbols, sections and points may be absent for many
    reasons, so a question with one of them is never hopeless."""
    wanted = [[split_target(target) for target in question.relevant] for question in questions.answerable]
    paths = sorted({value for targets in wanted for kind, value in targets if kind == "path"})
    missing = tuple(path for path in paths if path not in present)
    known = sorted(present)
    near = {path: found[0] for path in missing[:_LIKENED] if (found := near_paths(path, known, 1))}
    hopeless = bool(wanted) and all(
        kind == "path" and value not in present for targets in wanted for kind, value in targets
    )
    return FileCoverage(len(paths), missing, near, hopeless)
