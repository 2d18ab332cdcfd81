"""One key space for points, keyword documents and graph nodes, and one set of relations (domain reference §5; R27)."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from rag_assets.contracts.segment import Member, MemberKind, Segment


class NodeType(StrEnum):
    TYPE = "TYPE"
    METHOD = "METHOD"
    PROPERTY = "PROPERTY"
    ENDPOINT = "ENDPOINT"
    DBSET = "DBSET"
    ENTITY = "ENTITY"
    MIGRATION = "MIGRATION"
    TABLE = "TABLE"
    VIEW = "VIEW"
    PROC = "PROC"
    FUNC = "FUNC"
    SQL_TYPE = "TYPE"
    SEQUENCE = "SEQUENCE"
    TRIGGER = "TRIGGER"
    SYNONYM = "SYNONYM"
    TABLE_OR_VIEW = "TABLE_OR_VIEW"
    FILE = "FILE"
    SECTION = "SECTION"
    PACKAGE = "PACKAGE"


class Relation(StrEnum):
    """The type of an edge, which reads `source relation target` (domain reference §5)."""

    CONTAINS = "Contains"
    INHERITS = "Inherits"
    IMPLEMENTS = "Implements"
    OVERRIDES = "Overrides"
    CALLS = "Calls"
    CONSTRUCTS = "Constructs"
    INJECTS = "Injects"
    USES_TYPE = "UsesType"
    READS_FROM = "ReadsFrom"
    WRITES_TO = "WritesTo"
    EXECUTES = "Executes"
    FOREIGN_KEY = "ForeignKey"
    ON = "On"
    SYNONYM_FOR = "SynonymFor"
    MAPS_TO = "MapsTo"
    SCHEMA_CHANGE = "SchemaChange"
    HANDLES = "Handles"
    EXPOSES = "Exposes"
    TESTS = "Tests"
    REFERENCES = "References"
    MENTIONS = "Mentions"


class Confidence(StrEnum):
    """How sure an edge is: proven from declared types; likely, by convention or as the only candidate; or matched by a
    name that several declarations of the label, or none, may mean."""

    RESOLVED = "resolved"
    PROBABLE = "probable"
    NAME_ONLY = "name-only"


class GraphNode(msgspec.Struct, frozen=True, order=True, gc=False):
    """A declaration, a database object, an endpoint, a document section, a file or a package.

    `key` is the key that points carry (`GraphNodeKeys`). `path` is the file of the declaration, '' if the label only
    refers to it (packages, `TABLE_OR_VIEW`). `line_start` … `line_end` are 1-based and inclusive, 0 without a place.
    A declaration in several parts (partial types) has one node per part with the same key.
    """

    key: str
    kind: NodeType
    name: str
    path: str = ""
    line_start: int = 0
    line_end: int = 0
    language: str = ""
    signature: str = ""


class GraphEdge(msgspec.Struct, frozen=True, order=True, gc=False):
    """`source relation target`, seen at `path:line` (1-based). Both ends are keys. An end without a node in the label
    belongs to another label or to a library.

    A struct like the nodes: a label has a million, and a struct takes a tenth of the time of a dataclass to create,
    compare and hash.
    """

    source: str
    relation: Relation
    target: str
    confidence: Confidence = Confidence.RESOLVED
    path: str = ""
    line: int = 0


class DeclaredCallable(msgspec.Struct, frozen=True, order=True, gc=False, array_like=True):
    """A function, a method, a type, or a property whose type is told, of a language without a resolver.

    `name` is as calls write it, `owner` the simple name of the type that has it, '' for functions of a module, whose
    symbol is `module`. `parameters` is -1 where they are not known. `types` are simple names: of the results of a
    function, of a property; of a type those that it derives from. `is_callable` is false for properties and interfaces.
    `takes` are the types of the parameters of a method of Go, by which it fits an interface.
    """

    family: str
    name: str
    key: str
    owner: str
    module: str
    path: str
    parameters: int = -1
    types: tuple[str, ...] = ()
    is_callable: bool = True
    takes: str = ""


def node_and_edge(
    key: str, found: Segment | Member, path: str, language: str, *, holder: str
) -> tuple[GraphNode, GraphEdge]:
    """The node of a declaration, and the edge from what it stands in."""
    span = found.span
    node = GraphNode(key, key_kind(key), found.name, path, span.line_start, span.line_end, language, found.signature)
    return node, GraphEdge(holder, Relation.CONTAINS, key, path=path, line=span.line_start)


def key_kind(key: str) -> NodeType:
    """The node type at the end of a key. Raises ValueError for a text that is no key."""
    return NodeType(key.rpartition("|")[2])


def symbol_key(language: str, symbol: str, node_type: NodeType) -> str:
    """`csharp:Ns.Type|TYPE`, `python:pkg.mod.fn|METHOD` …"""
    return f"{language}:{symbol}|{node_type.value}"


def method_key(language: str, type_symbol: str, name: str, parameter_types: tuple[str, ...]) -> str:
    """`csharp:Ns.Type.Member(ParamTypes)|METHOD`."""
    return f"{language}:{type_symbol}.{name}({','.join(parameter_types)})|{NodeType.METHOD.value}"


def sql_key(schema: str, name: str, node_type: NodeType) -> str:
    """`schema.name|PROC`."""
    return f"{schema}.{name}|{node_type.value}"


def file_key(path: str) -> str:
    return f"file:{path}|{NodeType.FILE.value}"


def section_key(path: str, slug: str) -> str:
    return f"doc:{path}#{slug}|{NodeType.SECTION.value}"


def package_key(ecosystem: str, name: str) -> str:
    """`nuget:Dapper|PACKAGE`, `npm:@types/node|PACKAGE`, `maven:junit:junit|PACKAGE`; ecosystems as in package URLs."""
    return f"{ecosystem}:{name}|{NodeType.PACKAGE.value}"


_OVERLOADING = frozenset({"csharp", "java"})
"""Languages where parameter types are part of a method's name."""

