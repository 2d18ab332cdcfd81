"""Names of database objects as they are written: which schemas a name without one may mean."""

from __future__ import annotations

DEFAULT_SCHEMAS = frozenset({"", "dbo", "public", "main"})
"""Where a name without schema is looked for, in lower case: SQL Server, PostgreSQL, SQLite. A file that names the
default schema and one that leaves it out mean the same object."""

HOLE = "\ua66e"
"""Stands for what is only known when the program runs. A letter, so that it stays part of the name it is in; a rare
one, so that no name of a database has it."""


def schema_rank(declared: str, written: str) -> int | None:
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
