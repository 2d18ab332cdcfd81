"""What an action has besides the state of the turn: the pipeline, the services, and the ear of the trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.contracts.llm import ChatMessage, Profile
from rag_assets.contracts.protocol_markers import neutral
from rag_assets.contracts.result import Message
from rag_assets.qa.answer_stream import AnswerStream
from rag_assets.qa.definition.steps import Pipeline
from rag_assets.qa.services import ModelCall, PipelineServices, nobody_listens
from rag_assets.qa.state import CallRecord, StepRecord, Turn
from rag_assets.qa.trace import Journal
from rag_assets.search.retrieve import Clock

if TYPE_CHECKING:
    from rag_assets.qa.definition.pipeline_settings import PipelineSettings
    from rag_assets.qa.log.provenance import TurnFingerprint


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
        on_text = AnswerStream(self._on_text) if streamed else nobody_listens
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
