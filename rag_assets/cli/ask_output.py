"""What `rag-assets ask` shows: an answer with numbered sources for people, one object for programs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rag_assets.answer.abstention import SENTENCE
from rag_assets.answer.citations import Citation, numbered, rendered
from rag_assets.answer.results import Answer
from rag_assets.cli.render import Output, Part, short
from rag_assets.cli.search import FreshnessOf, staleness
from rag_assets.qa.engine import TurnResult

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_CODE_INDENT = "    "


class Streamed:
    """Writes an answer as a model makes it, on stderr: what stands on stdout has been checked."""

    def __init__(self, output: Output, *, silent: bool = False) -> None:
        self._output = output
        self._silent = silent
        self._line = ""

    def __call__(self, text: str) -> None:
        if self._silent:
            return
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._output.note((line, "dim"))

    def end(self) -> None:
        if self._line:
            self._output.note((self._line, "dim"))
            self._line = ""


def as_object(result: TurnResult, found: Answer, freshness: FreshnessOf) -> dict[str, Any]:
    """The object of `ask --json`. `turn` is the id that `rag-assets trace` takes. `citations` are those of
    `answer`, in order of first use; `checks` is every sentence before the policy; seconds in `timings`; `usage` is null
    without a model."""
    known = numbered(found.citations)
    scores = {identifier: piece for piece in found.evidence for identifier in piece.ids}
    return {
        "question": found.question,
        "answer": found.text,
        "abstained": found.abstained,
        "status": result.status,
        "pipeline": result.lock.name,
        "turn": result.turn_id or None,
        "reason": found.reason or None,
        "suggestions": list(found.suggestions),
        "notes": list(found.notes),
        "provider": found.provider,
        "intent": found.intent,
        "confidence": round(found.confidence, 4),
        "signals": _rounded(asdict(found.signals)),
        "citations": [
            {"number": known[citation.id], **asdict(citation), "score": round(scores[citation.id].score, 6)}
            for citation in found.citations
        ],
        "checks": [
            {
                "sentence": checked.sentence.text,
                "support": checked.support,
                "cites": list(checked.cited),
                "problem": checked.problem or None,
            }
            for checked in found.checks
        ],
        "evidence": [
            {
                "id": piece.id,
                "place": piece.place,
                "symbol": piece.symbol,
                "origin": piece.origin,
                "score": round(piece.score, 6),
            }
            for piece in found.evidence
        ],
        "context_tokens": found.context_tokens,
        "usage": found.usage.numbers() if found.usage else None,
        "mode": found.search.mode,
        "sources": [
            {
                "label": source.label,
                "generation": source.generation_id,
                "commit": source.commit_sha,
                "stale": freshness[source.label].stale,
            }
            for source in found.search.sources
        ],
        "warnings": list(found.warnings),
        "timings": {step: round(spent, 5) for step, spent in found.timings.items()},
    }


def show(output: Output, found: Answer, freshness: FreshnessOf) -> None:
    """The answer, its sources by number, and what it is from."""
    show_markdown(output, found.text, found.citations)
    if found.abstained and found.text == SENTENCE:
        show_refusal(output, found)
    else:
        show_sources(output, found.citations)
    for note in found.notes:
        output.line((note, "dim"))
    for source in found.search.sources:
        parts: list[Part] = [(f"{source.label}  commit {short(source.commit_sha)}  ", "dim")]
        output.line(*parts, *staleness(freshness[source.label], source.label))


def show_markdown(output: Output, text: str, citations: Sequence[Citation]) -> None:
    """A checked text for a terminal: citations as numbers, code indented, quotes dim."""
    known = numbered(citations)
    in_code = False
    for line in rendered(text, lambda identifier: _number(known, identifier)).split("\n"):
        if _FENCE.match(line):
            in_code = not in_code
        elif in_code:
            output.line((_CODE_INDENT + line, "plain"))
        elif line.startswith(">"):
            output.line((line, "dim"))
        else:
            output.line(*_styled(line))


def show_refusal(output: Output, found: Answer) -> None:
    """Why there is no answer, and what would help."""
    output.line((f"because {found.reason}", "dim"))
    for suggestion in found.suggestions:
        output.line((suggestion, "dim"))


def show_sources(output: Output, citations: Sequence[Citation]) -> None:
    """What the numbers mean, below an empty line; nothing where nothing is cited."""
    known = numbered(citations)
    if citations:
        output.line()
    for number, citation in sorted({known[one.id]: one for one in reversed(citations)}.items()):
        output.line((f"[{number}] ", "dim"), (citation.rendered, "path"), (f"  rag-assets show {citation.id}", "dim"))


def _number(known: Mapping[str, int], identifier: str) -> str | None:
    return str(known[identifier]) if identifier in known else None


_EMPHASIS = re.compile(r"\*\*(?P<bold>[^*]+)\*\*|`(?P<code>[^`]+)`|(?P<cite>\[\d+\])")


def _styled(line: str) -> list[Part]:
    """Names in bold, citations dim; the marks of Markdown go."""
    made: list[Part] = []
    at = 0
    for mark in _EMPHASIS.finditer(line):
        made.append(line[at : mark.start()])
        if mark["cite"]:
            made.append((mark["cite"], "dim"))
        else:
            made.append((mark["bold"] or mark["code"], "bold"))
        at = mark.end()
    return [*made, line[at:]]


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in values.items()}
