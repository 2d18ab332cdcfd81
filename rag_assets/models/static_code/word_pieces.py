"""Text to the entries of a static table: words of identifiers, whole where the table has them, else in pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
"""`ParseURLs2` → `Parse URLs 2`, `HTTPServer` → `HTTP Server`; all but letters and digits of ASCII
separates."""

LONGEST_WORD = 40
"""Longer ones are hashes and data."""
_CACHED_IDENTIFIERS = 1 << 17  # about 20 MB when full
_CACHED_LENGTH = 64
_CACHED_RUNS = 1 << 15  # about 10 MB when full
_INSIDE = "##"
"""Begins the pieces that follow another one, as in WordPiece (Wu et al. 2016)."""

_SEPARATED = bytes(byte if chr(byte).isascii() and chr(byte).isalnum() else ord(" ") for byte in range(256))
"""For `bytes.translate`: a fifth of the time that a regular expression takes for the identifiers of a text."""


class WordPieces:
    """Ids of texts. Order and case do not matter to the model; a word without any piece has no id. Thread-safe."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids_of = _IdsOfIdentifier(dict(zip(vocabulary, range(len(vocabulary)), strict=True)))
        self.ids_of_run = lru_cache(maxsize=_CACHED_RUNS)(self.ids)
        """As `ids`, of a run of letters that texts repeat; not to be changed."""

    def ids(self, text: str) -> list[int]:
        """All of them, in the order of the text; linear in its length."""
        identifiers = text.encode("ascii", "replace").translate(_SEPARATED).split()
        return list(chain.from_iterable(map(self._ids_of.__getitem__, identifiers)))

    def has(self, word: str) -> bool:
        return self._ids_of.has(word.lower())


class _IdsOfIdentifier(dict[bytes, tuple[int, ...]]):
    """Letters and digits in a row → the ids of their words, bounded in memory; forgetting changes no result."""

    def __init__(self, entries: dict[str, int]) -> None:
        super().__init__()
        self._entries = entries

    def __missing__(self, identifier: bytes) -> tuple[int, ...]:
        words = WORD.findall(identifier.decode())
        ids = tuple(chain.from_iterable(self._pieces(word.lower()) for word in words))
        if len(identifier) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_IDENTIFIERS:
                self.clear()
            self[identifier] = ids
        return ids

    def has(self, word: str) -> bool:
        return word in self._entries

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The word itself, or the longest pieces from its left; a character that begins none is left out."""
        whole = self._entries.get(word)
        if whole is not None:
            return (whole,)
        if len(word) > LONGEST_WORD:
            return ()
        found: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                entry = self._entries.get(f"{_INSIDE if start else ''}{word[start:end]}")
                if entry is not None:
                    found.append(entry)
                    start = end
                    break
            else:
                start += 1
        return tuple(found)
