"""Whether an index can answer a question set at all: which of the files that it expects are there. Pure."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from rag_assets.evaluation.questions import QuestionSet, split_target
from rag_assets.suggestions import near_paths

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
