"""All extractors of the graph, in one order: what one file adds to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rag_assets.contracts.graph import (
    GraphEdge,
    GraphNode,
    NodeType,
    Relation,
    declaration_key,
    file_key,
    member_keys,
    node_and_edge,
    package_key,
    symbol_key,
)
from rag_assets.contracts.segment import leaves_of
from rag_assets.graph.extract import Extractor
from rag_assets.graph.extract.csharp import extract as csharp
from rag_assets.graph.extract.documents import documents, resources
from rag_assets.graph.extract.ef_access import ef_usage
from rag_assets.graph.extract.ef_model import ef_migrations, ef_model
from rag_assets.graph.extract.embedded_sql import sql_in_csharp
from rag_assets.graph.extract.endpoints import effects_of_lambdas, endpoints, other_endpoints
from rag_assets.graph.extract.messages import messages
from rag_assets.graph.extract.sql_objects import sql_objects as sql
from rag_assets.graph.extract.tests import subjects_of_tests, tested_members
from rag_assets.languages.detection import WITHOUT_RESOLVER, SourceType, manifest_format, source_type
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.treesitter.module_constants import module_constants


def declarations(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """Declarations of languages that have no resolver here, so that what search finds leads into the graph: TYPE,
    METHOD and PROPERTY nodes with the keys that points carry (D18), each contained in the one around it; and the
    constants outside of types, as PROPERTY nodes that no point carries."""
    if file.language not in WITHOUT_RESOLVER:
        return
    for segment in file.segments:
        own = declaration_key(file.language, segment.symbol, segment.kind, file.path)
        around = file_key(file.path)
        if own != around:
            yield from node_and_edge(own, segment, file.path, file.language, holder=around)
        holders = {"": own}
        for leaf in leaves_of(segment.members):
            member = leaf.member
            owner = leaf.owner_in(segment.symbol)
            for key in member_keys(file.language, owner, member):
                holder = holders.get(leaf.owner, own)
                yield from node_and_edge(key, member, file.path, file.language, holder=holder)
                holders[leaf.path] = key
        for one in module_constants(segment, file.text):
            key = symbol_key(file.language, f"{segment.symbol}.{one.name}", NodeType.PROPERTY)
            yield GraphNode(
                key, NodeType.PROPERTY, one.name, file.path, one.line_start, one.line_end, file.language,
                one.declaration,
            )  # fmt: skip
            yield GraphEdge(own, Relation.CONTAINS, key, path=file.path, line=one.line_start)


def bases(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """What types say they derive from, of the languages of `declarations`."""
    if file.language not in WITHOUT_RESOLVER:
        return ()
    from rag_assets.graph.extract.bases import bases_of  # start-up budget: not of C#

    return bases_of(file, symbols)


def calls(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """What code of the languages of `declarations` calls."""
    if file.language not in WITHOUT_RESOLVER:
        return ()
    from rag_assets.graph.extract.calls import calls_of  # start-up budget: not of C#
    from rag_assets.languages.callables import CallableIndex

    # Also where nothing can be called yet: what a file asks for is remembered, and it is read again once that is there.
    return calls_of(file, symbols.calls or CallableIndex())


def sql_in_others(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """What strings of the languages of `declarations` read and write in a database."""
    if file.language not in WITHOUT_RESOLVER:
        return ()
    from rag_assets.graph.extract.sql_in_code import sql_in_code  # start-up budget: not of C#

    return sql_in_code(file, symbols.sql)


def mapped_types(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """What attributes of the languages of `declarations` say is kept in a table."""
    if file.language not in WITHOUT_RESOLVER or "Entity" not in file.text:
        return ()
    from rag_assets.graph.extract import mapped_types as of_mappers  # start-up budget: not of C#

    return of_mappers.mapped_types(file, symbols)


def packages(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """The packages of a manifest, to which the file refers where they stand. Those of project files of .NET are found
    with C#."""
    if not manifest_format(file.path):
        return
    from rag_assets.languages.manifests import packages_in  # with parsers that few builds need

    for one in packages_in(file.path, file.text):
        key = package_key(one.ecosystem, one.name)
        yield GraphNode(key, NodeType.PACKAGE, one.called, signature=one.version)
        yield GraphEdge(file_key(file.path), Relation.REFERENCES, key, path=file.path, line=one.line)


_REQUESTING = ("lient", "ttp", "axios", "etch(", "ajax", "equest", "Refit")
"""What code has that sends requests, in either case of the first letter."""


def requests(file: ParsedFile, nodes: Iterable[GraphNode], symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """The requests that a file sends to endpoints of the label, but not where it declares some: among its `nodes`."""
    is_code = source_type(file.language) in (SourceType.CODE, SourceType.MARKUP)
    if not (is_code and any(word in file.text for word in _REQUESTING)):
        return ()
    from rag_assets.graph.extract.requests import requests_of  # start-up budget: of few files

    return requests_of(file, {node.line_start for node in nodes if node.kind is NodeType.ENDPOINT}, symbols)


_MARKUP = frozenset({"xml", "xaml", "html"})
_WEB_FORMS = (".ashx", ".asmx", ".asax", ".svc")
"""Files of one directive, which are texts otherwise."""


def markup(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """What markup and settings name of C#, and the code of Razor uses."""
    if file.language == "razor":
        from rag_assets.graph.extract.razor import razor_in  # start-up budget: not of C#

        return razor_in(file, symbols)
    if file.language not in _MARKUP and not file.path.lower().endswith(_WEB_FORMS):
        return ()
    from rag_assets.graph.extract.markup import markup_in  # start-up budget: not of C#

    return markup_in(file, symbols)


EXTRACTORS: tuple[Extractor, ...] = (
    csharp,
    declarations,
    bases,
    calls,
    sql,
    sql_in_csharp,
    sql_in_others,
    mapped_types,
    ef_model,
    ef_migrations,
    ef_usage,
    endpoints,
    other_endpoints,
    messages,
    subjects_of_tests,
    resources,
    documents,
    markup,
    packages,
)


def graph_of(file: ParsedFile, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
    """The nodes and edges of one file: itself, what the extractors find, then what follows from it: its requests, the
    effects of lambdas behind routes, and the methods that cases of tests test."""
    found = [part for extractor in EXTRACTORS for part in extractor(file, symbols)]
    yield from found
    edges = [part for part in found if isinstance(part, GraphEdge)]
    nodes = [part for part in found if isinstance(part, GraphNode)]
    if file_key(file.path) not in {node.key for node in nodes}:
        yield _file_node(file)
    asked = list(requests(file, nodes, symbols))
    yield from asked
    yield from effects_of_lambdas(file, nodes, [*edges, *asked])
    yield from tested_members(file, edges)


def _file_node(file: ParsedFile) -> GraphNode:
    """The node of a file as a whole."""
    last = file.text.count("\n") + (not file.text.endswith("\n"))
    return GraphNode(
        file_key(file.path), NodeType.FILE, file.path.rpartition("/")[2], file.path, 1, max(last, 1), file.language
    )
