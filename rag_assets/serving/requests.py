"""What can be asked: the arguments of the tools, of the HTTP routes and of the page, with their bounds.

A wrong argument is answered by what would be right, so that a model can repair its call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from rag_assets.errors import WrongUsage
from rag_assets.identifiers import singular
from rag_assets.search.outline import Detail
from rag_assets.search.touched_nodes import Touched
from rag_assets.suggestions import nearest

_LONGEST_NAME = 500
_MOST_LABELS = 16
_MOST_VALUES = 32

Name = Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME)]
Label = Annotated[Name | None, Field(description="Which index; default: that of your folder")]


class GraphQuery(StrEnum):
    """What a walk of the graph looks for."""

    AROUND = "around"
    CALLERS = "callers"
    USES = "uses"
    IMPACT = "impact"
    PATH = "path"


class WrongArguments(WrongUsage, ValueError):
    """Arguments that no operation takes; the text says what is valid."""


def _one_of_many(value: object) -> object:
    """`Tests` is `test`."""
    return singular(value.strip().lower()) if isinstance(value, str) else value


class Request(BaseModel):
    """The arguments of one operation; others are refused."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True, frozen=True)

    @field_validator("paths", "kinds", "only", mode="before", check_fields=False)
    @classmethod
    def _one_is_a_list(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("relation", "detail", mode="before", check_fields=False)
    @classmethod
    def _in_any_case(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value


class SearchRequest(Request):
    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4000,
            description='Words, a question, an identifier, a stack trace, "text as written" in quotes, or src/A.cs:42 '
            "for similar code",
        ),
    ]
    label: Annotated[
        Name | Annotated[list[Name], Field(min_length=1, max_length=_MOST_LABELS)] | None,
        Field(description="Which index, or several; default: that of your folder, else the only one"),
    ] = None
    limit: Annotated[int, Field(ge=1, le=20)] = 5
    detail: Annotated[Detail, Field(description="How much of each hit")] = Detail.OUTLINE
    paths: Annotated[list[Name], Field(max_length=_MOST_VALUES, description="Only these files, folders or globs")] = []
    kinds: Annotated[list[Name], Field(max_length=_MOST_VALUES, description="Only these, as Service or Test")] = []
    max_tokens: Annotated[int, Field(ge=200, le=8000)] = 1500
    cursor: Annotated[
        str | None, Field(max_length=40, description="As the last answer gave it, for the hits after it")
    ] = None


class ReadRequest(Request):
    place: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1000,
            description="A file, lines of it (src/A.cs:12-40), a symbol (Order.Refund) or a point id",
        ),
    ]
    label: Label = None
    commit: Annotated[
        str | None,
        Field(max_length=64, description="Another commit or branch, HEAD~1; worktree: as it is now"),
    ] = None
    context: Annotated[int, Field(ge=0, le=50, description="Lines before and after")] = 0
    max_tokens: Annotated[int, Field(ge=200, le=16000)] = 3000


class SymbolRequest(Request):
    name: Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME, description="As Order, or Shop.Order.Refund")]
    label: Label = None
    max_tokens: Annotated[int, Field(ge=200, le=8000)] = 1500


class GraphRequest(Request):
    start: Annotated[
        Name | None, Field(description="A symbol, table, route (POST /api/orders), file or src/A.cs:12")
    ] = None
    relation: Annotated[
        GraphQuery,
        Field(
            description="callers: who calls, reads, sets or is given it; impact: what breaks if it changes; "
            "uses: what it needs; path: how it leads to `to`"
        ),
    ] = GraphQuery.AROUND
    to: Annotated[Name | None, Field(description="The end of a path")] = None
    since: Annotated[
        Name | None,
        Field(description="Instead of start: impact of what changed since this commit or branch; HEAD: your edits"),
    ] = None
    depth: Annotated[int, Field(ge=1, le=6)] = 2
    only: Annotated[list[Annotated[Touched, BeforeValidator(_one_of_many)]], Field(max_length=len(Touched))] = []
    limit: Annotated[int, Field(ge=1, le=200)] = 20
    label: Label = None
    max_tokens: Annotated[int, Field(ge=200, le=8000)] = 1500


class AskRequest(Request):
    question: Annotated[str, Field(min_length=1, max_length=4000)]
    label: Label = None
    max_tokens: Annotated[int, Field(ge=200, le=8000)] = 1500


class StatusRequest(Request):
    label: Annotated[Name | None, Field(description="Only this index, with the reasons of skipped files")] = None
    compare: Annotated[
        Name | None, Field(description="Routes, tables, edges that differ from this generation (or `previous`)")
    ] = None


@dataclass(frozen=True, slots=True)
class Operation:
    """What can be asked, by the name of its tool and its route. `says` is what a model and a program read about it."""

    name: str
    request: type[Request]
    says: str


