"""The node of a table that C# names: the declared one, else what any reference to that name gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_assets.contracts.graph import NodeType, sql_key

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations

DEFAULT_SCHEMA = "dbo"
"""Of a name written without schema, as for points of SQL objects and references in SQL."""

_ROWS = frozenset({NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW})


def table_node(written: str, symbols: LabelDeclarations) -> str:
    """The key of `sales.Orders` or `Orders`."""
    schema, _, name = written.rpartition(".")
    declared = [found for found in symbols.sql.named(name, schema) if found.kind in _ROWS]
    if len(declared) == 1:
        return declared[0].key
    return sql_key(schema or DEFAULT_SCHEMA, name, NodeType.TABLE_OR_VIEW)
