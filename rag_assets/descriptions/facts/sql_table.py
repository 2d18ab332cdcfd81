"""The columns of a SQL table with nullability, key and default, from the members that segmentation found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rag_assets.contracts.segment import Member, MemberKind
from rag_assets.descriptions.facts.sql_keys import SqlForeignKey

_DEFAULT = re.compile(
    r"\bDEFAULT\s+(\((?:[^()']++|'(?:[^']|'')*'|\((?:[^()']++|'(?:[^']|'')*'|\([^()]*\))*\))*\)"
    r"|[nN]?'(?:[^']|'')*'|[^\s,]+(?:\([^()]*\))?)",
    re.IGNORECASE,
)
_IDENTITY = re.compile(r"\b(?:IDENTITY|AUTO_INCREMENT|(?:big|small)?serial)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SqlColumn:
    """A column as declared. `key` is `primary`, `foreign`, `unique` or ''; a primary key is never nullable."""

    name: str
    type: str
    nullable: bool
    key: str = ""
    default: str = ""
    identity: bool = False
    doc: str = ""


def columns_of(
    members: Iterable[Member], primary_key: tuple[str, ...], foreign_keys: Iterable[SqlForeignKey]
) -> tuple[SqlColumn, ...]:
    """The columns in order. A column is a key as its own definition or a constraint of the table says."""
    primary = {name.lower() for name in primary_key}
    foreign = {name.lower() for key in foreign_keys for name in key.columns}
    found = []
    for member in members:
        if member.kind is not MemberKind.PROPERTY:
            continue
        name = member.name.lower()
        is_primary = "PRIMARY KEY" in member.modifiers or name in primary
        key = "primary" if is_primary else "foreign" if name in foreign else ""
        default = _DEFAULT.search(member.signature)
        found.append(
            SqlColumn(
                name=member.name,
                type=member.type,
                nullable=not is_primary and "NOT NULL" not in member.modifiers,
                key=key or ("unique" if "UNIQUE" in member.modifiers else ""),
                default=default[1] if default else "",
                identity=bool(_IDENTITY.search(member.signature)),
                doc=member.doc,
            )
        )
    return tuple(found)
