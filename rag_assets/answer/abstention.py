"""Decides whether the evidence is enough to answer: signals of one search, their weights, two thresholds (E20, E22).

The weights are those of a logistic regression over questions as people ask them, with and without an answer
(`benchmarks/people_questions.py --fit`). The thresholds are those that were calibrated on the questions of the
generation, where it has some.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, NamedTuple

from rag_assets.index.answer_results import read_calibration

if TYPE_CHECKING:
    from rag_assets.index.generations import Generation


SENTENCE = "I don’t see enough information in this brain to answer that yet."
"""The one sentence of every refusal (E20)."""

_MOST_NAMES = 3  # that are unsaid: more make it no less likely


@dataclass(frozen=True, slots=True)
class Signals:
    """What a search says about its own success; shares lie between 0 and 1 and are of the weight of the question's
    telling words.

    `best` is the share that one of the passages to quote says, `elsewhere` the best of another file than the first
    passage's; a word that means about the same counts in part. `meaning` is the cosine of the first passage with the
    question. `unknown` is the share that no section of the index
    has, `unsaid` that which no passage says, and `unsaid_names` how many words with a capital letter are among it.
    `missed` is how much the weightiest word that those to quote lack weighs, beside the weightiest of all. `names`
    counts identifiers in the question, `unknown_names` are those that nothing declares and no evidence mentions.
    `facts` counts what the graph says of the names in answer to the question, with a place to quote. `planned`: the
    index itself answers this kind of question, as it does for lists and overviews.
    """

    best: float = 0.0
    elsewhere: float = 0.0
    meaning: float = 0.0
    unknown: float = 0.0
    unsaid: float = 0.0
    unsaid_names: int = 0
    missed: float = 0.0
    names: int = 0
    unknown_names: tuple[str, ...] = ()
    words: int = 0
    facts: int = 0
    planned: bool = False


@dataclass(frozen=True, slots=True)
class AbstentionWeights:
    """Of a logistic regression: `bias` and one weight a signal."""

    bias: float
    best: float
    elsewhere: float
    meaning: float
    unknown: float
    unsaid: float
    unsaid_names: float
    missed: float
    known_names: float


WEIGHTS = AbstentionWeights(1.2, 2.4, 1.0, 1.0, -2.0, -0.8, -1.8, -0.9, 1.0)
"""Fitted by `benchmarks/people_questions.py --fit`, rounded."""

THRESHOLD = 0.45
"""Below it a question is refused: of those that have an answer one in twenty."""

SURE = 0.86
"""From it on quotes are an answer; between the two they are what is closest. Of questions without an answer one in
thirteen is above it, of those with one two in three."""


SCALE = hashlib.sha256(repr(WEIGHTS).encode()).hexdigest()[:12]
"""What confidences mean: a threshold that was calibrated with other weights says nothing about these."""


def values_of(signals: Signals) -> tuple[float, ...]:
    """The signals as numbers, in the order of the fields of `AbstentionWeights` after `bias`."""
    return (
        signals.best,
        signals.elsewhere,
        signals.meaning,
        signals.unknown,
        signals.unsaid,
        float(min(signals.unsaid_names, _MOST_NAMES)),
        signals.missed,
        float(signals.names > 0),
    )


def confidence(signals: Signals, weights: AbstentionWeights = WEIGHTS) -> float:
    """How likely the evidence answers the question, 0 to 1."""
    known = known_confidence(signals)
    if known is not None:
        return known[0]
    return 1 / (1 + math.exp(-weights.bias - sum(parts_of(signals, weights).values())))


def known_confidence(signals: Signals) -> tuple[float, str] | None:
    """The confidence that is no matter of degree, and why: an identifier that is nowhere, or a fact of the graph about
    one that is there."""
    if signals.unknown_names:
        return 0.0, "a name of the question is nowhere"
    if signals.planned:
        return 1.0, "the index itself answers this kind of question"
    if not signals.best:
        return 0.0, "no passage has a word of the question"
    if signals.names and signals.facts:
        return 1.0, "the graph has facts about a name of the question"
    return None


def parts_of(signals: Signals, weights: AbstentionWeights = WEIGHTS) -> dict[str, float]:
    """What makes the confidence beside the bias: each signal, by its weight."""
    names = [field.name for field in fields(AbstentionWeights)][1:]
    return {name: getattr(weights, name) * value for name, value in zip(names, values_of(signals), strict=True)}


def is_refusal(text: str) -> bool:
    """Whether a model says that it cannot answer, with any apostrophe and with nothing but that sentence."""
    return _plain(text) == _plain(SENTENCE)


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split()).strip(" .\"'").casefold()


class Thresholds(NamedTuple):
    """Of confidence, by the names of the settings of a pipeline."""

    weak_below: float
    sure_from: float


def calibrated_thresholds(generations: Sequence[Generation], mode: str) -> Thresholds | None:
    """Those that hold where nobody says others: of the one generation, searched in `mode`. None where it was not
    calibrated for that, or for confidences that mean something else, and for several generations, which one calibration
    cannot hold for."""
    if len(generations) != 1:
        return None
    found = read_calibration(generations[0].directory)
    if found is None or (found.mode, found.scale) != (mode, SCALE):
        return None
    return Thresholds(found.threshold, found.sure)
