"""SQL in C#: statements in string literals and the names of procedures, as edges of the members that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rag_assets.contracts.graph import GraphEdge, GraphNode
from rag_assets.contracts.segment import MemberKind
from rag_assets.graph.extract.sql_objects import edges_of_program, first_references, once
from rag_assets.languages.csharp.constant_strings import StringExpression, string_expressions
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.sql.label_objects import HOLE, ROUTINES, SqlSymbols, targets_of
from rag_assets.languages.sql.lexer import ObjectName, name_at, tokens_of
from rag_assets.languages.sql.reference_reader import ObjectReference, SqlUse, is_procedural, references_in
from rag_assets.languages.sql.statement_detection import is_sql

LANGUAGE = "csharp"

_STATEMENTS = (
    "ALTER|BEGIN|CALL|CREATE|DECLARE|DELETE|DROP|EXEC|EXECUTE|EXPLAIN|IF|INSERT|LOCK|MERGE|PRAGMA|REPLACE|SELECT|SET"
    "|TRUNCATE|UPDATE|USE|WITH"
)
_LETTERS = "".join(sorted({word[0] for word in _STATEMENTS.split("|")}))
_BEGINNING = (
    r"(?:[\s;(]|--[^\r\n]*[\r\n]|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|\\[rnt])*+"
    rf"(?=[{_LETTERS}{_LETTERS.lower()}])(?i:{_STATEMENTS})(?![\w$])"
)
_BEGINS_LIKE_SQL = re.compile(_BEGINNING)
_QUOTED_SQL = re.compile(f'"{_BEGINNING}')
_OTHER_MARKS = ("StoredProcedure", "DestinationTableName")
"""Most files have neither of these nor a literal that begins like a statement, and need no closer look."""

_STORED_PROCEDURE = re.compile(r"S(?<!\wS)toredProcedure\b")
_OBJECT_NAME = re.compile(r"\s*+(?:\[[^\[\]]+\]|[\w$#]+)(?:\.(?:\[[^\[\]]+\]|[\w$#]+)){0,3}\s*\Z")

_TYPE_ARGUMENT = re.compile(r"[<,]\s*([^\W\d]\w*)")
"""`class OrderRepository : Repository<Order, Guid>`: what fills `{Table}_ReadById` there, by convention."""

_BEHIND_CHARS = 300
"""What is looked at before a literal: the name of the call, arguments before it, type arguments."""

_OPENED = r"\((?:[^()\"]*,)?\s*(?:\w+\s*:\s*)?\Z"
_ENDS_OPEN = re.compile(_OPENED)
_CALLED = re.compile(rf"(?<![^\W\d])([^\W\d]\w*+)\s*+(?:<[^()]*>)?\s*{_OPENED}")
_ASSIGNED = re.compile(r"(?<![^\W\d])([^\W\d]\w*+)\s*+(?:\{[^{}]*\}\s*)?(?:=>?|\+=|\?\?=)\s*\Z")
_CONSTANT = re.compile(
    r"\b(?:const\s+string|readonly\s+string|string)\s+([^\W\d]\w*)\s*(?:=>?|\{\s*get;[^{}]*\}\s*=)\s*\Z"
)
_ASSIGNING = ("=", "=>")
_EXECUTING = re.compile(
    r"(?:Query|Execute|FromSql|SqlQuery|ExecuteSql|ExecSql)\w*|Sql|CommandDefinition|\w*(?:Command|DataAdapter)|GetSqlStringCommand"
)
"""Names of calls that execute SQL: Dapper, Entity Framework, ADO.NET, migrations."""

_HOLDING = re.compile(r"\w*(?:sql|query|command|commandtext|cmd|stmt|statement|script)", re.IGNORECASE)
"""Names of variables, constants and properties that hold SQL."""

_TELLING = re.compile(
    r"Log\w*|Write\w*|\w*Exception|Contains?|DoesNotContain|StartsWith|EndsWith|\w*Equal\w*|Should\w*|Be|Description|DisplayName|Obsolete"
    r"|Throw\w*|Fail|IndexOf|Replace|Split"
)
"""Names of calls that do something else with a text that looks like SQL."""

_OTHER_STORES = re.compile(
    r"\b(?:QueryDefinition|SqlQuerySpec|CosmosClient|DocumentClient|ManagementObjectSearcher|ObjectQuery|WqlObjectQuery)\b"
)
"""Their languages look like SQL; what they select from is no table, unless one of that name is declared."""

_FLUENT_MIGRATIONS = "FluentMigrator"
_CHANGES_TABLE = re.compile(
    r"(?:\b(?:Create|Alter|Delete|Rename)\s{0,40}\.\s{0,40}Table\w{0,40}|\.\s{0,40}(?:On|From)Table"
    r"|\bRename\s{0,40}\.\s{0,40}Table\s{0,40}\(\s{0,40}\"\w{1,128}\"\s{0,40}\)\s{0,40}\.\s{0,40}To)"
    r"\s{0,40}\(\s{0,40}\"(?P<name>\w{1,128})\""
)
"""What creates, changes or drops a table in its migrations, also by a method that a project adds: `TableForModel`."""
_GOES_BACK = ".Down()|"

_MAX_ROUNDS = 3
"""A constant may be made of constants that are made of constants."""


def sql_in_csharp(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """The extractor of SQL in C# files; see `inline_sql_of`."""
    return inline_sql_of(file, symbols.sql)


