"""`rag-assets serve` and `mcp`: the indexes of a home for programs, agents and browsers."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.cli.options import CliSession, complete_label, session_of

if TYPE_CHECKING:
    from rag_assets.serving.start import Serving

_PORT = 8765
_PER_MINUTE = 1200
_SECONDS = 60.0


def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Where to listen. Beyond this machine a token is needed.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for a free one.")] = _PORT,
    names: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Another name that the server answers to; repeatable."),
    ] = None,
    without_tokens: Annotated[
        bool,
        typer.Option("--without-tokens", help="Let everybody in who reaches it, as with a proxy in front that checks."),
    ] = False,
    per_minute: Annotated[
        int, typer.Option("--per-minute", min=0, help="Requests a minute of one caller; 0 for any number.")
    ] = _PER_MINUTE,
    seconds: Annotated[float, typer.Option(min=1, help="How long a request may take.")] = _SECONDS,
    verifier: Annotated[
        str, typer.Option("--token-verifier", metavar="MODULE:FACTORY", help="Accepts tokens of an OAuth server.")
    ] = "",
    issuer: Annotated[str, typer.Option(help="The address of that server.")] = "",
    resource: Annotated[str, typer.Option(help="The address of this one, as its tokens name it.")] = "",
    overlay: Annotated[
        bool, typer.Option("--overlay", help="Search and read files as the work trees of this machine have them now.")
    ] = False,
    local: Annotated[
        bool, typer.Option("--local", help="Serve agents of this machine alone, and end when none is left.")
    ] = False,
) -> None:
    """Serve the indexes of this home: a page, HTTP for programs, MCP for agents.

    Example: rag-assets serve --port 8765
    """
    from rag_assets.serving.start import Place, serve_http, serve_local

    serving = _serving(session_of(context))
    if local:
        serve_local(serving)
        return
    place = Place(host=host, port=port, names=tuple(names or ()))
    serve_http(
        serving,
        place,
        role=session_of(context).role,
        without_tokens=without_tokens,
        per_minute=0 if place.is_loopback and per_minute == _PER_MINUTE else per_minute,
        seconds=seconds,
        issuer=issuer,
        verifier=verifier,
        resource=resource,
        work_tree=overlay,
    )


def mcp(
    context: typer.Context,
    label: Annotated[
        str,
        typer.Option("--label", "-l", help="Which index, where a call names none.", autocompletion=complete_label),
    ] = "",
    structured: Annotated[
        bool, typer.Option("--structured", help="Answer with structured content and one line of text.")
    ] = False,
    allow_index: Annotated[
        bool, typer.Option("--allow-index", help="Offer the tool that indexes the newest commit.")
    ] = False,
    overlay: Annotated[
        bool,
        typer.Option(
            "--overlay/--no-overlay", help="Search and read files as the work tree around this folder has them now."
        ),
    ] = True,
    alone: Annotated[
        bool, typer.Option("--alone", help="Answer in this process instead of in the shared server of the home.")
    ] = False,
) -> None:
    """Serve one agent on standard input and output (MCP). It shares one server with all others of this home.

    Example: rag-assets mcp --label shop
    """
    session = session_of(context)
    hello = {
        "role": session.role,
        "folder": str(Path.cwd()),
        "label": label,
        "structured": structured,
        "may_index": allow_index,
        "work_tree": overlay,
    }
    if alone or sys.platform == "win32":
        from rag_assets.serving.start import serve_stdio

        serve_stdio(_serving(session), hello)
        return
    session.clearance()  # a wrong role is told at once: the server that would say so starts when the client is ready
    from rag_assets.serving import stdio_relay
    from rag_assets.serving.relay_plan import relay_plan

    flags = {"--structured": structured, "--allow-index": allow_index, "--no-overlay": not overlay}
    options = [option for option, is_wanted in flags.items() if is_wanted] + (["--label", label] if label else [])
    plan = json.dumps(relay_plan(session.home(), session.config(), hello, _command(session), options))
    relay = str(Path(stdio_relay.__file__).resolve())
    os.execv(sys.executable, [sys.executable, "-S", "-E", relay, plan])


def _command(session: CliSession) -> list[str]:
    """This program with the global options of this call, for a process that may start elsewhere: `-P`, or Python would
    take modules from the folder that it starts in, which may be a repository of anybody."""
    config, home = session.config(), session.home().root.resolve()
    named = {"--home": home, "--config": config.resolve() if config else None, "--role": session.role}
    options = [word for option, value in named.items() if value is not None for word in (option, str(value))]
    return [sys.executable, "-P", "-m", "rag_assets", *options]


def _serving(session: CliSession) -> Serving:
    from rag_assets.serving.start import Serving

    config = session.config()
    return Serving(home=session.home(), config=config, roles=session.settings().roles)
