"""Small factories: SQL and C# texts as files of the graph, their objects, and edges in a readable form."""

from __future__ import annotations

from collections.abc import Iterable

from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.graph.extract.embedded_sql import inline_sql_of
from rag_assets.graph.extract.sql_objects import objects_of
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.sql.label_objects import SqlSymbols, declared_in
from rag_assets.segmentation import segment_file

NOTHING = SqlSymbols()


def file_of(text: str, path: str = "db/a.sql", language: str = "sql") -> ParsedFile:
    return ParsedFile(path, language, text, segment_file(text, path, language).segments)


def symbols_of(*texts: str) -> SqlSymbols:
    return SqlSymbols([declared_in([file_of(text, f"{number}.sql")]) for number, text in enumerate(texts)])


def of_sql(text: str, symbols: SqlSymbols | None = None) -> list[GraphNode | GraphEdge]:
    """What the extractor gives for a script; without `symbols` it knows what the script itself declares."""
    file = file_of(text)
    return list(objects_of(file, symbols if symbols is not None else SqlSymbols([declared_in([file])])))


def nodes(found: Iterable[GraphNode | GraphEdge]) -> list[GraphNode]:
    return [one for one in found if isinstance(one, GraphNode)]


def edges(found: Iterable[GraphNode | GraphEdge]) -> list[GraphEdge]:
    return [one for one in found if isinstance(one, GraphEdge)]


def shown(found: Iterable[GraphNode | GraphEdge], *relations: str) -> list[str]:
    """`source Relation target`, sorted, of all edges but Contains or of the named relations; files are just FILE."""
    kept = (edge for edge in edges(found) if (edge.relation in relations if relations else edge.relation != "Contains"))
    return sorted(f"{_short(edge.source)} {edge.relation} {edge.target}" for edge in kept)


def _short(key: str) -> str:
    return "FILE" if key.startswith("file:") else key


def of_csharp(text: str, symbols: SqlSymbols = NOTHING) -> list[GraphEdge]:
    return list(inline_sql_of(file_of(text, "src/Orders.cs", "csharp"), symbols))


def in_method(body: str) -> str:
    """A repository with one method, `csharp:Shop.Orders.Run()|METHOD`."""
    head = "namespace Shop;\npublic class Orders : Repository<Order, int>\n{\n    void Run()\n    {\n"
    return f"{head}{body}\n    }}\n}}\n"
