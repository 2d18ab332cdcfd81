"""The application: global options, the commands, and the one place where errors become words and exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rag_assets.interfaces.cli.agent import agent_app
from rag_assets.interfaces.cli.artifact import artifact
from rag_assets.interfaces.cli.ask import ask
from rag_assets.interfaces.cli.catalog import catalog_app
from rag_assets.interfaces.cli.chat import chat
from rag_assets.interfaces.cli.config import config_app, init
from rag_assets.interfaces.cli.doctor import doctor
from rag_assets.interfaces.cli.evaluate import eval_app
from rag_assets.interfaces.cli.explain import explain
from rag_assets.interfaces.cli.failures import ReportedGroup
from rag_assets.interfaces.cli.gc import gc
from rag_assets.interfaces.cli.generations import generations_app
from rag_assets.interfaces.cli.graph import graph_app
from rag_assets.interfaces.cli.index import index
from rag_assets.interfaces.cli.log import log
from rag_assets.interfaces.cli.output import Output, prepare_streams, wants_color
from rag_assets.interfaces.cli.pipeline import pipeline_app
from rag_assets.interfaces.cli.plan import plan
from rag_assets.interfaces.cli.publish import publish, pull
from rag_assets.interfaces.cli.rebuild import rebuild
from rag_assets.interfaces.cli.replay import replay
from rag_assets.interfaces.cli.reset import reset
from rag_assets.interfaces.cli.search import search
from rag_assets.interfaces.cli.session import Session
from rag_assets.interfaces.cli.sessions import session_app
from rag_assets.interfaces.cli.show import show
from rag_assets.interfaces.cli.status import status
from rag_assets.interfaces.cli.trace import trace
from rag_assets.interfaces.cli.watch import watch

PROGRAM = "rag-assets"

app = typer.Typer(
    name=PROGRAM,
    cls=ReportedGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="Index git repositories and search them, offline. Start with: rag-assets index",
    epilog="Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 failure, 2 wrong usage, "
    "3 the promotion gate refused a build, 4 nothing found, 130 interrupted.",
)


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        typer.echo(f"{PROGRAM} {version(PROGRAM)}")
    except PackageNotFoundError:
        typer.echo(f"{PROGRAM}, run from its source without being installed")
    raise typer.Exit


@app.callback()
def _global_options(
    context: typer.Context,
    home: Annotated[
        Path | None, typer.Option(help="Where indexes and caches are kept. Default: as configured, else .rag_assets.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="The configuration file. Default: rag_assets.yaml here or above.")
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(help="Search and show as a member of this role (roles of the configuration). Default: internal."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the full trace of an error.")] = False,
    no_color: Annotated[bool, typer.Option("--no-color", help="Plain text, as with NO_COLOR.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    context.obj = Session(home, config, debug, Output(color=wants_color() and not no_color), role)


app.command()(init)
app.command()(index)
app.command()(plan)
app.command()(watch)
app.command()(search)
app.command()(ask)
app.command()(artifact)
app.command()(chat)
app.add_typer(session_app, name="session")
app.command()(log)
app.command()(trace)
app.command()(replay)
app.command()(show)
app.command()(explain)
app.add_typer(graph_app, name="graph")
app.add_typer(agent_app, name="agent")
app.add_typer(pipeline_app, name="pipeline")
app.add_typer(eval_app, name="eval")
app.command()(status)
app.command()(doctor)
app.add_typer(generations_app, name="generations")
app.add_typer(catalog_app, name="catalog")
app.command()(rebuild)
app.command()(publish)
app.command()(pull)
app.command()(gc)
app.command()(reset)
app.add_typer(config_app, name="config")


def main() -> None:
    """Runs the command line on `sys.argv` and exits with its code."""
    prepare_streams()
    app(prog_name=PROGRAM)
