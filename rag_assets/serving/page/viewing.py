"""What all views share: the request with who asks, the labels there are, and what a message offers instead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request

from rag_assets.contracts.evidence import lines_of
from rag_assets.index.generations import Manifest
from rag_assets.serving.access import SCOPE_KEY, Caller, Calling
from rag_assets.serving.http.guards import TOKEN_COOKIE
from rag_assets.serving.operations import Operations
from rag_assets.serving.page.rendering import rendered, url
from rag_assets.settings.config_file import ConfigError, config_of, is_configured

MOST_LABELS = 16
_OFFERED = re.compile(r"^ {2}(\S.*?)(?: {2,}(.*))?$")
"""A line of a message that names what could have been meant, and something about it."""


@dataclass(frozen=True, slots=True)
class Link:
    """`about` stands beside it."""

    text: str
    url: str
    about: str = ""


class View:
    """One request of a browser."""

    def __init__(self, operations: Operations, request: Request) -> None:
        self.operations = operations
        self.request = request

    @property
    def caller(self) -> Caller:
        found = self.request.scope.get(SCOPE_KEY)
        return found.caller if isinstance(found, Calling) else Caller()

    @cached_property
    def manifests(self) -> Mapping[str, Manifest]:
        is_known = isinstance(self.request.scope.get(SCOPE_KEY), Calling)
        return self.operations.manifests(self.caller) if is_known else {}

    @property
    def labels(self) -> list[str]:
        return list(self.manifests)

    @property
    def label(self) -> str | None:
        """The label that is named, None where none is."""
        return self.said("label") or None

    def said(self, name: str) -> str:
        """The value of a parameter, '' where there is none."""
        return self.request.query_params.get(name, "").strip()

    def all_said(self, name: str) -> list[str]:
        return [value for value in self.request.query_params.getlist(name) if value.strip()]

    def here(self, **changed: object) -> str:
        """The address of this view with other parameters, and without where one was on a list of results."""
        kept = {name: self.all_said(name) for name in self.request.query_params if name != "cursor"}
        return url(self.request.url.path, **(kept | changed))

    def rendered(self, template: str, *, title: str, **values: Any) -> str:
        shared = {
            "view": self,
            "title": title,
            "here": self.request.url.path,
            "labels": self.labels,
            "label": self.label,
            "caller": self.caller.name,
            "may_sign_out": TOKEN_COOKIE in self.request.cookies,
            "run_link": self.run_link,
            "source_url": source_url,
        }
        return rendered(template, **(shared | values))

    def run_link(self, run_id: str) -> str:
        """Where Dagster shows a run; '' for a generation without a run, or where `automation.ui_url` is not set: its
        default would lead a reader of another machine to his own."""
        pool = self.operations.pool
        path = config_of(pool.home.root, pool.config)
        if not run_id or path is None:
            return ""
        try:
            address = _dagster_address(path, path.stat().st_mtime_ns)
        except (ConfigError, OSError):
            return ""
        return f"{address}/runs/{quote(run_id, safe='')}" if address else ""


@lru_cache(maxsize=4)
def _dagster_address(config: Path, _: int) -> str:
    from rag_assets.settings import load_settings

    if not is_configured("automation", config):
        return ""
    automation = load_settings(config).automation
    return automation.ui_url if "ui_url" in automation.model_fields_set else ""


def source_url(label: str, path: str, start: int = 0, end: int = 0, commit: str = "") -> str:
    """Where lines of a file are shown."""
    place = lines_of(path, start, end) if start else path
    return url("/source", label=label, place=place, commit=commit) + (f"#L{start}" if start else "")


def candidates(request: Request, message: str, labels: Sequence[str]) -> tuple[str, list[Link]]:
    """What a message says, and what it offers as links: the lines that it lists, or the labels where it is one of them
    that is wrong."""
    said, links = [], []
    parameters = dict(request.query_params)
    name = {"/graph": "start", "/source": "place"}.get(request.url.path, "")
    for line in message.split("\n"):
        offered = _OFFERED.match(line) if name else None
        if offered is None or offered[1].startswith("…"):
            said.append(line)
        else:
            links.append(Link(offered[1], url(request.url.path, **(parameters | {name: offered[1]})), offered[2] or ""))
    if not links and any(label in message for label in labels) and ("label" in message or "index" in message):
        links = [Link(label, url(request.url.path, **(parameters | {"label": label}))) for label in labels]
    return "\n".join(said), links