OPERATIONS = (
    Operation("search", SearchRequest, "Find places in the repository by words, behaviour, identifier or error."),
    Operation("read", ReadRequest, "Numbered lines of a place at the indexed commit, another commit or now."),
    Operation("symbol", SymbolRequest, "Declaration, documentation, members and relatives of a name."),
    Operation("graph", GraphRequest, "Callers, uses, impact of a change, a path between nodes, with file and line."),
    Operation("ask", AskRequest, "A question answered by quotes with checked citations, or refused."),
    Operation("status", StatusRequest, "Indexes, their commit against HEAD, counts, skipped files."),
)

R = TypeVar("R", bound=Request)


def parsed(model: type[R], arguments: Mapping[str, Any]) -> R:
    """The request in untrusted arguments. Raises WrongArguments, which names each wrong one and what is valid."""
    try:
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        found = error.errors(include_url=False)
        unknown = [str(one["loc"][0]) for one in found if one["type"] == "extra_forbidden"]
        rest = [_plain(model, one) for one in found if one["type"] != "extra_forbidden"]
        problems = list(dict.fromkeys([*rest[:_MOST_PROBLEMS], *_unknown(model, unknown)]))
        more = [f"and {len(rest) - _MOST_PROBLEMS:,} more"] if len(rest) > _MOST_PROBLEMS else []
        raise WrongArguments("; ".join([*problems, *more])) from None


def too_slow(seconds: float) -> str:
    """What is said of a request that took longer than that."""
    return f"this took over {seconds:.0f} s and was given up; ask for less, or narrow it"


_SHOWN = 80
_MOST_PROBLEMS = 8


_TYPES = {"int": "a whole number", "finite": "a whole number", "string": "a text", "list": "a list of texts"}
"""Beginnings of the names that pydantic gives to a value of another type."""


def _plain(model: type[Request], problem: Mapping[str, Any]) -> str:
    """One problem in plain words, without the words of the library."""
    name = str(problem["loc"][0]) if problem["loc"] else ""
    kind, about = problem["type"], problem.get("ctx", {})
    if kind == "missing":
        return f"{name} is missing"
    if kind in ("enum", "literal_error"):
        return f"{name} is {_short(problem['input'])!r}; valid: {str(about['expected']).replace(chr(39), '')}"
    bound = _bounds(model, name)
    if kind in ("greater_than_equal", "less_than_equal") and bound:
        return f"{name} is {_short(problem['input'])}; it must be {bound}"
    if kind == "string_too_short":
        return f"{name} is empty"
    if kind == "string_too_long":
        return f"{name} has {len(str(problem['input'])):,} characters; at most {about['max_length']:,}"
    if kind == "too_long":
        return f"{name} has {about['actual_length']:,} values; at most {about['max_length']:,}"
    if kind == "too_short":
        return f"{name} is an empty list; leave it out"
    wanted = next((said for start, said in _TYPES.items() if kind.startswith(start)), str(problem["msg"]).lower())
    return f"{name} is {_short(problem['input'])!r}; it must be {wanted}"


def _unknown(model: type[Request], names: Sequence[str]) -> list[str]:
    """The arguments that there are not, in one line."""
    known = list(model.model_fields)
    if len(names) == 1:
        return [f"no argument {_short(names[0])!r}{nearest(names[0], known, 'there are')}"]
    more = f" and {len(names) - _MOST_PROBLEMS:,} more" if len(names) > _MOST_PROBLEMS else ""
    listed = ", ".join(repr(_short(name)) for name in names[:_MOST_PROBLEMS])
    return [f"no arguments {listed}{more}; there are: {', '.join(known)}"] if names else []


def _bounds(model: type[Request], name: str) -> str:
    limits = {
        key: getattr(one, key) for one in model.model_fields[name].metadata for key in ("ge", "le") if hasattr(one, key)
    }
    return f"{limits['ge']:,} to {limits['le']:,}" if len(limits) > 1 else ""


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def schema_of(model: type[Request]) -> dict[str, Any]:
    """The JSON schema of the arguments without what a caller does not need: titles, and that what may be left out may
    be null too. Every token of it is paid for by each session of an agent."""
    made = model.model_json_schema()
    definitions = made.pop("$defs", {})
    properties = {name: _compact(value, definitions) for name, value in made["properties"].items()}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if made.get("required"):
        schema["required"] = made["required"]
    return schema | {"additionalProperties": False}


def _compact(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: one for key, one in value.items() if key not in ("title", "$ref", "anyOf", "minLength", "maxItems")}
    if "$ref" in value:
        named = definitions[value["$ref"].rpartition("/")[2]]
        kept = {"enum": named["enum"]} | kept
    if "anyOf" in value:
        options = [_compact(one, definitions) for one in value["anyOf"] if one.get("type") != "null"]
        kept = (options[0] if len(options) == 1 else {"anyOf": options}) | kept
    if "items" in kept:
        kept["items"] = _compact(kept["items"], definitions)
    if kept.get("default", 0) in (None, []):
        del kept["default"]
    if kept.get("maxLength") == _LONGEST_NAME:
        del kept["maxLength"]
    return kept
