"""What is known of a turn while it runs, and what is left of it. Frozen records: an action returns a new state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from rag_assets.contracts.sql_values import storable
from rag_assets.errors import WrongUsage
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters

if TYPE_CHECKING:
    from rag_assets.answer.citation_check import CheckedSentence
    from rag_assets.answer.context_pack import AnswerInputs
    from rag_assets.answer.token_budget import ContextPack
    from rag_assets.contracts.evidence import Evidence
    from rag_assets.graph.neighbourhood import Neighbourhood
    from rag_assets.qa.protocols import RetrievalPlan
    from rag_assets.qa.services import ModelCall
    from rag_assets.search import Question

MAX_QUESTION_CHARS = 20_000
"""Room for a question with a stack trace; more is a document, and belongs into an index."""


class RequestError(WrongUsage, ValueError):
    """A request that no turn can be made of."""


class Status(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    GENERAL = "general"  # without project data, and labelled so (R12)
    ABSTAINED = "abstained"  # the evidence does not have it (E20)
    GAVE_UP = "gave_up"  # stopped by the loop guard, by weak evidence or by the same request again (D25, D34)
    FAILED = "failed"  # the model gave nothing usable


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """One question of one person (D01).

    `is_english` is what the caller says: languages are not detected (D04), and it means the language of the model.
    `filters` hold for every search; a `literal` question is words only. With a `session` the turn is part of a
    conversation and kept; `request_id` makes asking it again harmless; `agent` is the id of the asked agent, for the
    log. Texts are as databases take them: terminal input that is not UTF-8 becomes `?`. Raises RequestError.
    """

    question: str
    is_english: bool = True
    label: str = ""
    filters: SearchFilters = NO_FILTERS
    literal: bool = False
    session: str = ""
    user: str = "local"
    request_id: str = ""
    agent: str = ""

    def __post_init__(self) -> None:
        for name in ("question", "session", "user", "request_id"):
            object.__setattr__(self, name, storable(getattr(self, name)))
        if not self.question.strip():
            raise RequestError("the question is empty")
        if len(self.question) > MAX_QUESTION_CHARS:
            raise RequestError(
                f"the question has {len(self.question):,} characters, {MAX_QUESTION_CHARS:,} at most; "
                "index long texts and ask about them"
            )
        if self.request_id and not self.session:
            raise RequestError("a request_id needs a session to be kept in")


@dataclass(frozen=True, slots=True)
class HistoryState:
    """What of a conversation goes into prompts (D08), and where its summary stands (D07)."""

    text: str = ""
    turns: int = 0  # all there are
    last_question: str = ""  # in the language of the model; '' where a summary has it
    summary_version: int = 0  # 0: none
    summarised_through: int = 0  # position of the last turn in the summary
    new_turns: int = 0  # since then


@dataclass(frozen=True, slots=True)
class RetrievalState:
    """What was retrieved from one label, in the order it came, each piece once."""

    evidence: tuple[Evidence, ...] = ()
    neighbourhood: Neighbourhood | None = None
    texts: tuple[Evidence, ...] = ()

    @property
    def all(self) -> tuple[Evidence, ...]:
        """The pieces of the search and of the graph, each id once."""
        return tuple({piece.id: piece for piece in (*self.texts, *self.evidence)[::-1]}.values())[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The state that steps hand on. `asked` is the question with its filters, `reading` the best of what was found for
    it, which an answer without a model is made from and every refusal is explained by."""

    request: TurnRequest
    label: str
    asked: Question
    compared_label: str = ""
    question_en: str = ""
    untranslated: bool = False  # it is in another language still
    history: HistoryState = HistoryState()
    call: ModelCall | None = None
    reply: str = ""
    draft: str = ""  # a text of the model for a later prompt
    fault: str = ""  # why there is no reply
    endless: bool = False  # there was one, which was not read to its end
    plan: RetrievalPlan | None = None
    queries: tuple[str, ...] = ()  # asked in this turn, as they were compared
    wanted: str = ""  # the last request for more
    repeated: bool = False  # it was asked for before
    uncited: bool = False  # the answer cited nothing of the evidence
    unsupported: bool = False  # nothing of the answer is in what it cited
    loops: int = 0
    weak: int = 0
    found: Mapping[str, RetrievalState] = field(default_factory=dict)
    reading: AnswerInputs | None = None
    warnings: tuple[str, ...] = ()  # for the person who asked
    context: str = ""
    compared_context: str = ""
    context_tokens: int = 0
    summarised: bool = False
    provider: str = ""  # who wrote the answer
    quoted: ContextPack | None = None  # what an answer of quotes was made from
    checks: tuple[CheckedSentence, ...] = ()
    reason: str = ""  # why there is no answer
    suggestions: tuple[str, ...] = ()
    answer_en: str = ""
    answer: str = ""
    status: Status | None = None
    turn_id: str = ""
    sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of an artifact: heading → ids found for it

    def found_in(self, label: str) -> RetrievalState:
        return self.found.get(label, RetrievalState())

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Everything that was found, of all labels: what an answer may cite."""
        return tuple(piece for found in self.found.values() for piece in found.all)

    @property
    def is_narrowed(self) -> bool:
        """Whether filters say where to look: then nothing else than hits is evidence."""
        return any((self.asked.wanted, self.asked.excluded, self.request.filters))

    def warned(self, *warnings: str) -> Turn:
        """The same with more warnings, each once."""
        return replace(self, warnings=tuple(dict.fromkeys((*self.warnings, *warnings))))


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One question to a model, as the log keeps it."""

    purpose: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    seconds: float
    error: str = ""
    profile: str = ""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One executed step: how it ended, where it led, what it said and what it took."""

    number: int
    step: str
    action: str
    outcome: str
    target: str
    seconds: float
    notes: tuple[str, ...] = ()
    calls: tuple[CallRecord, ...] = ()
