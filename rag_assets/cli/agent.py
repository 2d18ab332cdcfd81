"""`rag-assets agent`: which agents there are, what they are set to do, and what is wrong with their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from rag_assets.cli.console import FAILURE, CommandError, Output
from rag_assets.cli.options import AgentFolders, AsJson, CliSession, existing_folders, session_of
from rag_assets.contracts.kinds import Kind
from rag_assets.errors import RagAssetsError
from rag_assets.qa.agents import AGENT_FOLDER, Agent, AgentLibrary, with_agent
from rag_assets.qa.definition.loader import library_of
from rag_assets.qa.definition.steps import Pipeline

agent_app = typer.Typer(
    no_args_is_help=True,
    help="List, show and check agents: who writes what, with which model, within which bounds. Name an agent "
    "by its name or its file. rag-assets looks for names in the folders of --agents, in the folder agents beside the "
    "configuration file, and among its own.",
)

_NAME = "A name, or a file."


@agent_app.command("list")
def list_agents(context: typer.Context, folders: AgentFolders = None, as_json: AsJson = False) -> None:
    """List all agents: what each writes and with which model.

    Example: rag-assets agent list
    """
    session = session_of(context)
    library, output = agent_library(session, folders), session.output
    found = [library.load(name) for name in library.names()]
    problems = library.problems()
    if as_json:
        output.json({"agents": [as_object(agent) for agent in found], "problems": list(map(str, problems))})
        return
    for agent in found:
        output.line((agent.name, "bold"), f"  {agent.output_type}, {agent.model_profile}  ", (agent.description, "dim"))
    for problem in problems:
        output.warning(f"not an agent that can be used: {problem}")


@agent_app.command()
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="AGENT", help=_NAME)],
    folders: AgentFolders = None,
    as_json: AsJson = False,
) -> None:
    """Show the settings of an agent with all defaults, and its pipeline.

    Example: rag-assets agent show architect
    """
    session = session_of(context)
    agent = agent_library(session, folders).load(name)
    pipeline = applied(session, agent)
    if as_json:
        session.output.json(as_object(agent) | {"digest": pipeline.digest})
        return
    output = session.output
    output.line((agent.name, "bold"), f"  {agent.description}" if agent.description else "")
    output.line(("from ", "dim"), (agent.file, "path"))
    for key, value in as_object(agent).items():
        if key not in ("name", "description", "file", "persona"):
            output.line(f"{key}: {_shown(value)}")
    output.line(("persona", "bold"))
    for line in agent.persona.strip().split("\n"):
        output.line(f"  {line}")
    output.line((f"pipeline {pipeline.name} as this agent runs it: digest {pipeline.digest}", "dim"))


@agent_app.command()
def validate(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="AGENT", help=f"{_NAME} Default: all.")] = None,
    folders: AgentFolders = None,
    as_json: AsJson = False,
) -> None:
    """Check agents and report problems with file and line. Exit code 1 when there are any.

    Example: rag-assets agent validate agents/reviewer.yaml
    """
    session = session_of(context)
    library, output = agent_library(session, folders), session.output
    unread = () if names else library.problems()
    checked: list[dict[str, Any]] = [{"agent": one.mark.file, "problems": [str(one)]} for one in unread]
    for name in names or library.names():
        try:
            agent = library.load(name)
            applied(session, agent)
            checked.append({"agent": agent.name, "problems": []})
        except RagAssetsError as error:
            checked.append({"agent": name, "problems": str(error).splitlines()})
    report_checks(output, "agent", checked, as_json=as_json)


def report_checks(output: Output, what: str, checked: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    """The problems and warnings of files, each under its name, which is at `what`. Exit code 1 where there is a
    problem."""
    if as_json:
        output.json({f"{what}s": checked})
    else:
        for one in checked:
            output.line(("✗ ", "bad") if one["problems"] else ("✓ ", "good"), (one[what], "bold"))
            for line in (line for problem in one["problems"] for line in problem.splitlines()):
                output.line("  ", line)
            for warning in one.get("warnings", ()):
                output.line("  ", ("warning: ", "warn"), warning)
    if any(one["problems"] for one in checked):
        raise typer.Exit(FAILURE)


def agent_library(session: CliSession, folders: list[Path] | None) -> AgentLibrary:
    """The agents of `folders`, of the folder beside the configuration file, and the shipped ones. Raises BadParameter
    for what is not a folder."""
    given = existing_folders(folders, "--agents")
    config = session.config()
    own = config.parent / AGENT_FOLDER if config is not None else None
    found = [*given, *([own] if own is not None and own.is_dir() else ())]
    return AgentLibrary(found, lambda: _kinds_of_packs(session))


def _kinds_of_packs(session: CliSession) -> list[Kind]:
    """What the rule packs of the configured repositories declare. Raises ConfigError and PackError."""
    from rag_assets.classification.rule_packs import merged_packs  # start-up budget: loaded when it runs

    selected = dict.fromkeys(repository.rule_packs for repository in session.settings().repositories)
    return [kind for packs in selected for kind in merged_packs(packs).kinds]


def chosen_agent(session: CliSession, name: str, folders: list[Path] | None) -> Agent:
    """The agent that answers. Raises UnknownAgent, AgentError, and CommandError for an agent that
    writes artifacts."""
    agent = agent_library(session, folders).load(name)
    if agent.output_type != "answer":
        raise CommandError(
            f"agent {agent.name!r} writes {agent.output_type}, no answers; run: rag-assets artifact {agent.output_type}"
        )
    return agent


def applied(session: CliSession, agent: Agent) -> Pipeline:
    """The pipeline of an agent as the agent runs it. Raises AgentRefused, UnknownPipeline and PipelineError."""
    return with_agent(library_of(session.config()).load(agent.runs_on()), agent)


def as_object(agent: Agent) -> dict[str, Any]:
    """Every field of an agent, with the pipeline that it uses, and the filters and limits that are set."""
    made: dict[str, Any] = msgspec.to_builtins(agent)
    return made | {
        "pipeline": agent.runs_on(),
        "filters": {key: value for key, value in made["filters"].items() if value},
        "limits": {key: value for key, value in made["limits"].items() if value is not None},
    }


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key} {_shown(inner)}" for key, inner in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "all"
    return str(value)
