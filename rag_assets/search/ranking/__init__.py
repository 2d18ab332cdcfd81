"""The final order of the candidates of both searches: files first, then the sections within them. A file is as good as
its best section for words, its best section for meaning, and what speaks for or against it as a whole; its sections
follow each other at a distance. Pure.

`signals` decides how much each signal weighs and collects what a file gains beside the scores of its sections,
`penalties` what it loses. Every number names the measurement behind it; all of them were tuned together, never for one
repository, and checked by leaving out each in turn.

nDCG@10 over files, six repositories (commit subjects that name no file / doc summaries / identifiers / annotators),
from `benchmarks/retrieval.py`: .562 .752 .997 .929, without an embedding model .551 .689 .996 .923. What each signal is
worth, by the same candidates ranked without it, before descriptions were told from prose (+.008 for doc summaries) and
chunks of texts had 1,000 tokens:

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

That was with MiniLM, which weighed .41 and .17 for names; see `signals.WEIGHTS` for the model of the package.

With the weights chosen on the other repositories, leaving out each in turn: .552 .742 .997 .911. Four more repositories
that were looked at beside them (commits / doc summaries): .286 .707; before forms of words and names in part .275 .673.
Tried and left out, gains below .003 of the mean: best sections summed, BM25 of whole files, pseudo-relevance feedback
on words and on vectors, churn, size, files changed together, files of one folder, files that use what the best files
declare (mean .809 with and without) or are used by them (.808), by any number of best files, by sum or by the best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log1p
from typing import NamedTuple, TypeVar

from rag_assets.index.vectors.vector_api import FileRef
from rag_assets.search.fusion import FusedCandidate, Ranked, raw_scores
from rag_assets.search.ranking.penalties import demotion, priority_factor
from rag_assets.search.ranking.signals import FileSignals, QueryFeatures, QueryType, SignalWeights

RANKING_VERSION = 12
"""Raise it when the same question of the same index may get another order, whatever makes it: here, `search.retrieve`,
fusion, phrases, forms of words. Runs of question sets keep it: numbers of two rankings tell nothing of two indexes. A
test compares the order of a small index with the one that was written down for this version."""

PLACED = 80
"""Candidates whose files are looked up, 3 µs each and as much for what is known of them; 200 gain nothing (mean .789
instead of .791)."""

NEXT_SECTION = 0.8
"""Factor for each further section of a file, beside its own share of the score of the best: a page of results shows
several files, and a second section stays on it where it is nearly as good as the first."""


def most_promising(found: Sequence[FusedCandidate], asked: QueryFeatures, limit: int) -> list[FusedCandidate]:
    """The candidates worth placing: the best `limit`, or PLACED, by their own scores; all, as they come, where they are
    no more."""
    most = max(limit, PLACED)
    if len(found) <= most:
        return list(found)
    share = asked.dense_share
    return [one for _, one in _best([(own_score(one, share), one) for one in found], most)]


def own_score(found: FusedCandidate, dense_share: float) -> float:
    """What a section is worth by itself, 0 to 1."""
    return dense_share * found.dense_scaled + (1.0 - dense_share) * found.bm25_scaled


class _File(NamedTuple):
    """What speaks for a file, and `factor`, for what speaks against it; `priority` is what people gave it, as a factor.
    Hundreds are judged, only those of hits are put into words."""

    words: float
    meaning: float
    name: float
    past: float
    breadth: float
    factor: float
    priority: float

    @property
    def score(self) -> float:
        return (self.words + self.meaning + self.name + self.past + self.breadth) * self.factor * self.priority


class _Scored(NamedTuple):
    """A section with its file, its place in the order of the sections there, and its share of the score of the file."""

    score: float
    found: FusedCandidate
    file: _File
    at: int
    own: float


def rank(
    found: Sequence[FusedCandidate],
    places: Mapping[str, FileRef],
    evidence: FileSignals,
    asked: QueryFeatures,
    limit: int,
) -> list[Ranked]:
    """The best `limit` sections. One without a place (its payload is of another text) is a file of its own.

    Ties: dense rank, then keyword rank, then id (R9).
    """
    files: dict[FileRef, list[FusedCandidate]] = {}
    for one in found:
        files.setdefault(places.get(one.id) or FileRef(one.id, ""), []).append(one)
    scored: list[_Scored] = []
    share, weights = asked.dense_share, asked.weights
    if len(found) < PLACED:  # all there are: how many of them a file has says how long it is
        weights = replace(weights, breadth=0.0)
    for place, sections in files.items():
        file = _judged(sections, place, evidence, asked, share, weights)
        scored += _sections(sections, file, share)
    return [_ranked(one, asked.has_dense) for one in _best(scored, limit)]


def _judged(
    sections: list[FusedCandidate],
    place: FileRef,
    evidence: FileSignals,
    asked: QueryFeatures,
    share: float,
    weights: SignalWeights,
) -> _File:
    name = weights.name_words * evidence.names.get(place, 0.0)
    if place in evidence.named:
        name += weights.file_name
    name += weights.declares * evidence.declared.get(place, 0.0)
    past = weights.past * evidence.past.get(place, 0.0)
    factor = demotion(place.path, asked.sides, asked.terms if asked.kind is QueryType.QUESTION else None)
    factor *= evidence.older.get(place, 1.0)
    weight = priority_factor(place.priority)
    rest = 1.0 - share
    breadth = rest * weights.breadth * log1p(len(sections))
    if len(sections) == 1:
        one = sections[0]
        return _File(
            rest * one.bm25_scaled, share * one.dense_scaled, rest * name, rest * past, breadth, factor, weight
        )
    words = max([one.bm25_scaled for one in sections])
    meaning = max([one.dense_scaled for one in sections])
    return _File(rest * words, share * meaning, rest * name, rest * past, breadth, factor, weight)


def _sections(sections: list[FusedCandidate], file: _File, share: float) -> list[_Scored]:
    """The sections of one file with their scores, the best first."""
    score = file.score
    if len(sections) == 1:
        return [_Scored(score, sections[0], file, 0, 1.0)]
    order = _best([(own_score(one, share), one) for one in sections], len(sections))
    best = order[0][0]
    made = []
    for at, (worth, one) in enumerate(order):
        own = (worth / best if best else 1.0) * NEXT_SECTION**at
        made.append(_Scored(score * own, one, file, at, own))
    return made


_Worth = TypeVar("_Worth", bound=tuple[float, FusedCandidate] | _Scored)


def _best(scored: list[_Worth], most: int) -> list[_Worth]:
    """The best `most` of sections with their scores. What cannot be among them is left out before ties are looked at:
    sorting scores alone takes a tenth of the time."""
    if len(scored) > most:
        least = sorted([one[0] for one in scored], reverse=True)[most - 1]
        scored = [one for one in scored if one[0] >= least]
    return sorted(scored, key=_order)[:most]


def _order(scored: tuple[float, FusedCandidate] | _Scored) -> tuple[float, int, int, str]:
    found = scored[1]
    return -scored[0], *found.ranks, found.id


def _ranked(one: _Scored, has_dense: bool) -> Ranked:
    file = one.file
    said = raw_scores(one.found) | {"sparse_weighted": file.words}
    if has_dense:
        said["dense_weighted"] = file.meaning
    if file.name:
        said["filename_boost"] = file.name
    if file.past:
        said["history_boost"] = file.past
    if file.breadth:
        said["breadth_boost"] = file.breadth
    if file.factor != 1.0:
        said["demotion"] = file.factor
    if file.priority != 1.0:
        said["priority"] = file.priority
    if one.at:
        said["same_file_decay"] = one.own
    return Ranked(one.found.id, one.score, said)