_METHODS = frozenset(
    {MemberKind.METHOD, MemberKind.CONSTRUCTOR, MemberKind.DESTRUCTOR, MemberKind.OPERATOR, MemberKind.FUNCTION}
)
_PROPERTIES = frozenset({MemberKind.PROPERTY, MemberKind.INDEXER, MemberKind.FIELD, MemberKind.EVENT})
WHOLE_FILES = frozenset(
    {"module", "program", "file", "config", "markup", "resource", "transcript", "script", "document"}
)
_SQL_TYPES = {
    "table": NodeType.TABLE,
    "view": NodeType.VIEW,
    "procedure": NodeType.PROC,
    "function": NodeType.FUNC,
    "type": NodeType.SQL_TYPE,
    "sequence": NodeType.SEQUENCE,
    "trigger": NodeType.TRIGGER,
    "synonym": NodeType.SYNONYM,
}


def declaration_key(language: str, symbol: str, declaration: str, path: str) -> str:
    """The node of a whole segment: its type, its SQL object, or its file where it is neither."""
    if language == "sql" and declaration in _SQL_TYPES:
        schema, _, name = symbol.rpartition(".")
        return sql_key(schema, name, _SQL_TYPES[declaration])
    if declaration in WHOLE_FILES or language == "sql":
        return file_key(path)
    return symbol_key(language, symbol, NodeType.TYPE)


def member_keys(language: str, owner: str, member: Member) -> tuple[str, ...]:
    """The node of a member of `owner` (fully qualified); enum values, statements and texts have none."""
    if member.kind in _METHODS:
        if language in _OVERLOADING:
            types = tuple("".join(parameter.type.split()) for parameter in member.parameters)
            return (method_key(language, owner, member.name, types),)
        return (symbol_key(language, f"{owner}.{member.name}", NodeType.METHOD),)
    if member.kind in _PROPERTIES:
        return (symbol_key(language, f"{owner}.{member.name}", NodeType.PROPERTY),)
    if member.kind is MemberKind.TYPE:
        return (symbol_key(language, f"{owner}.{member.name}", NodeType.TYPE),)
    return ()


def method_suffix(member: Member) -> str:
    """`GetAsync(string,CancellationToken)`: the form of the graph keys of methods. `::` would split an id (A32)."""
    types = ("".join(parameter.type.split()).replace("::", ".") for parameter in member.parameters)
    return f"{member.name}({','.join(types)})"


ANY_METHOD = "ANY"
"""The verb of an endpoint that answers all, and of a request that does not say its own."""


def endpoint_key(method: str, route_shape: str) -> str:
    """`http:GET /api/orders/{id}|ENDPOINT`; the route without the constraints of its parameters."""
    return f"http:{method} {route_shape}|{NodeType.ENDPOINT.value}"
