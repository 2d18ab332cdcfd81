"""`rag-assets eval`: asks a generation a question set and keeps the run; the other commands of the group compare runs,
report on them, and make a set from the history of a repository."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from rag_assets.interfaces.cli.asking import known_profile
from rag_assets.interfaces.cli.eval_compare import compare
from rag_assets.interfaces.cli.eval_mine import mine
from rag_assets.interfaces.cli.eval_report import report
from rag_assets.interfaces.cli.labels import chosen_label, complete_label, label_named
from rag_assets.interfaces.cli.output import short
from rag_assets.interfaces.cli.session import Session, session_of

if TYPE_CHECKING:
    from rag_assets.stores.eval_history import EvalRecord
    from rag_assets.stores.eval_records import EvalRun
    from rag_assets.stores.generations import Generation
    from rag_assets.stores.home import Home

_DEFAULT = "run"
_HOW = f"as rag-assets eval {_DEFAULT} LABEL"


class RunByDefault(TyperGroup):
    """`eval LABEL` is `eval run LABEL`, and so is `eval` alone; a label called like a command needs the long form."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("--help", "-h")):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


eval_app = typer.Typer(
    cls=RunByDefault,
    help="Measure how well an index answers. `eval LABEL` is `eval run LABEL`. No questions yet? `eval mine` makes "
    "some from the history of a repository.",
)


@eval_app.command(_DEFAULT)
def run(
    context: typer.Context,
    label: Annotated[
        str | None,
        typer.Argument(
            metavar="LABEL", help="Default: the only one, or that of the current folder.", autocompletion=complete_label
        ),
    ] = None,
    question_set: Annotated[
        Path | None,
        typer.Option("--set", help="File of questions (.jsonl, .json, .yaml). Default: eval_set of the repository."),
    ] = None,
    generation: Annotated[
        str, typer.Option("--generation", "-g", help="Id, commit, tag or 'previous'. Default: what is served.")
    ] = "active",
    repository: Annotated[
        str, typer.Option(help="Ask the questions about this repository, as the set calls it. Default: by the name.")
    ] = "",
    without_leaky: Annotated[
        bool, typer.Option("--without-leaky", help="Leave out questions that give their own answer away.")
    ] = False,
    answers: Annotated[
        bool,
        typer.Option("--answers", help="Also ask for answers: refusals, citations, time, cost. May set the threshold."),
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
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", dir_okay=False, help="Also keep the run in this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Ask the questions of a set and show recall, hit rate, MRR and nDCG. Changes nothing that is served, but that
    enough questions asked with --answers set the confidence below which `ask` refuses."""
    from rag_assets.evaluation.comparison import difference
    from rag_assets.evaluation.keeping import keep_run_of_finished
    from rag_assets.interfaces.cli.eval_asking import Answers, Asked, ask, questions_for
    from rag_assets.stores.eval_records import write_run_file
    from rag_assets.stores.generations import read_generation
    from rag_assets.stores.naming import named_generation

    if limit is not None and not answers:
        raise typer.BadParameter("the search is measured on all questions; it needs --answers", param_hint="--limit")
    if judge is not None and not answers:
        raise typer.BadParameter("there are answers to judge with --answers only", param_hint="--judge")
    if out is not None:
        _ensure_place(out)
    session = session_of(context)
    home = session.home()
    known = home.known_labels()
    name = chosen_label(session, home, None, how=_HOW) if label is None else label_named(known, label)
    asked = read_generation(home, *named_generation(home, [name], generation))
    questions = questions_for(session, asked, Asked(question_set, repository, without_leaky))
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
    from rag_assets.interfaces.cli.eval_output import show_run

    commit = short(asked.manifest.commit_sha)
    said = f" {made.generation_id} (commit {commit}): {len(made.results)} questions of {made.set}"
    session.output.line((name, "path"), said)
    show_run(session.output, made, beside)


eval_app.command()(compare)
eval_app.command()(mine)
eval_app.command()(report)


def _ensure_place(out: Path) -> None:
    """Before hours of questions are asked for nothing."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise typer.BadParameter(f"{out} cannot be written: {error.strerror}", param_hint="--out") from error


def _to_catalog(session: Session, generation: Generation, record: EvalRecord) -> list[str]:
    settings = session.settings()
    if settings.stores.catalog == "none":
        return []
    from rag_assets.stores.catalog.eval_runs import keep_record

    return keep_record(settings, generation.manifest, record)


def _served_run(home: Home, label: str, run: EvalRun) -> EvalRun | None:
    """The stored run of the served generation on the same questions, where another one was asked."""
    from rag_assets.stores.eval_records import read_run
    from rag_assets.stores.generations import active_pointer, generation_directory

    pointer = active_pointer(home, label)
    if pointer is None or pointer.generation_id == run.generation_id:
        return None
    found = read_run(generation_directory(home, label, pointer.generation_id), run.set)
    return found if found is not None and found.is_like(run) else None


def _object(run: EvalRun, beside: EvalRun | None) -> dict[str, object]:
    from rag_assets.evaluation.answer_summary import summarise_answers
    from rag_assets.evaluation.summary import latency, summarise

    answers = summarise_answers(run.answers, run.judging)
    return {
        "run": dataclasses.asdict(run),
        "categories": [dataclasses.asdict(found) for found in summarise(run)],
        "latency_ms": dataclasses.asdict(latency(run)),
        "answers": None if answers is None else dataclasses.asdict(answers),
        "active": None if beside is None else {"generation": beside.generation_id, "metrics": beside.metrics},
    }
