"""Migrations as nodes: the tables they change, and the foreign keys that only they spell out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, symbol_key
from rag_assets.contracts.segment import Segment
from rag_assets.graph.ef.table_nodes import table_node
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE, classes_of, type_key
from rag_assets.languages.csharp.facts.expressions import literal
from rag_assets.languages.csharp.simple_names import simple_name
from rag_assets.languages.csharp.web.call_syntax import Call, CodeTree, read_calls
from rag_assets.languages.treesitter.parsing import UnparseableError

if TYPE_CHECKING:
    from tree_sitter import Node

    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

_BASES = frozenset({"Migration", "DbMigration", "AutoReversingMigration", "ForwardOnlyMigration"})
"""Of Entity Framework Core, Entity Framework 6 and FluentMigrator."""

_UP = "Up"
_TABLE_OPERATIONS = frozenset({"CreateTable", "DropTable", "RenameTable", "AlterTable", "MoveTable"})
"""Their first argument is the table; of all other operations it is an argument named or typed `table`."""

_OPERATIONS_NAMES = (
    "AddColumn DropColumn AlterColumn RenameColumn CreateIndex DropIndex RenameIndex AddPrimaryKey DropPrimaryKey "
    "AddForeignKey DropForeignKey AddUniqueConstraint DropUniqueConstraint AddCheckConstraint DropCheckConstraint "
    "CreateCheckConstraint InsertData UpdateData DeleteData"
)
_OPERATIONS = frozenset(_OPERATIONS_NAMES.split())
_SECOND = frozenset({*_OPERATIONS} - {"InsertData", "UpdateData", "DeleteData"})
"""Operations whose first argument is the name of the column, index or key, and the second the table."""

_FOREIGN_KEYS = frozenset({"AddForeignKey", "ForeignKey"})
_FLUENT = frozenset({"Table", "OnTable", "FromTable", "ToTable", "InTable", "IntoTable"})
"""`Create.Table("x")`, `Alter.Table`, `Create.Index().OnTable("x")` of FluentMigrator."""
_FLUENT_ROOTS = frozenset({"Create", "Alter", "Delete", "Rename", "Insert", "Update"})


def ef_migrations(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """A MIGRATION node per migration class, SchemaChange to each table that its `Up` touches, and ForeignKey between
    tables. What goes back (`Down`) is not told."""
    if file.language != LANGUAGE:
        return
    for segment in classes_of(file.segments):
        if any(simple_name(base) in _BASES for base in segment.base_list):
            yield from _migration(file, segment, symbols)


def migration_key(symbol: str) -> str:
    return symbol_key(LANGUAGE, symbol, NodeType.MIGRATION)


def _migration(file: ParsedFile, segment: Segment, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
    key, span = migration_key(segment.symbol), segment.span
    yield GraphNode(
        key, NodeType.MIGRATION, segment.name, file.path, span.line_start, span.line_end, LANGUAGE, segment.signature
    )
    yield GraphEdge(key, Relation.MAPS_TO, type_key(segment.symbol), Confidence.RESOLVED, file.path, span.line_start)
    up = next((member for member in segment.members if member.name == _UP), None)
    if up is None:
        return
    try:
        tree = read_calls(segment.span.slice(file.text))
    except UnparseableError:
        return  # without a tree nothing certain can be said of calls
    start, stop = up.span.char_start - span.char_start, up.span.char_end - span.char_start
    created: list[tuple[int, int, str]] = []  # the ranges of CreateTable calls: `table.ForeignKey` in them is theirs
    for call in tree.calls:
        at = tree.reader.char(call.name_start)
        if not start <= at < stop:
            continue
        line = span.line_start + tree.reader.line_of(at) - 1
        table = _table(tree, call)
        if table:
            target = table_node(table, symbols)
            yield GraphEdge(key, Relation.SCHEMA_CHANGE, target, Confidence.RESOLVED, file.path, line)
            if call.name == "CreateTable":
                created.append((call.node.start_byte, call.node.end_byte, table))
        renamed = _text(tree, call.named.get("newName")) if call.name == "RenameTable" else ""
        if renamed:
            target = table_node(renamed, symbols)
            yield GraphEdge(key, Relation.SCHEMA_CHANGE, target, Confidence.RESOLVED, file.path, line)
        yield from _foreign_key(file, tree, call, table or _around(tree, call, created), line, symbols)


def _foreign_key(
    file: ParsedFile, tree: CodeTree, call: Call, table: str, line: int, symbols: LabelDeclarations
) -> Iterator[GraphEdge]:
    if call.name not in _FOREIGN_KEYS or not table:
        return
    name = _text(tree, call.named.get("principalTable"))
    if not name and not call.named:
        name = _argument(tree, call, 1 if call.name == "AddForeignKey" else 0)
    if not name:
        return
    schema = _text(tree, call.named.get("principalSchema"))
    source, target = (table_node(t, symbols) for t in (table, f"{schema}.{name}" if schema else name))
    yield GraphEdge(source, Relation.FOREIGN_KEY, target, Confidence.RESOLVED, file.path, line)


def _table(tree: CodeTree, call: Call) -> str:
    """`schema.Table` that an operation is about, '' for other calls and names that are no literals."""
    name = ""
    if call.name in _TABLE_OPERATIONS:
        name = _text(tree, call.named.get("name")) or _argument(tree, call, 0)
    elif call.name in _OPERATIONS:
        name = _text(tree, call.named.get("table"))
        if not name and not call.named:
            name = _argument(tree, call, 1 if call.name in _SECOND and _is_core(tree, call) else 0)
    elif call.name in _FLUENT and _root(tree, call) in _FLUENT_ROOTS:
        name = _argument(tree, call, 0)
    schema = _text(tree, call.named.get("schema"))
    return f"{schema}.{name}" if schema and name and "." not in name else name


def _is_core(tree: CodeTree, call: Call) -> bool:
    """Operations of EF Core are called on a builder and begin with the name; those of EF 6 with the table."""
    return call.receiver is not None and tree.text(call.receiver) not in ("this", "base")


def _around(tree: CodeTree, call: Call, created: list[tuple[int, int, str]]) -> str:
    """The table of the CreateTable that a call stands in (EF Core), or is chained onto (EF 6)."""
    at = call.node.start_byte
    inside = next((table for start, stop, table in reversed(created) if start <= at < stop), "")
    before = call
    while not inside and before.receiver is not None:
        found = tree.call(before.receiver)
        if found is None:
            return ""
        inside = _table(tree, found) if found.name == "CreateTable" else ""
        before = found
    return inside


def _argument(tree: CodeTree, call: Call, position: int) -> str:
    return _text(tree, call.arguments[position]) if position < len(call.arguments) else ""


def _text(tree: CodeTree, node: Node | None) -> str:
    return literal(tree.text(node)) or "" if node is not None else ""


def _root(tree: CodeTree, call: Call) -> str:
    """`Create` of `Create.Index("x").OnTable("y")`."""
    node = call.receiver
    while node is not None:
        inner = tree.call(node)
        if inner is not None:
            node = inner.receiver
        elif node.type == "member_access_expression":
            node = node.child_by_field_name("expression")
        else:
            return tree.text(node) if node.type == "identifier" else ""
    return ""
