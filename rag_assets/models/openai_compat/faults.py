"""Why a request got nothing of use: a closed set of codes, what each means, and the one retry loop."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from rag_assets.contracts.result import Message
from rag_assets.sources.secrets import masked

if TYPE_CHECKING:
    from rag_assets.models.openai_compat.endpoint import ApiKey


DETAIL_CHARS = 200
"""How much of a server's own words a message repeats: one line of a terminal or two."""


class FaultCode(StrEnum):
    """Shown and counted behind the name of the service: `LLM.timeout`."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    TLS = "tls"
    REDIRECT = "redirect"
    RATE_LIMITED = "rate-limited"
    SERVER_ERROR = "server-error"
    UNAUTHORISED = "unauthorised"
    NOT_FOUND = "not-found"
    REJECTED = "rejected"  # any other 4xx: the request is not what the server takes
    CONTENT_TYPE = "content-type"
    TOO_LARGE = "too-large"
    MALFORMED = "malformed"
    NO_CHOICES = "no-choices"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    SCHEMA = "schema"
    KEY_ECHO = "key-echo"
    BUDGET = "budget"
    STOPPED = "stopped"


TRANSIENT = frozenset({FaultCode.UNREACHABLE, FaultCode.TIMEOUT, FaultCode.RATE_LIMITED, FaultCode.SERVER_ERROR})
"""The next try may succeed."""

FINAL = frozenset({FaultCode.TLS, FaultCode.REDIRECT, FaultCode.UNAUTHORISED, FaultCode.NOT_FOUND, FaultCode.KEY_ECHO})
"""Every further request would fail alike, so none is sent."""

UNUSABLE = TRANSIENT | {FaultCode.REJECTED, FaultCode.CONTENT_TYPE, FaultCode.TOO_LARGE}
"""The server gave nothing a model wrote. Several in a row mean that it will not; bad answers of a model do not."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One failed request. `status` is 0 where there was no reply; `wait` is what the server asked for, in seconds;
    `detail` is the start of its error text, for people and for `ServerQuirks`."""

    code: FaultCode
    text: str
    status: int = 0
    wait: float | None = None
    detail: str = ""


def result_code(code: FaultCode) -> str:
    """`LLM.timeout`: the code of a failed result."""
    return f"LLM.{code}"


def failure_message(fault: Fault) -> Message:
    return Message(result_code(fault.code), fault.text)


KEY_ECHO = Fault(FaultCode.KEY_ECHO, "the answer repeats the API key; the server must not be trusted with it")


def text_of(told: object) -> str:
    """The words in an `error` of a reply, whatever its shape."""
    found = told.get("message", told) if isinstance(told, dict) else told
    return found if isinstance(found, str) else str(found)


def shown(told: object, key: ApiKey) -> str:
    """The start of what a server said; masked before it is cut, so that no part of a secret stays."""
    return str(masked(key.masked(text_of(told))))[:DETAIL_CHARS]


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
