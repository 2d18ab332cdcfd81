"""Templates: every text that they are given is escaped, and its control characters are made visible."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rag_assets.graph.picture import BOX_HEIGHT, BOX_WIDTH, Picture
from rag_assets.printable import printable

STATIC = Path(__file__).parent / "static"
_TEMPLATES = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader([_TEMPLATES, STATIC]),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"url": url, "static": _static, "BOX_WIDTH": BOX_WIDTH, "BOX_HEIGHT": BOX_HEIGHT}
    made.filters |= {"short": lambda commit: str(commit)[:10], "count": lambda number: f"{number:,}"}
    return made


def rendered(template: str, **values: Any) -> str:
    return environment().get_template(template).render(**values)


def graph_svg(picture: Picture) -> str:
    """A picture of a graph as a file of its own, with its colours in it."""
    return rendered("graph.svg", picture=picture)


def url(path: str, /, **parameters: object) -> str:
    """An address on this server; what is empty is left out."""
    named = [(name, one) for name, value in parameters.items() for one in _values(value) if one not in (None, "")]
    return quote(path) + (f"?{urlencode(named, quote_via=quote, errors='replace')}" if named else "")


def _values(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else [value]


def _visible(value: Any) -> Any:
    return Markup(escape(printable(value))) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _static(name: str) -> str:
    """The address of a file, which changes with it: a browser may keep what it has."""
    return f"/static/{name}?{hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:8]}"
