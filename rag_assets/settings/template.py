"""The configuration file that `rag-assets init` writes, made from the settings model so that it cannot drift from it.

Only what somebody has to choose is set: the repositories. Every other setting is a comment of one line with its default
and what it means, and holds once `# ` in front of it and of its group is removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from rag_assets.settings import RepositorySettings, Settings
from rag_assets.settings.config_file import CONFIG_NAME, ENV_PREFIX

_OFF = "# "
_INDENT = "  "
_HEADER = f"""\
# {CONFIG_NAME}: list your repositories, then run: rag-assets index
# What is commented out has the default that is shown. To change it, remove the "# " of the line and of its group.
# Check the file with: rag-assets config check. The environment wins over it: {ENV_PREFIX}EMBEDDER__PRECISION=fp32
"""
_OTHERS = """
# Those are the usual settings. See all of them with: rag-assets config settings"""
_EXAMPLE = {"id": "shop", "location": "https://example.org/team/shop.git"}
_USUAL = {
    "repositories": ("id", "location", "ref", "org", "include", "exclude", "domains", "eval_set"),
    "embedder": ("provider", "base_url", "model"),
    "llm": ("provider", "base_url", "model"),
    "stores": ("vectors", "qdrant_url", "catalog", "remote"),
    "search": ("mode", "limit"),
    "answer": ("base_url", "balanced"),
    "balanced": ("model",),
    "retention": ("keep",),
    "evaluation": ("tolerance",),
    "automation": ("cron", "timezone"),
    "": ("home", "roles", "embedder", "llm", "stores", "search", "answer", "retention", "evaluation", "automation"),
}
"""Group → the settings of it that people change; '' is the top of the file. A build works without any of them."""


def commented_settings(repository: dict[str, str] | None, *, every: bool = False) -> str:
    """The text of a new configuration file; `repository` (id, location) becomes the only entry. It has the usual
    settings, or `every` one."""
    lines = [_HEADER, *_repositories(repository, every)]
    for name, field in _chosen("", Settings, every):
        if name != "repositories":
            lines += _setting(name, field, _OFF, every)
    return "\n".join([*lines, *(() if every else [_OTHERS])]) + "\n"


def every_setting(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[dict[str, Any]]:
    """Name, default and description of each setting, in the order of the file; those of list entries as
    `repositories[].id`."""
    for name, field in model.model_fields.items():
        shown = f"{prefix}{name}"
        inner, is_list = _group_in(field.annotation)
        if inner is None or is_list:
            yield {
                "name": shown,
                "required": field.is_required(),
                "default": None if field.is_required() else to_jsonable_python(field.default),
                "description": f"{field.description}{_choices(field.annotation)}",
            }
        if inner is not None:
            yield from every_setting(inner, f"{shown}[]." if is_list else f"{shown}.")


def _chosen(group: str, model: type[BaseModel], every: bool) -> Iterator[tuple[str, FieldInfo]]:
    return ((name, field) for name, field in model.model_fields.items() if every or name in _USUAL[group])


def _repositories(repository: dict[str, str] | None, every: bool) -> Iterator[str]:
    """The entry, of which the id and the location are set; without one it is an example."""
    yield f"repositories:  # {Settings.model_fields['repositories'].description}"
    before = _OFF if repository is None else ""
    shown = repository or _EXAMPLE
    for name, field in _chosen("repositories", RepositorySettings, every):
        dash = "- " if name == next(iter(shown)) else _INDENT
        if name in shown:
            yield f"{before}{_INDENT}{dash}{name}: {_scalar(shown[name])}{_explained(field)}"
        else:
            yield from _setting(name, field, f"{_OFF}{_INDENT}{dash}", every)


def _setting(name: str, field: FieldInfo, before: str, every: bool) -> Iterator[str]:
    """A line with the default and its meaning; for a group a block of them, with an empty line in front."""
    default = field.get_default()
    if isinstance(default, BaseModel):
        if before == _OFF:
            yield ""
        yield f"{before}{name}:{_explained(field)}"
        for inner, inner_field in _chosen(name, type(default), every):
            yield from _setting(inner, inner_field, before + _INDENT, every)
    else:
        yield f"{before}{name}: {_scalar(default)}{_explained(field)}"


def _explained(field: FieldInfo) -> str:
    return f"  # {field.description}{_choices(field.annotation)}"


def _choices(annotation: Any) -> str:
    """` (int8 or fp32)` for a closed set, the keys of an entry for a list of groups or an optional one."""
    if get_origin(annotation) is Literal:
        return f" ({' or '.join(map(str, get_args(annotation)))})"
    group, is_list = _group_in(annotation)
    if group is None or group is annotation:
        return ""
    return f"; {'each ' if is_list else ''}with {', '.join(group.model_fields)}"


def _group_in(annotation: Any) -> tuple[type[BaseModel] | None, bool]:
    """The model of `Model`, `tuple[Model, ...]` or `Model | None`, and whether it is that of a list."""
    found = (one for one in (annotation, *get_args(annotation)) if isinstance(one, type) and issubclass(one, BaseModel))
    return next(found, None), get_origin(annotation) is tuple


def _scalar(value: Any) -> str:
    """A value in YAML's flow style."""
    return yaml.safe_dump(
        [to_jsonable_python(value)], default_flow_style=True, width=float("inf"), allow_unicode=True
    ).strip()[1:-1]
