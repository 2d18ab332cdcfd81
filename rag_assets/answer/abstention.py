"""Decides whether the evidence is enough to answer: signals of one search, their weights, one threshold (E20, E22).

The weights are those of a logistic regression over mined questions with and without an answer.
`benchmarks/abstention.py` mines them, fits them and prints the curve. The threshold is the one that was calibrated on
the questions of the generation, where it has one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from rag_assets.answer.question_analysis import QueryTerm, covered, roots_of
from rag_assets.contracts.evidence import Evidence
from rag_assets.index.answer_results import read_calibration

if TYPE_CHECKING:
    from rag_assets.index.generations import Generation


SENTENCE = "I don’t see enough information in this brain to answer that yet."
"""The one sentence of every refusal (E20)."""

_LOOKED_AT = 8
"""Pieces of evidence, the best ones: an answer quotes four."""

_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class Signals:
    """What a search says about its own success; shares lie between 0 and 1.

    `dense` is the best cosine, None without a model or with one whose cosines say nothing here. `best` is the share of
    the question's telling words, by weight, that one piece of evidence has, `together` that of the best three;
    `unknown` the share of words that no section of the index has. `names` counts identifiers in the question,
    `unknown_names` are those that nothing declares and no evidence mentions. `margin` is how far the best score is
    above the middle of the others, as a share of it. `facts` counts what the graph says of the names in answer to the
    question, with a place to quote.
    """

    dense: float | None
    best: float
    together: float
    unknown: float
    names: int
    unknown_names: tuple[str, ...]
    margin: float
    words: int
    facts: int = 0


@dataclass(frozen=True, slots=True)
class AbstentionWeights:
    """Of a logistic regression: `bias` and one weight a signal."""

    bias: float
    dense: float
    best: float
    together: float
    unknown: float
    known_names: float
    margin: float


WITH_MODEL = AbstentionWeights(-9.28, 14.23, 3.82, 1.76, -1.34, 0.46, -0.26)
WITHOUT_MODEL = AbstentionWeights(-3.8, 0.0, 6.13, 0.41, -1.57, 1.47, -0.71)
"""Fitted by `benchmarks/abstention.py` to ten repositories. Of labels that were left out of the fit, 96 % of the
answerable questions are answered and 97 % of the unanswerable refused; of questions as people write them 86 and 93 %,
and with keywords only 77 and 86 %."""

_MEASURED = "all-MiniLM-L6-v2/"
"""How the ids of the embedding models begin whose cosines these weights are of."""

THRESHOLD = 0.5
"""Where both kinds of mistakes weigh alike, as the fit has it."""


SCALE = hashlib.sha256(repr((WITH_MODEL, WITHOUT_MODEL)).encode()).hexdigest()[:12]
"""What confidences mean: a threshold that was calibrated with other weights says nothing about these."""


def has_known_cosines(embedding_model: str) -> bool:
    """Whether cosines of this model say how well something fits. Those of another one lie elsewhere, often between .7
    and .9 for everything, so that every question would be answered: they only order."""
    return embedding_model.startswith(_MEASURED)


def signals_of(
    words: tuple[QueryTerm, ...],
    names: Sequence[str],
    unknown_names: Sequence[str],
    evidence: Sequence[Evidence],
    facts: int = 0,
) -> Signals:
    """The signals of evidence that is ordered by score."""
    looked_at = evidence[:_LOOKED_AT]
    roots = [roots_of(f"{known.symbol} {known.path}\n{known.text}\n{_said(known)}") for known in looked_at]
    total = sum(word.weight for word in words) or 1.0
    shares = [covered(words, found) for found in roots]
    scores = [known.score for known in evidence]
    middle = sorted(scores)[len(scores) // 2] if scores else 0.0
    return Signals(
        dense=max((known.dense for known in evidence if known.dense is not None), default=None),
        best=max(shares, default=0.0),
        together=covered(words, frozenset().union(*roots[:_TOGETHER])),
        unknown=sum(word.weight for word in words if not word.known) / total,
        names=len(names),
        unknown_names=tuple(unknown_names),
        margin=1 - middle / scores[0] if scores and scores[0] > 0 else 0.0,
        words=len(words),
        facts=facts,
    )


def _said(known: Evidence) -> str:
    """What the facts of a description say, without their names, which every description has."""
    return "\n".join(fact.partition(": ")[2] for fact in known.facts)


def values_of(signals: Signals) -> tuple[float, ...]:
    """The signals as numbers, in the order of the fields of `AbstentionWeights` after `bias`."""
    return (
        signals.dense or 0.0,
        signals.best,
        signals.together,
        signals.unknown,
        float(signals.names > 0),
        signals.margin,
    )


def confidence(signals: Signals, weights: AbstentionWeights | None = None) -> float:
    """How likely the evidence answers the question, 0 to 1; `weights` None: the calibrated ones. An identifier that is
    nowhere is no matter of degree, nor is a fact of the graph about one that is there."""
    if signals.unknown_names or not signals.best:
        return 0.0
    if signals.names and signals.facts:
        return 1.0
    if weights is None:
        weights = WITHOUT_MODEL if signals.dense is None else WITH_MODEL
    bias, *rest = (getattr(weights, field.name) for field in fields(AbstentionWeights))
    value = bias + sum(weight * signal for weight, signal in zip(rest, values_of(signals), strict=True))
    return 1 / (1 + math.exp(-value))


def is_refusal(text: str) -> bool:
    """Whether a model says that it cannot answer, with any apostrophe and with nothing but that sentence."""
    return _plain(text) == _plain(SENTENCE)


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split()).strip(" .\"'").casefold()


def threshold_of(generation: Generation, mode: str) -> float | None:
    """The confidence below which questions to a generation are refused when it is searched in `mode`; None where it was
    not calibrated for that, or for confidences that mean something else."""
    found = read_calibration(generation.directory)
    return found.threshold if found is not None and (found.mode, found.scale) == (mode, SCALE) else None


def calibrated_threshold(generations: Sequence[Generation], mode: str) -> float | None:
    """The threshold that holds where nobody says another: that of the one generation. None without one, and for several
    generations, which one threshold cannot hold for."""
    return threshold_of(generations[0], mode) if len(generations) == 1 else None
