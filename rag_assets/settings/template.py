"""The commented configuration file, made from the settings model so that it cannot drift from it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import PurePath
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rag_assets.settings import RepositorySettings, Settings
from rag_assets.settings.config_file import CONFIG_NAME, ENV_PREFIX

_INDENT = "  "
_HEADER = f"""\
# {CONFIG_NAME}: every setting with its default. Unknown keys are refused; check with: rag-assets config check
# The environment wins over this file, for example {ENV_PREFIX}EMBEDDER__PRECISION=fp32
"""
_EXAMPLE = {"id": "shop", "location": "https://example.org/team/shop.git"}


def commented_settings(repository: dict[str, str] | None) -> str:
    """The text of a new configuration file; `repository` (id, location) becomes the first entry."""
    lines = [_HEADER]
    for name, field in Settings.model_fields.items():
        if name == "repositories":
            lines += [*_repositories(field, repository), ""]
        else:
            lines += [*_setting(name, field, ""), ""]
    return "\n".join(lines).rstrip() + "\n"


def _repositories(field: FieldInfo, repository: dict[str, str] | None) -> Iterator[str]:
    entry = list(_entry(repository or _EXAMPLE))
    if repository is not None:
        yield f"# {field.description}"
        yield "repositories:"
        yield from entry
        return
    yield f"# {field.description}; an entry looks like this:"
    for line in entry:
        yield f"# {line}"
    yield "repositories: []"


def _entry(values: dict[str, str]) -> Iterator[str]:
    """One item of the list, its fields indented under the dash."""
    lines = []
    for name, field in RepositorySettings.model_fields.items():
        lines += list(_setting(name, field, _INDENT * 2, values.get(name)))
    first = next(i for i, line in enumerate(lines) if not line.lstrip().startswith("#"))
    lines[first] = f"{_INDENT}- {lines[first].lstrip()}"
    return iter(lines)


def _setting(name: str, field: FieldInfo, indent: str, value: Any = None) -> Iterator[str]:
    """A comment and a `name: value` line, or a block of them for a group of settings."""
    default = field.get_default() if value is None else value
    yield f"{indent}# {field.description}{_choices(field.annotation)}"
    if isinstance(default, BaseModel):
        yield f"{indent}{name}:"
        for inner, inner_field in type(default).model_fields.items():
            yield from _setting(inner, inner_field, indent + _INDENT)
    else:
        yield f"{indent}{name}: {_scalar(default)}"


def _choices(annotation: Any) -> str:
    """` (int8 or fp32)` for a closed set, the keys of an entry for a list of groups or an optional one."""
    if get_origin(annotation) is Literal:
        return f" ({' or '.join(map(str, get_args(annotation)))})"
    for inner in get_args(annotation):
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            each = "each " if get_origin(annotation) is tuple else ""
            return f"; {each}with {', '.join(inner.model_fields)}"
    return ""


def _scalar(value: Any) -> str:
    """A value in YAML's flow style."""
    if isinstance(value, PurePath):
        value = value.as_posix()
    if isinstance(value, Enum):
        value = value.value
    plain = list(value) if isinstance(value, tuple) else value
    return yaml.safe_dump([plain], default_flow_style=True, width=float("inf"), allow_unicode=True).strip()[1:-1]
