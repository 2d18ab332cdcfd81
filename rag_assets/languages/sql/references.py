"""References to database objects: which object, and what the statement does with it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from rag_assets.languages.sql.lexer import ObjectName


class SqlUse(StrEnum):
    """What a statement does with the object it names."""

    READS = "reads"
    WRITES = "writes"
    EXECUTES = "executes"  # procedures, and functions wherever they are called
    USES = "uses"  # sequences and user-defined types
    ON = "on"  # of triggers and indexes
    REFERENCES = "references"  # of foreign keys
    SYNONYM_FOR = "synonym for"
    CREATES = "creates"  # whatever is not gone with the session
    ALTERS = "alters"
    DROPS = "drops"


class ObjectReference(NamedTuple):
    """`start` is the offset of the name in the text; `kind` what CREATE, ALTER or DROP call it: TABLE, VIEW …"""

    use: SqlUse
    name: ObjectName
    start: int
    kind: str = ""
