"""What is wrong with a value in a file, in words of that file and not of a library. Loads no library itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, get_args

from rag_assets.suggestions import nearest

Location = tuple[int | str, ...]
"""Where a value is: keys of mappings and indices of lists, from the top."""

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

_CLOSED_SETS = ("literal_error", "enum")
_GROUPS = ("model_type", "model_attributes_type")
_QUOTED = re.compile(r"'([^']*)'")

_STRUCT_PATH = re.compile(r" - at `\$(?P<path>[^`]*)`")
_STRUCT_GOT = re.compile(r", got `\w+`")
"""The type of a value, which messages show themselves."""
_STRUCT_INDEX = re.compile(r"\[(?P<index>\d+)\]")


def model_message(problem: Mapping[str, Any], model: Any) -> str:
    """`search.limit: must be a whole number, found text`, of one of the errors of a ValidationError of `model`. Values
    are shown only where they are no text, which may be a secret."""
    location: Location = problem["loc"]
    named = ".".join(map(str, location))
    if problem["type"] == "extra_forbidden":
        valid = sorted(getattr(_model_at(model, location[:-1]), "model_fields", ()))
        return f"unknown key {named!r}{nearest(str(location[-1]), valid)}"
    said = _cause(problem, _model_at(model, location))
    return f"{named}: {said}" if named else said


def struct_message(error: str) -> tuple[str, Location]:
    """(`expected `int` >= 0`, where in the value) of the text of a msgspec.ValidationError."""
    found = _STRUCT_PATH.search(error)
    inner = _STRUCT_INDEX.match(found["path"]) if found else None
    said = _STRUCT_GOT.sub("", _STRUCT_PATH.sub("", error))
    return said[:1].lower() + said[1:], () if inner is None else (int(inner["index"]),)


def kind_of(value: Any) -> str:
    """What a value is, for messages: `a list`; numbers and dates as they are."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, date)):
        return str(value)
    names: dict[type, str] = {str: "text", dict: "a mapping", list: "a list", tuple: "a list", type(None): "nothing"}
    return names.get(type(value), type(value).__name__)


def _cause(problem: Mapping[str, Any], group: Any) -> str:
    kind, given = problem["type"], problem["input"]
    if kind == "missing":
        return "is missing"
    if kind in _GROUPS and group is not None:
        return f"must be a mapping with {_keys(group)}, found {kind_of(given)}"
    if kind not in _WANTED:
        said: str = problem["msg"]
        valid = _QUOTED.findall(problem["ctx"]["expected"]) if kind in _CLOSED_SETS else []
        near = nearest(given, valid, "") if isinstance(given, str) and valid else ""
        hint = near if "did you mean" in near else ""  # the message lists them all
        return said.removeprefix("Value error, ").replace("Input should be", "must be", 1) + hint
    quoted = "; write it in quotes" if kind == "string_type" and isinstance(given, (int, float, date)) else ""
    return f"must be {_WANTED[kind]}, found {kind_of(given)}{quoted}"


def _keys(group: Any) -> str:
    """Those that must be there, or all where none must."""
    fields = group.model_fields
    return ", ".join([name for name, field in fields.items() if field.is_required()] or sorted(fields))


def _model_at(model: Any, location: Location) -> Any:
    """The model whose keys are at a place; None where it is for a value."""
    for part in location:
        if isinstance(part, str):
            field = getattr(model, "model_fields", {}).get(part)
            if field is None:
                return None
            model = _model_of(field.annotation)
    return model if hasattr(model, "model_fields") else None


def _model_of(annotation: Any) -> Any:
    """The model class inside `Model`, `tuple[Model, ...]` or `Model | None`."""
    return next((one for one in (annotation, *get_args(annotation)) if hasattr(one, "model_fields")), annotation)
