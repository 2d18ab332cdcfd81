"""The site (`make docs`): the pages below, as they are read on the host too, and `llms.txt` for agents.

A page is plain CommonMark. What only the site needs is added here: the tables of contents, and addresses for links that
lead out of this folder.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import tomllib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

HERE = Path(__file__).parent
ROOT = HERE.parent

SECTIONS: dict[str, tuple[str, ...]] = {
    "start/index": ("start/dotnet-team", "start/agent", "start/data-platform"),
    "concepts/index": (
        "concepts/build",
        "concepts/points",
        "concepts/generations",
        "concepts/search",
        "concepts/answers",
        "concepts/graph",
        "concepts/gate",
        "concepts/readers",
    ),
    "guides": (
        "searching",
        "asking",
        "agents",
        "serving",
        "operations",
        "evaluation",
        "graph",
        "graph-import",
        "artifacts",
        "documents",
        "embedder",
        "pipelines",
        "query-log",
        "scaling",
        "extending",
    ),
    "reference/index": (
        "reference/cli",
        "reference/settings",
        "reference/api",
        "reference/tools",
        "reference/payload",
        "json",
        "glossary",
        "domain",
        "acceptance",
    ),
    "measured": ("benchmarks", "corpora", "comparison"),
    "project": ("architecture", "decisions/index"),
    "decisions/index": tuple(f"decisions/{path.stem}" for path in sorted((HERE / "decisions").glob("0*.md"))),
}
"""Overview of a section → its pages, in the order of reading. Every page of this folder is in here once. None beside
this file may be called search or genindex: Sphinx makes pages of these names."""

REPOSITORY = os.environ.get("RAG_ASSETS_REPOSITORY", "").rstrip("/")
"""Where files outside of this folder are shown, such as https://host/owner/name/blob/main; '' for nowhere: then the
site names them without a link."""

project = "rag-assets"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["examples"]
myst_heading_anchors = 4
html_theme = "pydata_sphinx_theme"
html_title = project
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "footer_start": [],
    "footer_end": [],
    "show_prev_next": True,
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": []}

_LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.DOTALL | re.MULTILINE)
_LOADED = re.compile(
    r"""<(?:script|img|iframe|link(?![^>]*rel="canonical"))[^>]*(?:src|href)=["'](?:https?:)?//[^>]*>"""
)
_LOG = logging.getLogger(__name__)


def prepared(_: Sphinx, page: str, source: list[str]) -> None:
    source[0] = _outside_links(page, source[0])
    if page == "index":
        source[0] += _contents(tuple(name for name in SECTIONS if name != "decisions/index"))
    elif page in SECTIONS:
        source[0] += _contents(tuple(f"/{name}" for name in SECTIONS[page]), is_shown=page == "decisions/index")


def _contents(names: tuple[str, ...], *, is_shown: bool = False) -> str:
    shown = ":maxdepth: 1" if is_shown else ":hidden:"
    return f"\n\n```{{toctree}}\n{shown}\n\n" + "\n".join(names) + "\n```\n"


def _outside_links(page: str, text: str) -> str:
    """With links to files outside of this folder as links to the host, or without a link."""

    def resolved(found: re.Match[str]) -> str:
        target, _, anchor = found[3].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), target))
        if path.startswith("docs/") and not path.startswith("docs/examples/"):
            return found[0]
        if not (ROOT / path).exists():
            _LOG.warning("there is no %s", path, location=page)
        address = f"{REPOSITORY}/{path}" + (f"#{anchor}" if anchor else "")
        return f"{found[1]}[{found[2]}]({address})" if REPOSITORY else found[2]

    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(resolved, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(resolved, text[end:])])


def _first_sentence(page: str) -> tuple[str, str]:
    """Title of a page, and the first sentence below it."""
    text = (HERE / f"{page}.md").read_text(encoding="utf-8")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    if title is None:
        raise ValueError(f"{page}.md has no title")
    blocks = _FENCE.sub("", text[title.end() :]).split("\n\n")
    prose = next((block for block in blocks if re.match(r"\n?[A-Za-z`*\[]", block)), "")
    plain = _LINK.sub(r"\2", " ".join(prose.split()))
    return title[1], re.split(r"(?<=[.!?])\s", plain)[0].rstrip(":")


def llms(application: Sphinx, error: Exception | None) -> None:
    """`llms.txt` (llmstxt.org) and the pages as Markdown beside the HTML."""
    if error is not None or application.builder.name != "html":
        return
    out = Path(application.outdir)
    title, summary = _first_sentence("index")
    lines = [f"# {title}", "", f"> {summary}", ""]
    for overview, pages in SECTIONS.items():
        lines += [f"## {_first_sentence(overview)[0]}", ""]
        for page in pages:
            name, said = _first_sentence(page)
            lines.append(f"- [{name}]({page}.md)" + (f": {said}" if said else ""))
        lines.append("")
    (out / "llms.txt").write_text("\n".join(lines), encoding="utf-8", newline="\n")
    for page in ("index", *SECTIONS, *(page for pages in SECTIONS.values() for page in pages)):
        target = out / f"{page}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE / f"{page}.md", target)


def offline(application: Sphinx, error: Exception | None) -> None:
    """A page must show all of itself where there is no network."""
    if error is None:
        for page in Path(application.outdir).rglob("*.html"):
            if found := _LOADED.search(page.read_text(encoding="utf-8")):
                raise ExtensionError(f"{page.name} loads something from another host: {found[0]}")


def setup(application: Sphinx) -> None:
    application.connect("source-read", prepared)
    application.connect("build-finished", llms)
    application.connect("build-finished", offline)
