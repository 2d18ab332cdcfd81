"""`rag-assets pipeline`: lists and checks pipelines, shows them after the merge, draws them as Mermaid flowcharts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from rag_assets.cli.agent import agent_library, report_checks
from rag_assets.cli.ask import AskedPacks
from rag_assets.cli.console import Output
from rag_assets.cli.options import AsJson, CliSession, chosen_label, existing_folders, session_of
from rag_assets.index.generations import active_generation, served_labels
from rag_assets.qa.definition.loader import PipelineLibrary, library_of
from rag_assets.qa.definition.steps import Pipeline, SettingOrigin, Step, as_object
from rag_assets.qa.errors import PipelineError, UnknownPipeline


def mermaid(pipeline: Pipeline) -> str:
    """The reachable steps in the order they are first reached; the entry is a stadium, the steps that choose are
    rhombs."""
    order = _order(pipeline)
    number = {name: f"s{at}" for at, name in enumerate(order)}
    lines = ["flowchart TD"]
    for name in order:
        step = pipeline.steps[name]
        lines.append(f"  {number[name]}{_shape(step, name == pipeline.entry.id)}")
    for name in order:
        lines += [
            f"  {number[name]} -->{'' if on == 'next' else f'|{on}|'} {number[target]}"
            for on, target in pipeline.steps[name].targets
        ]
    return "\n".join(lines)


def _order(pipeline: Pipeline) -> list[str]:
    order: dict[str, None] = {}
    waiting = [pipeline.entry.id]
    while waiting:
        name = waiting.pop(0)
        if name not in order:
            order[name] = None
            waiting += [target for _, target in pipeline.steps[name].targets]
    return list(order)


def _shape(step: Step, is_entry: bool) -> str:
    text = f'"{_quoted(step.id)}<br/><small>{_quoted(step.action)}</small>"'
    if is_entry:
        return f"([{text}])"
    return f"{{{text}}}" if step.transitions else f"[{text}]"


def _quoted(text: str) -> str:
    """Mermaid reads HTML entities in quotes."""
    return text.replace("&", "&amp;").replace('"', "#quot;").replace("<", "&lt;").replace(">", "&gt;")


pipeline_app = typer.Typer(
    no_args_is_help=True,
    help="List, check, show and draw pipelines. Name a pipeline by its name or its file. rag-assets looks for names in "
    "the packs (--pack, and packs of the configuration), in the folder pipelines beside the configuration file, and "
    "among its own.",
)

_NAME = "A name, or a file."


@pipeline_app.command("list")
def list_pipelines(context: typer.Context, packs: AskedPacks = None, as_json: AsJson = False) -> None:
    """List all pipelines: what each extends, and the file that it is in.

    Example: rag-assets pipeline list
    """
    session = session_of(context)
    library, output = pipeline_library(session, packs), session.output
    found, problems = list[Pipeline](), list[str]()
    for name in library.names():
        try:
            found.append(library.load(name))
        except PipelineError as error:
            problems += map(str, error.problems)
    if as_json:
        rows = [{"pipeline": one.name, "extends": list(one.lineage[:-1]), "file": one.files[-1]} for one in found]
        output.json({"pipelines": rows, "problems": problems})
        return
    for one in found:
        extends = f"  extends {', '.join(one.lineage[:-1])}" if one.lineage[:-1] else ""
        output.line((one.name, "bold"), extends, (f"  {one.files[-1]}", "dim"))
    for problem in problems:
        output.warning(f"not a pipeline that can be used: {problem}")


@pipeline_app.command()
def validate(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="PIPELINE", help=f"{_NAME} Default: all.")] = None,
    packs: AskedPacks = None,
    as_json: AsJson = False,
) -> None:
    """Check pipelines and report problems with file and line. Exit code 1 when there are any.

    Example: rag-assets pipeline validate pipelines/own.yaml
    """
    session = session_of(context)
    library, output = pipeline_library(session, packs), session.output
    checked: list[dict[str, Any]] = []
    for name in names or library.names():
        try:
            found = library.load(name)
            checked.append({"pipeline": found.name, "problems": [], "warnings": list(found.warnings)})
        except PipelineError as error:
            checked.append({"pipeline": name, "problems": [str(problem) for problem in error.problems], "warnings": []})
        except UnknownPipeline as error:
            checked.append({"pipeline": name, "problems": [str(error)], "warnings": []})
    report_checks(output, "pipeline", checked, as_json=as_json)


@pipeline_app.command()
def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="PIPELINE", help=f"{_NAME} Default: that of ask.")] = "",
    effective: Annotated[
        bool, typer.Option("--effective", help="The settings as ask uses them, and who says each of them.")
    ] = False,
    label: Annotated[
        str | None, typer.Option("--label", "-l", help="With --effective: the index that ask reads.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, max=50, help="With --effective: ask is called with it.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME|FILE", help="With --effective: the agent that answers.")
    ] = None,
    packs: AskedPacks = None,
    as_json: AsJson = False,
) -> None:
    """Show a pipeline after inheritance: its files, its settings with all defaults, its steps.

    Example: rag-assets pipeline show code_question_answering
    """
    session = session_of(context)
    if not effective and (not name or label or limit or agent):
        raise typer.BadParameter("name a pipeline, or show with --effective what ask uses")
    if effective:
        pipeline = _effective(session, name, label, limit, agent, existing_folders(packs, "--pack"))
    else:
        pipeline = pipeline_library(session, packs).load(name)
    if as_json:
        session.output.json(_origin(pipeline) | as_object(pipeline) | {"origins": _origins(pipeline)})
    else:
        _show_pipeline(session.output, pipeline, with_origins=effective)


def _effective(
    session: CliSession, name: str, label: str | None, limit: int | None, agent: str | None, packs: tuple[Path, ...]
) -> Pipeline:
    """The pipeline as `ask` runs it with these options. Without an index, nothing was calibrated for it."""
    from rag_assets.qa.answering import effective_pipeline, label_of_pipeline, said_of_search
    from rag_assets.qa.ask_options import configured
    from rag_assets.search.index import load_policy

    home = session.home()
    config = session.config()
    options = configured(home, config, limit=limit)
    author = agent_library(session, None).load(agent) if agent is not None else None
    options = replace(options, pipeline=name or (options.pipeline if author is None else ""), agent=author, packs=packs)
    label = label or label_of_pipeline(options, config) or None
    generations = [active_generation(home, chosen_label(home, label))] if label or served_labels(home) else []
    said = said_of_search(config, load_policy(home, config).mode)
    return effective_pipeline(options, library_of(config, packs), said, generations=generations)


@pipeline_app.command()
def graph(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="PIPELINE", help=_NAME)],
    packs: AskedPacks = None,
    as_json: AsJson = False,
) -> None:
    """Draw the steps that a pipeline can reach as a Mermaid flowchart.

    Example: rag-assets pipeline graph code_question_answering
    """
    session = session_of(context)
    pipeline = pipeline_library(session, packs).load(name)
    drawn = mermaid(pipeline)
    if as_json:
        edges = [
            {"from": step.id, "on": on, "to": target} for step in pipeline.steps.values() for on, target in step.targets
        ]
        session.output.json(_origin(pipeline) | {"entry": pipeline.entry.id, "edges": edges, "mermaid": drawn})
    else:
        session.output.text(drawn)


def pipeline_library(session: CliSession, packs: list[Path] | None) -> PipelineLibrary:
    """Raises BadParameter or ConfigError for a pack that is not a folder."""
    return library_of(session.config(), existing_folders(packs, "--pack"))


def _origin(pipeline: Pipeline) -> dict[str, Any]:
    return {
        "pipeline": pipeline.name,
        "digest": pipeline.digest,
        "lineage": list(pipeline.lineage),
        "files": list(pipeline.files),
        "prompts": {name: prompt.digest for name, prompt in sorted(pipeline.prompts.items())},
        "unused": list(pipeline.unused),
    }


def _origins(pipeline: Pipeline) -> dict[str, dict[str, str]]:
    """Setting → who says its value, and where."""
    names = msgspec.structs.fields(type(pipeline.settings))
    origins = {field.name: pipeline.origins.get(field.name, SettingOrigin()) for field in names}
    return {name: {"layer": origin.layer.value, "at": origin.at} for name, origin in origins.items()}


def _show_pipeline(output: Output, pipeline: Pipeline, *, with_origins: bool) -> None:
    output.line((pipeline.name, "bold"), f"  digest {pipeline.digest}")
    for name, file in zip(pipeline.lineage, pipeline.files, strict=True):
        output.line(("from ", "dim"), f"{name}  ", (file, "path"))
    output.line(("settings", "bold"))
    for key, value in msgspec.to_builtins(pipeline.settings).items():
        origin = f"  {pipeline.origins.get(key, SettingOrigin())}" if with_origins else ""
        shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
        output.line(f"  {key}: {shown}", (origin, "dim"))
    output.line(("steps", "bold"))
    for step in pipeline.steps.values():
        if step.id in pipeline.unused:
            continue
        ways = ", ".join(target if on == "next" else f"{on} {target}" for on, target in step.targets)
        parameters = " ".join(f"{key}={value}" for key, value in msgspec.to_builtins(step.parameters).items() if value)
        output.line(f"  {step.id}  ", (step.action, "path"), f"  {parameters}" if parameters else "")
        if ways:
            output.line(("      → ", "dim"), ways)
    if pipeline.unused:
        output.line(("inherited, not used: ", "dim"), ", ".join(pipeline.unused))
