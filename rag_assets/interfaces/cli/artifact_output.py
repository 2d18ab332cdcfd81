"""What `rag-assets artifact` shows: the document with numbered sources for people, Markdown with footnotes for files,
one object for programs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.interfaces.cli.ask_output import show_markdown, show_refusal, show_sources
from rag_assets.query.answer.citations import numbered, rendered

if TYPE_CHECKING:
    from rag_assets.interfaces.cli.output import Output
    from rag_assets.query.artifact.making import Artifact


def as_object(made: Artifact, written: Path | None = None) -> dict[str, Any]:
    """The object of `artifact --json`; `text` has `[chunk: id]` marks, `citations` say what they mean, `checks` is
    every sentence before the policy."""
    import msgspec

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
        "sections": [{"heading": section.heading, "text": section.body} for section in made.sections],
        "citations": [{"number": known[one.id], **asdict(one)} for one in answer.citations],
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
    """The document as a file: citations as footnotes, which GitHub and most renderers know."""
    citations = made.answer.citations
    known = numbered(citations)
    text = rendered(made.answer.text, lambda identifier: f"^{known[identifier]}" if identifier in known else None)
    notes = {known[one.id]: f"[^{known[one.id]}]: {one.rendered} (chunk {one.id})" for one in reversed(citations)}
    return "\n".join([text.replace("], [^", "][^"), "", *(notes[number] for number in sorted(notes)), ""])


def show(output: Output, made: Artifact) -> None:
    """The document, its sources by number, who wrote it; or why there is none."""
    show_markdown(output, made.answer.text, made.answer.citations)
    if made.refused:
        show_refusal(output, made.answer)
        return
    show_sources(output, made.answer.citations)
    output.line((f"{made.label}  by {made.agent}  {made.answer.provider}", "dim"))
