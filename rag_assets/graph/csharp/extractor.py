"""C# files → nodes and edges of the graph, one file at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, GraphNode, file_key
from rag_assets.graph.csharp import (
    constructions,
    expressions,
    invocations,
    lambdas,
    members,
    operators,
    statements,
    values,
)
from rag_assets.graph.csharp.branches import left_out, other_view
from rag_assets.graph.csharp.declarations import LANGUAGE, PlacedType, placed_types
from rag_assets.graph.csharp.names import Names
from rag_assets.graph.csharp.owners import Owners
from rag_assets.graph.csharp.packages import packages_of
from rag_assets.graph.csharp.projects import is_project_file
from rag_assets.graph.csharp.registrations import registrations_of
from rag_assets.graph.csharp.structure import dispatch_of, nodes_of
from rag_assets.graph.csharp.walk import Counts, Edges, Handler, Walk
from rag_assets.segmentation.csharp.reader import Reader
from rag_assets.segmentation.tree import UnparseableError, parser

if TYPE_CHECKING:
    from rag_assets.graph.csharp.symbols import CSharpSymbols
    from rag_assets.graph.extraction import GraphFile
    from rag_assets.graph.symbols import Symbols
    from rag_assets.segmentation.csharp.rescue import SourceView


def extract(file: GraphFile, symbols: Symbols) -> Iterable[GraphNode | GraphEdge]:
    """The nodes and edges of a C# or project file; nothing of any other file. Never raises for any text."""
    return extract_csharp(file, symbols.csharp)


def extract_csharp(
    file: GraphFile, symbols: CSharpSymbols, counts: Counts | None = None
) -> Iterator[GraphNode | GraphEdge]:
    """As `extract`; adds to `counts` what became of the call sites."""
    if file.language != LANGUAGE:
        if is_project_file(file.path):
            yield from packages_of(file)
        return
    placed = list(placed_types(file.path, file.segments))
    names = Names(symbols, file.path)
    yield from nodes_of(file, placed)
    yield from edges_of(file, names, placed, counts)
    yield from dispatch_of(names, placed)
    yield from registrations_of(file, names)


def edges_of(
    file: GraphFile, names: Names, placed: list[PlacedType], counts: Counts | None = None
) -> Iterator[GraphEdge]:
    """What the code of a file uses; nothing for one that the parser refuses."""
    try:
        reader = file.csharp
    except UnparseableError:
        return
    view = file.csharp_parsed.view
    owners = Owners(placed)
    edges = _walked(file, reader, view, names, owners, counts)
    yield from edges.of(file.path, reader)
    ranges = left_out(view)
    other = other_view(file.text, view) if ranges else None
    if other is not None:
        reader = Reader(other, len(file.text))
        edges = _walked(file, reader, other, names, owners, None)
        yield from edges.of(file.path, reader, ranges)


def _walked(
    file: GraphFile, reader: Reader, view: SourceView, names: Names, owners: Owners, counts: Counts | None
) -> Edges:
    edges = Edges()
    walk = Walk(reader, names, edges, _handlers(), file_key(file.path), owners)
    if counts is not None:
        walk.counts = counts
    walk.ev(view.tree.root_node)
    return edges


_ERROR_KIND = 0xFFFF
"""The number of ERROR nodes in tree-sitter: a table that reaches up to it needs no test for each node."""


@lru_cache(maxsize=1)
def _handlers() -> list[Handler]:
    """The handler of each kind of node, by its number in the grammar; errors have the highest number of all."""
    language = parser(LANGUAGE).language
    if language is None:
        raise RuntimeError("the parser for C# has no language")
    by_name: dict[str, Handler] = {}
    for module in (expressions, operators, invocations, constructions, lambdas, statements, values, members):
        by_name.update(module.HANDLERS)
    kinds = (language.node_kind_for_id(number) or "" for number in range(language.node_kind_count))
    found = [by_name.get(kind, values.everything) for kind in kinds]
    return found + [values.everything] * (_ERROR_KIND + 1 - len(found))
