"""The request body: what a question looks like to a server, and what to change when it takes less than we ask."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from rag_assets.contracts.llm import StructuredPrompt
from rag_assets.llm.shapes import with_less

MAX_ANSWER_TOKENS = 1_500
"""The longest wanted answer (1,800 characters) takes 450 tokens in English and three times that in other scripts."""

_LENGTHS = ("minLength", "maxLength", "title")
"""Servers that compile the schema to a grammar refuse these or cut words at them. They are checked on arrival."""


def answer_schema(answer_type: type) -> dict[str, Any]:
    """The JSON schema of a type that is an object (and does not hold itself), limits included."""
    schema = msgspec.json.schema(answer_type)
    parts: dict[str, Any] = schema.pop("$defs", {})
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    root: dict[str, Any] = parts.pop(name) if name else schema
    return root | ({"$defs": parts} if parts else {})


@dataclass(frozen=True, slots=True)
class RequestShape:
    """Which of three parameters a server takes; the first is what the protocol says. Found out once per run."""

    response_format: Literal["json_schema", "json_object"] = "json_schema"
    temperature: bool = True
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"

    def adapted(self, detail: str) -> RequestShape | None:
        """The shape to try after a 400 that says `detail`; None when there is nothing left to leave out. A refusal that
        names no parameter is taken to mean the newest of the three."""
        return with_less(self, detail, otherwise="response_format")

    def body(self, model: str, prompt: StructuredPrompt, schema: dict[str, Any]) -> bytes:
        """The JSON of one question; equal questions give equal bytes."""
        wire_schema = _without_lengths(schema)
        instructions = prompt.instructions
        response_format: dict[str, Any] = {"type": self.response_format}
        if self.response_format == "json_schema":
            response_format["json_schema"] = {"name": "answer", "strict": True, "schema": wire_schema}
        else:
            instructions += f"\nAnswer with one JSON object of this JSON schema: {json.dumps(wire_schema)}"
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": instructions}, {"role": "user", "content": prompt.data}],
            "response_format": response_format,
            "stream": False,
            self.limit: MAX_ANSWER_TOKENS,
        }
        if self.temperature:
            body["temperature"] = 0
        return json.dumps(body).encode()


def _without_lengths(schema: Any) -> Any:
    if isinstance(schema, dict):
        kept = {key: value for key, value in schema.items() if key not in _LENGTHS or isinstance(value, dict)}
        return {key: _without_lengths(value) for key, value in kept.items()}
    return [_without_lengths(value) for value in schema] if isinstance(schema, list) else schema
