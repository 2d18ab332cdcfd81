"""Turns through a query log, beside the history of a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rag_assets.history.query_log import LogFilter, LogRecord, QueryLog, open_query_log
from rag_assets.index.layout import IndexHome
from rag_assets.qa.definition.steps import Pipeline
from rag_assets.qa.engine import TurnResult
from rag_assets.qa.log.query_log_record import TurnDetail, read_detail
from rag_assets.qa.log.turn_logger import TurnLog, logged_turn
from rag_assets.qa.turn import TurnRequest
from rag_assets_tests.qa.conftest import REFUND, Asking

NOON = datetime(2026, 1, 2, 12, 30, tzinfo=UTC)


@dataclass
class Logged:
    """`asking` through a log in `place`; generations are read from `home`. `clock` is the time of the next question."""

    asking: Asking
    home: IndexHome
    place: IndexHome
    options: dict[str, Any] = field(default_factory=dict)
    clock: datetime = NOON

    def __post_init__(self) -> None:
        self.store: QueryLog = open_query_log(self.place)
        self.log = self.through(lambda: self.store)

    def through(self, open_log: Callable[[], QueryLog]) -> TurnLog:
        return TurnLog(self.home, open_log, now=lambda: self.clock, **self.options)

    def ask(
        self, pipeline: Pipeline | None = None, question: str = REFUND, log: TurnLog | None = None, **request: Any
    ) -> TurnResult:
        asked = TurnRequest(question=question, **({"label": self.asking.label} | request))
        used = self.asking.pipeline() if pipeline is None else pipeline
        return logged_turn(used, asked, self.asking.services, log or self.log)

    def record(self, turn_id: str) -> LogRecord:
        found = self.store.find(turn_id)
        assert found is not None
        return found

    @property
    def only(self) -> LogRecord:
        (asked,) = self.store.asked(LogFilter())
        return self.record(asked.turn_id)

    @property
    def count(self) -> int:
        return len(self.store.asked(LogFilter()))


def detail(record: LogRecord) -> TurnDetail:
    return read_detail(record.detail)
