"""Running a turn and keeping a record of it (E23): what answers people runs turns through here.

The log serves the answer and never the other way round: a record that cannot be kept is a warning.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal

from rag_assets.closeable import Closeable
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.history.query_log import QueryLog, open_query_log
from rag_assets.index.database import stamp
from rag_assets.index.generations import GenerationError, Manifest, read_generation
from rag_assets.index.layout import IndexHome
from rag_assets.qa.definition.action_registry import ActionRegistry
from rag_assets.qa.definition.steps import Pipeline
from rag_assets.qa.engine import TurnResult, run_turn
from rag_assets.qa.log.query_log_record import FinishedTurn, record_of
from rag_assets.qa.services import PipelineServices, members_of, nobody_listens
from rag_assets.qa.turn import Journal, TurnRequest
from rag_assets.settings.config_file import config_of, is_configured

TURN_ID_DIGITS = 16
DAYS = 90
"""The default of answer.log_days: a quarter shows what changed, and a year of questions is nobody's business."""

_REMEMBERED_MANIFESTS = 64  # of a server that answers from many labels; each is a few kB


class KeptLogs(Closeable):
    """The query logs that somebody writes to one turn after the other: opening one takes as long as a search. Safe to
    use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logs: dict[str, QueryLog] = {}

    def of(self, catalog: str, opened: Callable[[], QueryLog]) -> QueryLog:
        with self._lock:
            if catalog not in self._logs:
                self._logs[catalog] = opened()
            return self._logs[catalog]

    def close(self) -> None:
        with self._lock:
            for log in self._logs.values():
                log.close()
            self._logs.clear()


def open_turn_log(
    home: IndexHome,
    config: Path | None = None,
    *,
    clearance: Confidentiality = DEFAULT_LEVEL,
    kept: KeptLogs | None = None,
) -> TurnLog | None:
    """The log of a home as the settings of `config` want it, or those of the file that is found from here or from the
    home; None where nothing shall be logged. `clearance` is that of the indexes that are asked: a replay must not see
    more. Opens nothing before a turn has ended; what it opens is one of the `kept`, where there are such. Raises
    ConfigError."""
    path = config_of(home.root, config)
    catalog: Literal["none", "sqlite", "postgres"] = "none"
    days, keeps_replies = DAYS, True
    if is_configured("answer", path) or is_configured("stores", path):
        from rag_assets.settings import load_settings

        settings = load_settings(path)
        if not settings.answer.log:
            return None
        catalog = settings.stores.catalog
        days, keeps_replies = settings.answer.log_days, settings.answer.log_replies
    opened = partial(open_query_log, home, catalog)
    return TurnLog(
        home,
        opened if kept is None else partial(kept.of, catalog, opened),
        days=days,
        keeps_replies=keeps_replies,
        clearance=clearance,
        closes=kept is None,
    )


class TurnLog(Closeable):
    """Where the turns of a process are logged. Opened when the first one ends. Safe to use from several threads."""

    def __init__(
        self,
        home: IndexHome,
        open_log: Callable[[], QueryLog],
        *,
        days: int = DAYS,
        keeps_replies: bool = True,
        clearance: Confidentiality = DEFAULT_LEVEL,
        closes: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`home` has the generations that answer; records go after `days`; `now` is the clock of the records. What
        `open_log` opens is closed with this, unless it `closes` nothing."""
        self._home = home
        self._open_log = open_log
        self.days = days
        self.keeps_replies = keeps_replies
        self._clearance = clearance
        self._closes = closes
        self._now = now
        self._lock = threading.Lock()
        self._log: QueryLog | None = None
        self._manifests = lru_cache(_REMEMBERED_MANIFESTS)(self._read_manifest)

    def run(
        self,
        pipeline: Pipeline,
        request: TurnRequest,
        services: PipelineServices,
        registry: ActionRegistry | None = None,
        *,
        on_text: Callable[[str], None] = nobody_listens,
    ) -> TurnResult:
        """`run_turn`, with a record of it; also of one that raises, which it does again. The result has the id of the
        record, and its response a warning where there is none. A request that was answered before is not asked again,
        and has its record."""
        journal = Journal()
        asked, started = stamp(self._now()), time.perf_counter()

        def keep(turn_id: str, result: TurnResult | None = None, error: BaseException | None = None) -> str:
            return self._keep(
                FinishedTurn(
                    turn_id=turn_id,
                    asked_utc=asked,
                    seconds=time.perf_counter() - started,
                    pipeline=pipeline,
                    request=request,
                    journal=journal,
                    result=result,
                    error=error,
                )
            )

        try:
            result = run_turn(pipeline, request, services, registry, on_text=on_text, journal=journal)
        except BaseException as error:
            problem = keep(_new_id(), error=error)
            if problem:
                error.add_note(problem)
            raise
        if result.repeated:
            return result
        turn_id = result.turn_id or _new_id()
        problem = keep(turn_id, result)
        response = result.response
        if problem and response is not None:
            response = replace(response, warnings=(*response.warnings, problem))
        return replace(result, turn_id=turn_id, response=response)

    def close(self) -> None:
        if self._log is not None and self._closes:
            self._log.close()

    def _keep(self, ran: FinishedTurn) -> str:
        """'', or why there is no record."""
        try:
            record = record_of(
                ran,
                clearance=self._clearance.value,
                manifests=self._manifests_of(ran.journal),
                keeps_replies=self.keeps_replies,
            )
            self._opened().write(record, days=self.days)
        except RagAssetsError as error:
            return f"this question is not in the log: {error}"
        except Exception as error:  # a defect in here must not cost the answer either; it is told as one
            return f"this question is not in the log: unexpected {type(error).__name__}: {error}"
        return ""

    def _opened(self) -> QueryLog:
        with self._lock:
            if self._log is None:
                self._log = self._open_log()
            return self._log

    def _manifests_of(self, journal: Journal) -> dict[str, Manifest]:
        generations = journal.lock.generations if journal.lock is not None else {}
        members = [members_of(label, generation) for label, generation in generations.items()]
        found = {label: self._manifests(label, known) for one in members for label, known in one.items()}
        return {label: manifest for label, manifest in found.items() if manifest is not None}

    def _read_manifest(self, label: str, generation_id: str) -> Manifest | None:
        """None of one that was deleted while it answered."""
        try:
            return read_generation(self._home, label, generation_id).manifest
        except GenerationError:
            return None


def logged_turn(
    pipeline: Pipeline,
    request: TurnRequest,
    services: PipelineServices,
    log: TurnLog | None,
    registry: ActionRegistry | None = None,
    *,
    on_text: Callable[[str], None] = nobody_listens,
) -> TurnResult:
    """A turn through the log, where there is one."""
    run = run_turn if log is None else log.run
    return run(pipeline, request, services, registry, on_text=on_text)


def _new_id() -> str:
    return uuid.uuid4().hex[:TURN_ID_DIGITS]
