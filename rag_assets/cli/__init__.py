"""The application: global options, the commands, and the one place where errors become words and exit codes."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterator, MutableMapping
from gc import freeze, set_threshold  # `gc` of this package is a command
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from rag_assets.cli.console import FAILURE, INTERRUPTED, PROGRAM, USAGE, Output, describe, prepare_streams, wants_color
from rag_assets.cli.options import CliSession, command_of
from rag_assets.errors import WrongUsage, is_panic
from rag_assets.index.layout import keep_for_owner

_BROKEN_PIPE = 141  # 128 + SIGPIPE, what every other program in a pipe reports

_CYCLES_AFTER = (100_000, 20, 50)
"""Python's own thresholds look for cycles a hundred times while a command loads its modules, and find next to none: a
sixth of the time of `ask` in a small index. So many objects of about 100 bytes are some MB."""

_COMMANDS = {
    "init": ("config", "init", "Write a short rag_assets.yaml into the current folder."),
    "index": ("index", "index", "Index repositories."),
    "plan": ("plan", "plan", "Show what an index run would do and cost."),
    "watch": ("watch", "watch", "Index new commits as they appear."),
    "dev": ("dev", "dev", "Open the Dagster UI on the indexes of this home."),
    "search": ("search", "search", "Search an index."),
    "ask": ("ask", "ask", "Answer a question from an index, with sources."),
    "artifact": ("artifact", "artifact", "Write a Blueprint, PDR, Workflow or Build Plan from an index."),
    "chat": ("chat", "chat", "Talk about an index: questions and follow-ups."),
    "session": ("session", "session_app", "List and delete the conversations that ask and chat have kept."),
    "log": ("log", "log", "List the questions that were asked, and their totals."),
    "trace": ("log", "trace", "Show how a question was answered."),
    "replay": ("log", "replay", "Run a logged question again and compare the answers."),
    "read": ("source.read", "read", "Read a place with line numbers: as indexed, at a commit, in the work tree."),
    "show": ("source.show", "show", "Show what the index knows of a point: snippet, description, source and payload."),
    "explain": ("source.explain", "explain", "Explain why a file is indexed as it is."),
    "cite": ("source.cite", "cite_app", "Check the citations of documents."),
    "serve": ("serve", "serve", "Serve the indexes: a page, HTTP, MCP."),
    "mcp": ("serve", "mcp", "Serve one agent on standard input and output (MCP)."),
    "token": ("token", "token_app", "Make, list and revoke the tokens of a server."),
    "graph": ("graph", "graph_app", "Walk the dependency graph of an index."),
    "impact": ("impact", "impact", "Show what the changes since a commit touch, and the tests worth running."),
    "agent": ("agent", "agent_app", "List, show and check agents."),
    "pipeline": ("pipeline", "pipeline_app", "List, check, show and draw pipelines."),
    "eval": ("eval", "eval_app", "Measure how well an index answers."),
    "train-embedder": ("train_embedder", "train_embedder", "Train the embedder on your own repositories."),
    "status": ("status", "status", "Show every index: commit, counts, skipped files, size."),
    "doctor": ("doctor", "doctor", "Check the installation, the model, the configuration and every index."),
    "validate": ("validate", "validate", "Check every stored point against the payload contract."),
    "generations": ("generations", "generations_app", "List, compare, serve and keep the builds of a label."),
    "catalog": ("catalog", "catalog_app", "Look into the catalog, where stores.catalog has one."),
    "rebuild": ("rebuild", "rebuild", "Make an index again from the catalog."),
    "publish": ("publish", "publish", "Publish the active generation of a label to the remote store."),
    "pull": ("pull", "pull", "Fetch a published label and serve it here."),
    "gc": ("gc", "gc", "Remove documents, cache entries and mirrors that nothing needs."),
    "reset": ("reset", "reset", "Remove indexes."),
    "config": ("config", "config_app", "List the settings, and check the configuration."),
}
"""Command → (module of `rag_assets.cli`, function or group, help in the list of commands), in the order of that list. A
command is imported when it is used: importing all of them takes longer than a search."""


class LazyCommands(MutableMapping[str, Any]):
    """Commands by name, each imported when it is first asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = dict.fromkeys(_COMMANDS)

    def __getitem__(self, name: str) -> Any:
        if self._loaded[name] is None:
            module, attribute, _ = _COMMANDS[name]
            found = getattr(import_module(f"rag_assets.cli.{module}"), attribute)
            holder = typer.Typer()
            if isinstance(found, typer.Typer):
                holder.add_typer(found, name=name)
            else:
                holder.command(name)(found)
            self._loaded[name] = typer.main.get_group(holder).commands[name]
        return self._loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)


