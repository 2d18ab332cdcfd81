"""Project files: which projects a project uses, and what it imports into every file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.contracts.segment import LineIndex

PROJECT_SUFFIX = ".csproj"
_SHARED = frozenset({"directory.build.props", "directory.build.targets", "directory.packages.props"})
"""Files that MSBuild reads for every project below their folder."""

_ITEM = re.compile(
    r"<(?P<element>ProjectReference|PackageReference|GlobalPackageReference|PackageVersion|Using)\b(?P<attributes>[^<>]*)>"
)
_PROPERTY = re.compile(r"<(?P<name>RootNamespace|AssemblyName|ImplicitUsings)\s*>\s*(?P<value>[^<]*?)\s*</(?P=name)>")
_SDK = re.compile(r"<(?:Project|Sdk)\b[^<>]*\b(?:Sdk|Name)\s*=\s*[\"']([^\"']*)")
_ATTRIBUTE = re.compile(r"\b(Include|Update|Remove|Static|Alias|Version)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

_IMPLICIT = (
    "System", "System.Collections.Generic", "System.IO", "System.Linq", "System.Net.Http", "System.Threading",
    "System.Threading.Tasks",
)  # fmt: skip
_IMPLICIT_WEB = (
    "Microsoft.AspNetCore.Builder", "Microsoft.AspNetCore.Hosting", "Microsoft.AspNetCore.Http",
    "Microsoft.AspNetCore.Routing", "Microsoft.Extensions.Configuration",
    "Microsoft.Extensions.DependencyInjection", "Microsoft.Extensions.Hosting", "Microsoft.Extensions.Logging",
)  # fmt: skip
"""What `ImplicitUsings` imports; labels put extension methods into these namespaces of others."""


@dataclass(frozen=True, slots=True)
class ProjectItem:
    """One item of a project file: `name` is what it includes, `line` 1-based."""

    element: str
    name: str
    line: int
    version: str = ""
    is_static: bool = False
    alias: str = ""


@dataclass(frozen=True, slots=True, order=True)
class ProjectDeclaration:
    """A project, or a file that is read for all projects below its folder (`shared`).

    `projects` are paths of the label, `usings` written as in code (`static A.B`, `X = A.B`).
    `implicit_usings`: None where it does not say. `root_namespace`: '' where it is what the project is called.
    """

    path: str
    shared: bool = False
    projects: tuple[str, ...] = ()
    usings: tuple[str, ...] = ()
    implicit_usings: bool | None = None
    sdk: str = ""
    root_namespace: str = ""

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


def is_project_file(path: str) -> bool:
    """Whether MSBuild reads the file for C#: a `.csproj` or one of the shared `Directory.*` files."""
    return path.endswith(PROJECT_SUFFIX) or path.rpartition("/")[2].lower() in _SHARED


def read_project(path: str, text: str) -> ProjectDeclaration:
    """What a project file says; any text gives something, broken XML what can be read of it."""
    items = list(project_items(text))
    properties = {found["name"]: found["value"] for found in _PROPERTY.finditer(_COMMENT.sub("", text))}
    implicit = properties.get("ImplicitUsings", "").lower()
    sdk = _SDK.search(text)
    return ProjectDeclaration(
        path=path,
        shared=not path.endswith(PROJECT_SUFFIX),
        projects=tuple(dict.fromkeys(project_path(path, i.name) for i in items if i.element == "ProjectReference")),
        usings=tuple(dict.fromkeys(_using(i) for i in items if i.element == "Using")),
        implicit_usings=implicit in ("enable", "true") if implicit else None,
        sdk=sdk.group(1) if sdk else "",
        root_namespace="" if "$" in (root := properties.get("RootNamespace", "")) else root,
    )


def project_items(text: str) -> Iterator[ProjectItem]:
    """The items of a project file in text order, each with its line; comments hold none."""
    visible = _COMMENT.sub(lambda found: re.sub(r"[^\r\n]", " ", found.group()), text)
    lines: LineIndex | None = None
    for found in _ITEM.finditer(visible):
        attributes = {name: first or second for name, first, second in _ATTRIBUTE.findall(found["attributes"])}
        lines = lines or LineIndex(text)
        for name in attributes.get("Include", "").split(";"):
            if name.strip():
                yield ProjectItem(
                    found["element"],
                    name.strip(),
                    lines.line_of(found.start()),
                    attributes.get("Version", ""),
                    attributes.get("Static", "").lower() == "true",
                    attributes.get("Alias", ""),
                )


def project_path(path: str, reference: str) -> str:
    """The path of the label that a reference in the project file `path` means; `$(…)` is read as its folder."""
    written = re.sub(r"\$\([^)]*\)[\\/]?", "", reference).replace("\\", "/")
    parts = [] if written.startswith("/") else path.split("/")[:-1]
    for part in written.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def implicit_usings(sdk: str) -> tuple[str, ...]:
    """The namespaces that an SDK imports when `ImplicitUsings` is on."""
    return (*_IMPLICIT, *_IMPLICIT_WEB) if sdk.startswith("Microsoft.NET.Sdk.") else _IMPLICIT


def _using(item: ProjectItem) -> str:
    if item.alias:
        return f"{item.alias} = {item.name}"
    return f"static {item.name}" if item.is_static else item.name
