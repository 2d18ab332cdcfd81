"""Asking a generation a question set for a command: which set, which of its questions, and what to warn of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.cli.options import CliSession
from rag_assets.cli.render import CommandError, short
from rag_assets.search.index import load_policy

if TYPE_CHECKING:
    from rag_assets.api import Index
    from rag_assets.contracts.confidentiality import Confidentiality
    from rag_assets.evaluation.questions import QuestionSet
    from rag_assets.index.eval_records import Conditions, EvalRun
    from rag_assets.index.generations import Generation
    from rag_assets.index.layout import IndexHome

_SHOWN_MISSING = 5


@dataclass(frozen=True, slots=True)
class QuestionSelection:
    """What the user chose: the file (default: that of the configuration), the repository as the set calls it, and
    whether leaky questions are left out."""

    file: Path | None = None
    repository: str = ""
    without_leaky: bool = False


@dataclass(frozen=True, slots=True)
class Answers:
    """That answers are asked for too, to `limit` of the questions (None: to all), and judged by the model of a profile
    (None: as the configuration says)."""

    limit: int | None = None
    judge: str | None = None


def ask(
    session: CliSession, home: IndexHome, generation: Generation, questions: QuestionSet, answers: Answers | None = None
) -> EvalRun:
    """Asks the questions as the configuration says that the index is searched, as a member of the role. Raises
    EvalError, and CommandError for questions that this index cannot answer; warns of single files that it does not
    have."""
    from rag_assets.api import Index
    from rag_assets.evaluation.runs import run_questions

    clearance, policy = session.clearance(), load_policy(home, session.config_option)
    _check_files(session, home, generation, questions, clearance)
    with Index(home, generation, session.config_option, clearance=clearance, policy=policy) as index:
        run = run_questions(index, questions, session.settings().evaluation.k)
        return run if answers is None else _with_answers(session, index, questions, run, answers)


def _with_answers(session: CliSession, index: Index, questions: QuestionSet, run: EvalRun, answers: Answers) -> EvalRun:
    from rag_assets.evaluation.answers import settings_digest, with_answers
    from rag_assets.evaluation.judge import configured_judge
    from rag_assets.qa.ask_options import configured

    settings = session.settings()
    share = settings.evaluation.answered_share
    return with_answers(
        run,
        index,
        questions,
        configured(*index.parts.configuration),
        answered_share=share,
        settings=settings_digest(settings.answer, answers.limit, share),
        limit=answers.limit,
        judge=configured_judge(settings, answers.judge),
    )


def conditions_now(session: CliSession, home: IndexHome, generation: Generation) -> Conditions:
    """How the generation would be asked by this command."""
    from rag_assets.evaluation.runs import conditions_of

    return conditions_of(generation, load_policy(home, session.config_option), session.clearance())


def _check_files(
    session: CliSession, home: IndexHome, generation: Generation, questions: QuestionSet, clearance: Confidentiality
) -> None:
    """Raises CommandError where none of the answers can be found, warns of those that cannot."""
    from rag_assets.evaluation.coverage import file_coverage
    from rag_assets.evaluation.runs import visible_files

    found = file_coverage(questions, visible_files(generation, clearance))
    if not found.missing:
        return
    manifest = generation.manifest
    shown = [f"{path} (near: {found.near[path]})" if path in found.near else path for path in found.missing]
    left = len(shown) - _SHOWN_MISSING
    listed = f"{', '.join(shown[:_SHOWN_MISSING])}{f' and {left} more' if left > 0 else ''}"
    seen = f"{manifest.index_label} (commit {short(manifest.commit_sha)})"
    seen += f" as far as role {session.role} sees it" if session.role else ""
    if found.hopeless:
        others = [known for known in home.known_labels() if known != manifest.index_label]
        ask_another = f" ask the index that it is for, one of {', '.join(others)}, or" if others else ""
        raise CommandError(
            f"{questions.name} seems to be for another repository or commit: 0 of the {found.expected} files that it "
            f"expects are in {seen}: {listed};{ask_another} correct the paths in the set, or make a set for this one "
            f"with: rag-assets eval mine {manifest.index_label}"
        )
    session.output.warning(
        f"{len(found.missing)} of the {found.expected} expected files are not in {seen}, so nothing can find them: "
        f"{listed}; correct the paths in the set, or ask a generation of the commit that it was written for"
    )


def questions_for(session: CliSession, generation: Generation, asked: QuestionSelection) -> QuestionSet:
    """The questions that a generation is asked, the leaky ones marked; warns where they were written for another
    commit. Raises QuestionSetError, and CommandError where no set is configured."""
    from rag_assets.evaluation.questions import load_questions
    from rag_assets.evaluation.selection import KNOWN, about, marked, without_leaky, written_for_another
    from rag_assets.pipeline.commit_subjects import known_commits

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


def configured_set(session: CliSession, generation: Generation) -> Path:
    """The question set that the configuration has for the repository. Raises CommandError without one."""
    identifier = generation.manifest.repository_id
    for repository in session.settings().repositories:
        if repository.id == identifier and repository.eval_set is not None:
            return repository.eval_set
    raise CommandError(
        f"repository {identifier!r} has no question set; name one with --set FILE, set eval_set of the repository in "
        f"rag_assets.yaml, or make one with: rag-assets eval mine {generation.manifest.index_label}"
    )
