"""`rag-assets eval compare`: what two generations, or two kept runs, answer differently."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.cli.console import CommandError, Output
from rag_assets.cli.eval.run import QuestionSelection, ask, conditions_now, configured_set, questions_for
from rag_assets.cli.options import AsJson, CliSession, complete_label, session_of
from rag_assets.cli.quality import show_moves, show_table
from rag_assets.index.eval_records import EvalRun, read_run, read_run_file, read_runs
from rag_assets.index.generations import Generation, read_generation
from rag_assets.index.layout import IndexHome, label_named

if TYPE_CHECKING:
    from rag_assets.evaluation.comparison import AbComparison, AnswersDelta, Comparison, MetricPair
    from rag_assets.evaluation.gate import GateRules

_FILES = (".json", ".jsonl", ".yaml", ".yml")
"""How files end: that of a run, and by mistake that of the questions. Ids and commits do not, and tags hardly."""


def compare(
    context: typer.Context,
    before: Annotated[
        str,
        typer.Argument(metavar="A", help="A generation (id, commit, tag, 'previous'), or a file of eval run --out."),
    ],
    now: Annotated[str, typer.Argument(metavar="B", help="The other one, as A. Default: what is served.")] = "active",
    label: Annotated[
        str | None,
        typer.Option("--label", "-l", help="Of which label the generations are.", autocompletion=complete_label),
    ] = None,
    question_set: Annotated[
        str | None,
        typer.Option(
            "--set", help="File of questions, asked where they were not yet, or the name of a set that both were asked."
        ),
    ] = None,
    repository: Annotated[str, typer.Option(help="As in eval run.")] = "",
    as_json: AsJson = False,
) -> None:
    """Show per question and per category what B answers differently than A.

    Example: rag-assets eval compare previous active
    """
    from rag_assets.evaluation.comparison import compare_ab, compare_runs

    session = session_of(context)
    first, second = _runs(session, (before, now), label, question_set, repository)
    compared = compare_runs(first, second)
    rule = compare_ab(compared, _rules(session))
    if as_json:
        session.output.json(
            {
                "set": second.set,
                "k": second.k,
                "questions": len(second.results),
                "comparable": not compared.conditions,
                "conditions": {name: list(pair) for name, pair in compared.conditions.items()},
                "before": _side(first),
                "now": _side(second),
                "categories": [dataclasses.asdict(found) for found in compared.categories],
                "moved": [dataclasses.asdict(found) for found in compared.difference.moved],
                "same": compared.difference.same,
                "promotion": dataclasses.asdict(rule),
                "answers": None if compared.answers is None else dataclasses.asdict(compared.answers),
            }
        )
        return
    session.output.line(
        (second.set, "path"), f": {len(second.results)} questions, {first.generation_id} → {second.generation_id}"
    )
    _show_comparison(session.output, compared)
    _show_ab(session.output, rule)


def _rules(session: CliSession) -> GateRules:
    """The rule of promotion of the configuration, as the gate has it."""
    from rag_assets.evaluation.gate import GateRules

    chosen = session.settings().evaluation
    return GateRules(chosen.metrics, chosen.tolerance, {str(name): value for name, value in chosen.minimum.items()})


def _side(run: EvalRun) -> dict[str, object]:
    return {
        "generation": run.generation_id,
        "mode": run.mode,
        "embedding_model": run.embedding_model,
        "conditions": dataclasses.asdict(run.conditions),
        "metrics": run.metrics,
    }


def _runs(
    session: CliSession, words: tuple[str, str], label: str | None, chosen: str | None, repository: str
) -> tuple[EvalRun, EvalRun]:
    """The two runs: from their files, as they are stored, or asked now."""
    home = session.home()
    found = [_from_file(word) for word in words]
    generations = [
        _generation(home, word, label) if run is None else None for word, run in zip(words, found, strict=True)
    ]
    _refuse_two_organisations(generations)
    if chosen is None:
        chosen = _set_in_common(session, generations, found)
    runs = []
    for run, generation in zip(found, generations, strict=True):
        if run is None and generation is not None:
            run = _asked_or_stored(session, home, generation, chosen, repository)
        assert run is not None
        runs.append(run)
    return runs[0], runs[1]


def _refuse_two_organisations(generations: list[Generation | None]) -> None:
    from rag_assets.pipeline.generation_diff import refuse_two_organisations

    known = [generation.manifest for generation in generations if generation is not None]
    refuse_two_organisations(known[0], known[-1]) if known else None


def _from_file(word: str) -> EvalRun | None:
    """The run in a file of `eval run --out`; None for a word that is no such path. Raises CommandError for a file that
    holds no run, or is not there."""
    path = Path(word)
    if path.suffix not in _FILES and not _is_path(word):
        return None
    if not path.is_file():
        said = "it is a folder" if path.is_dir() else "there is no such file"
        raise CommandError(f"{word}: {said}; write a file with: rag-assets eval run --out FILE.json")
    run = read_run_file(path)
    if run is None or not run.results:
        raise CommandError(f"{word}: no run that this version can read; write one with: rag-assets eval run --out FILE")
    return run


def _is_path(word: str) -> bool:
    """No id, tag, commit or name of a set has a separator, but a label before a colon may."""
    return "/" in word.rpartition(":")[2] or "\\" in word


def _generation(home: IndexHome, word: str, label: str | None) -> Generation:
    from rag_assets.index.generation_refs import named_generation

    known = home.known_labels()
    labels = known if label is None else [label_named(known, label)]
    return read_generation(home, *named_generation(home, labels, word))


def _set_in_common(session: CliSession, generations: list[Generation | None], runs: list[EvalRun | None]) -> str:
    """The set that both sides were asked: that of a file, the configured one, or the only one."""
    named = [
        {run.set}
        if run is not None
        else {known.set for known in read_runs(generation.directory)}
        if generation
        else set()
        for run, generation in zip(runs, generations, strict=True)
    ]
    for generation in filter(None, generations):
        configured = _configured(session, generation)
        if configured is not None and all(run is None or run.set == configured.stem for run in runs):
            return str(configured)
    common = sorted(named[0] & named[1])
    if len(common) == 1:
        return common[0]
    said = f"both were asked {', '.join(common)}" if common else "there is no question set that both were asked"
    raise CommandError(f"{said}; choose one with --set NAME, or --set FILE to ask it now")


def _configured(session: CliSession, generation: Generation) -> Path | None:
    try:
        return configured_set(session, generation)
    except CommandError:
        return None


def _asked_or_stored(
    session: CliSession, home: IndexHome, generation: Generation, chosen: str, repository: str
) -> EvalRun:
    """The run that the generation keeps where it asked the same questions in the way they would be asked now, else a
    new one, which it keeps then. By the name of a set alone, whatever it keeps, if the role may see as much."""
    from rag_assets.evaluation.metrics import METRICS_VERSION
    from rag_assets.evaluation.persist import keep_run_of_finished

    path = Path(chosen)
    conditions = conditions_now(session, home, generation)
    if not path.suffix and not _is_path(chosen):
        stored = read_run(generation.directory, chosen)
        if stored is None:
            raise CommandError(
                f"{generation.manifest.generation_id} was never asked {chosen!r}; ask it with --set FILE, or see: "
                "rag-assets generations list"
            )
        if stored.conditions.clearance != conditions.clearance:
            raise CommandError(
                f"{generation.manifest.generation_id} was asked {chosen!r} up to {stored.conditions.clearance} files, "
                f"and here those up to {conditions.clearance} are seen; ask it as the same role with --set FILE"
            )
        return stored
    questions = questions_for(session, generation, QuestionSelection(path, repository))
    stored = read_run(generation.directory, questions.name)
    measured = (questions.fingerprint, session.settings().evaluation.k, METRICS_VERSION)
    if stored is not None and stored.measures(*measured) and stored.conditions == conditions:
        return stored
    run = ask(session, home, generation, questions)
    keep_run_of_finished(home, generation, run)
    return run


def _show_comparison(output: Output, compared: Comparison) -> None:
    """The change of each metric by category, then the questions that moved; first, that it says nothing of the indexes
    where they were searched differently."""
    from rag_assets.evaluation.tables import delta_rows

    if compared.conditions:
        unlike = ", ".join(f"{name} {before} → {now}" for name, (before, now) in compared.conditions.items())
        output.warning(
            f"more than the commit differs ({unlike}): what changed may come from that. "
            "To compare the indexes alone, ask both in one way with: rag-assets eval compare … --set FILE"
        )
    rows = delta_rows(compared.categories)
    titles = ("CATEGORY", "QUESTIONS", "METRIC", "BEFORE", "NOW", "CHANGE", "95 % BETWEEN", "")
    marks = {"yes": "clear", "no": ""}
    show_table(output, titles, [(*list(row.values())[:-1], marks[row["clear"]]) for row in rows], set())
    show_moves(output, compared.difference, most=None)
    if compared.answers is not None:
        _show_answers_delta(output, compared.answers)


def _show_answers_delta(output: Output, delta: AnswersDelta) -> None:
    from rag_assets.evaluation.tables import answer_delta_rows

    if delta.conditions:
        unlike = ", ".join(f"{name} {before} → {now}" for name, (before, now) in delta.conditions.items())
        output.warning(f"the answers were made or judged differently ({unlike}): what changed may come from that")
    titles = ("ANSWERS", "QUESTIONS", "BEFORE", "NOW", "CHANGE", "95 % BETWEEN", "")
    marks = {"yes": "clear", "no": ""}
    rows = answer_delta_rows(delta)
    show_table(output, titles, [(*list(row.values())[:-1], marks[row["clear"]]) for row in rows], set())
    for changed in delta.changed:
        unanswerable = "" if changed.answerable else " (unanswerable)"
        moved = f"  {changed.before.value} → {changed.now.value}  "
        output.line((moved, "dim"), f"{changed.id}: {changed.question}{unanswerable}")


def _show_ab(output: Output, found: AbComparison) -> None:
    """The numbers of two siblings, and what the rule of promotion makes of them."""
    rows = [
        (row.name, _shown(row.before), _shown(row.now), "" if row.change is None else f"{row.change:+.1%}", _rule(row))
        for row in found.rows
    ]
    show_table(output, ("SIBLINGS", "BEFORE", "NOW", "CHANGE", ""), rows, set())
    said = "may take the place of" if found.may_replace else "may not take the place of"
    output.line(("  promotion: ", "dim"), f"NOW {said} BEFORE: {found.reason}")
    if not found.is_enough:
        output.warning(
            f"{found.questions} questions are few for the rule of promotion: one of them is {1 / found.questions:.0%} "
            "of a metric; ask 10 to 20 at least"
        )


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _rule(row: MetricPair) -> str:
    if not row.decides:
        return ""
    return "holds" if row.holds else "falls too far"
