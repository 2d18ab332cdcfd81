"""What decides an answer, and where known answers are kept: the same prompt is never paid for twice."""

from __future__ import annotations

import json
from typing import Any, Protocol

import msgspec

from rag_assets.contracts.identity import cache_key
from rag_assets.contracts.llm import StructuredPrompt

CACHE_NAME = "llm"


SERVICE_VERSION = 1
"""Part of every key. Raise it when requests change in a way that changes answers."""


def answer_schema(answer_type: type) -> dict[str, Any]:
    """The JSON schema of a type that is an object (and does not hold itself), limits included."""
    schema = msgspec.json.schema(answer_type)
    parts: dict[str, Any] = schema.pop("$defs", {})
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    root: dict[str, Any] = parts.pop(name) if name else schema
    return root | ({"$defs": parts} if parts else {})


def answer_key(model: str, schema: dict[str, Any], prompt: StructuredPrompt) -> bytes:
    """All that decides an answer; where the server is does not."""
    version, described = str(SERVICE_VERSION), json.dumps(schema, sort_keys=True)
    return cache_key(CACHE_NAME, version, model, described, prompt.instructions, prompt.data)


class AnswerStore(Protocol):
    """Where a service looks for an answer before it asks, and keeps those that it was given. For several threads."""

    def get(self, key: bytes) -> bytes | None: ...

    def put(self, key: bytes, answer: bytes) -> None: ...

    def close(self) -> None: ...
