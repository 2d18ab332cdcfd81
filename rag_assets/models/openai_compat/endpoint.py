"""Where a model server is, and the API key: it comes from the environment, goes into one header, and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from rag_assets.settings.config_file import ConfigError
from rag_assets.settings.urls import is_loopback

if TYPE_CHECKING:
    from rag_assets.settings import AnswerSettings, EmbedderSettings, LlmSettings

MASK = "***"
_PLACEHOLDER_BELOW = 8
"""Servers that want no key get `none` or `ollama` from people; masking such words would only garble texts."""

_HEADER_SAFE = re.compile(r"[!#-\[\]-~]+")
"""Visible ASCII, which every header can carry; not quote and backslash, which JSON would hide from `is_in`."""
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


OPENAI_VARIABLE = "OPENAI_API_KEY"
AZURE_VARIABLE = "AZURE_OPENAI_API_KEY"


class ApiKey:
    """The key of the environment variable `variable`, or none. Its text never shows in a representation; only
    `reveal` has it."""

    __slots__ = ("_secret", "variable")

    def __init__(self, key: str = "", variable: str = "") -> None:
        """Raises ConfigError for a key that no header can carry; the text does not repeat it."""
        if key and not _HEADER_SAFE.fullmatch(key):
            raise ConfigError(f"environment: {variable} has blanks, quotes or characters beyond ASCII; set it again")
        self._secret = SecretStr(key)
        self.variable = variable

    @classmethod
    def of(cls, environment: Mapping[str, str], *variables: str) -> ApiKey:
        """The key of the first of these variables that is set. Raises ConfigError for one that no header can carry."""
        for name in variables:
            key = environment.get(name, "").strip()  # `$(cat file)` on Windows keeps the line end
            if key:
                return cls(key, name)
        return cls("", variables[0])

    def reveal(self) -> str:
        """The key itself, for the client that sends it; empty where there is none."""
        return self._secret.get_secret_value()

    def is_in(self, text: str) -> bool:
        key = self._secret.get_secret_value()
        return len(key) >= _PLACEHOLDER_BELOW and key in text

    def masked(self, text: str) -> str:
        """`text` on one line, without the key and without characters that act on a terminal."""
        key = self._secret.get_secret_value()
        if len(key) >= _PLACEHOLDER_BELOW:
            text = text.replace(key, MASK)
        return _UNPRINTABLE.sub(" ", text).strip()


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

    @classmethod
    def of(
        cls,
        settings: AnswerSettings | EmbedderSettings | LlmSettings,
        section: str,
        variable: str,
        environment: Mapping[str, str] | None = None,
        seconds_key: str = "timeout_seconds",
    ) -> ServerEndpoint:
        """The server of a section of the settings. Its key is in `variable` of the environment (default: that of the
        process), else in the one of the tools of OpenAI, or of Azure where there is an `api_version`. Raises
        ConfigError for a key that no header can carry."""
        version = settings.api_version
        known = os.environ if environment is None else environment
        key = ApiKey.of(known, variable, AZURE_VARIABLE if version else OPENAI_VARIABLE)
        seconds = getattr(settings, seconds_key)
        return cls(settings.base_url, key, seconds, section, seconds_key, version)

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
