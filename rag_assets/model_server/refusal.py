"""What a reply with a status other than success means. Nothing in a reply is trusted."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import msgspec
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from rag_assets.decoders import from_json
from rag_assets.model_server.api_key import ApiKey
from rag_assets.model_server.faults import Code, Fault
from rag_assets.model_server.transport import Reply

DETAIL_CHARS = 200
"""How much of a server's own words a message repeats: one line of a terminal or two."""


def refusal(reply: Reply, key: ApiKey, *, section: str) -> Fault:
    """What a status other than success means; `section` of the settings is what to look at."""
    status = reply.status
    detail = _detail(reply.body, key)
    said = f"the server answers {status}{': ' + detail if detail else ''}"
    wait = _seconds_to_wait(reply)
    if 300 <= status < 400:
        redirects = f"the server redirects{_host_of(reply.location)}"
        return Fault(Code.REDIRECT, f"{redirects}; set {section}.base_url to it", status)
    if status in (401, 403):
        hint = f"set {key.variable} in the environment"
        return Fault(Code.UNAUTHORISED, f"{said}; {hint}", status, detail=detail)
    if status == 404:
        hint = f"check {section}.base_url and {section}.model"
        return Fault(Code.NOT_FOUND, f"{said}; {hint}", status, detail=detail)
    if status == 429:
        return Fault(Code.RATE_LIMITED, f"{said}; lower {section}.max_concurrency", status, wait, detail)
    if status == 408 or status >= 500:
        return Fault(Code.SERVER_ERROR, said, status, wait, detail)
    return Fault(Code.REJECTED, said, status, detail=detail)


def _detail(body: bytes, key: ApiKey) -> str:
    """`error.message` of the reply, else the start of its text; masked before it is cut: no part of the key stays."""
    text = body.decode("utf-8", errors="replace")
    try:
        told = from_json(body, object)
    except msgspec.DecodeError:
        told = None
    if isinstance(told, dict):
        text = text_of(told.get("error", told.get("message", told)))
    return key.masked(text)[:DETAIL_CHARS]


def text_of(told: object) -> str:
    """The words in an `error` of a reply, whatever its shape."""
    found = told.get("message", told) if isinstance(told, dict) else told
    return found if isinstance(found, str) else str(found)


def _host_of(location: str) -> str:
    """` to host`, without the path and query, which may hold anything."""
    try:
        host = parse_url(location).host
    except LocationParseError:
        return ""
    return f" to {host}" if host else ""


def is_json(content_type: str) -> bool:
    """`application/json`, or a kind of it."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _seconds_to_wait(reply: Reply) -> float | None:
    """`Retry-After` in seconds or as a date (RFC 9110 §10.2.3); None without one that can be read."""
    text = reply.retry_after.strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)  # a zone of -0000
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
