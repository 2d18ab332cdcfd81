"""`rag-assets artifact`: a document with fixed sections from an index, every statement cited (E17)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from rag_assets.answer.artifact.templates import ARTIFACTS, TEMPLATES, WHOLE, OutputType, left_out
from rag_assets.answer.cited_lines import citation_object, numbered, rendered
from rag_assets.cli.agent import agent_library
from rag_assets.cli.ask import (
    AskedPacks,
    AskOptionsFromCli,
    Labels,
    Offline,
    PipelineName,
    Streamed,
    opened,
    show_markdown,
    show_refusal,
    show_sources,
)
from rag_assets.cli.console import NOTHING_FOUND, CommandError
from rag_assets.cli.options import AgentFolders, AsJson, CliSession, Force, check_new_file, session_of
from rag_assets.index.layout import as_user_shares
from rag_assets.qa.agents import Agent, AgentLibrary
from rag_assets.qa.answering import Artifact, make_artifact
from rag_assets.suggestions import nearest


def artifact(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(metavar="TYPE", help="blueprint, pdr, workflow or build_plan.")],
    subject: Annotated[
        str | None, typer.Argument(metavar="SUBJECT", help="The subject. Default: the whole index.")
    ] = None,
    labels: Labels = None,
    agent_name: Annotated[
        str | None,
        typer.Option(
            "--agent", metavar="NAME|FILE", help="The agent that writes it. Default: the shipped agent of the type."
        ),
    ] = None,
    folders: AgentFolders = None,
    pipeline: PipelineName = "",
    packs: AskedPacks = None,
    target: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the Markdown there, sources as footnotes."),
    ] = None,
    force: Force = False,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Write a Blueprint, PDR, Workflow or Build Plan from an index. Exit code 4 when the index lacks the evidence.

    Example: rag-assets artifact blueprint "refunds" --output refunds.md
    """
    output_type = _type(kind)
    about = WHOLE if subject is None else subject
    if not about.strip():
        raise typer.BadParameter(
            "the subject is empty; leave it out to write about the whole index", param_hint="SUBJECT"
        )
    if target is not None:
        check_new_file(target, "--output", force=force)
    session = session_of(context)
    agent = _agent(agent_library(session, folders), agent_name, output_type)
    streamed = Streamed(session.output, silent=as_json)
    with opened(session, AskOptionsFromCli(labels, None, offline, None, pipeline, packs, agent)) as (asker, _):
        made = make_artifact(asker, about, on_text=streamed)
    streamed.end()
    for warning in made.answer.warnings:
        session.output.warning(warning)
    written = target if target is not None and not made.refused else None
    if written is not None:
        with as_user_shares():
            written.write_text(as_markdown(made), encoding="utf-8", newline="\n")
    if as_json:
        session.output.json(as_object(made, written))
    elif written is not None:
        session.output.line(("written to ", "dim"), (str(written), "path"))
    else:
        show(session, made)
    if made.refused:
        raise typer.Exit(NOTHING_FOUND)


def _type(written: str) -> OutputType:
    """The type that was typed; `build-plan` and `Build Plan` mean `build_plan`. Raises BadParameter."""
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


def as_object(made: Artifact, written: Path | None = None) -> dict[str, Any]:
    """The object of `artifact --json`; `text` has `[chunk: id]` marks, `citations` say what they mean, `checks` is
    every sentence before the policy."""
    answer = made.answer
    known = numbered(answer.citations)
    return {
        "type": made.output,
        "subject": made.subject,
        "agent": made.agent,
        "label": made.label,
        "status": made.turn.status,
        "abstained": made.refused,
        "reason": answer.reason or None,
        "suggestions": list(answer.suggestions),
        "provider": answer.provider,
        "text": answer.text,
        "left_out": [] if made.refused else list(left_out(TEMPLATES[made.output], made.sections)),
        "sections": [{"heading": section.heading, "text": section.body} for section in made.sections],
        "citations": [citation_object(known, one) for one in answer.citations],
        "checks": [
            {"sentence": one.sentence.text, "support": one.support, "problem": one.problem or None}
            for one in answer.checks
        ],
        "warnings": list(answer.warnings),
        "usage": answer.usage.numbers() if answer.usage else None,
        "seconds": round(made.turn.seconds, 5),
        "lock": msgspec.to_builtins(made.turn.lock),
        "steps": [
            {"step": record.step, "outcome": record.outcome, "notes": list(record.notes)}
            for record in made.turn.records
        ],
        "output": None if written is None else str(written),
    }


def as_markdown(made: Artifact) -> str:
    """The document as Markdown, with citations as footnotes."""
    citations = made.answer.citations
    known = numbered(citations)
    text = rendered(made.answer.text, citations, lambda one: f"^{known[one.rendered]}")
    notes = {
        known[one.rendered]: f"[^{known[one.rendered]}]: {one.rendered} (chunk {one.id})" for one in reversed(citations)
    }
    return "\n".join([text.replace("], [^", "][^"), "", *(notes[number] for number in sorted(notes)), ""])


def show(session: CliSession, made: Artifact) -> None:
    """Shows the document, its numbered sources and its author; or why there is none."""
    output = session.output
    show_markdown(output, made.answer)
    if made.refused:
        show_refusal(output, made.answer)
        return
    show_sources(session, made.answer.citations)
    output.line((f"{made.label}  by {made.agent}  {made.answer.provider}", "dim"))
