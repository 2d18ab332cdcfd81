"""`rag-assets replay`: a logged question once more, and whether the same comes of it."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.interfaces.cli.agent import Folders, agent_library
from rag_assets.interfaces.cli.asking import known_profile
from rag_assets.interfaces.cli.failures import FAILURE, CommandError
from rag_assets.interfaces.cli.pipeline import Packs, checked_packs
from rag_assets.interfaces.cli.session import session_of
from rag_assets.interfaces.cli.turns import TurnArgument

if TYPE_CHECKING:
    from rag_assets.query.pipeline.chat_model import AskModel
    from rag_assets.query.pipeline.replaying import Replay
    from rag_assets.settings import AnswerSettings
    from rag_assets.stores.query_log import LogRecord


def replay(
    context: typer.Context,
    turn: TurnArgument = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the configured model again.")] = False,
    profile: Annotated[
        str | None,
        typer.Option(callback=known_profile, help="With --live, which model answers: cheap, balanced or premium."),
    ] = None,
    packs: Packs = None,
    agents: Folders = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Run a question again: on the builds that answered it, with what the model said then. Nothing is kept of it.

    Exit code 0 where the same came of it, 1 where it is different."""
    from rag_assets.config_file import config_of
    from rag_assets.contracts.confidentiality import Confidentiality
    from rag_assets.interfaces.cli.log_output import show_replay
    from rag_assets.interfaces.cli.turns import asking_settings, query_log, turn_named
    from rag_assets.models.endpoint_tokens import token_counter
    from rag_assets.query.asker import history_of
    from rag_assets.query.pipeline.packs import library_of
    from rag_assets.query.pipeline.replaying import Replayer

    if profile is not None and not live:
        raise typer.BadParameter("only a --live replay asks a model", param_hint="--profile")
    session = session_of(context)
    home, answer = session.home(), asking_settings(session).answer
    with query_log(session) as log:
        record = turn_named(session, log, turn)
    model = _live_model(answer, profile) if live else None
    with ExitStack() as stack:
        conversations = partial(history_of, home, session.config_option, Confidentiality(record.clearance))
        history = stack.enter_context(conversations()) if record.session else None
        replayer = Replayer(
            home,
            library_of(config_of(home.root, session.config_option), checked_packs(packs)),
            agents=agent_library(session, agents) if record.agent else None,
            config=session.config_option,
            clearance=session.clearance(),
            history=history,
            count_tokens=token_counter(answer.tokenizer),
            threshold=answer.threshold,
        )
        replayed = replayer.replay(record, model)
    for warning in replayed.warnings:
        session.output.warning(warning)
    if as_json:
        session.output.json(replay_object(record, replayed, live))
    else:
        show_replay(session.output, record, replayed)
    if not replayed.same:
        raise typer.Exit(FAILURE)


def replay_object(record: LogRecord, replayed: Replay, live: bool) -> dict[str, Any]:
    return {
        "turn_id": record.turn_id,
        "live": live,
        "same": replayed.same,
        "lock_differences": list(replayed.lock),
        "threshold": None
        if replayed.threshold is None
        else dict(zip(("then", "now"), replayed.threshold, strict=True)),
        "then": dataclasses.asdict(replayed.then),
        "now": dataclasses.asdict(replayed.now),
        "diff": list(replayed.diff),
        "warnings": list(replayed.warnings),
    }


def _live_model(answer: AnswerSettings, profile: str | None) -> AskModel:
    from rag_assets.query.pipeline.chat_model import configured_model

    model = configured_model(answer, profile)
    if model is None:
        raise CommandError("no model is configured for --live: set answer.base_url and a model, or replay without it")
    return model
