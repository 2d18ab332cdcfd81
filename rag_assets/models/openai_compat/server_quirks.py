"""What to leave out of a request for text that a server does not understand; found out by its refusals."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeVar

from rag_assets.contracts.llm import ChatMessage
from rag_assets.models.openai_compat.faults import Fault
from rag_assets.models.openai_compat.token_counting import well_formed

T = TypeVar("T")

_NOT_UNDERSTOOD = (400, 422)
"""422 is how servers built on FastAPI refuse a body."""

_NAMED = {
    "limit": re.compile(r"max_tokens"),
    "temperature": re.compile(r"temperature"),
    "schema": re.compile(r"response_format|json_schema|json schema|structured output", re.IGNORECASE),
    "usage": re.compile(r"stream_options|include_usage"),
}
_LESS = {"limit": "max_completion_tokens", "temperature": False, "schema": False, "usage": False}
"""What servers take that refuse the usual: reasoning models refuse `max_tokens` and `temperature`, older servers
`json_schema` and `stream_options`."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which parameters a server takes; the defaults are what the protocol says."""

    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    schema: bool = True
    usage: bool = True

    def without(self, detail: str, otherwise: str = "") -> Parameters | None:
        """What to try after a refusal that says `detail`: all but the first parameter that it names, or `otherwise`
        where it names none. None where there is nothing left to leave out."""
        name = next((name for name, pattern in _NAMED.items() if pattern.search(detail)), otherwise)
        if not name or getattr(self, name) == _LESS[name]:
            return None
        changed: dict[str, Any] = {name: _LESS[name]}
        return replace(self, **changed)

    def request(
        self, model: str, messages: Sequence[ChatMessage], max_tokens: int, temperature: float, schema: str = ""
    ) -> dict[str, Any]:
        """Arguments of `chat.completions.create`; `schema` is that of the answer, as JSON."""
        said = [{"role": message.role, "content": well_formed(message.content)} for message in messages]
        made: dict[str, Any] = {"model": model, "messages": said, self.limit: max_tokens}
        if self.temperature:
            made["temperature"] = temperature
        if schema and self.schema:
            wanted = {"name": "answer", "strict": True, "schema": json.loads(schema)}
            made["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return made


class ServerQuirks:
    """The parameters that each model of a server takes. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken: dict[tuple[str, bool], Parameters] = {}
        self._proven: set[tuple[str, bool]] = set()

    def ask(self, send: Callable[[Parameters], T | Fault], model: str, *, has_schema: bool) -> T | Fault:
        """What `send` returns, sent again with less while the server refuses a parameter, once for each at most.

        A refusal that names none is taken to mean the schema, until a question with one was answered: later it is
        about that question. Where leaving it out did not help, it was not the schema.
        """
        asked = (model, has_schema)
        left = len(fields(Parameters))
        while True:
            with self._lock:
                tried = self._taken.get(asked, Parameters())
            outcome = send(tried)
            if not isinstance(outcome, Fault):
                with self._lock:
                    self._proven.add(asked)
                return outcome
            is_worth_it = outcome.status in _NOT_UNDERSTOOD and left > 0
            if not is_worth_it or not self._adapts(asked, tried, outcome.detail):
                return outcome
            left -= 1

    def _adapts(self, asked: tuple[str, bool], tried: Parameters, detail: str) -> bool:
        """True when the question is worth sending again: with less, or as others have found out meanwhile."""
        with self._lock:
            if self._taken.get(asked, Parameters()) != tried:
                return True
            is_proven = asked in self._proven
            less = tried.without(detail, "schema" if asked[1] and not is_proven else "")
            if less is not None:
                self._taken[asked] = less
            elif not is_proven:
                self._taken.pop(asked, None)
            return less is not None
