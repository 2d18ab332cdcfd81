"""What to leave out of a request that a server does not understand."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any, TypeVar

NOT_UNDERSTOOD = (400, 422)
"""422 is how servers built on FastAPI refuse a body."""

_FORMAT = re.compile(r"response_format|json_schema|json schema|structured output", re.IGNORECASE)
_NAMED = {
    "limit": re.compile(r"max_tokens"),
    "temperature": re.compile(r"temperature"),
    "response_format": _FORMAT,
    "schema": _FORMAT,
    "usage": re.compile(r"stream_options|include_usage"),
}
_LESS = {
    "limit": "max_completion_tokens",
    "temperature": False,
    "response_format": "json_object",
    "schema": False,
    "usage": False,
}
"""Of each parameter, what servers take that refuse the usual: reasoning models `max_tokens` and `temperature`, older
servers `json_schema` and `stream_options`."""

Shape = TypeVar("Shape")


def with_less(shape: Shape, detail: str, otherwise: str = "") -> Shape | None:
    """The shape to try after a refusal that says `detail`: without the first parameter that it names, or without
    `otherwise` where it names none. None where there is nothing left to leave out. `shape` is a dataclass with fields
    of the names above."""
    there: Any = shape
    known = {field.name for field in fields(there)}
    name = next((name for name, pattern in _NAMED.items() if name in known and pattern.search(detail)), otherwise)
    if not name or getattr(shape, name) == _LESS[name]:
        return None
    made: Shape = replace(there, **{name: _LESS[name]})
    return made
