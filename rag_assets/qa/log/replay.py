"""Running a logged turn again: on the generations that answered, with the replies that models gave, after the same
conversation; nothing is kept of it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.answer.abstention import Thresholds, calibrated_thresholds
from rag_assets.contracts.confidentiality import Confidentiality, may_see
from rag_assets.errors import RagAssetsError
from rag_assets.history.query_log import ERROR, LogRecord
from rag_assets.index.database import storable
from rag_assets.index.generations import Generation, GenerationError, read_generation
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters
from rag_assets.qa.engine import run_turn
from rag_assets.qa.log.model_calls import RecordedReplies
from rag_assets.qa.log.query_log_record import TurnDetail, models_of, read_detail, read_replies
from rag_assets.qa.services import PipelineServices, members_of
from rag_assets.qa.turn import Journal, StepRecord, differences
from rag_assets.sources.secrets import masked

if TYPE_CHECKING:
    from rag_assets.answer.token_budget import TokenCounter
    from rag_assets.history.conversations import ConversationHistory, Conversations, NewTurn, StoredTurn, Summary
    from rag_assets.index.layout import IndexHome
    from rag_assets.qa.agents import Agent, AgentLibrary
    from rag_assets.qa.chat_model import AskModel
    from rag_assets.qa.definition.loader import PipelineLibrary
    from rag_assets.qa.definition.steps import Pipeline
    from rag_assets.search.index import Searchable


class ReplayError(RagAssetsError):
    """A turn that cannot be run again; the text says why and what helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a turn ended: its answer, masked as in the log, or the error that ended it. `way` is `step outcome` of every
    step, `models` are `profile: model`."""

    status: str
    answer: str
    error: str
    way: tuple[str, ...]
    models: tuple[str, ...]

    @property
    def came_to(self) -> tuple[str, str]:
        """What is compared. Models that failed on the way may say so in other words each time."""
        return self.status, self.error if self.status == ERROR else self.answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """`lock` says what decided the turn and has changed since (`lock.differences`). `threshold` is (then, now), where
    questions are refused below another confidence today, and `sure` where they are answered from another one on: the
    replay keeps those of then. `warnings` say what could not be as it was."""

    then: Ending
    now: Ending
    lock: tuple[str, ...]
    threshold: tuple[float, float] | None = None
    sure: tuple[float, float] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether the same came of it, character by character."""
        return self.then.came_to == self.now.came_to

    @property
    def diff(self) -> tuple[str, ...]:
        """Of the answers, as unified diffs are; of the ways where the answers are the same."""
        then, now = self.then, self.now
        if then.answer == now.answer:
            return _diff(then.way, now.way)
        return _diff(then.answer.splitlines(), now.answer.splitlines())


class Replayer:
    """Replays turns of one home."""

    def __init__(
        self,
        home: IndexHome,
        library: PipelineLibrary,
        *,
        agents: AgentLibrary | None = None,
        config: Path | None = None,
        clearance: Confidentiality,
        history: Conversations | None = None,
        count_tokens: TokenCounter | None = None,
        threshold: float | None = None,
        sure: float | None = None,
    ) -> None:
        """`config` as in `open_index`; a turn of somebody who saw more than `clearance` is not replayed. Without a
        `history` turns of sessions are not either; `count_tokens` is how budgets are counted, `agents` are those
        that may have been asked, `threshold` and `sure` are what the configuration says of them now."""
        self._home = home
        self._library = library
        self._agents = agents
        self._config = config
        self._clearance = clearance
        self._history = history
        self._count = count_tokens
        self._configured = {"weak_below": threshold, "sure_from": sure}

    def replay(self, record: LogRecord, model: AskModel | None = None) -> Replay:
        """Runs a turn again, by default with its recorded replies, else with `model`. Raises ReplayError, DetailError,
        PipelineError and UnknownPipeline."""
        detail = read_detail(record.detail)
        lock = detail.lock
        if lock is None:
            raise ReplayError(f"turn {record.turn_id} ended before it began: {record.error}")
        self._ensure_may_see(record, detail)
        if model is None:
            if not record.replies and record.calls:
                raise ReplayError(
                    f"turn {record.turn_id} has no recorded replies: answer.log_replies was false; "
                    f"ask the model again: rag-assets replay {record.turn_id} --live"
                )
            model = RecordedReplies(read_replies(record.replies) if record.replies else (), f"turn {record.turn_id}")
        agent = self._agent(record)
        loaded = self._pipeline(record, detail, agent)
        pipeline = replace(loaded, settings=detail.pipeline_settings())
        opener = _Opener(self._home, self._config, record.clearance, _view_of(agent, record), lock.generations)
        request = replace(detail.turn_request(), request_id="")
        from rag_assets.qa.answering import WITHOUT_MODEL  # that imports the log

        # What evidence is read with, and what a turn in another language does, depends on whether there is a model.
        asks_none = not request.is_english or record.pipeline == WITHOUT_MODEL
        is_offline = asks_none and not record.calls and isinstance(model, RecordedReplies)
        journal = Journal()
        services = PipelineServices(
            opener.open,
            history=_PastOnly(self._history, detail.history_turns) if self._history is not None else None,
            generate=None if is_offline else model,
            count_tokens=self._count,
        )
        try:
            result = run_turn(pipeline, request, services, journal=journal)
            status, answer, error = result.status.value, storable(masked(result.answer)), ""
        except RagAssetsError as raised:
            status, answer, error = ERROR, "", storable(masked(str(raised)))
        finally:
            services.close()
        return Replay(
            then=Ending(
                status=record.status,
                answer=detail.answer,
                error=record.error,
                way=_way(detail.steps),
                models=record.models,
            ),
            now=Ending(
                status=status,
                answer=answer,
                error=error,
                way=_way(journal.records),
                models=models_of(call for step in journal.records for call in step.calls),
            ),
            lock=differences(lock, journal.lock) if journal.lock is not None else (),
            **self._other_thresholds(pipeline, loaded, opener),
            warnings=tuple(self._warnings(detail)),
        )

    def _ensure_may_see(self, record: LogRecord, detail: TurnDetail) -> None:
        if not may_see(self._clearance, Confidentiality(record.clearance)):
            raise ReplayError(
                f"turn {record.turn_id} was asked by somebody who may read what is {record.clearance}; replay it as a "
                "role that may, too: rag-assets --role ROLE replay …"
            )
        if detail.request.get("session") and self._history is None:
            raise ReplayError(f"turn {record.turn_id} is part of a conversation, and no conversations are open")

    def _pipeline(self, record: LogRecord, detail: TurnDetail, agent: Agent | None) -> Pipeline:
        """From its file, where that is one of somebody's own; else by its name. It is run with the settings of then:
        callers say some of them, and what is left to differ is how the program and the files have changed."""
        file = Path(detail.pipeline_file)
        found = self._library.load(file if detail.pipeline_file and file.is_file() else record.pipeline)
        if agent is not None:
            from rag_assets.qa.agents import with_agent

            found = with_agent(found, agent)
        return found

    def _other_thresholds(self, then: Pipeline, now: Pipeline, opener: _Opener) -> dict[str, tuple[float, float]]:
        """Of `Replay`: those that are others today, (then, now)."""
        unsaid = [one for one in Thresholds._fields if self._configured[one] is None and one not in now.origins]
        calibrated = calibrated_thresholds(opener.generations, then.settings.default_mode) if unsaid else None
        found = {}
        for name, setting in zip(("threshold", "sure"), Thresholds._fields, strict=True):
            used, today = getattr(then.settings, setting), self._configured[setting]
            if setting in unsaid and calibrated is not None:
                today = getattr(calibrated, setting)
            today = getattr(now.settings, setting) if today is None else today
            if today != used:
                found[name] = (used, today)
        return found

    def _agent(self, record: LogRecord) -> Agent | None:
        """The agent that was asked, as it is now: what has changed of it is a difference of the locks. Raises
        UnknownAgent or AgentError."""
        if not record.agent:
            return None
        if self._agents is None:
            raise ReplayError(f"turn {record.turn_id} was answered by agent {record.agent!r}, and no agents are known")
        return self._agents.load(record.agent)

    def _warnings(self, detail: TurnDetail) -> list[str]:
        return ["the question had a secret, which is masked in the log: it was asked with the mask"] * detail.is_masked


