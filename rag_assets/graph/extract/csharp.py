"""C# files → nodes and edges of the graph, one file at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.graph.extract.declaration_nodes import dispatch_of, nodes_of
from rag_assets.graph.extract.packages import packages_of
from rag_assets.graph.extract.registrations import registrations_of
from rag_assets.languages.csharp.binder.binder import Counts
from rag_assets.languages.csharp.binder.declarations import LANGUAGE, placed_types
from rag_assets.languages.csharp.binder.file_binding import binding_of
from rag_assets.languages.csharp.binder.name_lookup import Names
from rag_assets.languages.csharp.project_files import is_project_file

if TYPE_CHECKING:
    from rag_assets.languages.csharp.binder.label_symbols import CSharpSymbols
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile


def extract(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """The nodes and edges of a C# or project file; nothing of any other file. Never raises for any text."""
    return extract_csharp(file, symbols.csharp)


def extract_csharp(
    file: ParsedFile, symbols: CSharpSymbols, counts: Counts | None = None
) -> Iterator[GraphNode | GraphEdge]:
    """As `extract`; adds to `counts` what became of the call sites."""
    if file.language != LANGUAGE:
        if is_project_file(file.path):
            yield from packages_of(file)
        return
    placed = list(placed_types(file.path, file.segments))
    names = Names(symbols, file.path)
    yield from nodes_of(file, placed)
    yield from binding_of(file, symbols, counts).edges
    yield from dispatch_of(names, placed)
    yield from registrations_of(file, names)
