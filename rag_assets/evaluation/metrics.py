"""Metrics of one ranking of distinct files, and their means. Pure.

A ranking is given as what each file answers: a set of targets (relevant files, symbols or points) per rank. A target
counts at the first rank that answers it.

Kept here and not taken from a library: those know documents that are relevant or not, before there is a ranking. Here a
file gains what nothing above it has answered, so its relevance depends on the ranking. Where every target is a file the
numbers are those of trec_eval (pytrec-eval-terrier 0.5.11: 20,000 random rankings, no difference), which would bring
scipy as a dependency, over 100 MB; ranx brings numba and more.

How sure a mean is: percentile bootstrap over questions (Efron 1979). Deterministic: equal values, equal bounds.

For two runs of the same questions the values are the differences per question, which is the paired bootstrap: what is
hard for both counts for neither (Smucker, Allan and Carterette 2007).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

import numpy as np

from rag_assets.index.eval_records import Estimate

RESAMPLES = 2_000
"""Bounds of 2,000 are within .008 of those of 20,000 at 100 questions, for 2 ms instead of 19."""
LEVEL = 0.95
_SEED = 20_160_419  # any fixed number: the same run must say the same again
_DRAWS = 1 << 20  # numbers in memory at once: 8 MB
_DIGITS = 6  # more are noise, and differ between machines


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of values with its interval. One value alone says nothing about its spread: the bounds are it.
    Raises ValueError without a value."""
    if not values:
        raise ValueError("the mean of no values")
    known = np.asarray(values, dtype=np.float64)
    draw = np.random.Generator(np.random.PCG64(_SEED))
    means = np.empty(RESAMPLES)
    rows = max(1, _DRAWS // len(known))
    for start in range(0, RESAMPLES, rows):
        count = min(rows, RESAMPLES - start)
        means[start : start + count] = known[draw.integers(len(known), size=(count, len(known)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(round(float(known.mean()), _DIGITS), round(float(low), _DIGITS), round(float(high), _DIGITS))


METRICS_VERSION = 1
"""Raise it when the same ranking would get other numbers: runs of two versions are not compared."""

CUT = 10
"""Where MRR and nDCG end: the length of a page of results, and what the literature reports."""

RECALL, HIT, MRR, NDCG = "recall", "hit", "mrr", "ndcg"
FILE_RECALL, MEMBER_RECALL = "file_recall", "member_recall"
TOKENS = {FILE_RECALL: 500, MEMBER_RECALL: 1_000}
"""Tokens of the page of `search` in which files, and the lines that answer, are looked for."""


def metric_name(metric: str, k: int) -> str:
    """`recall@5`: recall and hit rate end at `k`, `file_recall@500t` at tokens, the others at `CUT`."""
    if metric in TOKENS:
        return f"{metric}@{TOKENS[metric]}t"
    return f"{metric}@{k if metric in (RECALL, HIT) else CUT}"


def depth(k: int) -> int:
    """How many distinct files the metrics look at."""
    return max(k, CUT)


def measure(ranking: Sequence[frozenset[str]], relevant: frozenset[str], k: int) -> dict[str, float]:
    """Metric → value between 0 and 1 of one ranking, best file first (E24).

    recall@k: share of the targets that the first k files answer. hit@k (ret@k in E24): 1 where they answer one. mrr@10:
    1 / rank of the first file that answers one. ndcg@10 (Järvelin and Kekäläinen 2002): the gain of a rank is the
    number of targets it is the first to answer; the ideal order has the largest gains first, and one file for each
    target that was not found. Raises ValueError without a relevant target.
    """
    if not relevant:
        raise ValueError("a question needs at least one relevant target")
    gains = first_gains(ranking, relevant)
    at_k = sum(gains[:k])
    rank = next((rank for rank, gain in enumerate(gains[:CUT], 1) if gain), 0)
    ideal = sorted((gain for gain in gains if gain), reverse=True) + [1] * (len(relevant) - sum(gains))
    values = {
        RECALL: at_k / len(relevant),
        HIT: float(at_k > 0),
        MRR: 1 / rank if rank else 0.0,
        NDCG: _discounted(gains) / _discounted(ideal),
    }
    return {metric_name(metric, k): value for metric, value in values.items()}


def first_gains(ranking: Sequence[frozenset[str]], relevant: frozenset[str]) -> list[int]:
    """How many targets each rank is the first to answer."""
    seen: set[str] = set()
    gains = []
    for answered in ranking:
        new = (answered & relevant) - seen
        seen |= new
        gains.append(len(new))
    return gains


def mean(scores: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over questions, every question alike; empty for no question."""
    rows = list(scores)
    return {name: fmean(row[name] for row in rows) for name in rows[0]} if rows else {}


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:CUT], 1))
