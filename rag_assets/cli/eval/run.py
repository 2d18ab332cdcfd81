"""`rag-assets eval run`: asks a generation a question set and keeps the run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.cli.ask import known_profile
from rag_assets.cli.console import CommandError, Output, short
from rag_assets.cli.options import (
    AsJson,
    CliSession,
    GenerationOption,
    LabelArgument,
    SetRepository,
    WithoutLeaky,
    check_new_file,
    known_label,
    session_of,
)
from rag_assets.cli.quality import show_moves, show_table
from rag_assets.index.eval_records import Conditions, EvalRecord, EvalRun, read_run, write_run_file
from rag_assets.index.generations import Generation, active_pointer, generation_directory, read_generation
from rag_assets.printable import abridged
from rag_assets.search.index import load_policy

if TYPE_CHECKING:
    from rag_assets.api import Index
    from rag_assets.contracts.confidentiality import Confidentiality
    from rag_assets.evaluation.questions import QuestionSet
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
    from rag_assets.evaluation.runs import visible_files
    from rag_assets.evaluation.selection import file_coverage

    found = file_coverage(questions, visible_files(generation, clearance))
    if not found.missing:
        return
    manifest = generation.manifest
    shown = [f"{path} (near: {found.near[path]})" if path in found.near else path for path in found.missing]
    missing = abridged(shown, _SHOWN_MISSING)
    seen = f"{manifest.index_label} (commit {short(manifest.commit_sha)})"
    seen += f" as far as role {session.role} sees it" if session.role else ""
    if found.hopeless:
        others = [known for known in home.known_labels() if known != manifest.index_label]
        ask_another = f" ask the index that it is for, one of {', '.join(others)}, or" if others else ""
        raise CommandError(
            f"{questions.name} seems to be for another repository or commit: 0 of the {found.expected} files that it "
            f"expects are in {seen}: {missing};{ask_another} correct the paths in the set, or make a set for this one "
            f"with: rag-assets eval mine {manifest.index_label}"
        )
    session.output.warning(
        f"{len(found.missing)} of the {found.expected} expected files are not in {seen}, so nothing can find them: "
        f"{missing}; correct the paths in the set, or ask a generation of the commit that it was written for"
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


_SHOWN_QUESTIONS = 10
_SHOWN_JUDGED = 3  # the worst of the answers that were judged
_NAME_WIDTH = 20  # of what is said of answers: `citation precision`


def run(
    context: typer.Context,
    label: LabelArgument = None,
    question_set: Annotated[
        Path | None,
        typer.Option("--set", help="File of questions (.jsonl, .json, .yaml). Default: eval_set of the repository."),
    ] = None,
    generation: GenerationOption = "active",
    repository: SetRepository = "",
    without_leaky: WithoutLeaky = False,
    answers: Annotated[
        bool,
        typer.Option(
            "--answers", help="Also ask for answers: right or wrong, refusals, time, cost. May set the thresholds."
        ),
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, help="Ask for that many answers at most; needs --answers.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="PROFILE",
            callback=known_profile,
            help="Have the answers marked by a model: cheap, balanced or premium. Decides nothing.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Also keep the run in this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask the questions of a set and show recall, hit rate, MRR and nDCG. Changes nothing that is served, but that
    enough questions asked with --answers set the confidences below which `ask` refuses and is not sure.

    Example: rag-assets eval run shop@main --set questions.yaml
    """
    from rag_assets.evaluation.comparison import difference
    from rag_assets.evaluation.persist import keep_run_of_finished
    from rag_assets.index.generation_refs import named_generation

    if limit is not None and not answers:
        raise typer.BadParameter("the search is measured on all questions; it needs --answers", param_hint="--limit")
    if judge is not None and not answers:
        raise typer.BadParameter("there are answers to judge with --answers only", param_hint="--judge")
    if out is not None:
        check_new_file(out, "--out", force=True)
    session = session_of(context)
    home = session.home()
    name = known_label(home, label, how="as rag-assets eval run LABEL")
    asked = read_generation(home, *named_generation(home, [name], generation))
    questions = questions_for(session, asked, QuestionSelection(question_set, repository, without_leaky))
    made = ask(session, home, asked, questions, Answers(limit, judge) if answers else None)
    beside = _served_run(home, name, made)
    if beside is not None:
        made = dataclasses.replace(made, against=difference(beside, made))
    record = keep_run_of_finished(home, asked, made)
    problems = _to_catalog(session, asked, record) if record is not None else []
    if out is not None:
        write_run_file(out, made)
    for problem in problems:
        session.output.warning(problem)
    if as_json:
        found = {"label": name, "commit": asked.manifest.commit_sha, "stored": record is not None}
        session.output.json(found | _object(made, beside))
        return
    commit = short(asked.manifest.commit_sha)
    said = f" {made.generation_id} (commit {commit}): {len(made.results)} questions of {made.set}"
    session.output.line((name, "path"), said)
    _show_run(session.output, made, beside)


