"""What SQL may do with a database object that it names."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from rag_assets.descriptions.facts.sql_tokens import Name


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


class SqlMention(NamedTuple):
    """`start` is the offset of the name in the text; `kind` what CREATE, ALTER or DROP call it: TABLE, VIEW …"""

    use: SqlUse
    name: Name
    start: int
    kind: str = ""