def inline_sql_of(file: ParsedFile, symbols: SqlSymbols) -> Iterator[GraphEdge]:
    """Edges from the member that holds a statement, or uses a constant of its type that does, to tables and routines:
    ReadsFrom, WritesTo, Executes, SchemaChange; the last one also of what a migration of FluentMigrator changes. Of a
    name alone (`"dbo.Order_Create"`) where the member executes stored procedures: Executes, if it is declared. Nothing
    for other languages; never raises.
    """
    if file.language != LANGUAGE:
        return
    made = list(_changed_by_migrations(file, symbols)) if _FLUENT_MIGRATIONS in file.text else []
    if made or may_hold_sql(file.text):
        yield from once([*made, *_edges(file, symbols)])


def may_hold_sql(text: str) -> bool:
    """False for most C# files, at some 100 MB/s."""
    return _QUOTED_SQL.search(text) is not None or any(mark in text for mark in _OTHER_MARKS)


def _changed_by_migrations(file: ParsedFile, symbols: SqlSymbols) -> Iterator[GraphEdge]:
    for found in _CHANGES_TABLE.finditer(file.text):
        source = file.places.key_at(found.start())
        if not file.masked[found.start()].isspace() and _GOES_BACK not in source:
            made = ObjectReference(SqlUse.ALTERS, ObjectName((found["name"],), 0), found.start("name"), "TABLE")
            line = file.lines.line_of(made.start)
            yield from edges_of_program(made, source, symbols, file.path, line, only_declared=False)


def _edges(file: ParsedFile, symbols: SqlSymbols) -> Iterator[GraphEdge]:
    constants, expressions = _evaluated(file)
    procedures = [found.start() for found in _STORED_PROCEDURE.finditer(file.masked)]
    only_declared = _OTHER_STORES.search(file.masked) is not None
    for expression in expressions:
        references = _references(expression, file, procedures, symbols)
        if not references:
            continue
        uses = [(file.places.key_at(expression.start), 0)]
        uses += [(file.places.key_at(at), at) for at in _uses_of_constant(expression, file, constants)]
        for found in first_references(references):
            for source, at in uses:
                line = file.lines.line_of(at or expression.source_of(found.start))
                yield from edges_of_program(found, source, symbols, file.path, line, only_declared=only_declared)


def _references(
    expression: StringExpression, file: ParsedFile, procedures: Sequence[int], symbols: SqlSymbols
) -> list[ObjectReference]:
    """What an expression refers to; nothing where it is no SQL."""
    if _OBJECT_NAME.match(expression.value):
        return _named(expression, file, procedures, symbols)
    if not _BEGINS_LIKE_SQL.match(expression.value):
        return []
    called, assigned = _context(file.masked, expression.start)
    if _TELLING.fullmatch(called):
        return []
    tokens = tokens_of(expression.value)
    trusted = bool(_EXECUTING.fullmatch(called) or _HOLDING.fullmatch(assigned))
    if not is_sql(tokens, trusted=trusted):
        return []
    return references_in(tokens, assigns_into=is_procedural(expression.value))


