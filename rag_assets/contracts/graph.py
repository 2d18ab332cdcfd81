"""One key space for points, keyword documents and graph nodes, and one set of relations (domain reference §5; R27)."""

from __future__ import annotations

from enum import StrEnum


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
