"""An artifact from its turn: what was made, by whom, with which sources, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.query.answer.citations import Citation, citations_of
from rag_assets.query.answer.results import EXTRACTIVE
from rag_assets.query.artifact.output import OutputType
from rag_assets.query.artifact.structure import Section, split
from rag_assets.query.pipeline.engine import TurnResult, run_turn
from rag_assets.query.pipeline.state import Status, TurnRequest

if TYPE_CHECKING:
    from rag_assets.query.pipeline.services import Services
    from rag_assets.query.pipeline.steps import Pipeline

_QUOTES = "artifact_from_evidence"
_WRITING = frozenset({"write_artifact", "check_artifact"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """`text` is Markdown with `[chunk: id]` marks, or says why there is none; `sections` are its parts, none of a
    refusal. `citations` are in order of first use. `provider` is the model or `extractive`; `cost` is None where no
    price is known. `warnings` say what a reader should know, `turn` has the trace and the lock."""

    output: OutputType
    subject: str
    agent: str
    label: str
    text: str
    sections: tuple[Section, ...]
    citations: tuple[Citation, ...]
    provider: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    warnings: tuple[str, ...]
    turn: TurnResult

    @property
    def refused(self) -> bool:
        return self.turn.status is not Status.ANSWERED


def make_artifact(
    pipeline: Pipeline, subject: str, label: str, services: Services, *, offline: bool = False
) -> Artifact:
    """Runs a pipeline that an agent was applied to. `offline`: there is no model, and nobody needs to be told so.
    Raises RequestError for an empty subject and TurnError."""
    result = run_turn(pipeline, TurnRequest(question=subject, label=label), services)
    evidence = [] if result.turn is None else [piece for found in result.turn.found.values() for piece in found.all]
    refused = result.status is not Status.ANSWERED
    calls = [call for record in result.records for call in record.calls]
    costs = [call.cost for call in calls if call.cost is not None]
    is_quoted = any(record.action == _QUOTES for record in result.records)
    writers = [
        call.model for record in result.records if record.action in _WRITING for call in record.calls if call.model
    ]
    return Artifact(
        output=pipeline.settings.output_type,
        subject=subject,
        agent=pipeline.agent,
        label=label,
        text=result.answer,
        sections=() if refused else split(result.answer)[1],
        citations=() if refused else citations_of(result.answer, evidence),
        provider=EXTRACTIVE if is_quoted or not writers else writers[-1],
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        cost=sum(costs) if costs else None,
        warnings=() if offline else _warnings(result, is_quoted),
        turn=result,
    )


def _warnings(result: TurnResult, is_quoted: bool) -> tuple[str, ...]:
    """What was wrong with what the model wrote, and that quotes took its place."""
    notes = [note for record in result.records if record.action in _WRITING for note in record.notes]
    return (*notes, "quotes only: the model gave no artifact that can be used") if is_quoted else tuple(notes)
