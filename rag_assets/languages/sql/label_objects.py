"""The database objects of a label by name: what other files, of any language, may ask about them.

Objects are declared by SQL files and by the string literals that scripts execute (`EXEC('CREATE VIEW …')`,
`sp_executesql`); `sp_rename` changes names in a string. A name leads to the nodes it may mean, with how sure that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from rag_assets.contracts.graph import Confidence, NodeType, declaration_key, key_kind, sql_key
from rag_assets.contracts.segment import Segment
from rag_assets.dependency_trace import tracked
from rag_assets.languages.detection import SourceType, source_type
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.sql.dbt import is_of_dbt, references_of_template, without_tags
from rag_assets.languages.sql.lexer import BRACKETED, COMMENT, DEFAULT_SCHEMA, STRING, ObjectName, name_at, tokens_of
from rag_assets.languages.sql.reference_reader import ObjectReference
from rag_assets.languages.sql.segments import segment_sql
from rag_assets.languages.sql.statements import without_copied_rows

HOLE = "\ua66e"
"""Stands for what is only known when the program runs. A letter, so that it stays part of the name it is in; a rare
one, so that no name of a database has it."""

_LITERAL = rf"[nN]?{STRING}"
_VARIABLE = r"@[\w$#@]++"
_CALL = r"[^\W\d]\w*+\s*+\([^()']*+\)"
_EXPRESSION = rf"{_LITERAL}(?:\s*+\+\s*+(?:{_LITERAL}|{_VARIABLE}|{_CALL}))*+"
_DYNAMIC = re.compile(
    rf"""
      {COMMENT} | {BRACKETED} | "[^"]*+"
    | (?:(?<![\w$#@])EXEC(?:UTE)?(?:\s++IMMEDIATE)?\b\s*+\(?\s*+
        | (?<![\w$#@])sp_executesql\]?\s++(?:@\w++\s*+=\s*+)?
        | (?<![\w$#@])PREPARE\s++\w++\s++FROM\s++)
      (?: (?P<code>{_EXPRESSION}) | (?P<executed>{_VARIABLE})(?!\s*+=) )
    | (?P<variable>{_VARIABLE})(?:\s++(?:AS\s++)?n?varchar\s*+\([^()]*+\))?\s*+\+?=\s*+(?P<value>{_EXPRESSION})
    | {_LITERAL}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_EXECUTES = re.compile(
    rf"(?<![\w$#@])(?:EXEC(?:UTE)?(?:\s++IMMEDIATE)?\s*+\(?\s*+(?:[nN]?'|{_VARIABLE}(?!\s*+=))|sp_executesql|PREPARE\s)",
    re.IGNORECASE,
)
"""Most scripts do not have it: they execute no text."""

_PIECE = re.compile(rf"[nN]?'(?P<text>(?:[^']++|'')*+)'|{_VARIABLE}|{_CALL}")


@dataclass(frozen=True, slots=True)
class DynamicBatch:
    """Executed SQL, and where in the script its literal begins: offset and line (1-based). What is put together at run
    time is a HOLE; line ends are those of the script."""

    text: str
    start: int
    line: int


def literal_batches(text: str) -> tuple[DynamicBatch, ...]:
    """The SQL of the literals that `text` executes, directly or through a variable, in text order. Linear."""
    if "'" not in text or not _EXECUTES.search(text):
        return ()
    assigned: list[tuple[int, str, str]] = []  # offset, variable, expression
    executed: set[str] = set()
    for found in _DYNAMIC.finditer(text):
        if found["code"] is not None:
            assigned.append((found.start("code"), "", found["code"]))
        elif found["executed"] is not None:
            executed.add(found["executed"].lower())
        elif found["value"] is not None:
            assigned.append((found.start("value"), found["variable"].lower(), found["value"]))
    wanted = [(at, code) for at, variable, code in assigned if not variable or variable in executed]
    return tuple(_placed(text, wanted))


def _placed(text: str, wanted: list[tuple[int, str]]) -> Iterator[DynamicBatch]:
    line, counted = 1, 0
    for at, code in wanted:
        line += text.count("\n", counted, at)
        counted = at
        yield DynamicBatch("".join(_pieces(code)), at, line)


def _pieces(code: str) -> Iterator[str]:
    """The literals of a concatenation; line ends between them stay, so that lines still count."""
    last = 0
    for piece in _PIECE.finditer(code):
        yield "\n" * code.count("\n", last, piece.start())
        last = piece.end()
        yield piece["text"].replace("''", "'") if piece["text"] is not None else HOLE


@dataclass(frozen=True, slots=True)
class PlacedObject:
    """A declared object. `segment` is how segmentation sees it; its spans count in the text of its script, whose lines
    begin after `line_offset` lines of the file."""

    key: str
    kind: NodeType
    segment: Segment
    line_offset: int


@dataclass(frozen=True, slots=True)
class SqlScript:
    """A text of SQL: a file without the rows of its COPY, or a literal in it that begins at `start`, after
    `line_offset` lines. `named` are the references of a template, whose tags the text is without, in text order."""

    text: str
    segments: tuple[Segment, ...]
    path: str
    start: int = 0
    line_offset: int = 0
    named: tuple[ObjectReference, ...] = ()

    def objects(self) -> Iterator[PlacedObject]:
        """Those of the segments that are objects with a node of their own: no indexes, no loose statements, nothing
        whose name is only known at run time."""
        for segment in self.segments:
            key = declaration_key("sql", segment.symbol, segment.kind, self.path)
            kind = key_kind(key)
            if kind is not NodeType.FILE and HOLE not in segment.name:
                yield PlacedObject(key, kind, segment, self.line_offset)


def scripts_of(file: ParsedFile) -> Iterator[SqlScript]:
    """The file and then the literals in it, in order; nothing unless it is SQL."""
    if source_type(file.language) is not SourceType.SQL:
        return
    if is_of_dbt(file.text):
        named = tuple(sorted(references_of_template(file.text), key=attrgetter("start")))
        yield SqlScript(without_tags(file.text), file.segments, file.path, named=named)
        return
    text = without_copied_rows(file.text)
    yield SqlScript(text, file.segments, file.path)
    for batch in literal_batches(text):
        segments = segment_sql(batch.text, file.path, file.language).segments
        yield SqlScript(batch.text, segments, file.path, batch.start, batch.line - 1)


def objects_in(file: ParsedFile) -> Iterator[PlacedObject]:
    """The objects that `file` declares, in order; none unless it is SQL."""
    for script in scripts_of(file):
        yield from script.objects()


DEFAULT_SCHEMAS = frozenset({"", "dbo", "public", "main"})
"""Where a name without schema is looked for, in lower case: SQL Server, PostgreSQL, SQLite. A file that names the
default schema and one that leaves it out mean the same object."""


@dataclass(frozen=True, slots=True, order=True)
class SqlObject:
    """A declared object, written as in its declaration. `schema` may have a database before it: `shop.dbo`."""

    schema: str
    name: str
    kind: NodeType

    @property
    def key(self) -> str:
        """`schema.name|TABLE`: the key of its points and its node."""
        return sql_key(self.schema, self.name, self.kind)


@dataclass(frozen=True, slots=True)
class SqlDeclarations:
    """The objects that a set of files declares, sorted, each once."""

    objects: tuple[SqlObject, ...] = ()


def declared_in(files: Iterable[ParsedFile]) -> SqlDeclarations:
    """The objects of all SQL files among `files`, those created by literal dynamic SQL included."""
    return declarations_of(made for file in files for made in objects_in(file))


def declarations_of(objects: Iterable[PlacedObject]) -> SqlDeclarations:
    return SqlDeclarations(
        tuple(sorted({SqlObject(made.segment.namespace, made.segment.name, made.kind) for made in objects}))
    )


_SHORTEST_ENDING, _FEWEST_OF_PREFIX = 3, 3


class SqlSymbols:
    """Answers which declared object a name means. Names are compared without case, as most databases do."""

    def __init__(self, declared: Iterable[SqlDeclarations] = ()) -> None:
        by_name: dict[str, set[SqlObject]] = {}
        for declarations in declared:
            for made in declarations.objects:
                by_name.setdefault(made.name.lower(), set()).add(made)
        self._by_name = {name: tuple(sorted(made)) for name, made in by_name.items()}

    @tracked("sql.named")
    def named(self, name: str, schema: str = "", kinds: tuple[str, ...] = ()) -> tuple[SqlObject, ...]:
        """The declared objects that `schema.name` may mean, sorted; () when none is declared. `kinds` are node types
        (`TABLE`, `VIEW` …), () for any.

        `schema` is as written, with a database before it or '' for none. Only the objects of the best-matching
        schemas are given: without schema those of the default schemas (dbo, public, main), only then others. Of
        spellings that differ in case alone there is one, the written one if it is declared.
        """
        return self.find(name, schema, kinds)

    def find(self, name: str, schema: str = "", kinds: tuple[str, ...] = ()) -> tuple[SqlObject, ...]:
        """As `named`, of objects that the asker declares itself: not recorded as a question about other files."""
        best: list[SqlObject] = []
        best_rank = None
        for made in self._by_name.get(name.lower(), ()):
            rank = _schema_rank(made.schema, schema)
            if rank is None or (kinds and made.kind not in kinds) or (best_rank is not None and rank > best_rank):
                continue
            if best_rank is None or rank < best_rank:
                best, best_rank = [], rank
            best.append(made)
        return _one_spelling(best, name, schema)

    @tracked("sql.prefixed")
    def prefixed(self, ending: str, kinds: tuple[str, ...]) -> tuple[SqlObject, ...]:
        """The one object of these kinds whose name is a prefix, as several of them have it, and the `ending`: behind
        the shortest one if there are more. () for none."""
        lower = ending.lower()
        prefixes = sorted((name.removesuffix(lower) for name in self._by_name if name.endswith(lower)), key=len)
        of_prefix = [name for name in self._by_name if prefixes and name.startswith(prefixes[0])]
        is_unsure = len(of_prefix) < _FEWEST_OF_PREFIX or len(prefixes[0]) in (0, *map(len, prefixes[1:2]))
        if len(ending) < _SHORTEST_ENDING or is_unsure:
            return ()
        spellings = [made.name for made in self._by_name[prefixes[0] + lower]]
        return self.find(next((one for one in spellings if one.endswith(ending)), spellings[0]), "", kinds)[:1]


def _one_spelling(found: list[SqlObject], name: str, schema: str) -> tuple[SqlObject, ...]:
    chosen: dict[tuple[str, str, NodeType], SqlObject] = {}
    for made in found:
        place = (made.schema.lower(), made.name.lower(), made.kind)
        known = chosen.get(place)
        if known is None or _likeness(made, name, schema) > _likeness(known, name, schema):
            chosen[place] = made
    return tuple(sorted(chosen.values()))


def _likeness(made: SqlObject, name: str, schema: str) -> tuple[bool, bool]:
    return made.name == name, made.schema == schema


def _schema_rank(declared: str, written: str) -> int | None:
    """How well a declared schema answers a written one, 0 best; None: it is another schema. Case is ignored.

    Either may have a database before it (`shop.dbo`, `shop.` for `shop..orders`): an object that names no database is
    in every one, and a name written without schema prefers the default schemas, then means any.
    """
    declared_database, _, declared_schema = declared.lower().rpartition(".")
    database, _, schema = written.lower().rpartition(".")
    if database and declared_database and database != declared_database:
        return None
    unsure = int(database != declared_database)
    if not schema or HOLE in schema:
        return unsure if declared_schema in DEFAULT_SCHEMAS else 2 + unsure
    if declared_schema == schema:
        return unsure
    return 2 + unsure if schema in DEFAULT_SCHEMAS and declared_schema in DEFAULT_SCHEMAS else None


TABLES = (NodeType.TABLE, NodeType.VIEW, NodeType.SYNONYM)
ROUTINES = (NodeType.PROC, NodeType.FUNC, NodeType.SYNONYM)

_MAX_CANDIDATES = 3
"""More objects than these of one name say nothing: no edge at all."""


@dataclass(frozen=True, slots=True)
class ResolvedName:
    key: str
    confidence: Confidence


def targets_of(
    parts: tuple[str, ...], kinds: tuple[NodeType, ...], symbols: SqlSymbols, own: SqlSymbols | None = None
) -> tuple[ResolvedName, ...]:
    """The nodes of the name with these parts (`schema`, `name`), one as a rule.

    `own` are the objects of the file that has the name: the only one of them that it surely names is meant, for a label
    may hold the same tables in scripts for several kinds of servers.

    A declared object is resolved when its schema is the written one, or a default schema where none is written;
    probable when it is the only one in another schema, the database is not sure, or a prefix is only known when the
    program runs (`{0}Posts` for `be_Posts`); several are name-only. An object that nothing declares becomes a
    `TABLE_OR_VIEW`, probable, where `kinds` has tables, and nothing otherwise.
    """
    name, schema = parts[-1], ".".join(parts[:-1])
    wanted = tuple(kind.value for kind in kinds)
    if HOLE in name:
        ending = name.lstrip(HOLE)
        known = symbols.prefixed(ending, wanted) if name != ending and HOLE not in ending else ()
        return tuple(ResolvedName(made.key, Confidence.PROBABLE) for made in known)
    known = own.find(name, schema, wanted) if own is not None else ()
    if len(known) != 1 or not _is_same(known[0].schema, schema):
        known = symbols.named(name, schema, wanted)
    if len(known) > _MAX_CANDIDATES:
        return ()
    if len(known) > 1:
        return tuple(ResolvedName(made.key, Confidence.NAME_ONLY) for made in known)
    if known:
        sure = _is_same(known[0].schema, schema)
        return (ResolvedName(known[0].key, Confidence.RESOLVED if sure else Confidence.PROBABLE),)
    if NodeType.TABLE not in kinds:
        return ()
    written = ".".join(part for part in parts[:-1] if part and HOLE not in part) or DEFAULT_SCHEMA
    return (ResolvedName(sql_key(written, name, NodeType.TABLE_OR_VIEW), Confidence.PROBABLE),)


def _is_same(declared: str, written: str) -> bool:
    declared, written = declared.lower(), written.lower()
    return declared == written or (declared in DEFAULT_SCHEMAS and written in DEFAULT_SCHEMAS)


_RENAME = re.compile(
    rf"{COMMENT}|\bsp_rename\]?\s++(?:@objname\s*+=\s*+)?[nN]?'(?P<name>[^'\r\n]{{1,600}}+)'|{STRING}", re.IGNORECASE
)


def renamed_objects(text: str) -> Iterator[tuple[ObjectName, int]]:
    """The name of each object, column or index that `text` renames, and the offset of the name."""
    if "sp_rename" not in text:
        return
    for found in _RENAME.finditer(text):
        name = name_at(tokens_of(found["name"]), 0) if found["name"] else None
        if name is not None:
            yield name, found.start("name")
