"""The graph node keys of what a description declares (domain reference §5): hit → node is a payload read."""

from __future__ import annotations

from rag_assets.contracts.graph import NodeType, file_key, method_key, section_key, sql_key, symbol_key
from rag_assets.contracts.segment import Member, MemberKind

_OVERLOADING = frozenset({"csharp", "java"})
"""Languages where parameter types are part of a method's name."""

_METHODS = frozenset(
    {MemberKind.METHOD, MemberKind.CONSTRUCTOR, MemberKind.DESTRUCTOR, MemberKind.OPERATOR, MemberKind.FUNCTION}
)
_PROPERTIES = frozenset({MemberKind.PROPERTY, MemberKind.INDEXER, MemberKind.FIELD, MemberKind.EVENT})
_WHOLE_FILES = frozenset(
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
    if declaration in _WHOLE_FILES or language == "sql":
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


def endpoint_key(method: str, route_shape: str) -> str:
    """`http:GET /api/orders/{id}|ENDPOINT`; the route without the constraints of its parameters."""
    return f"http:{method} {route_shape}|{NodeType.ENDPOINT.value}"


def document_section_keys(path: str, key: str) -> tuple[str, ...]:
    """The node of a section of a document."""
    return (section_key(path, key),)
