"""What a migration changes: tables, columns, keys and indexes, of Entity Framework Core, Entity Framework 6 and
FluentMigrator. Only what `Up` does counts; `Down` goes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from tree_sitter import Node

from rag_assets.contracts.segment import Segment, Span, moved
from rag_assets.languages.csharp.facts.expressions import literal
from rag_assets.languages.csharp.web.call_syntax import Call, CodeTree, read_calls
from rag_assets.languages.treesitter.parsing import UnparseableError
from rag_assets.printable import abridged


class _Form(Enum):
    """How an operation is said: of a table with its columns, of columns of a table, of something of a table."""

    TABLE = auto()
    COLUMNS = auto()
    OF_TABLE = auto()


@dataclass(frozen=True, slots=True)
class SchemaOperation:
    """One change: `CreateTable` and its like as the code calls it, `Create.Index` in the words of FluentMigrator.

    `table` is as the code spells it (`sales.Orders`), '' for SQL; `target` is the new name of a renamed table or
    column, or the table that a foreign key leads to. `span` is its call in the file.
    """

    name: str
    table: str
    span: Span
    columns: tuple[str, ...] = ()
    target: str = ""

    def text(self) -> str:
        """`creates Orders (Id, Total)`, `adds Nick to Customers`."""
        columns = ", ".join(self.columns)
        verb, form = _said(self)
        if not self.table:
            return verb
        if form is _Form.TABLE:
            said = f"{verb} {self.table} ({columns})" if columns else f"{verb} {self.table}"
        elif form is _Form.COLUMNS and columns:
            said = f"{verb} {columns} {_PREPOSITIONS.get(verb, 'of')} {self.table}"
        else:
            of_columns = f" ({columns})" if columns else ""
            said = f"{verb} {self.table}{of_columns}"
        return f"{said} to {self.target}" if self.target else said


SQL = "Sql"
CREATE_TABLE = "CreateTable"
RENAME_TABLE = "RenameTable"
FOREIGN_KEY = "AddForeignKey"

_SAID = {
    "CreateTable": ("creates", _Form.TABLE),
    "DropTable": ("drops", _Form.TABLE),
    "RenameTable": ("renames", _Form.TABLE),
    "AlterTable": ("alters", _Form.TABLE),
    "MoveTable": ("moves", _Form.TABLE),
    "AddColumn": ("adds", _Form.COLUMNS),
    "DropColumn": ("drops", _Form.COLUMNS),
    "AlterColumn": ("changes", _Form.COLUMNS),
    "RenameColumn": ("renames", _Form.COLUMNS),
    "CreateIndex": ("adds an index to", _Form.OF_TABLE),
    "DropIndex": ("drops an index of", _Form.OF_TABLE),
    "RenameIndex": ("renames an index of", _Form.OF_TABLE),
    "AddPrimaryKey": ("adds a primary key to", _Form.OF_TABLE),
    "DropPrimaryKey": ("drops the primary key of", _Form.OF_TABLE),
    "AddForeignKey": ("adds a foreign key from", _Form.OF_TABLE),
    "DropForeignKey": ("drops a foreign key of", _Form.OF_TABLE),
    "AddUniqueConstraint": ("adds a unique constraint to", _Form.OF_TABLE),
    "DropUniqueConstraint": ("drops a unique constraint of", _Form.OF_TABLE),
    "AddCheckConstraint": ("adds a check to", _Form.OF_TABLE),
    "CreateCheckConstraint": ("adds a check to", _Form.OF_TABLE),
    "DropCheckConstraint": ("drops a check of", _Form.OF_TABLE),
    "InsertData": ("inserts rows into", _Form.OF_TABLE),
    "UpdateData": ("updates rows of", _Form.OF_TABLE),
    "DeleteData": ("deletes rows of", _Form.OF_TABLE),
    SQL: ("runs SQL", _Form.OF_TABLE),
}
"""Operation → (verb, form); these are all that are known."""

_PREPOSITIONS = {"adds": "to", "drops": "from"}
_TABLE_OPERATIONS = frozenset(name for name, (_, form) in _SAID.items() if form is _Form.TABLE)
"""Their first argument is the table; of all other operations it is an argument named or typed `table`."""

_ROW_OPERATIONS = frozenset({"InsertData", "UpdateData", "DeleteData"})
_OPERATIONS = frozenset(_SAID) - _TABLE_OPERATIONS - {SQL}
_SECOND = _OPERATIONS - _ROW_OPERATIONS
"""Operations whose first argument is the name of the column, index or key, and the second the table."""

_NAMES_A_COLUMN = frozenset({"AddColumn", "DropColumn", "AlterColumn", "RenameColumn"})
_ONLY_NAMED = frozenset({"DropIndex", "RenameIndex", "DropPrimaryKey", "DropForeignKey", "DropUniqueConstraint"})
"""They say no columns."""

_FOREIGN_KEYS = frozenset({FOREIGN_KEY, "ForeignKey"})
_FLUENT = frozenset({"Table", "OnTable", "FromTable", "ToTable", "InTable", "IntoTable"})
"""`Create.Table("x")`, `Alter.Table`, `Create.Index().OnTable("x")` of FluentMigrator."""

_FLUENT_COLUMNS = frozenset({"Column", "WithColumn", "AddColumn", "AlterColumn", "OnColumn", "ForeignColumn"})
_FLUENT_NAMES = {
    ("Create", "Table"): "CreateTable",
    ("Alter", "Table"): "AlterTable",
    ("Delete", "Table"): "DropTable",
    ("Rename", "Table"): "RenameTable",
    ("Create", "Column"): "AddColumn",
    ("Alter", "Column"): "AlterColumn",
    ("Delete", "Column"): "DropColumn",
    ("Rename", "Column"): "RenameColumn",
    ("Create", "Index"): "CreateIndex",
    ("Delete", "Index"): "DropIndex",
    ("Create", "PrimaryKey"): "AddPrimaryKey",
    ("Delete", "PrimaryKey"): "DropPrimaryKey",
    ("Create", "ForeignKey"): "AddForeignKey",
    ("Delete", "ForeignKey"): "DropForeignKey",
    ("Create", "UniqueConstraint"): "AddUniqueConstraint",
    ("Delete", "UniqueConstraint"): "DropUniqueConstraint",
    ("Insert", "IntoTable"): "InsertData",
    ("Update", "Table"): "UpdateData",
    ("Delete", "FromTable"): "DeleteData",
}
"""(root, first call) of FluentMigrator → the operation of Entity Framework."""

_FLUENT_ROOTS = frozenset(root for root, _ in _FLUENT_NAMES)

_COLUMN_OF_TYPE = re.compile(r"(\w+)\s*=\s*\w+\s*\.\s*\w+\s*[<(]")
"""`Id = table.Column<int>(…)`, `Id = c.Int()` in the lambda of a created table."""

_ONE_COLUMN = re.compile(r"=>\s*\w+\s*\.\s*(\w+)|=>\s*new\b")
_MEMBER = re.compile(r"\.\s*(\w+)")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
UP = "Up"
"""The method that does what a migration is for."""


def schema_operations(segment: Segment, text: str) -> tuple[SchemaOperation, ...]:
    """What `Up` changes, in text order; `text` is that of the segment. Names that are no literals are left out, and so
    is everything in a text that cannot be parsed."""
    up = next((member for member in segment.members if member.name == UP), None)
    if up is None:
        return ()
    try:
        tree = read_calls(text)
    except UnparseableError:
        return ()  # without a tree nothing certain can be said of calls
    origin = segment.span.char_start
    start, stop = up.span.char_start - origin, up.span.char_end - origin
    calls = [call for call in tree.calls if start <= tree.reader.char(call.name_start) < stop]
    return tuple(_Reader(tree, segment.span).operations(calls))


def joined_operations(operations: Iterable[SchemaOperation]) -> list[tuple[str, Span]]:
    """The changes as texts with their places, which do not overlap: what stands in the call of another (the foreign
    keys of a created table) belongs to it, and neighbouring changes of columns of one table are one."""
    found: list[list[SchemaOperation]] = []
    for one in operations:
        before = found[-1] if found else []
        if before and one.span.char_start < before[0].span.char_end:
            before.append(one)
        elif before and _said(one)[1] is _Form.COLUMNS and _is_alike(before[-1], one):
            columns = dict.fromkeys((*before[-1].columns, *one.columns))
            before[-1] = replace(before[-1], columns=tuple(columns), span=before[-1].span.to(one.span))
        else:
            found.append([one])
    return [("; ".join(one.text() for one in group), group[0].span) for group in found]


def summary_of(operations: Iterable[SchemaOperation]) -> str:
    """`Creates Orders, Baskets; adds Nick to Customers.`: tables and columns; keys, indexes and rows only where there
    is nothing else. '' for a migration that changes nothing that is known."""
    known = list(operations)
    large = [one for one in known if _said(one)[1] is not _Form.OF_TABLE] or known
    tables: dict[str, list[str]] = {}
    others: list[SchemaOperation] = []
    for one in large:
        verb, form = _said(one)
        if form is _Form.TABLE and not one.target:
            tables.setdefault(verb, []).append(one.table)
        else:
            others.append(one)
    said = [f"{verb} {abridged(names, MAX_SAID)}" for verb, names in tables.items()]
    said = list(dict.fromkeys([*said, *(text for text, _ in joined_operations(others))]))
    if not said:
        return ""
    more = f" and {len(said) - MAX_SAID} more changes" if len(said) > MAX_SAID else ""
    text = "; ".join(said[:MAX_SAID])
    return f"{text[0].upper()}{text[1:]}{more}."


MAX_SAID = 6
"""Changes, and tables of a change, that a summary names: what fits a sentence."""


def _said(operation: SchemaOperation) -> tuple[str, _Form]:
    return _SAID.get(operation.name, (operation.name, _Form.OF_TABLE))


def _is_alike(one: SchemaOperation, other: SchemaOperation) -> bool:
    return (one.name, one.table, one.target) == (other.name, other.table, "") == (other.name, other.table, other.target)


class _Reader:
    def __init__(self, tree: CodeTree, place: Span) -> None:
        self._tree = tree
        self._place = place

    def _span(self, call: Call) -> Span:
        """The place of a call in the file."""
        return moved(self._tree.span(call.node.start_byte, call.node.end_byte), self._place)

    def operations(self, calls: Iterable[Call]) -> Iterator[SchemaOperation]:
        created: list[tuple[int, int, str]] = []  # ranges of CreateTable calls: `table.ForeignKey` in them is theirs
        for call in calls:
            span = self._span(call)
            table = self._table(call)
            if table:
                yield self._operation(call, table, span)
                if call.name == CREATE_TABLE:
                    created.append((call.node.start_byte, call.node.end_byte, table))
            elif call.name == SQL:
                yield SchemaOperation(SQL, "", span)
            if call.name in _FOREIGN_KEYS:
                source, target = table or self._around(call, created), self._principal(call)
                if source and target and call.name != FOREIGN_KEY:
                    yield SchemaOperation(FOREIGN_KEY, source, span, self._columns(call), target)

    def _operation(self, call: Call, table: str, span: Span) -> SchemaOperation:
        if call.name in _FLUENT:
            return self._fluent(call, table, span)
        target = ""
        if call.name in (RENAME_TABLE, "RenameColumn"):
            target = self._text(call.named.get("newName")) or self._argument(call, self._new_name(call))
        elif call.name == FOREIGN_KEY:
            target = self._principal(call)
        return SchemaOperation(call.name, table, span, self._columns(call), target)

    def _new_name(self, call: Call) -> int:
        """The position of the new name: after the old one, and the table of a column."""
        return 1 if call.name == RENAME_TABLE else 2

    def _fluent(self, call: Call, table: str, span: Span) -> SchemaOperation:
        """The chain that a table stands in, said as the operation of Entity Framework."""
        first, chain = call, [call, *self._tree.chained_onto(call)]
        while first.receiver is not None and (before := self._tree.call(first.receiver)) is not None:
            first = before
            chain.insert(0, first)
        root = self._root(call)
        name = _FLUENT_NAMES.get((root, first.name), f"{root}.{first.name}")
        columns = (self._argument(one, 0) for one in chain if one.name in _FLUENT_COLUMNS)
        leads = "ToTable" if name == FOREIGN_KEY else "To"
        target = next((self._argument(one, 0) for one in chain if one.name == leads), "")
        return SchemaOperation(name, table, span, tuple(dict.fromkeys(filter(None, columns))), target)

    def _columns(self, call: Call) -> tuple[str, ...]:
        """The columns that an operation names."""
        if call.name == CREATE_TABLE:
            described = call.named.get("columns") or next(iter(call.arguments[1:2]), None)
            written = self._tree.text(described) if described is not None else ""
            return tuple(dict.fromkeys(_COLUMN_OF_TYPE.findall(written)))
        if call.name in _TABLE_OPERATIONS or call.name in _ONLY_NAMED:
            return ()
        if call.name in _NAMES_A_COLUMN:
            name = self._text(call.named.get("name")) or self._argument(call, 0 if self._core(call) else 1)
            return (name,) if name else ()
        node = call.named.get("column") or call.named.get("columns")
        if node is None and not call.named:
            node = next(iter(call.arguments[2:3] if self._core(call) else call.arguments[1:2]), None)
        written = self._tree.text(node) if node is not None else ""
        found = _STRING.findall(written) or (_MEMBER.findall(written) if _ONE_COLUMN.search(written) else [])
        return tuple(dict.fromkeys(found))

    def _principal(self, call: Call) -> str:
        """The table that a foreign key leads to."""
        name = self._text(call.named.get("principalTable"))
        if not name and not call.named:
            name = self._argument(call, 1 if call.name == FOREIGN_KEY else 0)
        schema = self._text(call.named.get("principalSchema"))
        return f"{schema}.{name}" if schema and name else name

    def _table(self, call: Call) -> str:
        """`schema.Table` that an operation is about, '' for other calls and names that are no literals."""
        name = ""
        if call.name in _TABLE_OPERATIONS:
            name = self._text(call.named.get("name")) or self._argument(call, 0)
        elif call.name in _OPERATIONS:
            name = self._text(call.named.get("table"))
            if not name and not call.named:
                name = self._argument(call, 1 if call.name in _SECOND and self._core(call) else 0)
        elif call.name in _FLUENT and self._root(call) in _FLUENT_ROOTS:
            name = "" if self._is_principal(call) else self._argument(call, 0)
        schema = self._text(call.named.get("schema"))
        return f"{schema}.{name}" if schema and name and "." not in name else name

    def _is_principal(self, call: Call) -> bool:
        """Whether it is the second table of `Create.ForeignKey().FromTable("a").ToTable("b")`."""
        before = self._tree.call(call.receiver) if call.receiver is not None else None
        return call.name == "ToTable" and before is not None

    def _core(self, call: Call) -> bool:
        """Operations of EF Core are called on a builder and begin with the name; those of EF 6 with the table."""
        return call.receiver is not None and self._tree.text(call.receiver) not in ("this", "base")

    def _around(self, call: Call, created: list[tuple[int, int, str]]) -> str:
        """The table of the CreateTable that a call stands in (EF Core), or is chained onto (EF 6)."""
        at = call.node.start_byte
        inside = next((table for start, stop, table in reversed(created) if start <= at < stop), "")
        before = call
        while not inside and before.receiver is not None:
            found = self._tree.call(before.receiver)
            if found is None:
                return ""
            inside = self._table(found) if found.name == CREATE_TABLE else ""
            before = found
        return inside

    def _argument(self, call: Call, position: int) -> str:
        return self._text(call.arguments[position]) if position < len(call.arguments) else ""

    def _text(self, node: Node | None) -> str:
        return literal(self._tree.text(node)) or "" if node is not None else ""

    def _root(self, call: Call) -> str:
        """`Create` of `Create.Index("x").OnTable("y")`."""
        node = call.receiver
        while node is not None:
            inner = self._tree.call(node)
            if inner is not None:
                node = inner.receiver
            elif node.type == "member_access_expression":
                node = node.child_by_field_name("expression")
            else:
                return self._tree.text(node) if node.type == "identifier" else ""
        return ""
