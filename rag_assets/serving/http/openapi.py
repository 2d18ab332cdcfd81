"""The OpenAPI document of the routes for programs, made of the requests themselves."""

from __future__ import annotations

from typing import Any

from rag_assets.serving.http.api import PREFIX, ROUTES
from rag_assets.serving.requests import Operation
from rag_assets.version import own_version

_ERRORS = {
    "400": "Wrong arguments; the message says what is valid.",
    "401": "A bearer token is needed, or this one is unknown, revoked or expired.",
    "404": "No such index, place or symbol; the message names near ones.",
    "408": "The body did not come within the time limit.",
    "429": "Too many requests; Retry-After says when to come back.",
    "504": "Given up after the time limit.",
}


def document() -> dict[str, Any]:
    """OpenAPI 3.1."""
    schemas: dict[str, Any] = {
        "Error": {
            "type": "object",
            "properties": {
                "error": {
                    "type": "object",
                    "properties": {name: {"type": "string"} for name in ("type", "message", "request_id")},
                    "required": ["type", "message", "request_id"],
                }
            },
            "required": ["error"],
        }
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "rag-assets", "version": own_version() or "0"},
        "paths": {f"{PREFIX}/{one.name}": _path(one, schemas) for one in ROUTES},
        "components": {"schemas": schemas, "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"bearer": []}],
    }


def _path(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    made = operation.request.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= made.pop("$defs", {})
    name = operation.request.__name__
    schemas[name] = made
    required = set(made.get("required", ()))
    answers = {"200": {"description": operation.says, "content": _content(operation)}} | {
        status: {"description": said, "content": {"application/json": {"schema": _ref("Error")}}}
        for status, said in _ERRORS.items()
    }
    return {
        "get": {
            "operationId": operation.name,
            "summary": operation.says,
            "parameters": [
                {"name": argument, "in": "query", "required": argument in required, "schema": schema}
                for argument, schema in made["properties"].items()
            ],
            "responses": answers,
        },
        "post": {
            "operationId": f"{operation.name}_body",
            "summary": operation.says,
            "requestBody": {"required": bool(required), "content": {"application/json": {"schema": _ref(name)}}},
            "responses": answers,
        },
    }


def _content(operation: Operation) -> dict[str, Any]:
    kinds: dict[str, Any] = {
        "application/json": {"schema": {"type": "object"}},
        "text/plain": {"schema": {"type": "string"}},
    }
    if operation.name == "ask":
        kinds["text/event-stream"] = {"schema": {"type": "string"}}
    return kinds


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}