class _Opener:
    """Opens the generations that a turn read, whatever is served now."""

    def __init__(
        self, home: IndexHome, config: Path | None, clearance: str, view: SearchFilters, generations: Mapping[str, str]
    ) -> None:
        """`generations` as in a lock. Raises ReplayError where one of them is gone."""
        self._home = home
        self._config = config
        self._clearance = Confidentiality(clearance)
        self._view = view
        self._found = {
            label: [self._generation(*member) for member in members_of(label, known).items()]
            for label, known in generations.items()
        }

    @property
    def generations(self) -> tuple[Generation, ...]:
        """All of them."""
        return tuple(member for members in self._found.values() for member in members)

    def open(self, label: str) -> Searchable:
        """Raises ReplayError."""
        from rag_assets.search.federated import FederatedIndex
        from rag_assets.search.index import LabelIndex, load_policy

        if label not in self._found:
            raise ReplayError(f"the pipeline asks {label} now, which the turn did not")
        policy = load_policy(self._home, self._config)
        indexes = [
            LabelIndex(self._home, generation, self._config, clearance=self._clearance, view=self._view, policy=policy)
            for generation in self._found[label]
        ]
        return indexes[0] if len(indexes) == 1 else FederatedIndex(indexes)

    def _generation(self, label: str, generation_id: str) -> Generation:
        try:
            return read_generation(self._home, label, generation_id)
        except GenerationError as error:
            raise ReplayError(
                f"generation {generation_id} of {label}, which answered, is not there any more: retention.keep of the "
                "configuration says how many stay, and one with a tag always does (rag-assets generations tag); "
                f"what is there: rag-assets generations list {label}"
            ) from error


class _PastOnly:
    """A conversation as it was when it had so many turns. Nothing is added to it."""

    def __init__(self, conversations: Conversations, count: int) -> None:
        self._conversations = conversations
        self._count = count

    def load(self, user: str, session: str) -> ConversationHistory:
        return self._conversations.load(user, session, count=self._count)

    def append(self, user: str, session: str, turn: NewTurn) -> StoredTurn:
        from rag_assets.history.conversations import ConversationError

        raise ConversationError("a replay is not part of its conversation")

    def find_request(self, user: str, session: str, request_id: str) -> StoredTurn | None:
        return None

    def save_summary(self, user: str, session: str, text: str, *, through: int, after_version: int) -> Summary:
        from rag_assets.history.conversations import Summary

        return Summary(after_version + 1, through, storable(text))


def _view_of(agent: Agent | None, record: LogRecord) -> SearchFilters:
    """What the agent lets its users see."""
    if agent is None:
        return NO_FILTERS
    from rag_assets.qa.agents import scope_of

    return scope_of(agent, Confidentiality(record.clearance)).filters


def _way(steps: Sequence[StepRecord]) -> tuple[str, ...]:
    return tuple(f"{step.step} {step.outcome}" for step in steps)


def _diff(then: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    return tuple(difflib.unified_diff(then, now, "then", "now", lineterm=""))
