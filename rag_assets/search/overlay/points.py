"""The sections of a work tree over the points of a generation: one store, one vocabulary, one ranking.

What the changed files had in the index is masked before the engine's top k, so k results stay k. Their new sections are
weighed as a build would weigh them, and how rare a word is is counted with them and without the masked ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.index.keyword import FIELDS
from rag_assets.index.keyword.bm25f import count_terms, weights
from rag_assets.index.keyword.vocabulary import (
    KnownTerm,
    QueryVector,
    Related,
    rarity_of,
    weighed_with,
    weighted_query,
)
from rag_assets.index.vectors.conditions import Holds, all_hold, conditions_of
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.index.vectors.vector_api import FileRef, PointReader, ScoredPoint
from rag_assets.languages.detection import SourceType, source_type
from rag_assets.search.overlay.sections import OverlaySection
from rag_assets.search.retrieve import Keywords, LabelResources, PathCache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag_assets.contracts.embedder import Embedder
    from rag_assets.contracts.retrieval import Capability, SearchPolicy
    from rag_assets.index.artifacts import ArtifactStore
    from rag_assets.index.generations import Generation
    from rag_assets.index.keyword.commit_subjects import CommitSubjects
    from rag_assets.index.keyword.expressions import Expression
    from rag_assets.index.layout import IndexHome
    from rag_assets.index.vectors.vector_api import Dense


class OverlayPoints:
    """The sections of a work tree with their keyword weights. Never changes; safe to use from several threads.

    A term has a number here, its place in `terms`, beside the index that the generation gives it, if it does.
    """

    def __init__(self, sections: Sequence[OverlaySection], generation: Generation) -> None:
        """Raises KeywordIndexError where the generation was built with keywords that cannot be read."""
        self.sections = {section.id: section.payload for section in sections}
        self._rows = [section.id for section in sections]
        counts = count_terms(section.fields for section in sections)
        self.terms = counts.vocabulary
        around = _average_lengths([section.payload for section in sections], generation)
        weighed = weights(counts, around, {term: number for number, term in enumerate(self.terms)})
        owners = np.repeat(np.arange(len(sections)), np.diff(weighed.offsets))
        order = np.argsort(weighed.indices, kind="stable")
        self._starts = np.searchsorted(weighed.indices[order], np.arange(len(self.terms) + 1))
        self._holders, self._values = owners[order], weighed.values[order].astype(np.float64)

    def number(self, term: str) -> int | None:
        at = bisect_left(self.terms, term)
        return at if at < len(self.terms) and self.terms[at] == term else None

    def holding(self, number: int) -> int:
        """How many sections have a term."""
        return int(self._starts[number + 1] - self._starts[number])

    def starting(self, beginning: str) -> list[str]:
        start = bisect_left(self.terms, beginning)
        return list(takewhile(lambda term: term.startswith(beginning), self.terms[start:]))

    def best(self, asked: Sequence[tuple[int, float]], holds: Holds, limit: int) -> list[ScoredPoint]:
        """The sections with the highest keyword score that fulfil something; only those that share a term."""
        scores: NDArray[np.float64] = np.zeros(len(self._rows))
        for number, weight in asked:
            span = slice(self._starts[number], self._starts[number + 1])
            scores[self._holders[span]] += weight * self._values[span]
        found = [
            ScoredPoint(self._rows[row], float(scores[row]))
            for row in np.flatnonzero(scores > 0).tolist()
            if holds(self._rows[row], self.sections[self._rows[row]])
        ]
        return sorted(found, key=lambda one: (-one.score, one.id))[:limit]

    def within(self, scope: SearchScope | None) -> dict[str, dict[str, Any]]:
        """id → payload of the sections of a scope."""
        if scope is None:
            return self.sections
        holds = self.holds(scope)
        return {known: payload for known, payload in self.sections.items() if holds(known, payload)}

    def holds(self, scope: SearchScope) -> Holds:
        return all_hold(conditions_of(scope, self._values_of))

    def values(self, key: str, scope: SearchScope) -> dict[str, int]:
        return _counted(self.within(scope).values(), key)

    def _values_of(self, key: str) -> tuple[str, ...]:
        return tuple(_counted(self.sections.values(), key))


def _counted(payloads: Any, key: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for payload in payloads:
        content = payload.get(key)
        for value in set(content) if isinstance(content, list) else {content} if content else ():
            found[value] = found.get(value, 0) + 1
    return dict(sorted(found.items()))


def _average_lengths(payloads: Sequence[Mapping[str, Any]], generation: Generation) -> NDArray[np.float64]:
    """The average lengths that each section is weighed with: those of its level and form in the generation."""
    known: dict[Path, list[list[float]]] = {}
    rows = []
    for payload in payloads:
        level = Confidentiality(payload["Confidentiality"])
        folder = generation.seen_by(level, generation.keyword)
        assert folder is not None  # its own level reaches it
        if folder not in known:
            known[folder] = weighed_with(folder)
        is_text = source_type(payload.get("CodeLanguage", "")) is not SourceType.CODE
        rows.append(known[folder][is_text])
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(FIELDS))


class OverlayReader:
    """The points of a generation without those of the `masked` files, and the sections of these as they are now
    (`index.vectors.vector_api.PointReader`)."""

    def __init__(self, base: PointReader, points: OverlayPoints, masked: frozenset[str]) -> None:
        self._base = base
        self._points = points
        self._masked = masked

    def count(self, scope: SearchScope | None = None) -> int:
        return self._base.count(self._below(scope)) + len(self._points.within(scope))

    def dense(self, vector: Dense, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        return self._base.dense(vector, self._left(scope), limit)

    def sparse(
        self, indices: Sequence[int], values: Sequence[float], scope: SearchScope, limit: int
    ) -> list[ScoredPoint]:
        """`indices` are those of `OverlayVocabulary`."""
        asked = [(*numbers_of(index), value) for index, value in zip(indices, values, strict=True)]
        indexed = sorted((index, value) for index, _, value in asked if index is not None)
        found = self._points.best(
            [(number, value) for _, number, value in asked if number is not None], self._points.holds(scope), limit
        )
        if indexed:
            at, those = [index for index, _ in indexed], [value for _, value in indexed]
            found += self._base.sparse(at, those, self._left(scope), limit)
        return sorted(found, key=lambda one: (-one.score, one.id))[:limit]

    def retrieve(self, ids: Sequence[str], scope: SearchScope) -> dict[str, dict[str, Any]]:
        own = self._points.within(scope)
        made = {known: own[known] for known in ids if known in own}
        others = [known for known in ids if known not in made]
        return {**made, **(self._base.retrieve(others, self._left(scope)) if others else {})}

    def places(self, ids: Sequence[str], scope: SearchScope) -> dict[str, FileRef]:
        own = self._points.sections
        others = [known for known in ids if known not in own]
        made = self._base.places(others, self._left(scope)) if others else {}
        return {**made, **{known: FileRef.of(own[known]) for known in ids if known in own}}

    def vector(self, identifier: str) -> Dense | None:
        return None if identifier in self._points.sections else self._base.vector(identifier)

    def ids(self, scope: SearchScope | None = None) -> dict[str, str]:
        own = {known: payload.get("ContentHash", "") for known, payload in self._points.within(scope).items()}
        return {**self._base.ids(self._below(scope)), **own}

    def values(self, key: str, scope: SearchScope) -> dict[str, int]:
        counts = dict(self._base.values(key, self._left(scope)))
        for value, count in self._points.values(key, scope).items():
            counts[value] = counts.get(value, 0) + count
        return dict(sorted(counts.items()))

    def _left(self, scope: SearchScope) -> SearchScope:
        """What may be found of the generation."""
        return replace(scope, masked=scope.masked | self._masked)

    def _below(self, scope: SearchScope | None) -> SearchScope | None:
        return None if scope is None else self._left(scope)


_SHIFT = 33
"""An index of a generation has 32 bits; above them is the number of the same term in the work tree."""
_NO_INDEX = 1 << 32


def joined_index(index: int | None, number: int | None) -> int:
    """Both numbers of a term as one index."""
    return ((0 if number is None else number + 1) << _SHIFT) | (_NO_INDEX if index is None else index)


def numbers_of(joined: int) -> tuple[int | None, int | None]:
    """The index of a term in the generation and its number in the work tree, each None where it has none."""
    index, number = joined & ((1 << _SHIFT) - 1), (joined >> _SHIFT) - 1
    return None if index & _NO_INDEX else index, None if number < 0 else number


class OverlayVocabulary:
    """The terms of a generation and of a work tree. A term is as rare as it is among the sections that can be found."""

    def __init__(
        self, base: Keywords, points: OverlayPoints, shard: PointReader, masked: SearchScope, masked_sections: int
    ) -> None:
        self._base = base
        self._points = points
        self._shard = shard
        self._masked = masked
        self._masked_sections = masked_sections
        self._known: dict[str, KnownTerm | None] = {}  # bounded by the vocabulary and what is asked of one work tree
        self.sections = max(base.sections - masked_sections, 0) + len(points.sections)

    def find(self, term: str) -> KnownTerm | None:
        if term not in self._known:
            self._known[term] = self._found(term)
        return self._known[term]

    def _found(self, term: str) -> KnownTerm | None:
        base, number = self._base.find(term), self._points.number(term)
        sections = 0 if base is None else base.sections
        if base is not None and self._masked_sections:
            sections -= len(self._shard.sparse([base.index], [1.0], self._masked, self._masked_sections))
        sections = max(sections, 0) + (0 if number is None else self._points.holding(number))
        return KnownTerm(joined_index(None if base is None else base.index, number), sections) if sections else None

    def starting(self, beginning: str) -> list[str]:
        own = self._points.starting(beginning)
        known = list(self._base.starting(beginning))
        return sorted({*known, *own}, key=str.encode) if own else known

    def rarity(self, term: str) -> float:
        return rarity_of(term, self, self.sections)

    def query_vector(
        self, text: str, related: Related | None = None, expressions: Sequence[Expression] = ()
    ) -> QueryVector:
        return weighted_query(text, self, self.sections, related, expressions)


class OverlaidResources:
    """The parts of a generation under a work tree (`search.retrieve.LabelResources`)."""

    def __init__(
        self,
        base: LabelResources,
        points: OverlayPoints,
        texts: Mapping[str, str],
        masked: frozenset[str],
        tenant: SearchScope,
    ) -> None:
        """`texts` are those of the work tree by their sha256, `tenant` is what the reader may see of the generation."""
        self._base = base
        self._points = points
        self._texts = texts
        self._placing = PathCache()
        shard = base.shard()
        self._reader = OverlayReader(shard, points, masked)
        self._masked = replace(tenant, files=masked)
        self._masked_sections = shard.count(self._masked) if masked else 0
        self._vocabulary: OverlayVocabulary | None = None

    @property
    def policy(self) -> SearchPolicy:
        return self._base.policy

    @property
    def configuration(self) -> tuple[IndexHome, Path | None]:
        return self._base.configuration

    def lacking(self) -> Mapping[Capability, str]:
        return self._base.lacking()

    def shard(self) -> OverlayReader:
        return self._reader

    def vocabulary(self) -> OverlayVocabulary:
        if self._vocabulary is None:  # two threads may make one each: they are alike
            base = self._base.vocabulary()
            self._vocabulary = OverlayVocabulary(
                base, self._points, self._base.shard(), self._masked, self._masked_sections
            )
        return self._vocabulary

    def past(self, label: str) -> CommitSubjects | None:
        return self._base.past(label)

    def placing(self) -> PathCache:
        return self._placing

    @property
    def unembedded(self) -> Set[str]:
        return self._points.sections.keys()

    def artifacts(self) -> ArtifactStore:
        return self._base.artifacts()

    def document(self, address: str) -> str:
        return self._texts[address] if address in self._texts else self._base.document(address)

    def descriptions(self, uris: Sequence[str]) -> Mapping[str, str]:
        return self._base.descriptions(uris)

    def embedder(self) -> Future[Embedder]:
        return self._base.embedder()

    def close(self) -> None:
        """The generation is not closed: its index is, by whoever opened it."""