def _to_catalog(session: CliSession, generation: Generation, record: EvalRecord) -> list[str]:
    settings = session.settings()
    if settings.stores.catalog == "none":
        return []
    from rag_assets.index.catalog.eval_runs import keep_record

    return keep_record(settings, generation.manifest, record)


def _served_run(home: IndexHome, label: str, run: EvalRun) -> EvalRun | None:
    """The stored run of the served generation on the same questions, where another one was asked."""
    pointer = active_pointer(home, label)
    if pointer is None or pointer.generation_id == run.generation_id:
        return None
    found = read_run(generation_directory(home, label, pointer.generation_id), run.set)
    return found if found is not None and found.is_like(run) else None


def _object(run: EvalRun, beside: EvalRun | None) -> dict[str, object]:
    from rag_assets.evaluation.summary import latency, outcome_counts, summarise, summarise_answers

    answers = summarise_answers(run.answers, run.judging)
    return {
        "run": dataclasses.asdict(run),
        "categories": [dataclasses.asdict(found) for found in summarise(run)],
        "latency_ms": dataclasses.asdict(latency(run)),
        "answers": None if answers is None else dataclasses.asdict(answers),
        "outcomes": [dataclasses.asdict(found) for found in outcome_counts(run.answers)],
        "active": None if beside is None else {"generation": beside.generation_id, "metrics": beside.metrics},
    }


def _show_run(output: Output, run: EvalRun, other: EvalRun | None) -> None:
    """A run beside that of the served generation on the same questions, if there is one, and what was not found."""
    from rag_assets.evaluation.summary import latency, summarise
    from rag_assets.evaluation.tables import category_rows

    total, *categories = summarise(run)
    rows = []
    for metric, known in total.metrics.items():
        before = other.metrics[metric] if other is not None else None
        beside = ("", "") if before is None else (f"{before:.3f}", f"{known.value - before:+.3f}")
        rows.append((metric, f"{known.value:.3f}", f"{known.low:.3f} to {known.high:.3f}", *beside))
    titles = ("METRIC", "VALUE", "95 % BETWEEN")
    show_table(output, (*titles, "ACTIVE", "DELTA") if other else titles, rows, set())
    if categories:
        named = category_rows(categories)
        show_table(output, tuple(map(str.upper, named[0])), [tuple(row.values()) for row in named], set())
    took = latency(run)
    output.line(("  answered  ", "dim"), f"{run.mode} search, p50 {took.p50:.1f} ms, p95 {took.p95:.1f} ms")
    if run.against is not None:
        show_moves(output, run.against)
    _show_answers(output, run)
    missed = [result for result in run.results if not result.first_rank]
    for result in missed[:_SHOWN_QUESTIONS]:
        gone = f" (not in this commit: {', '.join(result.absent)})" if result.absent else ""
        output.line(("  not found: ", "warn"), f"{result.id}: {result.question}{gone}")
    if len(missed) > _SHOWN_QUESTIONS:
        output.line(("  not found: ", "warn"), f"and {len(missed) - _SHOWN_QUESTIONS} more; --json lists them")


def _show_answers(output: Output, run: EvalRun) -> None:
    """What became of the answers of a run, and which are wrong or missing; nothing where none were asked for."""
    from rag_assets.evaluation.summary import outcome_counts
    from rag_assets.evaluation.tables import answer_rows, answerable_rows, judged_rows, unanswerable_rows, wrong_rows

    rows = answer_rows(run)
    if not rows:
        return
    for row in rows:
        output.line((f"  {row['answers']:<{_NAME_WIDTH}}", "dim"), " ".join(filter(None, (row["value"], row["of"]))))
    counts = outcome_counts(run.answers)
    for name, shares in (("ANSWERABLE", answerable_rows(counts)), ("UNANSWERABLE", unanswerable_rows(counts))):
        if shares:
            titles = (name, *map(str.upper, list(shares[0])[1:]))
            show_table(output, titles, [tuple(row.values()) for row in shares], set())
    mistakes = wrong_rows(run)
    for row in mistakes[:_SHOWN_QUESTIONS]:
        cited = f", cites {row['cited']}" if row["cited"] else ""
        error = f": {row['error']}" if row["error"] else ""
        output.line(
            (f"  {row['answer']}: ", "warn"), f"{row['question']} (confidence {row['confidence']}{cited}){error}"
        )
    if len(mistakes) > _SHOWN_QUESTIONS:
        output.line(("  ", "dim"), f"and {len(mistakes) - _SHOWN_QUESTIONS} more; --json lists them")
    for row in judged_rows(run)[:_SHOWN_JUDGED]:
        output.line((f"  judge {row['judge']}: ", "dim"), f"{row['question']}: {row['reason']}")
