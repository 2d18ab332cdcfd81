"""The final order: a file is as good as its best section for words, its best section for meaning, and what speaks for
or against it as a whole; its sections follow each other at a distance. Pure.

nDCG@10 over files, six repositories (commit subjects that name no file / doc summaries / identifiers / annotators),
from `benchmarks/retrieval.py`: .560 .748 .997 .929, without an embedding model .554 .690 .996 .923. What each signal is
worth, by the same candidates ranked without it:

                                              with embedding        without
    all of them                               .559 .750 .997 .929   .557 .690 .996 .923
    other forms of words (`word_forms`)       .527 .724 .997 .904   .525 .660 .996 .897
    names of files, whole                     .559 .751 .997 .911   .560 .684 .996 .921
    names of files, in part                   .564 .719 .997 .918   .555 .648 .996 .903
    past commits, for prose                   .546 .747 .997 .905   .532 .690 .996 .885
    past commits, for tasks                   .524 .752 .997 .929   .527 .699 .996 .923
    the embedding, for prose                  .570 .701 .996 .923
    the embedding, for tasks                  .543 .737 .997 .929
    joined words (`question_terms`)           identifiers .953

With the weights chosen on the other repositories, leaving out each in turn: .552 .742 .997 .911. Four more repositories
that were looked at beside them (commits / doc summaries): .286 .707; before forms of words and names in part .275 .673.
Tried and left out, gains below .003 of the mean: best sections summed, BM25 of whole files, pseudo-relevance feedback
on words and on vectors, churn, size, files changed together, files of one folder, files that use what the best files
declare (mean .809 with and without) or are used by them (.808), by any number of best files, by sum or by the best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from rag_assets.query.fusion import Found, Ranked, raw_scores
from rag_assets.query.ranking.evidence import Asked, Evidence
from rag_assets.query.ranking.file_names import is_named
from rag_assets.query.ranking.places import Place
from rag_assets.query.ranking.side_code import demotion

PLACED = 80
"""Candidates whose files are looked up, 20 µs each; 200 of them gain nothing (mean .789 instead of .791)."""

NEXT_SECTION = 0.8
"""Factor for each further section of a file, beside its own share of the score of the best: a page of results shows
several files, and a second section stays on it where it is nearly as good as the first."""


def most_promising(found: Sequence[Found], asked: Asked, limit: int) -> list[Found]:
    """The candidates worth placing: the best `limit`, or PLACED, by their own scores."""
    return sorted(found, key=lambda one: (-own_score(one, asked), *one.ranks, one.id))[: max(limit, PLACED)]


def own_score(found: Found, asked: Asked) -> float:
    """What a section is worth by itself, 0 to 1."""
    share = asked.dense_share
    return share * found.dense_scaled + (1.0 - share) * found.bm25_scaled


def rank(
    found: Sequence[Found], places: Mapping[str, Place], evidence: Evidence, asked: Asked, limit: int
) -> list[Ranked]:
    """The best `limit` sections. One without a place (its payload is of another text) is a file of its own.

    Ties: dense rank, then keyword rank, then id (R9).
    """
    files: dict[Place, list[Found]] = {}
    for one in found:
        files.setdefault(places.get(one.id) or Place(one.id, ""), []).append(one)
    ranked = []
    ranks = {one.id: one.ranks for one in found}
    words = asked.words
    for place, sections in files.items():
        ranked += _ranked_sections(sections, place, evidence, asked, words)
    ranked.sort(key=lambda one: (-one.score, *ranks[one.id], one.id))
    return ranked[:limit]


def _ranked_sections(
    sections: list[Found], place: Place, evidence: Evidence, asked: Asked, words: Set[str]
) -> list[Ranked]:
    """The sections of one file with their scores."""
    share, weights = asked.dense_share, asked.weights
    parts = {"from_words": (1.0 - share) * max(one.bm25_scaled for one in sections)}
    if asked.has_dense:
        parts["from_meaning"] = share * max(one.dense_scaled for one in sections)
    name = weights.name_words * evidence.names.get(place, 0.0)
    if is_named(place.path, words):
        name += weights.file_name
    if name:
        parts["from_file_name"] = (1.0 - share) * name
    past = weights.past * evidence.past.get(place, 0.0)
    if past:
        parts["from_past"] = (1.0 - share) * past
    factor = demotion(place.path, asked.sides)
    score = sum(parts.values()) * factor
    best = max(own_score(one, asked) for one in sections)
    made = []
    for at, one in enumerate(sorted(sections, key=lambda one: (-own_score(one, asked), *one.ranks, one.id))):
        own = (own_score(one, asked) / best if best else 1.0) * NEXT_SECTION**at
        said = raw_scores(one) | parts
        if factor != 1.0:
            said["side_code"] = factor
        if at:
            said["next_section"] = own
        made.append(Ranked(one.id, score * own, said))
    return made
