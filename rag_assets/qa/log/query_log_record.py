"""From a turn to its record in the query log (E23), and sums over records. Pure, but for the masking of secrets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from rag_assets.answer.citations import cited_ids
from rag_assets.contracts.evidence import Evidence
from rag_assets.errors import RagAssetsError, WrongUsage
from rag_assets.history.query_log import ERROR, Figures, LogRecord
from rag_assets.index.generations import Manifest
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.actions import retrieval
from rag_assets.qa.definition.loader import SHIPPED, SHIPPED_MARK
from rag_assets.qa.definition.steps import Pipeline, PipelineSettings
from rag_assets.qa.engine import TurnResult
from rag_assets.qa.log.model_calls import RecordedCall, exchange_of
from rag_assets.qa.turn import CallRecord, Journal, Status, StepRecord, Turn, TurnFingerprint, TurnRequest
from rag_assets.serialization import from_json, from_plain
from rag_assets.sources.secrets import masked

_OTHER_VERSION = "this turn was logged by another version of rag-assets: {}"


class DetailError(RagAssetsError):
    """A record that this version cannot read."""


class LoggedPiece(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of evidence: where it is, and whether the answer `cites` it. `id` is what a citation names and
    `rag-assets show` opens; `section` the symbol or heading."""

    id: str
    label: str
    path: str
    line_start: int
    line_end: int
    commit: str
    section: str
    origin: str
    score: float
    cites: bool
    rendered: str  # `path:lines@commit`


class LoggedIndex(msgspec.Struct, frozen=True, kw_only=True):
    """An index that was asked, down to the Dagster run that made it."""

    label: str
    generation: str
    commit: str
    run_id: str
    org: str
    project: str


class TurnDetail(msgspec.Struct, frozen=True, kw_only=True):
    """`request` is the request as it was made, its question masked; `is_masked` says that a secret was in it.
    `pipeline_file` is where the pipeline was read from, '' for one of the package; `settings` are its own with what the
    caller said instead. Before this turn the session had `history_turns` turns.
    Answers are masked; `reason` says why there is none, `confidence` how likely the evidence answers the question.
    `lock` is None for a turn that ended before it had one."""

    request: dict[str, Any]
    is_masked: bool
    pipeline_file: str
    settings: dict[str, Any]
    history_turns: int
    question_en: str
    answer: str
    answer_en: str
    reason: str
    confidence: float | None
    warnings: tuple[str, ...]
    lock: TurnFingerprint | None
    indexes: tuple[LoggedIndex, ...]
    pieces: tuple[LoggedPiece, ...]
    steps: tuple[StepRecord, ...]

    def turn_request(self) -> TurnRequest:
        """The request again, as it can be run. Raises DetailError."""
        try:
            return TurnRequest(**(self.request | {"filters": SearchFilters(**self.request["filters"])}))
        except (WrongUsage, TypeError, LookupError) as error:
            raise DetailError(_OTHER_VERSION.format(error)) from error

    def pipeline_settings(self) -> PipelineSettings:
        """The settings of the pipeline, as they were used. Raises DetailError."""
        try:
            return from_plain(self.settings, PipelineSettings)
        except msgspec.ValidationError as error:
            raise DetailError(_OTHER_VERSION.format(error)) from error


def encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()


def read_detail(text: str) -> TurnDetail:
    """Raises DetailError."""
    try:
        return from_json(text, TurnDetail)
    except (msgspec.DecodeError, TypeError) as error:
        raise DetailError(_OTHER_VERSION.format(error)) from error


def read_replies(text: str) -> tuple[RecordedCall, ...]:
    """Raises DetailError."""
    try:
        return from_json(text, tuple[RecordedCall, ...])
    except msgspec.DecodeError as error:
        raise DetailError(_OTHER_VERSION.format(error)) from error


_RETRIEVING = frozenset(action.name for action in retrieval.ACTIONS)
_SCORE_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTurn:
    """A turn that was run, with its `result` or the `error` that ended it. `asked_utc` is when it began."""

    turn_id: str
    asked_utc: str
    seconds: float
    pipeline: Pipeline
    request: TurnRequest
    journal: Journal
    result: TurnResult | None = None
    error: BaseException | None = None


