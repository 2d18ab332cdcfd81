"""The site (`make docs`): the pages below, as they are read on the host too, and `llms.txt` for agents.

A page is plain CommonMark. What only the site needs is added here: the tables of contents, and addresses for links that
lead out of this folder.
"""

from __future__ import annotations

import os
import posixpath
import re
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
        "examples/AGENTS",
        "serving",
        "operations",
        "dagster-projects",
        "evaluation",
        "graph",
        "graph-import",
        "artifacts",
        "documents",
        "embedder",
        "pipelines",
        "query-log",
        "scaling",
        "windows",
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
    "project": ("contributing", "architecture", "decisions/index", "security", "changelog"),
    "decisions/index": tuple(f"decisions/{path.stem}" for path in sorted((HERE / "decisions").glob("0*.md"))),
}
"""Overview of a section → its pages, in the order of reading. Every page of this folder is in here once. None beside
this file may be called search or genindex: Sphinx makes pages of these names."""

FROM_ROOT = {"contributing": "CONTRIBUTING.md", "security": "SECURITY.md", "changelog": "CHANGELOG.md"}
"""Page → the file of the root that it shows, where hosts look for it. In this folder the page only links to it."""

REPOSITORY = os.environ.get("RAG_ASSETS_REPOSITORY", "").rstrip("/")
"""Where files outside of this folder are shown, such as https://host/owner/name/blob/main; '' for nowhere: then the
site names them without a link."""

project = "rag-assets"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
html_theme = "pydata_sphinx_theme"
html_title = project
html_static_path = ["_static"]
html_css_files = ["site.css"]
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

_LINK = re.compile(r"`[^`\n]+`|(!?)\[((?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.DOTALL | re.MULTILINE)
_LOADED = re.compile(
    r"""<(?:script|img|iframe|link(?![^>]*rel="canonical"))[^>]*(?:src|href)=["'](?:https?:)?//[^>]*>"""
)
_PAGE_OF = {file: f"{page}.md" for page, file in FROM_ROOT.items()}
_LOG = logging.getLogger(__name__)


def prepared(_: Sphinx, page: str, source: list[str]) -> None:
    source[0] = _text(page)
    if page == "index":
        source[0] += _contents(tuple(name for name in SECTIONS if name != "decisions/index"))
    elif page in SECTIONS:
        source[0] += _contents(tuple(f"/{name}" for name in SECTIONS[page]), is_shown=page == "decisions/index")


def _contents(names: tuple[str, ...], *, is_shown: bool = False) -> str:
    shown = ":maxdepth: 1" if is_shown else ":hidden:"
    return f"\n\n```{{toctree}}\n{shown}\n\n" + "\n".join(names) + "\n```\n"


def _text(page: str) -> str:
    """The Markdown of a page, with links that lead to pages of the site, to the host, or nowhere."""
    file = FROM_ROOT.get(page, f"docs/{page}.md")
    text = (ROOT / file).read_text(encoding="utf-8")

    def resolved(found: re.Match[str]) -> str:
        target, _, anchor = (found[3] or "").partition("#")  # code has none
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
        if not (ROOT / path).exists():
            _LOG.warning("there is no %s", path, location=page)
        behind = f"#{anchor}" if anchor else ""
        shown = _PAGE_OF.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
        if shown:
            return f"{found[1]}[{found[2]}]({posixpath.relpath(shown, posixpath.dirname(page) or '.')}{behind})"
        return f"{found[1]}[{found[2]}]({REPOSITORY}/{path}{behind})" if REPOSITORY else found[2]

    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(resolved, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(resolved, text[end:])])


def _first_sentence(page: str) -> tuple[str, str]:
    """Title of a page, and the first sentence below it."""
    text = _text(page)
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    if title is None:
        raise ExtensionError(f"{page}.md has no title")
    blocks = _FENCE.sub("", text[title.end() :]).split("\n\n")
    prose = next((block for block in blocks if re.match(r"\n?[A-Za-z`*\[]", block)), "")
    plain = _LINK.sub(lambda link: link[2] or link[0], " ".join(prose.split()))
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
        target.write_text(_text(page), encoding="utf-8", newline="\n")


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
