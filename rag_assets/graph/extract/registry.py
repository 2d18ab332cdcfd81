"""All extractors of the graph, in one order: what one file adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, file_key
from rag_assets.graph.extract import Extractor
from rag_assets.graph.extract.csharp import extract as csharp
from rag_assets.graph.extract.declarations import declarations
from rag_assets.graph.extract.documents import documents, resources
from rag_assets.graph.extract.ef_access import ef_usage
from rag_assets.graph.extract.ef_model import ef_migrations, ef_model
from rag_assets.graph.extract.embedded_sql import sql_in_csharp
from rag_assets.graph.extract.endpoints import effects_of_lambdas, endpoints
from rag_assets.graph.extract.messages import messages
from rag_assets.graph.extract.sql_objects import sql_objects as sql
from rag_assets.graph.extract.tests import subjects_of_tests, tested_members

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

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


def graph_of(file: ParsedFile, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
    """The nodes and edges of one file: itself, what the extractors find, then what follows from it: the effects of
    lambdas behind routes, and the methods that cases of tests test."""
    found = [part for extractor in EXTRACTORS for part in extractor(file, symbols)]
    yield from found
    edges = [part for part in found if isinstance(part, GraphEdge)]
    nodes = [part for part in found if isinstance(part, GraphNode)]
    if file_key(file.path) not in {node.key for node in nodes}:
        yield _file_node(file)
    yield from effects_of_lambdas(file, nodes, edges)
    yield from tested_members(file, edges)


def _file_node(file: ParsedFile) -> GraphNode:
    """The node of a file as a whole."""
    last = file.text.count("\n") + (not file.text.endswith("\n"))
    return GraphNode(
        file_key(file.path), NodeType.FILE, file.path.rpartition("/")[2], file.path, 1, max(last, 1), file.language
    )
