"""From candidates to the files they are of, which a finished generation never changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.stores.points import Place

if TYPE_CHECKING:
    from rag_assets.stores.filters import SearchFilter
    from rag_assets.stores.points import VectorReader

_MOST_KNOWN = 100_000
"""Sections whose file is kept: 20 MB. A store that has no table of them (a server, a shard of an older version) reads a
payload for each, 30 to 50 µs and more."""


class Placing:
    """The files of sections that searches have met. Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: dict[str, Place] = {}

    def of(self, ids: Sequence[str], shard: VectorReader, scope: SearchFilter) -> dict[str, Place]:
        """id → file of candidates that a search within `scope` has found; without those whose payload the store does
        not give out."""
        known = self._known
        found = {identifier: known[identifier] for identifier in ids if identifier in known}
        new = [identifier for identifier in ids if identifier not in found]
        if new:
            read = shard.places(new, scope)
            if len(known) + len(read) > _MOST_KNOWN:
                self._known = known = {}
            known.update(read)
            found |= read
        return found
