"""What does v1 say, what does v2 say: one question to two labels, their hits side by side."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from rag_assets.search import Hit, SearchResult
from rag_assets.search.fusion import Ranked
from rag_assets.search.index import LabelIndex
from rag_assets.search.search import hit_of

_PREFIX_PARTS = 3  # of a semantic id (A32): namespace, project, repository


class Change(StrEnum):
    """What became of a section between two labels."""

    SAME = "same"
    CHANGED = "changed"
    MOVED = "moved"  # the same text in another file
    ADDED = "added"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class ComparedHit:
    """A section in both labels; a side that does not have it is None. A rank is 0 where the side has the section, but
    not among its hits; its hit has no scores then."""

    change: Change
    old: Hit | None
    new: Hit | None
    old_rank: int
    new_rank: int


@dataclass(frozen=True, slots=True)
class ComparedSearch:
    """The results of both labels, and every section that either found, in the order of its better rank."""

    old: SearchResult
    new: SearchResult
    hits: tuple[ComparedHit, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Of both searches, each once."""
        return tuple(dict.fromkeys((*self.old.warnings, *self.new.warnings)))


def compare_search(query: str, old: LabelIndex, new: LabelIndex, **options: Any) -> ComparedSearch:
    """Asks two indexes the same question; `options` are those of `Searchable.search`.

    Sections correspond by symbol, section and part as their semantic ids have them, whatever the repositories are
    called. Raises what `Searchable.search` raises.
    """
    results = old.search(query, **options), new.search(query, **options)
    before, after = _Side(old, results[0]), _Side(new, results[1])
    keys = dict.fromkeys((*before.ranks, *after.ranks))
    rows = [_compared(key, before, after) for key in keys]
    rows.sort(key=lambda row: (min(rank for rank in (row.old_rank, row.new_rank) if rank), row.new_rank == 0))
    return ComparedSearch(*results, tuple(rows))


class _Side:
    """The hits of one label by what corresponds, and any other section of it."""

    def __init__(self, index: LabelIndex, result: SearchResult) -> None:
        self._index = index
        self._hits = {_key(hit.semantic_id): hit for hit in result.hits}
        self.ranks = {_key(hit.semantic_id): rank for rank, hit in enumerate(result.hits, 1)}

    def section(self, key: str) -> tuple[Hit, str] | None:
        """A section and its ContentHash, whether it is a hit or not; None where the label has none."""
        hit = self._hits.get(key)
        identifier = hit.point_id if hit else self._index.point_id_of(f"{self._prefix}:{key}")
        payload = self._index.parts.shard().retrieve([identifier], self._index.scope()).get(identifier)
        if payload is None:
            return None
        found = hit or hit_of(Ranked(identifier, 0.0, {}), payload, {self._index.label: self._index.manifest})
        return found, str(payload.get("ContentHash", ""))

    @cached_property
    def _prefix(self) -> str:
        """Namespace, project and repository, as all semantic ids of the label begin."""
        shard, scope = self._index.parts.shard(), self._index.scope()
        for payload in shard.retrieve(sorted(shard.ids(scope))[:1], scope).values():
            return ":".join(str(payload["SemanticId"]).split(":", _PREFIX_PARTS)[:_PREFIX_PARTS])
        return ""


def _key(semantic_id: str) -> str:
    return semantic_id.split(":", _PREFIX_PARTS)[-1]


def _compared(key: str, before: _Side, after: _Side) -> ComparedHit:
    old, new = before.section(key), after.section(key)
    if old is None or new is None:
        change = Change.ADDED if old is None else Change.REMOVED
    elif old[1] != new[1]:
        change = Change.CHANGED
    else:
        change = Change.SAME if old[0].path == new[0].path else Change.MOVED
    return ComparedHit(
        change,
        old[0] if old else None,
        new[0] if new else None,
        before.ranks.get(key, 0),
        after.ranks.get(key, 0),
    )
