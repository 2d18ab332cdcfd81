"""`rag-assets eval`: asks a generation a question set, shows how well it answers, and keeps the run."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.interfaces.cli.failures import CommandError
from rag_assets.interfaces.cli.labels import chosen_label, complete_label, label_named
from rag_assets.interfaces.cli.output import short
from rag_assets.interfaces.cli.session import Session, session_of

if TYPE_CHECKING:
    from rag_assets.stores.eval_records import EvalRun
    from rag_assets.stores.generations import Generation
    from rag_assets.stores.home import Home


def evaluate(
    context: typer.Context,
    label: Annotated[
        str | None,
        typer.Argument(
            metavar="LABEL", help="Default: the only one, or that of the current folder.", autocompletion=complete_label
        ),
    ] = None,
    question_set: Annotated[
        Path | None,
        typer.Option("--set", help="File of questions (.jsonl, .yaml). Default: eval_set of the repository."),
    ] = None,
    generation: Annotated[
        str, typer.Option("--generation", "-g", help="Id, commit, tag or 'previous'. Default: what is served.")
    ] = "active",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Ask the questions of a set and show recall, hit rate, MRR and nDCG. Changes nothing that is served."""
    from rag_assets.evaluation import load_questions, run_questions
    from rag_assets.query import Index
    from rag_assets.stores.generations import read_generation
    from rag_assets.stores.naming import named_generation

    session = session_of(context)
    home = session.home()
    known = home.known_labels()
    name = chosen_label(session, home, None) if label is None else label_named(known, label)
    asked = read_generation(home, *named_generation(home, [name], generation))
    questions = load_questions(question_set or _configured(session, asked))
    with Index(home, asked, session.config_option) as index:
        run = run_questions(index, questions, session.settings().evaluation.k)
    kept = _keep(home, asked, run)
    beside = _served_run(home, name, run)
    if as_json:
        session.output.json(
            {"label": name, "commit": asked.manifest.commit_sha, "stored": kept, **_object(run, beside)}
        )
        return
    from rag_assets.interfaces.cli.quality import show_run

    session.output.line(
        (name, "path"),
        f" {run.generation_id} (commit {short(asked.manifest.commit_sha)}): {len(run.results)} questions of {run.set}",
    )
    show_run(session.output, run, beside)


def _configured(session: Session, generation: Generation) -> Path:
    identifier = generation.manifest.repository_id
    for repository in session.settings().repositories:
        if repository.id == identifier and repository.eval_set is not None:
            return repository.eval_set
    raise CommandError(
        f"repository {identifier!r} has no question set; name one with --set FILE, or set eval_set of the repository "
        "in rag_assets.yaml"
    )


def _keep(home: Home, generation: Generation, run: EvalRun) -> bool:
    """Stores the run, unless the generation has been deleted meanwhile: its folder must not come back."""
    from rag_assets.stores.eval_records import write_run
    from rag_assets.stores.generations import is_finished
    from rag_assets.stores.locks import pointer_lock

    manifest = generation.manifest
    with pointer_lock(home, manifest.index_label):
        if not is_finished(home, manifest.index_label, manifest.generation_id):
            return False
        write_run(generation.directory, run)
    return True


def _served_run(home: Home, label: str, run: EvalRun) -> EvalRun | None:
    """The stored run of the served generation on the same questions, where another one was asked."""
    from rag_assets.stores.eval_records import read_run
    from rag_assets.stores.generations import active_pointer, generation_directory

    pointer = active_pointer(home, label)
    if pointer is None or pointer.generation_id == run.generation_id:
        return None
    found = read_run(generation_directory(home, label, pointer.generation_id), run.set)
    return found if found is not None and found.measures(run.fingerprint, run.k, run.version) else None


def _object(run: EvalRun, beside: EvalRun | None) -> dict[str, object]:
    return {
        "run": dataclasses.asdict(run),
        "active": None if beside is None else {"generation": beside.generation_id, "metrics": beside.metrics},
    }
