"""Whether learnt weights of the ranking win over those of the package on repositories that they have not seen.

    python benchmarks/ranking_weights.py --cache ~/.cache/ranking [--mirrors MIRRORS] [--only gorilla/mux,koajs/koa]

Mines questions of the public repositories of `ranking_repositories.tsv` (`ranking_questions`), indexes each snapshot as
a build does, and reads what the ranking knows of the files of every candidate. Then, for each kind of question, weights
are learnt by coordinate ascent on nDCG@10 (Metzler and Croft 2007) from three quarters of the repositories and tried on
the rest, four times. Prints nDCG@10 of those left out, with the weights of the package and with the learnt ones, and
the weights that all repositories together would give. A gain that left-out repositories do not show is none.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import log1p
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from ranking_questions import mined_questions, read_repositories
from report import table
from retrieval_questions import Question
from retrieval_snapshots import benchmark_settings, mirror_of, open_snapshot

from rag_assets import Index
from rag_assets.search.fusion import FusedCandidate, merged
from rag_assets.search.ranking import most_promising
from rag_assets.search.ranking.penalties import asked_for, demotion
from rag_assets.search.ranking.signals import (
    WEIGHTS,
    QueryFeatures,
    QueryType,
    SignalWeights,
    declarations,
    is_named,
    name_shares,
    past_shares,
    query_type,
)

REPOSITORIES = Path(__file__).with_name("ranking_repositories.tsv")
SIGNALS = tuple(field.name for field in fields(SignalWeights))
FOLDS, ROUNDS, FIRST_STEP = 4, 3, 0.1
_GAINS = 1.0 / np.log2(np.arange(2, 12))

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its candidate files: `words` and `meaning` of the best sections, one row of signals a file in
    the order of `SIGNALS` without `dense`, the factor against it, and whether it answers."""

    repository: str
    column: str
    kind: QueryType
    words: Floats
    meaning: Floats
    signals: Floats
    factor: Floats
    answers: NDArray[np.bool_]
    best: float

    def ndcg(self, weights: Floats) -> float:
        dense = weights[0]
        scores = ((1 - dense) * (self.words + self.signals @ weights[1:]) + dense * self.meaning) * self.factor
        first = np.argsort(-scores, kind="stable")[: len(_GAINS)]
        return float(self.answers[first] @ _GAINS[: len(first)]) / self.best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True, help="folder to keep clones, snapshots and indexes in")
    parser.add_argument("--mirrors", type=Path, default=None, help="folder of repositories; default: GitHub")
    parser.add_argument("--only", default="", help="comma-separated repositories (OWNER/NAME); default: all")
    arguments = parser.parse_args()
    only = arguments.only.split(",") if arguments.only else []
    settings = benchmark_settings("static-code", "blend")
    judged: list[Judged] = []
    for repository in read_repositories(REPOSITORIES):
        if only and repository.name not in only:
            continue
        snapshot, questions = mined_questions(
            repository, mirror_of(repository.name, arguments.mirrors, arguments.cache)
        )
        with open_snapshot(snapshot, arguments.mirrors, arguments.cache, settings) as index:
            found = [one for question in questions if (one := judge(index, question)) is not None]
        print(f"{repository.name}: {len(found)} questions", flush=True)
        judged += found
    report(judged)


