"""Why a request got nothing of use: the closed set of codes, and what each means for the next one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rag_assets.contracts.result import Message

if TYPE_CHECKING:
    from rag_assets.models.openai_compat.api_key import ApiKey

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
    `detail` is the start of its error text, for people and for `server_quirks`."""

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
    """The start of what a server said; masked before it is cut, so that no part of the key stays."""
    return key.masked(text_of(told))[:DETAIL_CHARS]
