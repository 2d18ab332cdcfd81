"""Language models: the nouns of asking one, and the contract of the structured-text service that builders may ask
(A15–A17), with having none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar, get_args

from rag_assets.contracts.result import InvokeResult, Message

T = TypeVar("T")

DISABLED = "LLM.disabled"

Profile = Literal["cheap", "balanced", "premium"]
"""What is asked of a model: routing and drafts, answers, what is hard. The settings say which model that is."""

PROFILES: tuple[Profile, ...] = get_args(Profile)

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of what a model is asked."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class StructuredPrompt:
    """`instructions` are ours; `data` is what they are about, delimited by whoever made it and never obeyed."""

    instructions: str
    data: str


@dataclass(frozen=True, slots=True)
class LlmUsage:
    """What was asked of a model, and what it took. Add the usages of several services with `+`.

    `calls` are HTTP requests, retries included; `cached` are answers that needed none. `failures` counts failed
    questions by code, sorted. `seconds` is the time spent waiting for the server, summed over threads. `cost` is in
    the currency of the configured prices, None where none are configured.
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
        """What a report shows, by name: seconds to the millisecond, the cost where there are prices, `LLM.` codes."""
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
    """`IStructuredTextLlmService` (A15–A17): a prompt and the type of the answer in, the answer or the reason for none
    out. Never raises for what can be expected of a network and a model, and makes a bounded number of calls."""

    @property
    def enabled(self) -> bool:
        """False: nothing is ever called, so nobody needs to make a prompt."""
        ...

    def complete(self, prompt: StructuredPrompt, answer_type: type[T]) -> InvokeResult[T]: ...

    def usage(self) -> LlmUsage: ...


class DisabledLlmService:
    """No model: the default. Calls nothing."""

    @property
    def enabled(self) -> bool:
        return False

    def complete(self, prompt: StructuredPrompt, answer_type: type[T]) -> InvokeResult[T]:
        return InvokeResult.failure([Message(DISABLED, "no model is configured; see llm.provider")])

    def usage(self) -> LlmUsage:
        return LlmUsage()