class ReportedGroup(TyperGroup):
    """The top-level group; it turns every error of a command into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (typer.Exit, typer.Abort):
            raise
        except typer.TyperException as wrong:  # typer shows it with the usage
            wrong.message = _in_plain_words(wrong, ctx)
            raise
        except KeyboardInterrupt:
            _output(ctx).note("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _leave_pipe()
            raise typer.Exit(_BROKEN_PIPE) from None
        except BaseException as error:
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            _show(ctx, error)
            raise typer.Exit(USAGE if isinstance(error, WrongUsage) else FAILURE) from None


class Program(ReportedGroup):
    """The top-level group with all commands. Listing them, as help and completion do, imports none."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A stand-in with the name and the help of a command; None for an unknown name."""
        return TyperCommand(cmd_name, help=_COMMANDS[cmd_name][2]) if cmd_name in _COMMANDS else None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        return name, None if found is None or name is None else self.commands[name], rest


def _show(ctx: Any, error: BaseException) -> None:
    output = _output(ctx)
    if isinstance(ctx.obj, CliSession) and ctx.obj.debug:
        output.note("".join(traceback.format_exception(error)).rstrip())
    output.error(describe(error))


_BOUND = re.compile(r"Input should be (?:(greater)|less) than or equal to (\S+)")
_OF_AN_INDEX = frozenset({"--id", "--index", "--project", "--repo", "--repos", "--repository"})
"""What others call the option that names an index."""
_LABEL_OPTION = re.compile(r"No such option: (?:-l|--label)\b")
_UNKNOWN_OPTION = re.compile(r"No such option: (?P<option>--[\w-]+)")


def _in_plain_words(wrong: typer.TyperException, ctx: Any) -> str:
    """What is wrong with the words that were typed, without the words of a library, and what helps."""
    text = wrong.message.replace("Value error, ", "")
    text = _BOUND.sub(lambda found: f"must be {found[2]} or {'more' if found[1] else 'less'}", text)
    unknown = _UNKNOWN_OPTION.fullmatch(text)
    if unknown and any(unknown["option"] in one.opts for one in ctx.command.params):
        before = f"{PROGRAM} {unknown['option']} … {ctx.invoked_subcommand}"
        return f"{unknown['option']} stands before the command, as in: {before}"
    inner = getattr(wrong, "ctx", None)
    options = inner.command.params if inner is not None else ()
    means_index = text.startswith("Got unexpected extra argument") or (unknown and unknown["option"] in _OF_AN_INDEX)
    if means_index and any("--label" in one.opts for one in options):
        return f"{text}; name an index with --label"
    if _LABEL_OPTION.search(text) and any(one.metavar == "LABEL" for one in options):
        return f"{text}; this command takes the label as a word, without an option"
    return text


def _output(ctx: Any) -> Output:
    return ctx.obj.output if isinstance(ctx.obj, CliSession) else Output(color=wants_color())


def _leave_pipe() -> None:
    """The reader has gone. Sends the buffered rest to the null device, or Python complains at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


app = typer.Typer(
    name=PROGRAM,
    cls=Program,
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
    from rag_assets.version import own_commit, own_version  # start-up budget: loaded when it runs

    version, commit = own_version() or "run from its source without being installed", own_commit()
    typer.echo(f"{PROGRAM} {version}" + (f" (commit {commit})" if commit else ""))
    raise typer.Exit


@app.callback()
def _global_options(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(
            help="Where indexes and caches are kept. Default: $RAG_ASSETS__HOME, as configured, else .rag_assets."
        ),
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
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and its commit.")
    ] = False,
) -> None:
    output = Output(wants_color() and not no_color, command=command_of(home, config, role))
    context.obj = CliSession(home, config, debug, output, role)


def main() -> None:
    """Runs the command line on `sys.argv` and exits with its code."""
    prepare_streams()
    keep_for_owner()
    set_threshold(*_CYCLES_AFTER)
    try:
        app(prog_name=PROGRAM)
    finally:
        freeze()  # else Python looks for cycles among all that was loaded, several times, before it ends
