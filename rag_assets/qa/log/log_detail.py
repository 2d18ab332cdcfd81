"""What the query log keeps of a turn besides the columns that are searched: nouns, and their JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from rag_assets.errors import RagAssetsError, WrongUsage
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.definition.pipeline_settings import PipelineSettings
from rag_assets.qa.log.model_calls import RecordedCall
from rag_assets.qa.log.provenance import TurnFingerprint
from rag_assets.qa.state import StepRecord, TurnRequest
from rag_assets.serialization import from_json, from_plain

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
