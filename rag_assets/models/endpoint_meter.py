"""What an embedding server was asked and what it cost. Safe to use from several threads."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

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
    """An embedder whose work is somebody else's and has a price."""

    def usage(self) -> EmbeddingUsage: ...


class UsageMeter:
    """The running totals of one embedder."""

    def __init__(self, price: float | None) -> None:
        self._price = price
        self._lock = threading.Lock()
        self._requests = self._retries = self._texts = self._tokens = 0
        self._seconds = 0.0

    def add_request(self, seconds: float, *, retry: bool) -> None:
        with self._lock:
            self._requests += 1
            self._retries += retry
            self._seconds += seconds

    def add_texts(self, texts: int, tokens: int) -> None:
        with self._lock:
            self._texts += texts
            self._tokens += tokens

    def snapshot(self) -> EmbeddingUsage:
        with self._lock:
            cost = None if self._price is None else self._tokens * self._price / _PRICED_TOKENS
            return EmbeddingUsage(self._requests, self._retries, self._texts, self._tokens, self._seconds, cost)
