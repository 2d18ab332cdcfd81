"""`rag-assets ask`: a question in, an answer with checked citations out, or an honest refusal (exit code 4)."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_assets.cli.agent import AgentName, Folders, chosen_agent
from rag_assets.cli.ask_options import (
    AnsweringProfile,
    AskedPacks,
    AskOptionsFromCli,
    Labels,
    Language,
    Limit,
    Offline,
    Paths,
    PipelineName,
    User,
    named_session,
    opened,
)
from rag_assets.cli.options import session_of
from rag_assets.cli.render import NOTHING_FOUND


def ask(
    context: typer.Context,
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="What you want to know; filters and phrases as for search."),
    ],
    labels: Labels = None,
    paths: Paths = None,
    limit: Limit = None,
    offline: Offline = False,
    profile: AnsweringProfile = None,
    pipeline: PipelineName = "",
    packs: AskedPacks = None,
    conversation: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="NAME",
            callback=named_session,
            help="Follow the turns of this session, and keep this one in it.",
        ),
    ] = None,
    user: User = "",
    language: Language = "",
    agent: AgentName = None,
    folders: Folders = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Ask a question; get an answer with citations. Exit code 4 when the index does not have the answer."""
    if not question.strip():
        raise typer.BadParameter("the question is empty")
    from rag_assets.cli.ask_output import Streamed, as_object, show
    from rag_assets.index.freshness import freshness_of
    from rag_assets.index.vectors.filters import SearchFilters

    session = session_of(context)
    wanted = AskOptionsFromCli.of(
        labels, limit, offline, profile, pipeline, packs, chosen_agent(session, agent, folders)
    )
    streamed = Streamed(session.output, silent=as_json)
    with opened(session, wanted) as (asker, target):
        result = asker.ask(
            question,
            filters=SearchFilters(paths=tuple(paths or ())),
            session=conversation or "",
            user=user,
            language=language,
            on_text=streamed,
        )
        home = session.home()
        freshness = {label: freshness_of(home, manifest) for label, manifest in target.manifests.items()}
    streamed.end()
    assert result.response is not None  # only a request that was answered before has none
    for warning in result.response.warnings:
        session.output.warning(warning)
    if as_json:
        session.output.json(as_object(result, result.response, freshness))
    else:
        show(session.output, result.response, freshness)
    if result.response.abstained:
        raise typer.Exit(NOTHING_FOUND)
