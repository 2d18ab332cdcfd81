"""What is wrong with a value in a file of settings or rules, in words of that file and not of a library."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from pydantic import BaseModel

_WANTED = {
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "path_type": "a path",
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
}
"""The error types of pydantic that are about what a value is."""

_GROUPS = ("model_type", "model_attributes_type")


def said_of(problem: Mapping[str, Any], group: type[BaseModel] | None = None) -> str:
    """`must be a list, found text`, of one of the errors of a ValidationError. `group` is the model that had to be at
    its place, where one had to be. Values are shown only where they are no text, which may be a secret."""
    kind, given = problem["type"], problem["input"]
    if kind == "missing":
        return "is missing"
    if kind in _GROUPS and group is not None:
        return f"must be a mapping with {_keys(group)}, found {_found(given)}"
    if kind not in _WANTED:
        said: str = problem["msg"]
        return said.removeprefix("Value error, ").replace("Input should be", "must be", 1)
    quoted = "; write it in quotes" if kind == "string_type" and isinstance(given, (int, float, date)) else ""
    return f"must be {_WANTED[kind]}, found {_found(given)}{quoted}"


def _keys(group: type[BaseModel]) -> str:
    """Those that must be there, or all where none must."""
    fields = group.model_fields
    return ", ".join([name for name, field in fields.items() if field.is_required()] or sorted(fields))


def _found(given: Any) -> str:
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, (int, float, date)):
        return str(given)
    names: dict[type, str] = {str: "text", dict: "a mapping", list: "a list", tuple: "a list", type(None): "nothing"}
    return names.get(type(given), type(given).__name__)
