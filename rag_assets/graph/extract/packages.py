"""Project files: the packages and the projects that they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation, file_key
from rag_assets.languages.csharp.project_files import project_items, project_path

if TYPE_CHECKING:
    from rag_assets.languages.parsed_file import ParsedFile


def package_key(name: str) -> str:
    """`nuget:Name|PACKAGE`."""
    return f"nuget:{name}|{NodeType.PACKAGE.value}"


def packages_of(file: ParsedFile) -> Iterator[GraphNode | GraphEdge]:
    """The project file, the packages that it uses, and the projects that it refers to."""
    path = file.path
    own = file_key(path)
    yield GraphNode(
        own, NodeType.FILE, path.rpartition("/")[2], path, 1, max(1, len(file.text.splitlines())), "msbuild"
    )
    for item in project_items(file.text):
        if item.element == "ProjectReference":
            target = file_key(project_path(path, item.name))
            yield GraphEdge(own, Relation.REFERENCES, target, path=path, line=item.line)
        elif item.element in ("PackageReference", "GlobalPackageReference") and "$(" not in item.name:
            key = package_key(item.name)
            yield GraphNode(key, NodeType.PACKAGE, item.name, signature=item.version)
            yield GraphEdge(own, Relation.REFERENCES, key, path=path, line=item.line)
