"""The final order: a file is as good as its best section for words, its best section for meaning, and what speaks for
or against it as a whole; its sections follow each other at a distance. Pure.

nDCG@10 over files, six repositories (commit subjects that name no file / doc summaries / identifiers / annotators):
the search itself .540 .716 .997 .899, with test files removed .548 .720 .997 .899 (`benchmarks/retrieval.py`).

What each signal is worth, on all sections instead of candidates, test files removed: all of them .539 .729 .997 .908,
without one

    the embedding, for prose                  .534 .656 .997 .879
    the embedding, for tasks                  .541 .722 .997 .908 (commits that name a file: .895 → .872)
    past commits, for tasks                   .509 .737 .997 .908
    past commits, for prose                   .531 .710 .997 .894
    file names                                .543 .703 .997 .883
    joined words (`question_terms`)           identifiers .953

With the weights chosen on the other repositories, leaving out each in turn: .528 .721 .997 .908. Weights half or twice
as large cost less than .015 of the mean. Tried and left out, gains below .003 of the mean: best sections summed, BM25
of whole files, pseudo-relevance feedback on words and on vectors, churn, size, files changed together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from rag_assets.query.fusion import Found, Ranked
from rag_assets.query.ranking.asking import WEIGHTS, Asking, Weights
from rag_assets.query.ranking.file_names import is_named
from rag_assets.query.ranking.side_code import Side, demotion

PLACED = 80
"""Candidates whose files are looked up, 20 µs each; 200 of them gain nothing (mean .789 instead of .791)."""

NEXT_SECTION = 0.8
"""Factor for each further section of a file, beside its own share of the score of the best: a page of results shows
several files, and a second section stays on it where it is nearly as good as the first."""


@dataclass(frozen=True, slots=True)
class Place:
    """The file that a candidate is of."""

    label: str
    path: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What the ranking knows of a question: its kind, its terms with their weights, whether it has a vector, and which
    code beside the product it is for."""

    kind: Asking
    terms: Mapping[str, float]
    has_dense: bool
    sides: Set[Side] = frozenset()

    @property
    def words(self) -> Set[str]:
        """What the question says itself, without function words and guessed names."""
        return {term for term, weight in self.terms.items() if weight >= 1.0}

    @property
    def weights(self) -> Weights:
        return WEIGHTS[self.kind]

    @property
    def dense_share(self) -> float:
        """Without an embedding words are everything."""
        return self.weights.dense if self.has_dense else 0.0


def most_promising(found: Sequence[Found], asked: Asked, limit: int) -> list[Found]:
    """The candidates worth placing: the best `limit`, or PLACED, by their own scores."""
    return sorted(found, key=lambda one: (-own_score(one, asked), *one.ranks, one.id))[: max(limit, PLACED)]


def own_score(found: Found, asked: Asked) -> float:
    """What a section is worth by itself, 0 to 1."""
    share = asked.dense_share
    return share * found.dense_scaled + (1.0 - share) * found.bm25_scaled


def rank(
    found: Sequence[Found], places: Mapping[str, Place], past: Mapping[Place, float], asked: Asked, limit: int
) -> list[Ranked]:
    """The best `limit` sections. One without a place (its payload is of another text) is a file of its own. `past` are
    the shares (0 to 1) of what past commits say of the files.

    Ties: dense rank, then keyword rank, then id (R9).
    """
    files: dict[Place, list[Found]] = {}
    for one in found:
        files.setdefault(places.get(one.id) or Place(one.id, ""), []).append(one)
    ranked = []
    ranks = {one.id: one.ranks for one in found}
    words = asked.words
    for place, sections in files.items():
        ranked += _ranked_sections(sections, place.path, past.get(place, 0.0), asked, words)
    ranked.sort(key=lambda one: (-one.score, *ranks[one.id], one.id))
    return ranked[:limit]


def _ranked_sections(sections: list[Found], path: str, past: float, asked: Asked, words: Set[str]) -> list[Ranked]:
    """The sections of one file with their scores."""
    share = asked.dense_share
    parts = {"from_words": (1.0 - share) * max(one.bm25_scaled for one in sections)}
    if asked.has_dense:
        parts["from_meaning"] = share * max(one.dense_scaled for one in sections)
    if asked.weights.file_name and is_named(path, words):
        parts["from_file_name"] = (1.0 - share) * asked.weights.file_name
    if past:
        parts["from_past"] = (1.0 - share) * asked.weights.past * past
    factor = demotion(path, asked.sides)
    score = sum(parts.values()) * factor
    best = max(own_score(one, asked) for one in sections)
    made = []
    for at, one in enumerate(sorted(sections, key=lambda one: (-own_score(one, asked), *one.ranks, one.id))):
        own = (own_score(one, asked) / best if best else 1.0) * NEXT_SECTION**at
        said = _raw(one) | parts
        if factor != 1.0:
            said["side_code"] = factor
        if at:
            said["next_section"] = own
        made.append(Ranked(one.id, score * own, said))
    return made


def _raw(found: Found) -> dict[str, float]:
    """The scores of both searches as they were: abstention needs them."""
    made: dict[str, float] = {}
    if found.dense is not None:
        made |= {"dense": found.dense, "dense_normalised": found.dense_scaled}
    if found.bm25 is not None:
        made |= {"bm25": found.bm25, "bm25_normalised": found.bm25_scaled}
    return made
