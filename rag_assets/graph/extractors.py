"""All extractors of the graph, in one order: what one file adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, GraphNode, file_key
from rag_assets.graph.code_places import file_node
from rag_assets.graph.csharp.extractor import extract as csharp
from rag_assets.graph.declarations import declarations
from rag_assets.graph.documents import documents
from rag_assets.graph.ef.migrations import ef_migrations
from rag_assets.graph.ef.model import ef_model
from rag_assets.graph.ef.usage import ef_usage
from rag_assets.graph.endpoints.extractor import endpoints
from rag_assets.graph.endpoints.lambdas import effects_of_lambdas
from rag_assets.graph.extraction import Extractor
from rag_assets.graph.messages import messages
from rag_assets.graph.resources import resources
from rag_assets.graph.sql.extractor import sql_objects as sql
from rag_assets.graph.sql.inline import sql_in_csharp
from rag_assets.graph.testing import subjects_of_tests, tested_members

if TYPE_CHECKING:
    from rag_assets.graph.extraction import GraphFile
    from rag_assets.graph.symbols import Symbols

EXTRACTORS: tuple[Extractor, ...] = (
    csharp,
    declarations,
    sql,
    sql_in_csharp,
    ef_model,
    ef_migrations,
    ef_usage,
    endpoints,
    messages,
    subjects_of_tests,
    resources,
    documents,
)


def graph_of(file: GraphFile, symbols: Symbols) -> Iterator[GraphNode | GraphEdge]:
    """The nodes and edges of one file: itself, what the extractors find, then what follows from it: the effects of
    lambdas behind routes, and the methods that cases of tests test."""
    found = [part for extractor in EXTRACTORS for part in extractor(file, symbols)]
    yield from found
    edges = [part for part in found if isinstance(part, GraphEdge)]
    nodes = [part for part in found if isinstance(part, GraphNode)]
    if file_key(file.path) not in {node.key for node in nodes}:
        yield file_node(file)
    yield from effects_of_lambdas(file, nodes, edges)
    yield from tested_members(file, edges)
