"""Small labels made of texts, and what the graph has of them in short words."""

from __future__ import annotations

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType
from rag_assets.graph.extract.csharp import extract_csharp
from rag_assets.languages.csharp.binder.declarations import declared_in
from rag_assets.languages.csharp.binder.label_symbols import CSharpSymbols
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.segmentation import segment_file


def file_of(path: str, text: str) -> ParsedFile:
    language = "csharp" if path.endswith(".cs") else "msbuild"
    segments = segment_file(text, path, language).segments if language == "csharp" else ()
    return ParsedFile(path, language, text, segments)


def symbols_of(files: dict[str, str]) -> CSharpSymbols:
    """The symbols of a label; each file is a bucket of its own."""
    return CSharpSymbols(declared_in([file_of(path, text)]) for path, text in files.items())


def extracted(files: dict[str, str]) -> list[GraphNode | GraphEdge]:
    given = [file_of(path, text) for path, text in files.items()]
    symbols = CSharpSymbols(declared_in([file]) for file in given)
    return [found for file in given for found in extract_csharp(file, symbols)]


def nodes_in(files: dict[str, str], *kinds: NodeType) -> list[GraphNode]:
    """All nodes, or those of the named kinds."""
    found = (part for part in extracted(files) if isinstance(part, GraphNode))
    return [node for node in found if not kinds or node.kind in kinds]


def edges_in(files: dict[str, str], *relations: str) -> list[GraphEdge]:
    """All edges, or those of the named relations."""
    found = (part for part in extracted(files) if isinstance(part, GraphEdge))
    return [edge for edge in found if not relations or edge.relation in relations]


def edges_of(files: dict[str, str], *relations: str) -> set[tuple[str, str, str]]:
    """(source, relation, target) without prefixes: `N.A.M()`, `Calls`, `N.B.F(int)`."""
    return {(short(edge.source), edge.relation.value, short(edge.target)) for edge in edges_in(files, *relations)}


def targets(code: str, relation: str = "Calls", others: str = "") -> set[str]:
    """What the members of class `C` in one file reach, in words without the namespace `N`."""
    files = {"a.cs": f"namespace N;\n{code}", "b.cs": others}
    return {
        target.replace("N.", "")
        for source, _, target in edges_of(files, relation)
        if source == "N.C" or source.startswith(("N.C.", "file:a.cs"))
    }


def short(key: str) -> str:
    return key.removeprefix("csharp:").rpartition("|")[0]
