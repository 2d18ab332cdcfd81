"""Language models: messages, usage, and the contract of the structured-text service for builders (A15–A17), with an
implementation that calls no model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar, get_args

from rag_assets.contracts.result import InvokeResult, Message

T = TypeVar("T")

DISABLED = "LLM.disabled"

Profile = Literal["cheap", "balanced", "premium"]
"""The three uses of a model: routing and drafts, answers, hard questions. The settings map each to a model."""

PROFILES: tuple[Profile, ...] = get_args(Profile)

ASKED_AGAIN = "\x1e"
"""What somebody who watches a reply in the making is told when the model is asked once more. No answer has it; a line
end, which models often write alone, would not do."""

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class StructuredPrompt:
    """`instructions` come from us. `data` is their subject; its author delimits it, and the model must not obey it."""

    instructions: str
    data: str


@dataclass(frozen=True, slots=True)
class LlmUsage:
    """Counts and cost of the calls of a model. Add the usages of several services with `+`.

    `calls` are HTTP requests, retries included; `cached` counts answers that needed none. `failures` counts failed
    questions by code, sorted. `seconds` is the time spent waiting for the server, summed over threads. `cost` is in
    the currency of the configured prices, None without prices.
    """

    calls: int = 0
    cached: int = 0
    failures: tuple[tuple[str, int], ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None

    def __add__(self, other: LlmUsage) -> LlmUsage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return LlmUsage(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            failures=tuple(sorted((Counter(dict(self.failures)) + Counter(dict(other.failures))).items())),
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            seconds=self.seconds + other.seconds,
            cost=sum(costs) if costs else None,
        )

    def numbers(self) -> dict[str, int | float]:
        """The numbers of a report, by name: seconds to the millisecond, the cost if there are prices, `LLM.` codes."""
        shown: dict[str, int | float] = {
            "llm_calls": self.calls,
            "llm_cached": self.cached,
            "llm_failures": sum(count for _, count in self.failures),
            "llm_prompt_tokens": self.prompt_tokens,
            "llm_completion_tokens": self.completion_tokens,
            "llm_seconds": round(self.seconds, 3),
        }
        return shown | ({} if self.cost is None else {"llm_cost": self.cost}) | dict(self.failures)


class StructuredTextLlmService(Protocol):
    """`IStructuredTextLlmService` (A15–A17): takes a prompt and the type of the answer, returns the answer or a
    reason. Raises nothing that a network or a model may cause, and makes a bounded number of calls."""

    @property
    def enabled(self) -> bool:
        """False if no model is ever called, so that callers can skip making a prompt."""
        ...

    def complete(self, prompt: StructuredPrompt, answer_type: type[T]) -> InvokeResult[T]: ...

    def usage(self) -> LlmUsage: ...


class DisabledLlmService:
    """The default: no model, no calls."""

    @property
    def enabled(self) -> bool:
        return False

    def complete(self, prompt: StructuredPrompt, answer_type: type[T]) -> InvokeResult[T]:
        return InvokeResult.failure([Message(DISABLED, "no model is configured; see llm.provider")])

    def usage(self) -> LlmUsage:
        return LlmUsage()