def judge(index: Index, question: Question) -> Judged | None:
    """What the ranking knows of each candidate; None where there is none."""
    parts, scope = index.parts, index.scope()
    vector = parts.embedder().result().embed([question.text])[0]
    terms = parts.vocabulary().query_vector(question.text)
    dense = parts.shard().dense(vector, scope, parts.policy.dense_candidates) if vector.any() else ()
    keyword = parts.shard().sparse(terms.indices, terms.values, scope, parts.policy.keyword_candidates)
    kind = query_type(question.text, is_name=terms.is_name)
    asked = QueryFeatures(kind, terms.weights, bool(dense), asked_for(question.text), terms.forms)
    found = most_promising(merged(dense, keyword), asked, 0)
    places = parts.placing().of([one.id for one in found], parts.shard(), scope)
    files: dict[str, list[FusedCandidate]] = defaultdict(list)
    for one in found:
        if one.id in places:
            files[places[one.id].path].append(one)
    if not files:
        return None
    by_path = {place.path: place for place in places.values()}
    names = name_shares(by_path.values(), asked.said, parts.vocabulary().rarity)
    past = past_shares(parts.past, by_path.values(), asked.terms)
    payloads = parts.shard().retrieve(list(places), scope) if kind is QueryType.NAME else {}
    declared = declarations(question.text, places, payloads)
    rows = {
        "file_name": [float(is_named(path, asked.words)) for path in files],
        "name_words": [names.get(by_path[path], 0.0) for path in files],
        "past": [past.get(by_path[path], 0.0) for path in files],
        "declares": [declared.get(by_path[path], 0.0) for path in files],
        "breadth": [log1p(len(sections)) for sections in files.values()],
    }
    return Judged(
        repository=question.repository,
        column=f"{question.set} {question.group}".strip(),
        kind=kind,
        words=np.array([max(one.bm25_scaled for one in sections) for sections in files.values()]),
        meaning=np.array([max(one.dense_scaled for one in sections) for sections in files.values()]),
        signals=np.array([rows[name] for name in SIGNALS[1:]]).T,
        factor=np.array([demotion(path, asked.sides) for path in files]),
        answers=np.array([path in question.relevant for path in files]),
        best=float(_GAINS[: len(question.relevant)].sum()),
    )


def weights_of(kind: QueryType) -> Floats:
    """Those of the package."""
    return np.array([getattr(WEIGHTS[kind], name) for name in SIGNALS])


def learnt(judged: Sequence[Judged], kind: QueryType) -> Floats:
    """Coordinate ascent from the weights of the package: each in turn, up and down, while the mean over repositories
    rises."""
    by_repository: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.kind is kind and one.answers.any():
            by_repository[one.repository].append(one)

    def mean(weights: Floats) -> float:
        return statistics.fmean(statistics.fmean(one.ndcg(weights) for one in own) for own in by_repository.values())

    best = weights_of(kind)
    if not by_repository:
        return best
    reached, step = mean(best), FIRST_STEP
    for _ in range(ROUNDS):
        for at in range(len(best)):
            for change in (step, -step):
                while (tried := _moved(best, at, change)) is not None and (score := mean(tried)) > reached:
                    best, reached = tried, score
        step /= 2
    return best


def _moved(weights: Floats, at: int, change: float) -> Floats | None:
    """The weights with one of them changed; None out of bounds."""
    moved = weights.copy()
    moved[at] = round(moved[at] + change, 6)
    return moved if 0.0 <= moved[at] <= 1.0 else None


def report(judged: Sequence[Judged]) -> None:
    repositories = sorted({one.repository for one in judged})
    held: dict[str, Mapping[QueryType, Floats]] = {}
    for fold in range(FOLDS):
        left_out = repositories[fold::FOLDS]
        seen = [one for one in judged if one.repository not in left_out]
        trained = {kind: learnt(seen, kind) for kind in QueryType}
        held |= dict.fromkeys(left_out, trained)
    package = {kind: weights_of(kind) for kind in QueryType}
    columns = sorted({one.column for one in judged})
    rows = [
        ("weights of the package", *_means(judged, columns, lambda one: package[one.kind])),
        ("learnt on other repositories", *_means(judged, columns, lambda one: held[one.repository][one.kind])),
    ]
    table((f"nDCG@10, {len(repositories)} repositories left out in turn", *columns), rows)
    together = {kind: learnt(judged, kind) for kind in QueryType}
    shown = [
        (f"{kind}, {name}", *(f"{value:.3f}" for value in weights))
        for kind in QueryType
        for name, weights in (("package", package[kind]), ("learnt on all", together[kind]))
    ]
    table(("weights", *SIGNALS), shown)


def _means(judged: Sequence[Judged], columns: Sequence[str], weights: Callable[[Judged], Floats]) -> list[str]:
    return [
        f"{statistics.fmean(one.ndcg(weights(one)) for one in judged if one.column == column):.4f}"
        for column in columns
    ]


if __name__ == "__main__":
    main()
