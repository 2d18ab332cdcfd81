"""`rag-assets artifact`: a document with fixed sections from an index, every statement cited (E17)."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.interfaces.cli.agent import Folders, agent_library, applied
from rag_assets.interfaces.cli.failures import NOTHING_FOUND, CommandError
from rag_assets.interfaces.cli.labels import chosen_label, complete_label
from rag_assets.interfaces.cli.pipeline import Packs
from rag_assets.interfaces.cli.session import Session, session_of

if TYPE_CHECKING:
    from rag_assets.query.agent.agent import Agent
    from rag_assets.query.agent.library import AgentLibrary
    from rag_assets.query.artifact.output import OutputType
    from rag_assets.query.pipeline.index_services import IndexServices


def artifact(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(metavar="TYPE", help="blueprint, pdr, workflow or build_plan.")],
    subject: Annotated[
        str | None, typer.Argument(metavar="[SUBJECT]", help="What it is about. Default: everything that is indexed.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--label", "-l", help="Which index. Default: as for search.", autocompletion=complete_label),
    ] = None,
    agent_name: Annotated[
        str | None,
        typer.Option("--agent", help="Who writes it: a name or a file. Default: the shipped one of the type."),
    ] = None,
    folders: Folders = None,
    packs: Packs = None,
    target: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the Markdown there, sources as footnotes."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Quotes alone, also where a model is configured.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Write a Blueprint, PDR, Workflow or Build Plan from an index. Exit code 4 when the index does not have it."""
    from rag_assets.interfaces.cli.artifact_output import as_markdown, as_object, show
    from rag_assets.query.artifact.making import make_artifact
    from rag_assets.query.artifact.templates import WHOLE

    output_type = _type(kind)
    about = WHOLE if subject is None else subject
    if not about.strip():
        raise typer.BadParameter("the subject is empty; leave it out for all that is indexed", param_hint="SUBJECT")
    if target is not None:
        _check_target(target, force)
    session = session_of(context)
    agent = _agent(agent_library(session, folders), agent_name, output_type)
    pipeline = applied(session, agent, packs)
    name = chosen_label(session, session.home(), label)
    with closing(opened_services(session, agent, offline=offline)) as services:
        made = make_artifact(pipeline, about, name, services, offline=not services.has_model)
    for warning in made.warnings:
        session.output.warning(warning)
    if target is not None and not made.refused:
        target.write_text(as_markdown(made), encoding="utf-8", newline="\n")
    if as_json:
        session.output.json(as_object(made, target))
    elif target is not None and not made.refused:
        session.output.line(("written to ", "dim"), (str(target), "path"))
    else:
        show(session.output, made)
    if made.refused:
        raise typer.Exit(NOTHING_FOUND)


def opened_services(session: Session, agent: Agent, *, offline: bool) -> IndexServices:
    """Indexes as far as caller and agent see, and the configured models unless `offline`. Raises ConfigError."""
    from rag_assets.config_file import config_of, is_configured
    from rag_assets.query import open_index
    from rag_assets.query.agent.applying import view_of
    from rag_assets.query.pipeline.index_services import IndexServices

    home = session.home()
    view = view_of(agent, session.clearance())
    open_label = partial(
        open_index, home=home.root, config=session.config_option, clearance=view.clearance, view=view.narrowing
    )
    if not is_configured("answer", config_of(home.root, session.config_option)):
        return IndexServices(open_label)
    from rag_assets.models.endpoint_tokens import token_counter
    from rag_assets.query.pipeline.chat_model import configured_model

    settings = session.settings().answer
    model = None if offline else configured_model(settings)
    return IndexServices(open_label, generate=model, count_tokens=token_counter(settings.tokenizer))


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


def _check_target(target: Path, force: bool) -> None:
    """Before the work: nobody waits for a model to be told that a file is there."""
    if target.is_dir():
        raise typer.BadParameter(f"{target} is a folder; name a file in it", param_hint="--output")
    if not target.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {target.parent}", param_hint="--output")
    if target.exists() and not force:
        raise typer.BadParameter(f"{target} exists; choose another name or add --force", param_hint="--output")
