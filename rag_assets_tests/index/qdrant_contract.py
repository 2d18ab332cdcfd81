"""Qdrant's own description of its REST interface, to compare the double of the tests (`qdrant_wire`) with.

The requests and replies of `qdrant-client` are generated from that document, so its models stand for it; they know
which path takes and gives which. Where `QDRANT_OPENAPI` names the document itself, that is asked too.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from qdrant_client.http import api, models

DOCUMENT_VARIABLE = "QDRANT_OPENAPI"

_BUILDER = re.compile(
    r"def _build_for_\w+\(\n(?P<parameters>.*?)\n    \):.*?"
    r"type_=(?P<reply>m\.\w+),\s+method=\"(?P<method>\w+)\",\s+url=\"(?P<url>[^\"]+)\",(?P<rest>.*?)\n        \)",
    re.DOTALL,
)
_BODY = re.compile(r"body = jsonable_encoder\((\w+)\)")


@dataclass(frozen=True)
class Operation:
    """What a path takes (None: no body) and gives."""

    method: str
    url: str
    body: Any
    reply: Any

    def matches(self, method: str, path: str) -> bool:
        pattern = re.sub(r"\{\w+\}", "[^/]+", self.url)
        return method == self.method and re.fullmatch(pattern, path) is not None


@cache
def operations() -> tuple[Operation, ...]:
    """All of the client's generated interface."""
    found = []
    for name in ("collections_api", "points_api", "search_api", "indexes_api", "aliases_api", "service_api"):
        source = inspect.getsource(inspect.getmodule(getattr(api, name)) or getattr(api, name))
        for match in _BUILDER.finditer(source.partition("\nclass Async")[0]):
            body = _BODY.search(match[0])
            kind = re.search(rf"\n\s+{body[1]}: (m\.\w+)", "\n" + match["parameters"]) if body else None
            found.append(
                Operation(
                    match["method"],
                    match["url"].rstrip("/") or "/",
                    _model(kind[1]) if kind else None,
                    _model(match["reply"]),
                )
            )
    return tuple(found)


def _model(name: str) -> Any:
    return getattr(models, name.removeprefix("m."))


def operation_of(method: str, path: str) -> Operation:
    """Raises LookupError for what Qdrant does not have."""
    # A fixed path goes before one with a name in it: `/collections/aliases` is no collection.
    fitting = sorted((found for found in operations() if found.matches(method, path)), key=lambda one: "{" in one.url)
    if not fitting:
        raise LookupError(f"{method} {path} is no operation of Qdrant")
    return fitting[0]


def problems(method: str, path: str, body: Any, reply: Any) -> Iterator[str]:
    """What is wrong with a request and its reply by the models of the client."""
    operation = operation_of(method, path)
    where = f"{method} {operation.url}"
    if (body is None) != (operation.body is None):
        yield f"{where}: a body is {'missing' if body is None else 'not expected'}"
    elif body is not None:
        yield from (f"{where} request: {text}" for text in _compared(operation.body, body))
    yield from (f"{where} reply: {text}" for text in _compared(operation.reply, reply))


def _compared(kind: Any, value: Any) -> Iterator[str]:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    try:
        read = adapter.validate_python(value)
    except ValidationError as error:
        yield str(error)
        return
    written = adapter.dump_python(read, mode="json", exclude_unset=True, by_alias=True)
    yield from _unknown(value, written, "")


def _unknown(value: Any, known: Any, at: str) -> Iterator[str]:
    """Keys that the model does not have, and so left out."""
    if isinstance(value, dict) and isinstance(known, dict):
        for key, inner in value.items():
            if key not in known:
                yield f"{at}/{key} is not in the description"
            else:
                yield from _unknown(inner, known[key], f"{at}/{key}")
    elif isinstance(value, list) and isinstance(known, list):
        for number, (inner, other) in enumerate(zip(value, known, strict=True)):
            yield from _unknown(inner, other, f"{at}/{number}")


class OpenApi:
    """The document itself."""

    def __init__(self, path: Path) -> None:
        self._document = json.loads(path.read_text(encoding="utf-8"))

    def problems(self, method: str, path: str, body: Any, reply: Any) -> Iterator[str]:
        url = operation_of(method, path).url
        found = self._document["paths"][url if url in self._document["paths"] else f"{url}/"][method.lower()]
        if body is not None:
            schema = found["requestBody"]["content"]["application/json"]["schema"]
            yield from (f"{method} {url} request: {text}" for text in self._errors(schema, body))
        schema = found["responses"]["200"]["content"]["application/json"]["schema"]
        yield from (f"{method} {url} reply: {text}" for text in self._errors(schema, reply))

    def _errors(self, schema: Any, value: Any) -> Iterator[str]:
        from jsonschema import Draft7Validator

        whole = self._plain({**schema, "components": self._document["components"]})
        for error in Draft7Validator(whole).iter_errors(value):
            yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"

    def _plain(self, schema: Any) -> Any:
        """OpenAPI's `nullable` as JSON Schema writes it."""
        if isinstance(schema, list):
            return [self._plain(inner) for inner in schema]
        if not isinstance(schema, dict):
            return schema
        made = {key: self._plain(inner) for key, inner in schema.items() if key != "nullable"}
        return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") is True else made


def document() -> OpenApi | None:
    """The one that `QDRANT_OPENAPI` names."""
    named = os.environ.get(DOCUMENT_VARIABLE)
    return OpenApi(Path(named)) if named else None
