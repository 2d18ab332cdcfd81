"""What model servers were asked and what that cost, and the budget of calls: safe to use from several threads."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rag_assets.contracts.llm import LlmUsage
from rag_assets.models.openai_compat.faults import FaultCode, result_code

_PRICED_TOKENS = 1_000_000  # prices are per million tokens, as providers list them


@dataclass(frozen=True, slots=True)
class EmbeddingUsage:
    """Requests sent (`retries` of them again), texts that got a vector, tokens as the server counts them, and what
    they cost in the currency of `embedder.price`; None without a price."""

    requests: int = 0
    retries: int = 0
    texts: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None


@runtime_checkable
class Metered(Protocol):
    """An embedder that a server runs, and that has a price."""

    def usage(self) -> EmbeddingUsage: ...


class UsageMeter:
    """The running totals of one service, at prices per million tokens. `max_calls` requests may be taken, and no more
    (A17)."""

    def __init__(self, price_in: float | None, price_out: float | None = None, *, max_calls: int | None = None) -> None:
        self._lock = threading.Lock()
        self._price_in = price_in
        self._price_out = price_out
        self._max_calls = max_calls
        self._totals: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._seconds = 0.0

    def take_call(self, *, retry: bool = False) -> bool:
        """True, and one call less to take; False once all are spent."""
        with self._lock:
            if self._max_calls is not None and self._totals["calls"] >= self._max_calls:
                return False
            self._totals.update(calls=1, retries=int(retry))
            return True

    def add(self, *, cached: int = 0, prompt: int | None = 0, completion: int | None = 0, texts: int = 0) -> None:
        """Answers that needed no call; tokens of one reply, None where the server does not count; `texts` got a
        vector."""
        with self._lock:
            self._totals.update(cached=cached, prompt=prompt or 0, completion=completion or 0, texts=texts)

    def add_failure(self, code: FaultCode) -> None:
        with self._lock:
            self._failures[result_code(code)] += 1

    def add_seconds(self, seconds: float) -> None:
        with self._lock:
            self._seconds += seconds

    def of_texts(self) -> LlmUsage:
        """The totals of a model that writes."""
        with self._lock:
            return LlmUsage(
                calls=self._totals["calls"],
                cached=self._totals["cached"],
                failures=tuple(sorted(self._failures.items())),
                prompt_tokens=self._totals["prompt"],
                completion_tokens=self._totals["completion"],
                seconds=self._seconds,
                cost=self._cost(),
            )

    def of_embeddings(self) -> EmbeddingUsage:
        """The totals of a model that embeds."""
        with self._lock:
            calls, retries, texts, tokens = (self._totals[name] for name in ("calls", "retries", "texts", "prompt"))
            return EmbeddingUsage(calls, retries, texts, tokens, self._seconds, self._cost())

    def _cost(self) -> float | None:
        if self._price_in is None and self._price_out is None:
            return None
        prompt, completion = self._totals["prompt"], self._totals["completion"]
        return (prompt * (self._price_in or 0.0) + completion * (self._price_out or 0.0)) / _PRICED_TOKENS
