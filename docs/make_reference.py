"""Writes docs/reference: commands, settings, public names of `rag_assets`, tools of agents, fields of points, each page
from what the code itself says; the pictures of the concepts; what a server answers every agent alike (`agent_answers`).

`make reference` runs it; with `--check` it writes nothing and exits with 1 where a file is out of date.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer.main
from agent_answers import agent_answers
from pictures import PICTURES, svg

import rag_assets
from rag_assets.cli import PROGRAM, app
from rag_assets.contracts.payload import RagVectorPayload, pascal_case
from rag_assets.settings import Settings
from rag_assets.settings.template import every_setting

ROOT = Path(__file__).parents[1]
_NOTE = "<!-- Written by `make reference`; do not edit. -->\n"
_NO_DEFAULT = (None, False, "", (), [])  # said by the help text where it matters


def cli_reference() -> str:
    """Every command with its arguments and options, in the order of `rag-assets --help`."""
    group: Any = typer.main.get_command(app)
    lines = [f"# Command line\n\n{_NOTE}", f"{group.help}\n", f"{group.epilog}\n", "## Global options\n"]
    lines += [*_parameters(group, without=("install_completion", "show_completion"))]
    for name, command in group.commands.items():
        lines += _command(f"{PROGRAM} {name}", command, level=2)
    return _page(lines)


def api_reference() -> str:
    """Every name that `rag_assets` exports, with its signature and its docstring."""
    lines = [f"# Python API\n\n{_NOTE}", f"{_text(rag_assets)}\n"]
    for name in sorted(rag_assets.__all__):
        found = getattr(rag_assets, name)
        if inspect.isclass(found):
            lines += _class(name, found)
        elif callable(found):
            lines += [f"## `{name}`\n", _code(f"{name}{_signature(found)}"), f"{_text(found)}\n"]
    return _page(lines)


def settings_reference() -> str:
    """Every setting with its default, by group. In a group its name is left out."""
    lines = [
        f"# Settings\n\n{_NOTE}",
        "Settings are read from `rag_assets.yaml` in the current folder or above it, or from the file of `--config`. "
        "`rag-assets init` writes one, `rag-assets config check` says what is wrong with it.\n",
        "The environment wins over the file: `RAG_ASSETS__EMBEDDER__PRECISION=fp32` sets `embedder.precision`. "
        "Keys and passwords come from the environment only.\n",
    ]
    groups: dict[str, list[tuple[str, ...]]] = {"": []}
    for one in every_setting():
        default = "required" if one["required"] else _json(one["default"])
        group, dot, name = one["name"].partition(".")
        rows = groups.setdefault(group if dot else "", [])
        rows.append((f"`{name or one['name']}`", default, one["description"]))
    for group, rows in groups.items():
        field = Settings.model_fields.get(group.removesuffix("[]"))
        lines.append(f"## `{group}`\n\n{_sentence(field.description)}\n" if field else "## Top of the file\n")
        lines.append(_table(("Setting", "Default", "Meaning"), rows))
    return _page(lines)


def tools_reference(answers: str) -> str:
    """The tools, prompts and resources of MCP with their arguments."""
    known = json.loads(answers)
    lists = known["handshake"]["answers"]
    lines = [
        f"# Tools of agents\n\n{_NOTE}",
        "An agent that is connected by `rag-assets mcp`, or to `/mcp` of `rag-assets serve`, has these "
        "[tools](../agents.md). The routes of `/api/v1` take the same arguments ([serving](../serving.md)).\n",
    ]
    for tool in [*lists["tools/list"]["tools"], known["index"]]:
        only = " Only `rag-assets mcp --allow-index` has it." if tool is known["index"] else ""
        lines.append(f"## `{tool['name']}`\n\n{tool['description']}{only}\n")
        schema = tool["inputSchema"]
        rows = [
            (
                f"`{name}`",
                _schema(argument),
                "required" if name in schema.get("required", ()) else _json(argument.get("default")),
                argument.get("description", ""),
            )
            for name, argument in schema["properties"].items()
        ]
        lines.append(_table(("Argument", "Takes", "Default", "Meaning"), rows))
    prompts = [
        (f"`{one['name']}`", ", ".join(f"`{argument['name']}`" for argument in one["arguments"]), one["description"])
        for one in lists["prompts/list"]["prompts"]
    ]
    found = lists["resources/templates/list"]["resourceTemplates"]
    resources = [(f"`{one['uriTemplate']}`", one["description"]) for one in found]
    lines += ["## Prompts\n", _table(("Prompt", "Arguments", "For"), prompts)]
    lines += ["## Resources\n", _table(("Address", "Is"), resources)]
    return _page(lines)


def payload_reference() -> str:
    """The fields of a point, in the groups of the contract, with what its source says of them."""
    lines = [
        f"# Fields of a point\n\n{_NOTE}",
        "Each section is one point: a vector and this payload. It is in the vector store, in the tables of a build "
        "and in `rag-assets show ID --json`. What is empty is left out. Stores have an index on the fields that are "
        "marked as filters.\n",
    ]
    fields = {one.name: one for one in dataclasses.fields(RagVectorPayload)}
    groups: dict[str, list[tuple[str, ...]]] = {}
    for line in inspect.getsource(RagVectorPayload).splitlines():
        if heading := re.fullmatch(r"    # (.+)", line):
            rows = groups.setdefault(re.sub(r"^extensions: |\s*\([§R].*\)$", "", heading[1]), [])
        elif (found := re.match(r"    (\w+): [^#]*(?:# (.+))?$", line)) and found[1] in fields:
            field = fields[found[1]]
            meaning = re.sub(r"\s*\((?:[A-F]\d{2}|R\d{1,2})\)", "", found[2] or "")
            kind = str(field.type).replace(" | None", "")
            rows.append((f"`{pascal_case(field.name)}`", f"`{kind}`", "yes" * ("index" in field.metadata), meaning))
    for group, rows in groups.items():
        lines.append(f"## {group[0].upper()}{group[1:]}\n")
        lines.append(_table(("Field", "Type", "Filter", "Meaning"), rows))
    return _page(lines)


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *(tuple(map(_cell, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _schema(schema: dict[str, Any]) -> str:
    """`one of outline, source`, `list of string`, `integer, 1 to 20`"""
    if "anyOf" in schema:
        return ", or ".join(_schema(one) for one in schema["anyOf"] if one.get("type") != "null")
    if "enum" in schema:
        return "one of " + ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_schema(schema['items'])}"
    bounds = [str(schema[name]) for name in ("minimum", "maximum") if name in schema]
    return str(schema.get("type", "any")) + (f", {' to '.join(bounds)}" if len(bounds) == 2 else "")


def _json(value: Any) -> str:
    return "" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _sentence(text: str | None) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _command(path: str, command: Any, level: int) -> Iterator[str]:
    yield f"{'#' * level} `{path}`\n"
    yield f"{inspect.cleandoc(command.help or '')}\n"
    subcommands = getattr(command, "commands", None)
    if subcommands is not None:
        for name, inner in subcommands.items():
            yield from _command(f"{path} {name}", inner, level + 1)
        return
    arguments = "".join(f" {_argument(one)}" for one in command.params if one.param_type_name == "argument")
    yield _code(f"{path} [OPTIONS]{arguments}")
    yield from _parameters(command)


def _parameters(command: Any, without: tuple[str, ...] = ()) -> Iterator[str]:
    types = get_type_hints(inspect.unwrap(command.callback))
    rows = []
    for one in command.params:
        if one.hidden or one.name in without:
            continue
        if one.param_type_name == "argument":
            rows.append((f"`{_argument(one)}`", one.help or ""))
        else:
            value = "" if one.is_flag else f" {one.metavar or _value(types[one.name])}"
            rows.append((", ".join(f"`{name}{value}`" for name in one.opts), _help(one)))
    if rows:
        yield "| Argument or option | Meaning |\n|---|---|"
        yield "\n".join(f"| {_cell(name)} | {_cell(text)} |" for name, text in rows) + "\n"


def _argument(one: Any) -> str:
    """`QUERY`, `[LABEL]`, `[REPO]...`"""
    name = re.sub(r"^\[(.+)\](\.\.\.)?$|\.\.\.$", r"\1", one.metavar or one.name.upper())
    return f"{name if one.required else f'[{name}]'}{'...' if one.nargs == -1 else ''}"


def _value(kind: Any) -> str:
    """What an option takes: the values of an enum, else the name of the type."""
    while inner := [one for one in get_args(kind) if one is not type(None)]:
        kind = inner[0]
    if issubclass(kind, enum.Enum):
        return "|".join(str(one.value) for one in kind)
    return {str: "TEXT", int: "INTEGER", float: "NUMBER", Path: "PATH"}[kind]


def _help(one: Any) -> str:
    if one.default in _NO_DEFAULT or not one.show_default or "Default:" in (one.help or ""):
        return one.help or ""
    return f"{one.help or ''} Default: {_plain(one.default)}."


def _plain(value: Any) -> str:
    return str(value.value) if isinstance(value, enum.Enum) else str(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _class(name: str, found: type) -> Iterator[str]:
    yield f"## `{name}`\n"
    if issubclass(found, BaseException):
        yield f"Bases: {', '.join(f'`{base.__name__}`' for base in found.__bases__)}\n"
    yield f"{inspect.cleandoc(found.__doc__ or '')}\n"
    if dataclasses.is_dataclass(found):
        fields = [f"| `{one.name}` | `{_cell(str(one.type))}` |" for one in dataclasses.fields(found)]
        yield (
            "\n".join(["| Field | Type |", "|---|---|", *(row for row in fields if not row.startswith("| `_"))]) + "\n"
        )
    own = [kind for kind in found.__mro__ if kind.__module__.partition(".")[0] == "rag_assets"]
    members = {key: value for kind in reversed(own) for key, value in vars(kind).items() if not key.startswith("_")}
    members.pop("model_post_init", None)  # of pydantic
    for key, value in members.items():
        member = value if isinstance(value, property) else getattr(found, key)
        if not (isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)):
            continue
        if _text(member):  # what has no docstring is not for callers
            yield f"### `{name}.{key}`\n"
            if member is not value or inspect.isfunction(value):
                yield _code(f"{key}{_signature(member)}")
            yield f"{_text(member)}\n"


def _text(found: Any) -> str:
    """The docstring; examples in it become a block of code."""
    lines: list[str] = []
    is_example = False
    for line in [*(inspect.getdoc(found) or "").splitlines(), ""]:
        if line.startswith((">>>", "...")) != is_example:
            lines.append("```" if is_example else "```python")
            is_example = not is_example
        lines.append(line)
    return "\n".join(lines).strip()


def _signature(function: Any) -> str:
    """As it is written in the source, one parameter a line where one line is too short."""
    signature = inspect.signature(function)
    parts: list[str] = []
    is_keyword_only = False
    for one in signature.parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not is_keyword_only:
            is_keyword_only = True
            parts.append("*")
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        annotation = "" if one.annotation is one.empty else f": {_annotation(one.annotation)}"
        default = "" if one.default is one.empty else f" = {_default(one.default)}"
        parts.append(f"{stars}{one.name}{annotation}{default}")
    end = "" if signature.return_annotation is signature.empty else f" -> {_annotation(signature.return_annotation)}"
    line = f"({', '.join(parts)}){end}"
    return line if len(line) < 90 else "(\n" + "".join(f"    {part},\n" for part in parts) + f"){end}"


def _annotation(written: Any) -> str:
    return written if isinstance(written, str) else inspect.formatannotation(written)


def _default(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    return "..." if callable(value) else repr(value)


def _code(text: str) -> str:
    return f"```\n{text}\n```\n"


def _page(lines: list[str]) -> str:
    return "\n".join(lines).strip() + "\n"


def main() -> int:
    is_check, is_stale = "--check" in sys.argv, False
    answers = agent_answers()
    for name, text in (
        ("docs/reference/cli.md", cli_reference()),
        ("docs/reference/settings.md", settings_reference()),
        ("docs/reference/api.md", api_reference()),
        ("docs/reference/tools.md", tools_reference(answers)),
        ("docs/reference/payload.md", payload_reference()),
        ("rag_assets/serving/agent_answers.json", answers),
        *((f"docs/images/{name}.svg", svg(picture)) for name, picture in PICTURES.items()),
    ):
        file = ROOT / name
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        is_stale = True
        if not is_check:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        print(f"{name} {'is out of date; run: make reference' if is_check else 'written'}")
    return 1 if is_stale and is_check else 0


if __name__ == "__main__":
    sys.exit(main())
