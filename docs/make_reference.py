"""Writes docs/reference/cli.md from the commands, docs/reference/api.md from the public names of `rag_assets`, and what
a server answers every agent alike (`agent_answers`).

`make reference` runs it; with `--check` it writes nothing and exits with 1 where a file is out of date.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer.main
from agent_answers import agent_answers

import rag_assets
from rag_assets.cli import PROGRAM, app

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
    for name, text in (
        ("docs/reference/cli.md", cli_reference()),
        ("docs/reference/api.md", api_reference()),
        ("rag_assets/serving/agent_answers.json", agent_answers()),
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
