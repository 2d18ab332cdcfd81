"""A whole label in memory for the extractors that ask about other files: files, symbols, edges as short texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import dedent

from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.graph.extract import Extractor
from rag_assets.languages.csharp.facts.type_index import TypeIndex
from rag_assets.languages.csharp.facts.type_index import declared_in as types_in
from rag_assets.languages.detection import detect_language
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets.languages.label_declarations import LabelDeclarations, declared_in, declared_together
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.segmentation import segment_file


def files_of(texts: Mapping[str, str]) -> list[ParsedFile]:
    """Path → text, indented or not, as files by path."""
    found = []
    for path, indented in sorted(texts.items()):
        text = dedent(indented)
        language = detect_language(path)
        found.append(ParsedFile(path, language, text, segment_file(text, path, language).segments))
    return found


def symbols_of(files: Iterable[ParsedFile], buckets: int = 1) -> LabelDeclarations:
    """The declarations of all files, gathered in as many buckets."""
    given = list(files)
    parts = [given[number::buckets] for number in range(buckets)]
    resources = StaticResourceDictionary()
    for file in given:
        if file.language == "resx":
            resources.add_file(file.path, file.segments)
    types = TypeIndex(found for file in given for found in types_in(file.path, file.segments))
    return LabelDeclarations.of(
        [declared_together([declared_in(file) for file in part]) for part in parts], types, resources
    )


def found_by(extractor: Extractor, texts: Mapping[str, str]) -> list[GraphNode | GraphEdge]:
    """What an extractor finds in all files."""
    files = files_of(texts)
    symbols = symbols_of(files)
    return [part for file in files for part in extractor(file, symbols)]


def edges_by(extractor: Extractor, texts: Mapping[str, str], *relations: str) -> list[str]:
    """`Shop.A|TYPE Tests Shop.B|TYPE probable`, sorted, without prefixes of languages; of some relations only."""
    found = (part for part in found_by(extractor, texts) if isinstance(part, GraphEdge))
    return sorted({told(edge) for edge in found if not relations or edge.relation.value in relations})


def told(edge: GraphEdge) -> str:
    ends = (end.removeprefix("csharp:") for end in (edge.source, edge.target))
    source, target = ends
    return f"{source} {edge.relation.value} {target} {edge.confidence.value}"


def nodes_by(extractor: Extractor, texts: Mapping[str, str]) -> list[str]:
    return sorted({part.key for part in found_by(extractor, texts) if isinstance(part, GraphNode)})
