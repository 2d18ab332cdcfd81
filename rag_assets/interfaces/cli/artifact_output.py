"""What `rag-assets artifact` shows: the document with numbered sources for people, Markdown with footnotes for files,
one object for programs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.interfaces.cli.ask_output import show_markdown, show_sources
from rag_assets.query.answer.citations import numbered, rendered

if TYPE_CHECKING:
    from rag_assets.interfaces.cli.output import Output
    from rag_assets.query.artifact.making import Artifact


def as_object(made: Artifact, target: Path | None = None) -> dict[str, Any]:
    """The object of `artifact --json`; `text` has `[chunk: id]` marks, `citations` say what they mean."""
    import msgspec

    known = numbered(made.citations)
    return {
        "type": made.output,
        "subject": made.subject,
        "agent": made.agent,
        "label": made.label,
        "status": made.turn.status,
        "abstained": made.refused,
        "provider": made.provider,
        "text": made.text,
        "sections": [{"heading": section.heading, "text": section.body} for section in made.sections],
        "citations": [{"number": known[one.id], **asdict(one)} for one in made.citations],
        "warnings": list(made.warnings),
        "prompt_tokens": made.prompt_tokens,
        "completion_tokens": made.completion_tokens,
        "cost": made.cost,
        "seconds": round(made.turn.seconds, 5),
        "lock": msgspec.to_builtins(made.turn.lock),
        "steps": [
            {"step": record.step, "outcome": record.outcome, "notes": list(record.notes)}
            for record in made.turn.records
        ],
        "output": None if target is None or made.refused else str(target),
    }


def as_markdown(made: Artifact) -> str:
    """The document as a file: citations as footnotes, which GitHub and most renderers know."""
    known = numbered(made.citations)
    text = rendered(made.text, lambda identifier: f"^{known[identifier]}" if identifier in known else None)
    notes = {known[one.id]: f"[^{known[one.id]}]: {one.rendered} (chunk {one.id})" for one in reversed(made.citations)}
    return "\n".join([text.replace("], [^", "][^"), "", *(notes[number] for number in sorted(notes)), ""])


def show(output: Output, made: Artifact) -> None:
    """The document, its sources by number, who wrote it."""
    show_markdown(output, made.text, made.citations)
    show_sources(output, made.citations)
    if not made.refused:
        output.line((f"{made.label}  by {made.agent}  {made.provider}", "dim"))
