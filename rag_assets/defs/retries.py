"""Which failures a later attempt can heal. Everything else fails at once: trying again would say the same, later.

Dagster keeps an error with its causes and writes it into logs, so it gets none that holds a credential.
"""

from __future__ import annotations

import random
import sqlite3
import time
import traceback
from collections.abc import Callable, Iterator
from typing import NoReturn

from dagster import Failure, RetryRequested

from rag_assets.errors import ClusterError, ClusterLost, RagAssetsError, SourceError, SourceRefused, SourceUnreachable
from rag_assets.index.catalog.database import StorageError
from rag_assets.index.catalog.errors import CatalogError, CatalogUnreachable
from rag_assets.index.locks import HomeBusy
from rag_assets.models.model_files import ModelCorrupted, ModelMissing
from rag_assets.pipeline.build import LabelBusy
from rag_assets.settings.config_file import ConfigError
from rag_assets.sources.git import GitTimeout
from rag_assets.sources.secrets import masked
from rag_assets.sources.urls import scrubbed

DELAYS_SECONDS = (5.0, 30.0, 120.0)
"""Waited before the second, third and fourth attempt: a dropped connection, a restarted server, a longer build."""

_JITTER = 0.25  # of a delay, either way: runs that lost the same server must not come back all at once

# The first rule that fits the error, or else one of its causes, decides. What no rule fits is not tried again.
RULES: tuple[tuple[type[BaseException], bool, str], ...] = (
    (SourceRefused, False, "the server answered; somebody has to change the address or the credentials"),
    (SourceUnreachable, True, "networks and servers come back"),
    (GitTimeout, True, "a busy machine or server answers later"),
    (SourceError, False, "a ref, commit or archive that is not there stays away"),
    (ConfigError, False, "the configuration is the same a minute later"),
    (ModelMissing, False, "nobody installs a model meanwhile"),
    (ModelCorrupted, False, "model files do not mend themselves"),
    (LabelBusy, True, "another build of the label ends"),
    (ClusterLost, True, "a scheduler or workers that were restarted take tasks again"),
    (ClusterError, False, "somebody has to change the workers"),
    (HomeBusy, True, "a garbage collection ends"),
    (CatalogUnreachable, True, "a database that was restarted takes connections again"),
    (CatalogError, False, "somebody has to change its rights, its space or its address"),
    (ConnectionError, True, "a server that was restarted takes connections again"),
    (TimeoutError, True, "a server that was slow answers later"),
)


def is_transient(error: BaseException) -> bool:
    """True where a later attempt may succeed with nothing changed."""
    for link in _chain(error):
        if isinstance(link, sqlite3.OperationalError):
            return _is_busy(link)
        if isinstance(link, StorageError) and link.connection_invalidated:
            return True
        for kind, heals, _ in RULES:
            if isinstance(link, kind):
                return heals
    return False


def fail_or_retry(
    error: Exception, attempt: int, text: str = "", *, waiting: Callable[[str, float], object]
) -> NoReturn:
    """Ends an attempt of a step: `attempt` counts from 0.

    Raises RetryRequested where a later attempt may help, after a wait that `waiting` is told of with the reason;
    Failure with `text` for what a person has to act on, and the error itself where it is a defect.
    """
    kept = without_secrets(error)
    if is_transient(error):
        if attempt < len(DELAYS_SECONDS):
            seconds = delay(attempt)
            waiting(text_without_secrets(text or str(error)), seconds)
            time.sleep(seconds)  # Dagster would sleep through whatever ends a run
            raise RetryRequested(max_retries=len(DELAYS_SECONDS)) from kept
        text = f"{text or error} (tried {attempt + 1} times)"
    elif not isinstance(error, RagAssetsError) and not text:
        raise kept
    raise Failure(description=text_without_secrets(text or str(error)), allow_retries=False) from kept


class ErrorWithoutSecrets(Exception):
    """Stands for an error that holds a credential. Its cause has the trace of that error."""


def without_secrets(error: Exception) -> Exception:
    """The error, or what may be kept in its place where its text or that of a cause holds a credential."""
    trace = "".join(traceback.format_exception(error))
    masked_trace = text_without_secrets(trace)
    if masked_trace == trace:
        return error
    kept = ErrorWithoutSecrets(text_without_secrets(f"{type(error).__name__}: {error}"))
    kept.__cause__ = ErrorWithoutSecrets(masked_trace)
    return kept


def text_without_secrets(text: str) -> str:
    return scrubbed(masked(text), "")  # in this order: what URLs lose may be what a secret is known by


def delay(attempt: int) -> float:
    """Seconds until the attempt after `attempt`."""
    return DELAYS_SECONDS[attempt] * random.uniform(1 - _JITTER, 1 + _JITTER)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what caused it, what caused that. An error raised `from None` hides what was before it."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _is_busy(error: sqlite3.OperationalError) -> bool:
    """True for a database that somebody else holds; not for a full disk or a damaged file."""
    primary = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the extended codes have theirs above
    return primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
