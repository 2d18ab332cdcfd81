"""Counting of what is asked, and the budget: safe to use from several threads."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from rag_assets.contracts.llm import LlmUsage
from rag_assets.llm.faults import result_code
from rag_assets.model_server.faults import Code

_PRICED_TOKENS = 1_000_000  # prices are per million tokens, as providers list them


class Meter:
    """The running totals of one service. `max_calls` requests may be taken, and no more (A17). Each is told to
    `note_call` before it is made, one at a time."""

    def __init__(
        self,
        max_calls: int,
        price_in: float | None,
        price_out: float | None,
        note_call: Callable[[], object] = lambda: None,
    ) -> None:
        self._lock = threading.Lock()
        self._max_calls = max_calls
        self._price_in = price_in
        self._price_out = price_out
        self._note_call = note_call
        self._calls = 0
        self._cached = 0
        self._failures: Counter[str] = Counter()
        self._prompt_tokens = 0
        self._completion_tokens = 0
        self._seconds = 0.0

    def take_call(self) -> bool:
        """True, and one call less to take; False once all are spent."""
        with self._lock:
            if self._calls >= self._max_calls:
                return False
            self._note_call()
            self._calls += 1
            return True

    def add_cached(self) -> None:
        with self._lock:
            self._cached += 1

    def add_failure(self, code: Code) -> None:
        with self._lock:
            self._failures[result_code(code)] += 1

    def add_seconds(self, seconds: float) -> None:
        with self._lock:
            self._seconds += seconds

    def add_tokens(self, prompt: int, completion: int) -> None:
        with self._lock:
            self._prompt_tokens += prompt
            self._completion_tokens += completion

    def snapshot(self) -> LlmUsage:
        with self._lock:
            return LlmUsage(
                calls=self._calls,
                cached=self._cached,
                failures=tuple(sorted(self._failures.items())),
                prompt_tokens=self._prompt_tokens,
                completion_tokens=self._completion_tokens,
                seconds=self._seconds,
                cost=self._cost(),
            )

    def _cost(self) -> float | None:
        if self._price_in is None and self._price_out is None:
            return None
        spent = self._prompt_tokens * (self._price_in or 0.0) + self._completion_tokens * (self._price_out or 0.0)
        return spent / _PRICED_TOKENS
