"""`rag-assets artifact`: a document with fixed sections from an index, every statement cited (E17)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.interfaces.cli.agent import Folders, agent_library
from rag_assets.interfaces.cli.asking import AskedPacks, Labels, Offline, PipelineName, Wanted, opened
from rag_assets.interfaces.cli.failures import NOTHING_FOUND, CommandError
from rag_assets.interfaces.cli.new_file import Force, check_new_file
from rag_assets.interfaces.cli.session import session_of

if TYPE_CHECKING:
    from rag_assets.query.agent.agent import Agent
    from rag_assets.query.agent.library import AgentLibrary
    from rag_assets.query.artifact.output import OutputType


def artifact(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(metavar="TYPE", help="blueprint, pdr, workflow or build_plan.")],
    subject: Annotated[
        str | None, typer.Argument(metavar="[SUBJECT]", help="What it is about. Default: everything that is indexed.")
    ] = None,
    labels: Labels = None,
    agent_name: Annotated[
        str | None,
        typer.Option("--agent", metavar="NAME|FILE", help="Who writes it. Default: the shipped agent of the type."),
    ] = None,
    folders: Folders = None,
    pipeline: PipelineName = "",
    packs: AskedPacks = None,
    target: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the Markdown there, sources as footnotes."),
    ] = None,
    force: Force = False,
    offline: Offline = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Write a Blueprint, PDR, Workflow or Build Plan from an index. Exit code 4 when the index does not have it."""
    from rag_assets.interfaces.cli.artifact_output import as_markdown, as_object, show
    from rag_assets.interfaces.cli.ask_output import Streamed
    from rag_assets.query.artifact.making import make_artifact
    from rag_assets.query.artifact.templates import WHOLE

    output_type = _type(kind)
    about = WHOLE if subject is None else subject
    if not about.strip():
        raise typer.BadParameter("the subject is empty; leave it out for all that is indexed", param_hint="SUBJECT")
    if target is not None:
        check_new_file(target, "--output", force=force)
    session = session_of(context)
    agent = _agent(agent_library(session, folders), agent_name, output_type)
    streamed = Streamed(session.output, silent=as_json)
    with opened(session, Wanted.of(labels, None, offline, None, pipeline, packs, agent)) as (asker, _):
        made = make_artifact(asker, about, on_text=streamed)
    streamed.end()
    for warning in made.answer.warnings:
        session.output.warning(warning)
    written = target if target is not None and not made.refused else None
    if written is not None:
        written.write_text(as_markdown(made), encoding="utf-8", newline="\n")
    if as_json:
        session.output.json(as_object(made, written))
    elif written is not None:
        session.output.line(("written to ", "dim"), (str(written), "path"))
    else:
        show(session.output, made)
    if made.refused:
        raise typer.Exit(NOTHING_FOUND)


def _type(written: str) -> OutputType:
    """`build-plan`, `Build Plan` and `build_plan` are one. Raises BadParameter."""
    from rag_assets.query.artifact.output import ARTIFACTS, OutputType
    from rag_assets.query.pipeline.reading import nearest

    name = "_".join(written.lower().replace("-", " ").replace("_", " ").split())
    if name not in ARTIFACTS:
        raise typer.BadParameter(
            f"no artifact {written!r}{nearest(name, [str(one) for one in ARTIFACTS])}", param_hint="TYPE"
        )
    return OutputType(name)


def _agent(library: AgentLibrary, name: str | None, wanted: OutputType) -> Agent:
    if name is None:
        return library.author(wanted)
    agent = library.load(name)
    if agent.output_type is not wanted:
        raise CommandError(
            f"agent {agent.name!r} writes {agent.output_type}, not {wanted}; "
            f"see: rag-assets agent list, or give it output_type: {wanted}"
        )
    return agent