def record_of(
    ran: FinishedTurn, *, clearance: str, manifests: Mapping[str, Manifest], keeps_replies: bool
) -> LogRecord:
    """`clearance` is how far the asker saw; `manifests` are those of the generations that were read, by label."""
    request, journal, result = ran.request, ran.journal, ran.result
    turn = journal.turn
    response = result.response if result is not None else None
    steps = tuple(replace(step, notes=tuple(map(masked, step.notes))) for step in journal.records)
    calls = [call for step in steps for call in step.calls]
    question = masked(request.question)
    answer = masked(result.answer) if result is not None else ""
    answer_en = masked(result.answer_en) if result is not None else ""
    pieces = _pieces(turn, answer_en)
    indexes = tuple(_index(label, manifest) for label, manifest in manifests.items())
    label = turn.label if turn is not None else request.label
    own = manifests.get(label)
    detail = TurnDetail(
        request=_as_object(request, question),
        is_masked=question != request.question,
        pipeline_file=_own_file(ran.pipeline),
        settings=msgspec.to_builtins(ran.pipeline.settings),
        history_turns=turn.history.turns if turn is not None else 0,
        question_en=masked(turn.question_en) if turn is not None else question,
        answer=answer,
        answer_en=answer_en,
        reason=masked(response.reason) if response is not None else "",
        confidence=round(response.confidence, _SCORE_DIGITS) if response is not None else None,
        warnings=tuple(map(masked, response.warnings)) if response is not None else (),
        lock=journal.lock,
        indexes=indexes,
        pieces=pieces,
        steps=steps,
    )
    costs = [call.cost for call in calls if call.cost is not None]
    return LogRecord(
        turn_id=ran.turn_id,
        asked_utc=ran.asked_utc,
        org=own.org_id if own else "",
        project=own.project_id if own else "",
        label=label,
        user_name=request.user,
        clearance=clearance,
        session=request.session,
        agent=request.agent,
        pipeline=ran.pipeline.name,
        status=result.status.value if result is not None else ERROR,
        question=question,
        models=models_of(calls),
        chunk_ids=tuple(piece.id for piece in pieces),
        cited_ids=tuple(piece.id for piece in pieces if piece.cites),
        seconds=ran.seconds,
        retrieval_seconds=_retrieval_seconds(steps),
        generation_seconds=sum(call.seconds for call in calls),
        calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        cost=sum(costs) if costs else None,
        error=masked(_error(ran.error, calls)),
        detail=encoded(detail),
        replies=encoded([exchange_of(*made) for made in journal.calls]) if keeps_replies else "",
    )


def models_of(calls: Iterable[CallRecord]) -> tuple[str, ...]:
    """`profile: model` of each that was asked, in their order; `none` is one that gave nothing."""
    return tuple(dict.fromkeys(f"{call.profile}: {call.model or 'none'}" for call in calls))


def _own_file(pipeline: Pipeline) -> str:
    """Where the pipeline was read from; '' for one that comes with the package."""
    file = pipeline.files[-1]
    return "" if file.startswith((str(SHIPPED), SHIPPED_MARK)) else file


def _as_object(request: TurnRequest, question: str) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(replace(request, question=question))
    return made


def _pieces(turn: Turn | None, answer: str) -> tuple[LoggedPiece, ...]:
    if turn is None:
        return ()
    cited = set(cited_ids(answer))
    return tuple(_piece(piece, not cited.isdisjoint(piece.ids)) for found in turn.found.values() for piece in found.all)


def _piece(piece: Evidence, cites: bool) -> LoggedPiece:
    return LoggedPiece(
        id=piece.id,
        label=piece.label,
        path=piece.path,
        line_start=piece.line_start,
        line_end=piece.line_end,
        commit=piece.commit_sha,
        section=piece.plain_symbol,
        origin=piece.origin.value,
        score=round(piece.score, _SCORE_DIGITS),
        cites=cites,
        rendered=piece.cited,
    )


def _index(label: str, manifest: Manifest) -> LoggedIndex:
    return LoggedIndex(
        label=label,
        generation=manifest.generation_id,
        commit=manifest.commit_sha,
        run_id=manifest.run_id,
        org=manifest.org_id,
        project=manifest.project_id,
    )


def _retrieval_seconds(steps: Sequence[StepRecord]) -> float:
    """Of the searches, the walks and the texts of nodes; what a model took in between is not theirs."""
    return sum(step.seconds - sum(call.seconds for call in step.calls) for step in steps if step.action in _RETRIEVING)


def _error(error: BaseException | None, calls: Sequence[CallRecord]) -> str:
    """What ended the turn, else what models could not say."""
    if error is not None:
        return str(error) or type(error).__name__
    return "; ".join(dict.fromkeys(call.error for call in calls if call.error))


REFUSED = frozenset({Status.ABSTAINED.value, Status.GAVE_UP.value})
FAILED = frozenset({Status.FAILED.value, ERROR})


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds that half and 95 % of the questions took at most; None where none took any."""

    p50: float | None
    p95: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """`cost` is None where no price is known. `generation` is of the questions that asked a model."""

    questions: int
    refused: int
    failed: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    retrieval: Spread
    generation: Spread


def totals_of(figures: Sequence[Figures]) -> Totals:
    costs = [one.cost for one in figures if one.cost is not None]
    return Totals(
        questions=len(figures),
        refused=sum(one.status in REFUSED for one in figures),
        failed=sum(one.status in FAILED for one in figures),
        prompt_tokens=sum(one.prompt_tokens for one in figures),
        completion_tokens=sum(one.completion_tokens for one in figures),
        cost=sum(costs) if costs else None,
        retrieval=spread([one.retrieval_seconds for one in figures]),
        generation=spread([one.generation_seconds for one in figures if one.calls]),
    )


def spread(seconds: Sequence[float]) -> Spread:
    """By the nearest rank: a time that was really taken."""
    ordered = sorted(seconds)

    def rank(share: float) -> float | None:
        return ordered[math.ceil(share * len(ordered)) - 1] if ordered else None

    return Spread(rank(0.5), rank(0.95))
