"""One request for embeddings, sent again while that may help."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Sequence

from rag_assets.model_server.api_key import ApiKey
from rag_assets.model_server.faults import TRANSIENT, Code, Fault
from rag_assets.model_server.transport import Transport
from rag_assets.models.endpoint_meter import UsageMeter
from rag_assets.models.endpoint_reply import Answer, read_vectors
from rag_assets.models.endpoint_tokens import TokenCounter, well_formed

FIRST_WAIT_SECONDS = 1.0
"""Before the second attempt, then twice as long each time: 31 s in all, which outlasts a restarted server."""

LONGEST_WAIT_SECONDS = 120.0
"""Limits per minute end within it; a server that asks for more is out of quota, and a build does not wait for that."""

ATTEMPTS_IN_TIME = 2
"""Of a request that runs out of time: it will take as long again, and a smaller one may not."""

_BYTES_PER_NUMBER = 40
"""Seventeen digits with sign, exponent and the blanks of an indented list."""

_USUAL_DIMENSION = 8_192
"""No known model has more. Where a server has fewer or more than was asked for, the message should say how many."""

_BYTES_PER_REPLY = 1 << 16
"""Of what is no number: names, indexes, usage, or an error text."""

_LEAST_SHARE = 0.5
"""A wait is a random share of its length from this to 1: threads that failed together do not come back together."""


class EndpointClient:
    """Asks one model of one server for vectors. Safe to use from several threads."""

    def __init__(
        self,
        transport: Transport,
        key: ApiKey,
        meter: UsageMeter,
        count: TokenCounter,
        *,
        model: str,
        dimension: int | None,
    ) -> None:
        self._transport = transport
        self._key = key
        self._meter = meter
        self._count = count
        self._bytes_per_text = _BYTES_PER_NUMBER * max(dimension or 0, _USUAL_DIMENSION)
        self._asked = {"model": model} | ({} if dimension is None else {"dimensions": dimension})
        self._lock = threading.Lock()
        self._resume_at = 0.0

    def ask(self, texts: Sequence[str], attempts: int, stop: threading.Event) -> Answer | Fault:
        """One vector per text, or why not after at most `attempts` requests; `stop` ends waiting early."""
        body = json.dumps({**self._asked, "input": [well_formed(text) for text in texts]}).encode()
        attempt = 0
        outcome: Answer | Fault = Fault(Code.STOPPED, "stopped before it was asked")
        while True:
            self._wait_until_allowed(stop)
            if stop.is_set():
                return outcome
            outcome = self._send(body, len(texts), retry=attempt > 0)
            attempt += 1
            if not isinstance(outcome, Fault):
                tokens = sum(self._count(texts)) if outcome.tokens is None else outcome.tokens
                self._meter.add_texts(len(texts), tokens)
                return outcome
            if outcome.code not in TRANSIENT or (outcome.wait or 0.0) > LONGEST_WAIT_SECONDS:
                return outcome
            delay = _patience(attempt) if outcome.wait is None else outcome.wait
            for_all = outcome.wait is not None or outcome.code is Code.RATE_LIMITED
            if for_all:
                self._resume_after(delay)
            if attempt >= (min(attempts, ATTEMPTS_IN_TIME) if outcome.code is Code.TIMEOUT else attempts):
                return outcome
            if not for_all:
                stop.wait(delay)

    def _send(self, body: bytes, texts: int, *, retry: bool) -> Answer | Fault:
        started = time.monotonic()
        most = _BYTES_PER_REPLY + texts * self._bytes_per_text
        reply = self._transport.post(self._key.header(), body, max_reply_bytes=most)
        self._meter.add_request(time.monotonic() - started, retry=retry)
        return reply if isinstance(reply, Fault) else read_vectors(reply, texts, self._key)

    def _resume_after(self, seconds: float) -> None:
        """Nobody sends before: a server that asked one thread to wait means all of them."""
        with self._lock:
            self._resume_at = max(self._resume_at, time.monotonic() + seconds)

    def _wait_until_allowed(self, stop: threading.Event) -> None:
        with self._lock:
            seconds = self._resume_at - time.monotonic()
        if seconds > 0:
            stop.wait(seconds + random.uniform(0.0, FIRST_WAIT_SECONDS))  # not all threads in the same instant


def _patience(attempt: int) -> float:
    """Seconds after the n-th failure, n from 1."""
    bound = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1))
    return bound * random.uniform(_LEAST_SHARE, 1.0)
