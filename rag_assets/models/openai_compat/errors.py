"""The one place that makes our faults from the errors of `openai` and `httpx2`. Nothing in a reply is trusted."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ssl import SSLCertVerificationError

import httpx2
import openai

from rag_assets.models.openai_compat.endpoint import ServerEndpoint
from rag_assets.models.openai_compat.faults import Fault, FaultCode, shown
from rag_assets.models.openai_compat.transport import REDIRECTED_TO, ReplyTooLarge


def fault_of(error: Exception, endpoint: ServerEndpoint) -> Fault:
    """What an `openai.APIError` or an `httpx2.RequestError` means for a request to `endpoint`."""
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, endpoint)
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
    if isinstance(cause, ReplyTooLarge):
        return cause.fault
    if isinstance(cause, httpx2.TimeoutException):
        limit = f"{endpoint.seconds:g} s ({endpoint.section}.{endpoint.seconds_key})"
        return Fault(FaultCode.TIMEOUT, f"no answer from {endpoint.origin} in {limit}")
    return _of_connection(cause or error, endpoint)


def _of_status(error: openai.APIStatusError, endpoint: ServerEndpoint) -> Fault:
    """The section of the settings is what to look at."""
    status, section, headers = error.status_code, endpoint.section, error.response.headers
    detail = shown(error.body, endpoint.key) if error.body else ""
    said = f"the server answers {status}{': ' + detail if detail else ''}"
    wait = _seconds_to_wait(headers.get("retry-after", ""))
    if 300 <= status < 400:
        host = headers.get(REDIRECTED_TO, "")
        said = f"the server redirects{' to ' + host if host else ''}; set {section}.base_url to it"
        return Fault(FaultCode.REDIRECT, said, status)
    if status in (401, 403):
        return Fault(
            FaultCode.UNAUTHORISED, f"{said}; set {endpoint.key.variable} in the environment", status, detail=detail
        )
    if status == 404:
        return Fault(
            FaultCode.NOT_FOUND, f"{said}; check {section}.base_url and {section}.model", status, detail=detail
        )
    if status == 429:
        return Fault(FaultCode.RATE_LIMITED, f"{said}; lower {section}.max_concurrency", status, wait, detail)
    if status == 408 or status >= 500:
        return Fault(FaultCode.SERVER_ERROR, said, status, wait, detail)
    return Fault(FaultCode.REJECTED, said, status, detail=detail)


def _of_connection(error: BaseException, endpoint: ServerEndpoint) -> Fault:
    causes = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    for cause in causes:
        if isinstance(cause, SSLCertVerificationError):
            reason = f"certificate of {endpoint.origin} is not trusted: {cause.verify_message}"
            return Fault(FaultCode.TLS, f"{reason}; name a private authority in SSL_CERT_FILE")
    spoken = (cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror)
    reason = shown(next(spoken, "") or str(error) or type(error).__name__, endpoint.key)
    hint = f"is the server of {endpoint.section}.base_url up?"
    proxies = "" if endpoint.is_local else " A proxy of the environment (HTTPS_PROXY, NO_PROXY) may be in the way."
    return Fault(FaultCode.UNREACHABLE, f"no reply from {endpoint.origin}: {reason}; {hint}{proxies}", detail=reason)


def _seconds_to_wait(text: str) -> float | None:
    """`Retry-After` in seconds or as a date (RFC 9110 §10.2.3); None without one that can be read."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)  # a zone of -0000
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
