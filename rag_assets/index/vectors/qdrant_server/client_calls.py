"""Calls of a Qdrant server: sent again while that may help, and with errors that say what to do."""

from __future__ import annotations

import json
import os
import random
import ssl
import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rag_assets.errors import REBUILD
from rag_assets.index.vectors.vector_api import VectorStoreError
from rag_assets.models.openai_compat.endpoint import ApiKey

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

KEY_VARIABLE = "QDRANT_API_KEY"

OLDEST_SERVER = (1, 19)
"""The first that matches prefixes of keywords, which folders are."""

ATTEMPTS = 5
"""Of one call, with 15 s of waiting between them: a restarted server is back by then."""

FIRST_WAIT_SECONDS = 1.0
LONGEST_WAIT_SECONDS = 60.0
_LEAST_SHARE = 0.5
"""A wait is a random share of its length from this to 1: workers that failed together do not come back together."""

_PASSING = frozenset({408, 429, 500, 502, 503, 504})
_DETAIL_CHARS = 300


class QdrantServer:
    """A connected client. `call` is the only way to it. Safe to use from several threads."""

    def __init__(self, client: QdrantClient, name: str, key: ApiKey | None = None, *, attempts: int = ATTEMPTS) -> None:
        """`name` is what messages call the server; the key only serves to keep it out of them."""
        self._client = client
        self._key = key or ApiKey()
        self._attempts = attempts
        self.name = name

    @classmethod
    def connect(
        cls, url: str, seconds: int, *, attempts: int = ATTEMPTS, environment: Mapping[str, str] | None = None
    ) -> QdrantServer:
        """A client for `url`, whose key is in the environment; sends nothing yet. No request takes longer than
        `seconds`. Raises VectorStoreError where qdrant-client is not installed, ConfigError for an unusable key."""
        key = ApiKey.of(os.environ if environment is None else environment, KEY_VARIABLE)
        try:
            from qdrant_client import QdrantClient
        except ImportError:
            raise VectorStoreError(
                f"vectors are in a Qdrant server ({url}), which needs qdrant-client; run: pip install qdrant-client"
            ) from None
        secure: dict[str, Any] = {}
        if urlsplit(url).scheme == "https":
            secure["verify"] = ssl.create_default_context()  # which knows the authorities of SSL_CERT_FILE
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", message="Api key is used with an insecure connection"
            )  # allowed: settings
            client = QdrantClient(
                url=url,
                api_key=key.reveal() or None,
                timeout=seconds,
                check_compatibility=False,  # `require_version` says more than a warning
                trust_env=False,  # no proxy of the environment: it would see source code
                **secure,
            )
        return cls(client, url, key, attempts=attempts)

    def call(self, doing: str, method: str, **arguments: Any) -> Any:
        """What `client.method(**arguments)` returns. Raises VectorStoreError: "… cannot be `doing`: …"."""
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        attempt = 0
        while True:
            attempt += 1
            try:
                return getattr(self._client, method)(**arguments)
            except (ApiException, QdrantException, ValueError) as error:  # ValueError: the client's own checks
                wait = _wait(error, attempt)
                if wait is None or attempt >= self._attempts:
                    raise VectorStoreError(self._described(doing, error)) from None
                time.sleep(wait)

    def require_version(self) -> str:
        """The version of the server. Raises VectorStoreError for one that is too old."""
        found = str(self.call("reached", "info").version)
        numbers = tuple(int(part) for part in found.split(".")[:2] if part.isdecimal())
        if numbers < OLDEST_SERVER:
            wanted = ".".join(map(str, OLDEST_SERVER))
            raise VectorStoreError(f"Qdrant at {self.name} is version {found}; {wanted} or newer is needed")
        return found

    def close(self) -> None:
        self._client.close()

    def _described(self, doing: str, error: Exception) -> str:
        status, detail = _told(error)
        said = self._key.masked(detail)[:_DETAIL_CHARS]
        hint = _hint(status) if not isinstance(error, ValueError) else REBUILD
        return f"Qdrant at {self.name} cannot be {doing}: {f'{status} ' if status else ''}{said}; {hint}"


def _wait(error: Exception, attempt: int) -> float | None:
    """Seconds until the next try, or None where it would fail alike."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, ResourceExhaustedResponse):
        return float(error.retry_after_s) if error.retry_after_s <= LONGEST_WAIT_SECONDS else None
    if isinstance(error, UnexpectedResponse) and error.status_code not in _PASSING:
        return None
    if isinstance(error, UnexpectedResponse) or (
        isinstance(error, ResponseHandlingException) and not isinstance(error.source, ValueError)
    ):
        bound = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1))
        return bound * random.uniform(_LEAST_SHARE, 1.0)
    return None


def _told(error: Exception) -> tuple[int, str]:
    """(HTTP status, or 0; what the server or the network said)."""
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, UnexpectedResponse):
        text = error.content.decode("utf-8", errors="replace")
        try:
            status = json.loads(text)["status"]
        except (ValueError, KeyError, TypeError):
            return error.status_code or 0, text
        told = status.get("error", status) if isinstance(status, dict) else status
        return error.status_code or 0, str(told)
    if isinstance(error, ResponseHandlingException):
        return 0, str(error.source) or type(error.source).__name__
    return 0, str(error) or type(error).__name__


def _hint(status: int) -> str:
    if status in (401, 403):
        return f"set {KEY_VARIABLE} in the environment"
    if status == 404:
        return REBUILD
    if status:
        return "see its log"
    return "is the server of stores.qdrant_url up? What is written stays; then run the same again"
