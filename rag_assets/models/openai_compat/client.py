"""The connection to one model server. The first request loads `openai` and `httpx2`, and nothing else does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from rag_assets.models.openai_compat.endpoint import ServerEndpoint
from rag_assets.models.openai_compat.faults import Fault
from rag_assets.models.openai_compat.responses import ReplyLimits
from rag_assets.models.openai_compat.usage import UsageMeter

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

_NOT_THE_KEY = "sent-by-the-transport"
"""What `openai` is given as a key: it neither keeps the real one nor reads one from the environment."""


class ModelClient:
    """Asks one server, each request on its own connection. Safe to use from several threads."""

    def __init__(self, endpoint: ServerEndpoint) -> None:
        self.endpoint = endpoint
        self._lock = threading.Lock()
        self._opened: openai.OpenAI | None = None

    def ask(
        self, send: Callable[[openai.OpenAI], T | Fault], limits: ReplyLimits, meter: UsageMeter | None = None
    ) -> T | Fault:
        """What `send` returns, or why the server gave nothing; `meter` is told the seconds. Raises nothing that a
        network can cause."""
        import httpx2  # only a model that is asked is worth half a second
        import openai

        from rag_assets.models.openai_compat.transport import fault_of, reading_at_most

        started = time.monotonic()
        try:
            with reading_at_most(limits):
                return send(self._client())
        except (openai.APIError, httpx2.RequestError) as error:
            return fault_of(error, self.endpoint)
        finally:
            if meter is not None:
                meter.add_seconds(time.monotonic() - started)

    def _client(self) -> openai.OpenAI:
        import openai  # as in `ask`

        from rag_assets.models.openai_compat.transport import bounded_client

        with self._lock:
            if self._opened is None:
                endpoint = self.endpoint
                given: dict[str, Any] = {"api_key": _NOT_THE_KEY, "max_retries": 0, "timeout": endpoint.seconds}
                given["http_client"] = bounded_client(endpoint)
                if endpoint.api_version:
                    version = endpoint.api_version
                    self._opened = openai.AzureOpenAI(azure_endpoint=endpoint.base_url, api_version=version, **given)
                else:
                    self._opened = openai.OpenAI(base_url=endpoint.base_url, **given)
            return self._opened
