"""`rag-assets ask`: a question in, an answer with checked citations out, or an honest refusal (exit code 4)."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.interfaces.cli.failures import NOTHING_FOUND
from rag_assets.interfaces.cli.labels import chosen_label, complete_label
from rag_assets.interfaces.cli.session import session_of

if TYPE_CHECKING:
    from rag_assets.query import Index, IndexGroup

_MOST_HITS = 50  # a context of more has its tokens spent on what is not asked for


def ask(
    context: typer.Context,
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="What you want to know; filters and phrases as for search."),
    ],
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            "-l",
            help="Which index; repeatable. Default: as for search.",
            autocompletion=complete_label,
        ),
    ] = None,
    paths: Annotated[
        list[str] | None, typer.Option("--path", help="Only files of this path, folder or glob; repeatable.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, max=_MOST_HITS, help="How many hits to look at. Default: as configured."),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Answer with quotes alone, also where a model is configured.")
    ] = False,
    profile: Annotated[
        str | None, typer.Option(help="Which model answers: cheap, balanced or premium. Default: as configured.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Ask a question; get quotes with citations. Exit code 4 when the index does not have the answer."""
    if not question.strip():
        raise typer.BadParameter("the question is empty")
    from rag_assets.interfaces.cli.ask_output import Streamed, as_object, show
    from rag_assets.interfaces.freshness import freshness_of
    from rag_assets.query.answer.configured import configured

    session = session_of(context)
    home = session.home()
    names = list(dict.fromkeys(chosen_label(session, home, label) for label in labels or (None,)))
    streamed = Streamed(session.output)
    narrowing: dict[str, Any] = {"path": tuple(paths or ())}
    with ExitStack() as stack:
        target = stack.enter_context(_opened(names, home=home.root, session=session))
        options = configured(home, session.config_option, offline=offline, profile=profile, limit=limit)
        if options.model is not None and not as_json:
            narrowing["on_text"] = streamed
        found = target.ask(question, options=options, **narrowing)
        freshness = {label: freshness_of(home, manifest) for label, manifest in target.manifests.items()}
    for warning in found.warnings:
        session.output.warning(warning)
    if as_json:
        session.output.json(as_object(found, freshness))
    else:
        streamed.end()
        show(session.output, found, freshness)
    if found.abstained:
        raise typer.Exit(NOTHING_FOUND)


def _opened(names: list[str], **options: Any) -> Index | IndexGroup:
    from rag_assets.query import open_index, open_indexes

    session = options.pop("session")
    known = {"config": session.config_option, "clearance": session.clearance(), **options}
    return open_index(names[0], **known) if len(names) == 1 else open_indexes(names, **known)
