"""Where a model server is, and what it is told of us."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from rag_assets.models.openai_compat.api_key import ApiKey
from rag_assets.settings.base import is_loopback


@dataclass(frozen=True, slots=True)
class ServerEndpoint:
    """One server. An exchange with it takes `seconds` at most; messages name the `section` of the settings, and its key
    that has the seconds. With an `api_version` it is Azure OpenAI: `base_url` is the resource, and the models are names
    of deployments."""

    base_url: str
    key: ApiKey
    seconds: float
    section: str
    seconds_key: str = "timeout_seconds"
    api_version: str = ""

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, where no proxy is asked."""
        return is_loopback(urlsplit(self.base_url).hostname or "")

    def credentials(self) -> dict[str, str]:
        """The header with the key; none without a key."""
        key = self.key.reveal()
        if not key:
            return {}
        return {"api-key": key} if self.api_version else {"Authorization": f"Bearer {key}"}
