"""Asking a generation a question set for a command: which set, which of its questions, and what to warn of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.output import short
from rag_assets.interfaces.cli.session import Session

if TYPE_CHECKING:
    from rag_assets.evaluation.questions import QuestionSet
    from rag_assets.stores.eval_records import EvalRun
    from rag_assets.stores.generations import Generation
    from rag_assets.stores.home import Home

_SHOWN_ABSENT = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user chose: the file (default: that of the configuration), the repository as the set calls it, and
    whether leaky questions are left out."""

    file: Path | None = None
    repository: str = ""
    without_leaky: bool = False


def ask(session: Session, home: Home, generation: Generation, questions: QuestionSet) -> EvalRun:
    """Asks the questions, and warns of files that no index of the commit can find. Raises EvalError."""
    from rag_assets.evaluation.runs import run_questions
    from rag_assets.query import Index

    with Index(home, generation, session.config_option) as index:
        run = run_questions(index, questions, session.settings().evaluation.k)
    absent = sorted({path for result in run.results for path in result.absent})
    if absent:
        left = len(absent) - _SHOWN_ABSENT
        more = f" and {left} more" if left > 0 else ""
        session.output.warning(
            f"not in this commit, so nothing can find them: {', '.join(absent[:_SHOWN_ABSENT])}{more}; "
            "correct the paths in the set, or ask a generation of the commit that it was written for"
        )
    return run


def questions_for(session: Session, generation: Generation, asked: Asked) -> QuestionSet:
    """The questions that a generation is asked, the leaky ones marked; warns where they were written for another
    commit. Raises QuestionSetError, and CommandError where no set is configured."""
    from rag_assets.evaluation.questions import load_questions
    from rag_assets.evaluation.selection import KNOWN, about, marked, without_leaky, written_for_another
    from rag_assets.stages.past_subjects import known_commits

    manifest = generation.manifest
    knows = known_commits(generation.directory)
    questions = load_questions(asked.file or configured_set(session, generation))
    questions = marked(about(questions, manifest, asked.repository, knows), knows)
    revision = written_for_another(questions, manifest.commit_sha)
    known = sum(KNOWN in question.tags for question in questions.questions)
    if known:
        session.output.warning(
            f"{known} of {len(questions.questions)} questions are of commits that this index knows: it finds them by "
            f"their own words. Ask an index of commit {short(revision)}, or leave them out with --without-leaky"
        )
    elif revision:
        session.output.warning(
            f"{questions.name} was written for commit {short(revision)}, and this is {short(manifest.commit_sha)}: a "
            "later one may know the answers from its history"
        )
    return without_leaky(questions) if asked.without_leaky else questions


def configured_set(session: Session, generation: Generation) -> Path:
    """The question set that the configuration has for the repository. Raises CommandError without one."""
    identifier = generation.manifest.repository_id
    for repository in session.settings().repositories:
        if repository.id == identifier and repository.eval_set is not None:
            return repository.eval_set
    raise CommandError(
        f"repository {identifier!r} has no question set; name one with --set FILE, set eval_set of the repository in "
        f"rag_assets.yaml, or make one with: rag-assets eval mine {generation.manifest.index_label}"
    )
