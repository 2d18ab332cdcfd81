"""The answer that a turn came to, as people and programs get it: with its citations, its checks and what it took."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.answer.abstention import SENTENCE
from rag_assets.answer.abstention_message import notes
from rag_assets.answer.citations import citations_of
from rag_assets.answer.results import EXTRACTIVE, Answer
from rag_assets.contracts.llm import LlmUsage
from rag_assets.qa.state import Status

if TYPE_CHECKING:
    from rag_assets.answer.context_pack import AnswerInputs
    from rag_assets.contracts.evidence import Evidence
    from rag_assets.qa.state import CallRecord, Turn
    from rag_assets.qa.turn_context import TurnContext

_ANSWERS = (Status.ANSWERED, Status.GENERAL)


def answer_of_turn(turn: Turn, run: TurnContext) -> Answer:
    """Of a turn that has ended. A pipeline that never searched for the question is judged by a search for it."""
    is_answer = turn.status in _ANSWERS
    evidence = _evidence(turn, is_answer)
    calls = [call for record in run.records for call in record.calls]
    reading = turn.reading or _searched(turn, run)
    is_quoted = turn.provider in ("", EXTRACTIVE)
    return Answer(
        question=turn.request.question,
        text=_text(turn, is_answer),
        abstained=not is_answer,
        provider=turn.provider or (EXTRACTIVE if not calls else run.model),
        citations=citations_of(turn.answer, evidence) if is_answer else (),
        checks=turn.checks if is_answer else (),
        evidence=evidence,
        read=reading,
        reason=turn.reason,
        suggestions=turn.suggestions,
        notes=notes(reading) if is_answer and is_quoted else (),
        warnings=turn.warnings,
        timings=run.clock.seconds(),
        context_tokens=turn.context_tokens,
        usage=_usage(calls) if calls else None,
    )


def _text(turn: Turn, is_answer: bool) -> str:
    """Exactly the sentence where the answer is none (E20), unless a model has said it in another language."""
    return turn.answer if is_answer or turn.answer != turn.answer_en else SENTENCE


def _evidence(turn: Turn, is_answer: bool) -> tuple[Evidence, ...]:
    if turn.quoted is not None and turn.provider == EXTRACTIVE:
        return turn.quoted.evidence
    if turn.evidence or turn.reading is None or is_answer:
        return turn.evidence
    return turn.reading.evidence


def _searched(turn: Turn, run: TurnContext) -> AnswerInputs:
    settings = run.settings
    return run.services.search(
        turn.label, turn.asked, settings.default_mode, settings.retrieval_top_k, turn.request.filters
    )


def _usage(calls: Sequence[CallRecord]) -> LlmUsage:
    costs = [call.cost for call in calls if call.cost is not None]
    failed = sum(bool(call.error) for call in calls)
    return LlmUsage(
        calls=len(calls),
        failures=(("failed", failed),) if failed else (),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        seconds=sum(call.seconds for call in calls),
        cost=sum(costs) if costs else None,
    )
