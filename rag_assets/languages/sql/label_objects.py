"""The database objects of a label by name: what other files, of any language, may ask about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rag_assets.contracts.graph import NodeType, sql_key
from rag_assets.dependency_trace import tracked
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.sql.dynamic_sql import HOLE
from rag_assets.languages.sql.placed_objects import PlacedObject, objects_in

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
