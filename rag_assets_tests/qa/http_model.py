"""The model of pipelines behind a real HTTP server on loopback, and scripts of what it says to each prompt."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from rag_assets.models.openai_compat.chat import ChatService, Model
from rag_assets.models.openai_compat.client import ModelClient
from rag_assets.models.openai_compat.endpoint import ApiKey, ServerEndpoint
from rag_assets.qa.chat_model import ChatModel
from rag_assets.qa.definition.loader import SHIPPED
from rag_assets_tests.models.llm.model_server import Asked, ModelServer, Reply, completion

Said = str | Reply | Callable[[Asked], str | Reply]

_OPENINGS = {
    file.read_text(encoding="utf-8").split("\n")[1].partition("{")[0]: file.name.removesuffix(".md")
    for file in (SHIPPED / "prompts").iterdir()
}
"""How the system part of a shipped prompt begins → its name."""


def http_model(server: ModelServer, seconds: float = 5.0) -> ChatModel:
    """One try each: what a fault leads to is the business of pipelines here, and retries are tested elsewhere."""
    client = ModelClient(ServerEndpoint(server.url, ApiKey(), seconds, section="answer"))
    service = ChatService(client, retries=0)
    return ChatModel(service, {name: Model(name, 4_000, 0.2) for name in ("cheap", "balanced", "premium")})


def purpose(asked: Asked) -> str:
    """The name of the prompt that a request was made from."""
    system = str(asked.body["messages"][0]["content"])
    return next(name for opening, name in _OPENINGS.items() if system.startswith(opening))


class Script:
    """What the model says, by the name of the prompt: each list in turn, the last one for ever."""

    def __init__(self, server: ModelServer, **said: Said | list[Said]) -> None:
        self._said = {name: saying if isinstance(saying, list) else [saying] for name, saying in said.items()}
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = server
        server.respond = self._respond

    def _respond(self, asked: Asked) -> Reply:
        name = purpose(asked)
        with self._lock:
            number = self._counts[name]
            self._counts[name] += 1
        replies = self._said[name]
        saying = replies[min(number, len(replies) - 1)]
        said = saying(asked) if callable(saying) else saying
        return completion(said) if isinstance(said, str) else said

    def asked(self, name: str) -> list[Asked]:
        """All requests that were made from a prompt, in their order."""
        return [asked for asked in self._server.asked if purpose(asked) == name]

    @property
    def purposes(self) -> list[str]:
        return [purpose(asked) for asked in self._server.asked]


def prompt_text(asked: Asked) -> str:
    """Everything that the model got to read."""
    return "\n".join(str(message["content"]) for message in asked.body["messages"])
