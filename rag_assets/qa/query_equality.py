"""When two queries are the same: in their words, whatever their case, order, marks and spaces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_WORD = re.compile(r"\w+")


def comparable(query: str) -> str:
    """The words of a query, each once, sorted."""
    folded = unicodedata.normalize("NFKC", query).casefold()
    return " ".join(sorted(set(_WORD.findall(folded)))) or folded.strip()


def same_query(query: str, asked: Iterable[str]) -> bool:
    """Whether a query was asked before; `asked` are comparable ones."""
    return comparable(query) in set(asked)
