"""Why a request got nothing of use: the closed set of codes, and what each means for the next one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
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


TRANSIENT = frozenset({Code.UNREACHABLE, Code.TIMEOUT, Code.RATE_LIMITED, Code.SERVER_ERROR})
"""The next try may succeed."""

FINAL = frozenset({Code.TLS, Code.REDIRECT, Code.UNAUTHORISED, Code.NOT_FOUND, Code.KEY_ECHO})
"""Every further request would fail alike, so none is sent."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One failed request. `status` is 0 where there was no reply; `wait` is what the server asked for, in seconds;
    `detail` is the start of its error text, for people and for `llm.request.RequestShape.adapted`."""

    code: Code
    text: str
    status: int = 0
    wait: float | None = None
    detail: str = ""
