"""`EXEC sp_rename 'dbo.Orders.Total', 'Sum', 'COLUMN'`: SQL Server names what changes in a string."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag_assets.languages.sql.lexer import COMMENT, STRING, ObjectName, name_at, tokens_of

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
