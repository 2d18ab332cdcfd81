"""A turn: what is known while it runs, what decided it, its trace, and what an action has besides.

State is frozen records: an action returns a new one. The trace stays when an error ends the turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from rag_assets.answer.abstention import SCALE
from rag_assets.contracts.llm import ASKED_AGAIN, ChatMessage, Profile
from rag_assets.contracts.protocol_markers import ANSWER_WORDS, ANY_MARKER, neutral
from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.errors import WrongUsage
from rag_assets.index.database import storable
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters
from rag_assets.qa.definition.steps import Pipeline, PipelineSettings, digest_of
from rag_assets.qa.services import Generated, ModelCall, PipelineServices, nobody_listens
from rag_assets.search.retrieve import Clock

if TYPE_CHECKING:
    from rag_assets.answer.citations import CheckedSentence
    from rag_assets.answer.context_pack import AnswerInputs
    from rag_assets.contracts.evidence import Evidence
    from rag_assets.contracts.retrieval import RetrievalPlan
    from rag_assets.graph.neighbourhood import Neighbourhood
    from rag_assets.history.conversations import PastTurn
    from rag_assets.search import Question


MAX_QUESTION_CHARS = 20_000
"""Room for a question with a stack trace; more is a document, and belongs into an index."""


class RequestError(WrongUsage, ValueError):
    """A request that no turn can be made of."""


class Status(StrEnum):
    """How a turn ended."""

    ANSWERED = "answered"
    UNSURE = "unsure"  # the closest quotes, and no promise that they answer (E22)
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
    newest: tuple[PastTurn, ...] = ()  # that no summary covers, oldest first
    summary_version: int = 0  # 0: none
    new_turns: int = 0  # since then


@dataclass(frozen=True, slots=True)
class RetrievalState:
    """What was retrieved from one label, in the order it came, each piece once."""

    evidence: tuple[Evidence, ...] = ()
    neighbourhood: Neighbourhood | None = None
    texts: tuple[Evidence, ...] = ()

    @property
    def all(self) -> tuple[Evidence, ...]:
        """The pieces of the search and of the graph, each id once; of two with one id the first, unless the other holds
        it: a later search may have found what is around the same point."""
        pieces: dict[str, Evidence] = {}
        for piece in (*self.texts, *self.evidence)[::-1]:
            later = pieces.get(piece.id)
            is_part = later is not None and later.holds(piece) and not piece.holds(later)
            pieces[piece.id] = later if later is not None and is_part else piece
        return tuple(pieces.values())[::-1]


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
    context_size: Callable[[], int] = int  # its tokens, counted when somebody asks for them
    provider: str = ""  # who wrote the answer
    quoted: tuple[Evidence, ...] | None = None  # what an answer of quotes was made from
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

    def without_links(self, text: str, also: str = "") -> str:
        """What a model wrote, without links, images and tags that neither the evidence nor `also` has."""
        from rag_assets.answer.link_guard import guarded  # start-up budget: quotes have no model

        return guarded(text, self.evidence, also=also)

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


ENGINE_VERSION = 2
"""Raise it when the engine itself comes to other results: merging, transitions, protocols, markers."""


class TurnFingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """Equal locks: the same question to the same model takes the same way. `pipeline` is the digest of settings and
    steps after the merge and with the `agent` applied, `actions` are versions, `prompts` digests,
    `generations` those of the labels, `confidence` is the scale that the threshold was on."""

    name: str
    pipeline: str
    actions: dict[str, int]
    prompts: dict[str, str]
    generations: dict[str, str]
    engine: int
    agent: str
    confidence: str

    @property
    def digest(self) -> str:
        """16 hex digits over all of it."""
        return digest_of(self)


def lock_of(pipeline: Pipeline, versions: Mapping[str, int], generations: dict[str, str]) -> TurnFingerprint:
    """The lock of a turn of this pipeline, with `versions` of its actions, on these generations (label → id)."""
    return TurnFingerprint(
        name=pipeline.name,
        pipeline=pipeline.digest,
        actions=dict(sorted(versions.items())),
        prompts={name: pipeline.prompts[name].digest for name in sorted(pipeline.prompts)},
        generations=dict(sorted(generations.items())),
        engine=ENGINE_VERSION,
        agent=pipeline.agent,
        confidence=SCALE,
    )


def differences(before: TurnFingerprint, now: TurnFingerprint) -> tuple[str, ...]:
    """What has changed between two locks, in words; nothing where a turn can be run again as it was."""
    told = []
    for attribute in ("name", "agent", "pipeline", "engine", "confidence"):
        old, new = getattr(before, attribute), getattr(now, attribute)
        if old != new:
            told.append(f"{attribute}: {old or 'none'} → {new or 'none'}")
    for attribute in ("actions", "prompts", "generations"):
        old, new = getattr(before, attribute), getattr(now, attribute)
        told += [
            f"{attribute} {key}: {old.get(key, 'none')} → {new.get(key, 'none')}"
            for key in sorted({*old, *new})
            if old.get(key) != new.get(key)
        ]
    return tuple(told)


@dataclass(slots=True)
class Journal:
    """Of one turn; the engine writes it. `turn` is the state after the last step that ended, `records` has the one that
    failed as well. `calls` are the questions to models with their outcome and its seconds."""

    lock: TurnFingerprint | None = None
    turn: Turn | None = None
    records: list[StepRecord] = field(default_factory=list)
    calls: list[tuple[ModelCall, InvokeResult[Generated], float]] = field(default_factory=list)


_ANSWER, _REQUEST = (f"[{word}:]".casefold() for word in ANSWER_WORDS)
_THINKS, _THOUGHT = "<think>", "</think>"
"""What local reasoning models put around their thoughts, which come before the reply."""


class AnswerStream:
    """Hands on the lines that follow `[Answer:]`, and nothing of thoughts before it, of a request for more evidence, or
    of what begins with neither: that is no answer, and the model is asked once more for the same words with a prefix.
    Nothing follows another marker: a reply with two is asked for again, too."""

    def __init__(self, on_text: Callable[[str], None], evidence: Sequence[Evidence] = ()) -> None:
        """A line has no link that the `evidence` does not have."""
        from rag_assets.answer.link_guard import LineGuard  # start-up budget: quotes have no model

        self._on_text = on_text
        self._new_guard = partial(LineGuard, evidence)
        self._guard = self._new_guard()
        self._head: str | None = ""  # None: it was decided
        self._is_shown = False
        self._line = ""  # so much of a line as has come

    def begin_again(self) -> None:
        """What follows is another reply, on a line of its own."""
        self.end()
        if self._is_shown:
            self._on_text("\n")
        self._head, self._is_shown, self._guard = "", False, self._new_guard()

    def end(self) -> None:
        """The reply has come to its end: what is left is a line."""
        if self._line:
            self._hand_on(self._line)
        self._line = ""

    def __call__(self, text: str) -> None:
        if text == ASKED_AGAIN:
            self.begin_again()
        elif self._head is None:
            self._add(text)
        else:
            self._decide(self._head + text)

    def _add(self, text: str) -> None:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._hand_on(f"{line}\n")

    def _hand_on(self, line: str) -> None:
        if not self._is_shown:
            return
        marker = ANY_MARKER.search(line)
        if marker is not None:
            line, self._is_shown = line[: marker.start()].rstrip(), False
        if line:
            self._on_text(self._guard(line))

    def _decide(self, head: str) -> None:
        begun = head.lstrip().casefold()
        if begun.startswith(_THINKS) and _THOUGHT in begun:
            head = head.lstrip()[begun.index(_THOUGHT) + len(_THOUGHT) :]
            begun = head.lstrip().casefold()
        if begun.startswith(_THINKS) or any(mark.startswith(begun) for mark in (_ANSWER, _REQUEST, _THINKS)):
            self._head = head
            return
        self._head, self._is_shown = None, begun.startswith(_ANSWER)
        self._add(head.lstrip()[len(_ANSWER) :].lstrip() if self._is_shown else "")


class TurnContext:
    """One turn in the making; never shared between turns."""

    def __init__(
        self,
        pipeline: Pipeline,
        services: PipelineServices,
        lock: TurnFingerprint,
        on_text: Callable[[str], None] = nobody_listens,
        journal: Journal | None = None,
    ) -> None:
        """`on_text` is given the words of an answer as a model makes it."""
        self.clock = Clock()
        self.model = ""  # that gave the last reply
        self.step = ""  # that is being run; the engine writes it
        self.was_endless = False  # the last reply: it was not read to its end, as it was too long for what was asked
        self._on_text = on_text
        self.pipeline = pipeline
        self.services = services
        self.lock = lock
        self.journal = Journal() if journal is None else journal
        self._calls: list[CallRecord] = []

    @property
    def records(self) -> list[StepRecord]:
        """The steps so far."""
        return self.journal.records

    @property
    def settings(self) -> PipelineSettings:
        return self.pipeline.settings

    def ask(
        self,
        turn: Turn,
        prompt: str,
        values: Mapping[str, str],
        *,
        profile: Profile,
        max_tokens: int,
        temperature: float | None = 0.0,
        streamed: bool = False,
    ) -> tuple[ModelCall, str, str]:
        """(the call, what the model wrote, why it wrote nothing); one of the last two is ''. Who listens to the turn
        is given what is `streamed` as it comes, without its prefix (D10)."""
        messages = self.pipeline.prompts[prompt].messages({**self._facts(turn, max_tokens), **values})
        on_text = AnswerStream(self._on_text, turn.evidence) if streamed else nobody_listens
        asker = f"step {self.step!r} of {self.pipeline.name}"
        return self.send(ModelCall(prompt, messages, profile, max_tokens, temperature, on_text, asker=asker))

    def ask_again(self, call: ModelCall, reply: str, complaint: str) -> tuple[ModelCall, str, str]:
        """The same once more, with what was wrong about the reply."""
        more = (ChatMessage("assistant", reply), ChatMessage("user", complaint))
        messages = (
            (*call.messages, *more) if reply.strip() else (*call.messages[:-1], _with(call.messages[-1], complaint))
        )
        if isinstance(call.on_text, AnswerStream):
            call.on_text.begin_again()
        return self.send(replace(call, messages=messages))

    def send(self, call: ModelCall) -> tuple[ModelCall, str, str]:
        started = time.perf_counter()
        result = self.services.generate(call)
        if isinstance(call.on_text, AnswerStream):
            call.on_text.end()
        seconds = time.perf_counter() - started
        self.journal.calls.append((call, result, seconds))
        self.clock.add("model", seconds)
        made = result.value
        self.was_endless = _is_endless(result.errors)
        if made is None:
            unknown = "the model service gave nothing"
            fault = "; ".join(map(str, result.errors)) or unknown  # with codes, for the log
            self._calls.append(CallRecord(call.purpose, "", 0, 0, None, seconds, fault, call.profile))
            return call, "", "; ".join(error.text for error in result.errors) or unknown
        self._calls.append(
            CallRecord(
                call.purpose,
                made.model,
                made.prompt_tokens,
                made.completion_tokens,
                made.cost,
                seconds,
                profile=call.profile,
            )
        )
        self.model = made.model
        return call, made.text, ""

    def calls_of_step(self) -> tuple[CallRecord, ...]:
        """The calls since this was asked last."""
        calls, self._calls = tuple(self._calls), []
        return calls

    def _facts(self, turn: Turn, limit: int) -> dict[str, str]:
        return {
            "modes": "\n".join(f"[{mode.name}:]" for mode in self.settings.retrieval_modes),
            "language": self.settings.model_language,
            "repository": self.settings.repository or turn.label.partition("@")[0],
            "label": turn.label,
            "compared_label": turn.compared_label,
            "limit": str(limit),
            "persona": neutral(self.settings.persona),
        }


def _is_endless(errors: Sequence[Message]) -> bool:
    if not errors:
        return False
    from rag_assets.models.openai_compat.faults import FaultCode, result_code  # which an error has loaded

    return any(error.code == result_code(FaultCode.TOO_LARGE) for error in errors)


def _with(message: ChatMessage, more: str) -> ChatMessage:
    """Some servers refuse an empty message of the assistant, and two of the user in a row."""
    return ChatMessage(message.role, f"{message.content}\n\n{more}")
