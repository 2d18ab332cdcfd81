"""The one retry loop of requests to model servers."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from rag_assets.models.openai_compat.faults import TRANSIENT, Fault, FaultCode

T = TypeVar("T")

FIRST_WAIT_SECONDS = 1.0
"""Before the second attempt, then twice as long each time, where the server does not say how long: long enough for a
restarted connection or worker. Six attempts wait 31 s at least, which outlasts a restarted server."""

JITTER = 0.5
"""Of a wait, as a share that is added: clients that were refused together do not come back together."""


class Retries:
    """Sends again what failed for a reason that passes. A server that asked one thread to wait means all of them. Safe
    to use from several threads."""

    def __init__(self, longest_wait: float) -> None:
        """A server that asks for more seconds than `longest_wait` gets no retry."""
        self._longest_wait = longest_wait
        self._lock = threading.Lock()
        self._resume_at = 0.0

    def run(
        self,
        send: Callable[[int], T | Fault],
        attempts: int,
        *,
        timeouts: int,
        wait: Callable[[float], object] = time.sleep,
    ) -> T | Fault:
        """What `send` returns, given the number of the attempt from 0, after at most `attempts`. A request that ran out
        of time takes as long again: it gets `timeouts` attempts at most. `wait` spends the seconds between them."""
        others = self._seconds_to_others()
        if others > 0:
            wait(others + random.uniform(0.0, FIRST_WAIT_SECONDS))  # not all threads in the same instant
        attempt = 0
        while True:
            outcome = send(attempt)
            attempt += 1
            if not isinstance(outcome, Fault):
                return outcome
            if outcome.code not in TRANSIENT or (outcome.wait or 0.0) > self._longest_wait:
                return outcome
            wanted = FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1) if outcome.wait is None else outcome.wait
            seconds = min(wanted * random.uniform(1.0, 1.0 + JITTER), self._longest_wait)
            if outcome.wait is not None or outcome.code is FaultCode.RATE_LIMITED:
                with self._lock:
                    self._resume_at = max(self._resume_at, time.monotonic() + seconds)
            if attempt >= (min(attempts, timeouts) if outcome.code is FaultCode.TIMEOUT else attempts):
                return outcome
            wait(max(seconds, self._seconds_to_others()))

    def _seconds_to_others(self) -> float:
        with self._lock:
            return self._resume_at - time.monotonic()
