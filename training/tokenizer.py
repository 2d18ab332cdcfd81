"""Words and pieces of a text, as the embedder of the package sees them."""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
LONGEST_WORD = 40
_CACHED_WORDS = 1 << 19


class Tokenizer:
    """Whole words first, greedy longest pieces for the rest."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._entries = {entry: number for number, entry in enumerate(vocabulary)}
        self._cache: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str) -> list[int]:
        made: list[int] = []
        cache = self._cache
        for word in WORD.findall(text):
            found = cache.get(word)
            if found is None:
                if len(cache) >= _CACHED_WORDS:
                    cache.clear()
                found = cache[word] = self._pieces(word.lower())
            made += found
        return made

    def _pieces(self, word: str) -> tuple[int, ...]:
        whole = self._entries.get(word)
        if whole is not None:
            return (whole,)
        if len(word) > LONGEST_WORD:
            return ()
        made: list[int] = []
        at = 0
        while at < len(word):
            for end in range(len(word), at, -1):
                found = self._entries.get(("##" if at else "") + word[at:end])
                if found is not None:
                    made.append(found)
                    at = end
                    break
            else:
                at += 1
        return tuple(made)
