"""One search over the parts of one index, or of several: phrases, retrieval, named places, payloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.query.fusion import Ranked
from rag_assets.query.phrases import MOST_READ, points_with
from rag_assets.query.places import sections_at
from rag_assets.query.reranking import reranked
from rag_assets.query.results import Mode
from rag_assets.query.retrieval import Clock, retrieve

if TYPE_CHECKING:
    from rag_assets.query.parts import SearchParts
    from rag_assets.query.question import Question
    from rag_assets.query.traces import CodePlace
    from rag_assets.stores.filters import SearchFilter


_MOST_LISTED = 5_000
"""Sections whose payloads are read to put them in order: half a second."""


@dataclass(frozen=True, slots=True)
class Found:
    """`payloads` lacks what the store has another text of. `mode` and `warnings` as in `SearchResult`."""

    ranked: list[Ranked]
    payloads: Mapping[str, Mapping[str, Any]]
    mode: Mode
    warnings: tuple[str, ...]
    candidates: dict[str, int]


def find(parts: SearchParts, question: Question, mode: Mode, scope: SearchFilter, limit: int, clock: Clock) -> Found:
    """The best `limit` sections of the scope. What the question's places name comes first; where no section has its
    phrases, they are searched as words, and a warning says so."""
    warnings: list[str] = list(question.notes)
    if not question.text:
        return _listed(parts, mode, scope, limit, warnings, clock)
    if mode is not Mode.BM25:
        parts.embedder()  # goes on loading meanwhile
    if question.phrases:
        with clock.step("phrases"):
            scope = _with_phrases(parts, question, scope, warnings)
    reranker = parts.policy.reranker
    wide = limit if reranker is None else max(limit, reranker.candidates)
    retrieved = retrieve(parts, question.text, mode, scope, wide, clock)
    ranked = retrieved.ranked
    warnings += retrieved.warnings
    if reranker is not None:
        with clock.step("rerank"):
            texts = parts.shard().retrieve([one.id for one in ranked], scope)
            ranked, problems = reranked(question.text, ranked, texts, reranker)
        warnings += problems
        ranked = ranked[:limit]
    if any(place.line for place in question.places):
        with clock.step("places"):
            ranked = _places_first(ranked, sections_at(question.places, parts.shard(), scope), limit)
    with clock.step("fetch"):
        payloads = parts.shard().retrieve([candidate.id for candidate in ranked], scope)
    return Found(ranked, payloads, retrieved.mode, tuple(warnings), retrieved.candidates)


def _listed(
    parts: SearchParts, mode: Mode, scope: SearchFilter, limit: int, warnings: list[str], clock: Clock
) -> Found:
    """What fulfils the filters of a question without words, in the order of paths and lines; there is no score."""
    shard = parts.shard()
    with clock.step("list"):
        ids = sorted(shard.ids(scope))
        if len(ids) > _MOST_LISTED:
            warnings.append(f"{len(ids):,} sections fulfil the filters, {_MOST_LISTED:,} of them were put in order")
        payloads = shard.retrieve(ids[:_MOST_LISTED], scope)
        order = sorted(payloads, key=lambda known: (*_place_of(payloads[known]), known))[:limit]
    ranked = [Ranked(identifier, 0.0, {}) for identifier in order]
    return Found(ranked, {known: payloads[known] for known in order}, mode, tuple(warnings), {})


def _place_of(payload: Mapping[str, Any]) -> tuple[str, str, int]:
    return payload.get("IndexLabel", ""), payload.get("Path", ""), payload.get("StartLine", 0)


def _with_phrases(parts: SearchParts, question: Question, scope: SearchFilter, warnings: list[str]) -> SearchFilter:
    found = points_with(question.phrases, parts, scope)
    said = " and ".join(f'"{phrase}"' for phrase in question.phrases)
    warnings += [f'"{phrase}" was looked for in the {MOST_READ:,} likeliest sections only' for phrase in found.cut]
    if not found.ids:
        warnings.append(f"no section has {said} as it is written; its words were searched instead")
        return scope
    return replace(scope, ids=found.ids)


def _places_first(ranked: Sequence[Ranked], named: Mapping[str, CodePlace], limit: int) -> list[Ranked]:
    """The named sections in the order in which they are named, with the score of the best, then the others."""
    best = ranked[0].score if ranked else 1.0
    scores = {candidate.id: candidate.scores for candidate in ranked}
    first = [
        Ranked(identifier, best, {**scores.get(identifier, {}), "place": 1 / at})
        for at, identifier in enumerate(named, 1)
    ]
    return [*first, *(candidate for candidate in ranked if candidate.id not in named)][:limit]
