"""Runs a turn: dispatches steps to actions, follows their outcomes, keeps a trace, and makes the answer of it.

Everything but the model and the timings is a function of the request, the pipeline and the generation: which step
follows depends on the outcome of the one before and on nothing else (D27).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.answer.abstention import SENTENCE
from rag_assets.answer.cited_lines import citations_of
from rag_assets.answer.results import EXTRACTIVE, Answer, notes
from rag_assets.contracts.llm import LlmUsage
from rag_assets.errors import EvidenceLost, QueryError, RagAssetsError
from rag_assets.index.keyword.vocabulary import KeywordIndexError
from rag_assets.index.layout import index_label
from rag_assets.index.vectors.filters import PeriodError, ScopeError
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets.qa.definition.action_registry import ActionRegistry
from rag_assets.qa.definition.loader import default_registry
from rag_assets.qa.errors import TurnError
from rag_assets.qa.services import PipelineServices, nobody_listens
from rag_assets.qa.turn import (
    CallRecord,
    Journal,
    Status,
    StepRecord,
    Turn,
    TurnContext,
    TurnFingerprint,
    TurnRequest,
    lock_of,
)
from rag_assets.search.query_parser import plain_question, understand
from rag_assets.serialization import from_json

if TYPE_CHECKING:
    from rag_assets.answer.context_pack import AnswerInputs
    from rag_assets.contracts.evidence import Evidence
    from rag_assets.history.conversations import StoredTurn
    from rag_assets.qa.definition.steps import Pipeline, PipelineSettings, Step
    from rag_assets.search import Question


_PLAIN_CHARS = 600
_TRACE_FRAME = re.compile(r"^[^\S\n]*at \S+\(|\w(?:Exception|Error):|\): (?:error|warning) ", re.MULTILINE)
_ANSWERS = (Status.ANSWERED, Status.UNSURE, Status.GENERAL)
_REFUSALS = (Status.ABSTAINED, Status.GAVE_UP, Status.FAILED)


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
        unsure=turn.status is Status.UNSURE,
        provider=turn.provider or (EXTRACTIVE if not calls else run.model),
        citations=citations_of(turn.answer, evidence) if is_answer else (),
        checks=turn.checks if is_answer else (),
        evidence=evidence,
        read=reading,
        reason=turn.reason,
        suggestions=turn.suggestions,
        notes=notes(reading, evidence) if is_answer and is_quoted else (),
        warnings=turn.warnings,
        timings=run.clock.seconds(),
        context_size=turn.context_size,
        usage=_usage(calls) if calls else None,
    )


def _text(turn: Turn, is_answer: bool) -> str:
    """Exactly the sentence where the answer is none (E20), unless a model has said it in another language."""
    return turn.answer if is_answer or turn.answer != turn.answer_en else SENTENCE


def _evidence(turn: Turn, is_answer: bool) -> tuple[Evidence, ...]:
    if turn.quoted is not None and turn.provider == EXTRACTIVE:
        return turn.quoted
    if turn.evidence or turn.reading is None or is_answer:
        return turn.evidence
    return turn.reading.evidence


def _searched(turn: Turn, run: TurnContext) -> AnswerInputs:
    settings = run.settings
    mode, limit = settings.default_mode, settings.retrieval_top_k
    return run.services.search(turn.label, turn.asked, mode, limit, turn.request.filters, members=False)


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


FAILED = "error"
"""The outcome of a step that an error ended: of the trace only, no transition has it."""


_OF_NO_STEP = (QueryError, ScopeError, PeriodError, EvidenceLost, VectorStoreError, KeywordIndexError)
"""What no step is to blame for, but the question, or an index that is damaged or has lost its texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What a turn came to. `answer` is in the language of the question, `answer_en` in that of the model. `repeated`:
    this request was answered before, and nothing was run. `turn` is the last state and `response` the answer with its
    citations and checks, both None where nothing was run."""

    answer: str
    answer_en: str
    status: Status
    lock: TurnFingerprint
    turn_id: str = ""
    repeated: bool = False
    records: tuple[StepRecord, ...] = ()
    turn: Turn | None = None
    response: Answer | None = None
    seconds: float = 0.0


def run_turn(
    pipeline: Pipeline,
    request: TurnRequest,
    services: PipelineServices,
    registry: ActionRegistry | None = None,
    *,
    on_text: Callable[[str], None] = nobody_listens,
    journal: Journal | None = None,
) -> TurnResult:
    """Answers one question. A request that was answered before gets the stored answer again. `on_text` is given the
    words of an answer as a model makes it, before they are checked. What happens is written into the `journal`, so that
    its owner has it after an error, too.

    Raises TurnError where a label is missing or an action finds that it cannot go on, naming the step; and what is
    wrong with the question itself as a search does: QueryError, ScopeError, PeriodError. Raises EvidenceLost
    where nothing that was found can be read, VectorStoreError and KeywordIndexError where nothing can be searched.
    """
    known = default_registry() if registry is None else registry
    started = time.perf_counter()
    stored = _stored(request, services)
    if stored is not None:
        return TurnResult(
            answer=stored.answer,
            answer_en=stored.answer_en,
            status=Status(stored.status),
            lock=from_json(stored.lock, TurnFingerprint),
            turn_id=stored.turn_id,
            repeated=True,
        )
    turn = begin(pipeline.settings, request)
    labels = [label for label in (turn.label, turn.compared_label) if label]
    journal = Journal() if journal is None else journal
    versions = {step.action: known[step.action].version for step in pipeline.steps.values()}
    lock = lock_of(pipeline, versions, {label: services.generation(label) for label in labels})
    journal.lock, journal.turn = lock, turn
    run = TurnContext(pipeline, services, lock, on_text, journal)
    turn = _walk(turn, run, known)
    assert turn.status is not None
    return TurnResult(
        answer=turn.answer,
        answer_en=turn.answer_en,
        status=turn.status,
        lock=run.lock,
        turn_id=turn.turn_id,
        records=tuple(run.records),
        turn=turn,
        response=answer_of_turn(turn, run),
        seconds=time.perf_counter() - started,
    )


def begin(settings: PipelineSettings, request: TurnRequest) -> Turn:
    """The first state of a turn. The label of the request is used before that of the settings. Raises
    TurnError, or QueryError for a filter in the question that is none. What was only pasted with the question is no
    part of the turn, but for the log."""
    label = request.label or label_of(settings, settings.active_index)
    if not label:
        raise TurnError("which index? Give a label, or set active_index in the pipeline; see: rag-assets status")
    compared = label_of(settings, settings.compare_index)
    asked = plain_question(request.question) if request.literal else _understood(request.question)
    return Turn(request=request, label=label, asked=asked, compared_label=compared, question_en=asked.typed)


def _understood(typed: str) -> Question:
    """The question as it was typed; of one with pasted code, or of a long text, the part that asks."""
    if "\n" not in typed and len(typed) <= _PLAIN_CHARS:
        return understand(typed)
    from rag_assets.search.pasted_text import with_paste  # start-up budget: most questions are one line

    if not _TRACE_FRAME.search(typed) or "```" in typed:
        pasted = with_paste(typed)
        if pasted is not None:
            return pasted
    return understand(typed)


def label_of(settings: PipelineSettings, written: str) -> str:
    """`shop@main` as it is; `main` of the `repository` of the settings; '' for nothing."""
    if not written or "@" in written:
        return written
    return index_label(settings.repository, written)


def _walk(turn: Turn, run: TurnContext, registry: ActionRegistry) -> Turn:
    step: Step | None = run.pipeline.entry
    # Every way back passes a guard, so this is only reached by an action of somebody else that counts wrong.
    most = len(run.pipeline.steps) * (run.settings.max_turn_loops + 2)
    while step is not None:
        if len(run.records) >= most:
            raise TurnError(
                f"step {step.id!r}: more than {most} steps; an action that guards loops lets too many through"
            )
        turn, step = _execute(turn, step, run, registry)
        run.journal.turn = turn
    return turn if turn.status is not None else replace(turn, status=Status.FAILED)


def _execute(turn: Turn, step: Step, run: TurnContext, registry: ActionRegistry) -> tuple[Turn, Step | None]:
    action = registry[step.action]
    run.step = step.id
    started = time.perf_counter()
    try:
        outcome = action.run(turn, step.parameters, run)
    except Exception as error:
        _record(run, step, FAILED, "", time.perf_counter() - started, (f"{type(error).__name__}: {error}",))
        if isinstance(error, RagAssetsError) and not isinstance(error, _OF_NO_STEP):
            raise TurnError(f"step {step.id!r} ({step.action}): {error}") from error
        raise
    outcome = replace(outcome, turn=_without_links(outcome.turn, turn, run))
    target = step.target(outcome.on)
    if outcome.on not in action.outcomes_with(step.parameters) or not (target or action.ends):
        raise TurnError(f"step {step.id!r}: {step.action} ended with {outcome.on.value}, which it does not declare")
    _record(run, step, outcome.on.value, target, time.perf_counter() - started, outcome.notes)
    return outcome.turn, run.pipeline.steps[target] if target else None


def _without_links(turn: Turn, before: Turn, run: TurnContext) -> Turn:
    """The state whose answer, where a model has written it in this step, has no link that the evidence does not have:
    whoever reads, keeps or hands on an answer has it from here."""
    by_model = run.services.has_model and turn.status not in _REFUSALS and turn.provider != EXTRACTIVE
    if by_model and turn.answer_en != before.answer_en:
        turn = replace(turn, answer_en=turn.without_links(turn.answer_en))
    if turn.answer not in (before.answer, turn.answer_en):  # translated
        turn = replace(turn, answer=turn.without_links(turn.answer, also=turn.answer_en))
    return turn


def _record(run: TurnContext, step: Step, outcome: str, target: str, seconds: float, notes: tuple[str, ...]) -> None:
    number = len(run.records) + 1
    run.records.append(StepRecord(number, step.id, step.action, outcome, target, seconds, notes, run.calls_of_step()))


def _stored(request: TurnRequest, services: PipelineServices) -> StoredTurn | None:
    if not request.request_id or services.history is None:
        return None
    return services.history.find_request(request.user, request.session, request.request_id)
