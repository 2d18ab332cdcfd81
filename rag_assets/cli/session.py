"""`rag-assets session`: the conversations that are kept."""

from __future__ import annotations

from typing import Annotated

import typer

from rag_assets.cli.ask import User
from rag_assets.cli.console import CommandError, counted
from rag_assets.cli.options import AsJson, session_of
from rag_assets.qa.answering import history_of, system_user
from rag_assets.suggestions import nearest

session_app = typer.Typer(no_args_is_help=True, help="List and delete the conversations that ask and chat keep.")


@session_app.command("list")
def list_sessions(
    context: typer.Context,
    user: User = "",
    as_json: AsJson = False,
) -> None:
    """List the sessions of a user, with their number of turns.

    Example: rag-assets session list
    """
    session = session_of(context)
    owner = user or system_user()
    with history_of(session.home(), session.config_option, session.clearance()) as history:
        found = history.sessions(owner)
    if as_json:
        rows = [{"session": one.name, "turns": one.turns, "created_utc": one.created_utc} for one in found]
        session.output.json({"user": owner, "sessions": rows})
        return
    for one in found:
        session.output.line((one.name, "bold"), f"  {counted(one.turns, 'turn')}  ", (one.created_utc, "dim"))
    if not found:
        session.output.note((f"{owner} has no sessions; begin one with: rag-assets ask QUESTION --session NAME", "dim"))


@session_app.command("delete")
def delete_session(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Which sessions.")] = None,
    user: User = "",
    everything: Annotated[bool, typer.Option("--all", help="All sessions of the user.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete sessions for good, and what the log has of them: their text is overwritten in the database, not only
    hidden. With --all questions without a session go too.

    Example: rag-assets session delete refunds
    """
    if everything == bool(names):
        raise typer.BadParameter("name the sessions to delete, or --all")
    session = session_of(context)
    owner = user or system_user()
    with history_of(session.home(), session.config_option, session.clearance()) as history:
        known = [one.name for one in history.sessions(owner)]
        missing = [name for name in names or () if name not in known]
        if missing:
            raise CommandError(f"{owner} has no session {missing[0]!r}{nearest(missing[0], known, 'there are')}")
        deleted = (
            [history.delete_user(owner)]
            if everything
            else [history.delete_session(owner, name) for name in names or ()]
        )
    erased = all(one.erased for one in deleted)
    counts = {
        "sessions": sum(one.sessions for one in deleted),
        "turns": sum(one.turns for one in deleted),
        "logged": sum(one.logged for one in deleted),
    }
    if as_json:
        session.output.json({"user": owner, **counts, "erased": erased})
        return
    session.output.line(
        f"deleted {counted(counts['sessions'], 'session')} with {counted(counts['turns'], 'turn')}, "
        f"and {counted(counts['logged'], 'logged question')}"
    )
    if not erased:
        session.output.warning(
            "another process is reading the database, so the text is not overwritten yet; the next deletion does it"
        )
