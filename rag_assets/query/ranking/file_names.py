"""A file whose name the question says: people name files after what is in them. Pure."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache

from rag_assets.stores.keyword.terms import runs, word_terms

_CACHED_PATHS = 1 << 14  # of a large repository those that searches meet


def is_named(path: str, asked: Set[str]) -> bool:
    """Whether all words of the name of a file are terms of the question: `JsonReader.cs` for "what does the json reader
    do"."""
    words = _words(path)
    return bool(words) and words <= asked


@lru_cache(maxsize=_CACHED_PATHS)
def _words(path: str) -> frozenset[str]:
    name = path.rpartition("/")[2].rpartition(".")[0]
    return frozenset(term for run in runs(name) for term in word_terms(run))