def _named(
    expression: StringExpression, file: ParsedFile, procedures: Sequence[int], symbols: SqlSymbols
) -> list[ObjectReference]:
    """What a literal refers to that is nothing but a name: a stored procedure, or the table of a bulk copy."""
    tokens = tokens_of(expression.value)
    name = name_at(tokens, 0)
    if name is None:
        return []
    called, assigned = _context(file.masked, expression.start)
    if assigned == "DestinationTableName":
        return [ObjectReference(SqlUse.WRITES, name, tokens[0].start)]
    place = file.places.at(expression.start)
    here = place is not None and any(place.start <= at < place.end for at in procedures)
    if not (here or _EXECUTING.fullmatch(called) or (procedures and name.is_qualified)):
        return []
    names = [name]
    if HOLE in name.parts[-1] and place is not None:
        arguments = _TYPE_ARGUMENT.findall(" ".join(place.segment.base_list))
        names = [ObjectName((HOLE, name.parts[-1].replace(HOLE, argument)), name.end) for argument in arguments]
    declared = (guess for guess in names if targets_of(guess.parts, ROUTINES, symbols))
    return [ObjectReference(SqlUse.EXECUTES, guess, tokens[0].start) for guess in declared]


def _context(code: str, start: int) -> tuple[str, str]:
    """(the call that has the literal as an argument, the name that it is assigned to), '' each when there is none."""
    behind = code[max(0, start - _BEHIND_CHARS) : start]
    # Both patterns are tried at every word: what they must end with is looked at first.
    opened = behind.rfind("(")
    called = _CALLED.search(behind) if opened >= 0 and _ENDS_OPEN.match(behind, opened) else None
    assigned = _ASSIGNED.search(behind) if behind.rstrip().endswith(_ASSIGNING) else None
    return called[1] if called else "", assigned[1] if assigned else ""


@dataclass(frozen=True, slots=True)
class _Constant:
    """A string that has its value for good. `owner` is the type that it is written in, `member` its own node."""

    owner: str
    name: str
    member: str
    is_local: bool
    value: str


def _evaluated(file: ParsedFile) -> tuple[dict[int, _Constant], list[StringExpression]]:
    """The constants of the file by the offset of their expressions, and all expressions, with constants put in."""
    known: dict[tuple[str, str], list[_Constant]] = {}

    def lookup(written: str, at: int) -> str | None:
        place = file.places.at(at)
        if place is None:
            return None
        qualifier, _, name = written.rpartition(".")
        if qualifier and qualifier != place.segment.name:
            return None
        called = known.get((place.segment.symbol, name), ())
        near = [constant for constant in called if not constant.is_local or constant.member == place.key]
        return near[-1].value if near else None

    constants: dict[int, _Constant] = {}
    expressions: list[StringExpression] = []
    for _ in range(_MAX_ROUNDS):
        expressions = list(string_expressions(file.text, file.masked, lookup))
        found = {one.start: constant for one in expressions if (constant := _constant(one, file)) is not None}
        if found == constants:
            break
        constants = found
        known.clear()
        for constant in found.values():
            known.setdefault((constant.owner, constant.name), []).append(constant)
    return constants, expressions


def _constant(expression: StringExpression, file: ParsedFile) -> _Constant | None:
    code, first = file.masked, max(0, expression.start - _BEHIND_CHARS)
    if not code[first : expression.start].rstrip().endswith(_ASSIGNING):
        return None
    declared = _CONSTANT.search(code, first, expression.start)
    place = file.places.at(expression.start) if declared is not None else None
    if declared is None or place is None:
        return None
    is_local = place.member is None or place.member.kind not in (MemberKind.FIELD, MemberKind.PROPERTY)
    if is_local and not declared[0].startswith("const"):
        return None  # a variable
    return _Constant(place.segment.symbol, declared[1], place.key, is_local, expression.value)


def _uses_of_constant(expression: StringExpression, file: ParsedFile, constants: dict[int, _Constant]) -> Iterator[int]:
    """The offsets in other members of its type where a constant with SQL is used."""
    constant = constants.get(expression.start)
    if constant is None or constant.is_local:
        return
    for found in re.finditer(rf"(?<![\w@]){re.escape(constant.name)}(?!\w)", file.masked):
        place = file.places.at(found.start())
        if place is not None and place.segment.symbol == constant.owner and place.key != constant.member:
            yield found.start()
