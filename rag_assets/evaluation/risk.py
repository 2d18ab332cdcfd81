"""How much is answered, and how often wrongly, as the threshold of confidence moves; and the threshold to use (E22).
Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_assets.query.answer.abstention import SCALE, THRESHOLD
from rag_assets.stores.eval_answers import Answering, AnswerResult, Calibration, Outcome

FEWEST = 50
"""Answerable questions, and unanswerable ones, that a threshold is made of: with 50 the share that is answered is known
to ± .10 (95 %, at .85), with 20 to ± .16, which is more than thresholds differ in."""

_DIGITS = 6


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """A threshold, and what it does: `coverage` is the share of the answerable questions that are answered, `admitted`
    that of the unanswerable ones, None without any; `risk` the share of wrong answers among all, None where nothing is
    answered, or where the run has refused what would be: then nobody knows."""

    threshold: float
    coverage: float
    admitted: float | None
    risk: float | None


def risk_curve(results: Sequence[AnswerResult], answering: Answering) -> tuple[RiskPoint, ...]:
    """A point for each confidence that there is, and for the threshold that was used; the lowest first. What was
    refused for another reason than its confidence stays refused. Empty without an answerable question."""
    known = [result for result in results if result.outcome is not Outcome.FAILED]
    answerable = [result for result in known if result.answerable]
    others = [result for result in known if not result.answerable]
    if not answerable:
        return ()
    used = answering.threshold
    steps = sorted({used, *(result.confidence for result in known)})
    made = []
    for threshold in steps:
        said = [result for result in known if _says(result, threshold, used)]
        right = sum(result.answerable for result in said)
        wrong = sum(result.is_wrong for result in said)
        made.append(
            RiskPoint(
                threshold,
                right / len(answerable),
                (len(said) - right) / len(others) if others else None,
                wrong / len(said) if said and threshold >= used else None,
            )
        )
    return tuple(made)


def calibrated(results: Sequence[AnswerResult], name: str, mode: str, answered_share: float) -> Calibration | None:
    """The threshold that makes the fewest mistakes, both kinds weighing alike, of those that answer `answered_share` of
    the answerable questions at least; None where fewer than `FEWEST` of either kind were asked.

    Of those that are as good within a standard error (Breiman and others 1984) it is the one nearest to what is
    shipped, which is fitted to more questions than there are here. Not the highest that answers enough: mined questions
    are easier than what people ask, and would be answered still where those are refused.
    """
    known = [result for result in results if result.outcome is not Outcome.FAILED]
    yes = [result.confidence for result in known if result.answerable]
    no = [result.confidence for result in known if not result.answerable]
    if min(len(yes), len(no)) < FEWEST:
        return None
    confidences = sorted({*yes, *no})
    between = [round((low + high) / 2, _DIGITS) for low, high in pairwise(confidences)]
    candidates = [(_share(yes, one), _share(no, one), one) for one in {THRESHOLD, *between}]
    enough = [found for found in candidates if found[0] >= answered_share]
    if not enough:  # names that are nowhere, for instance: no threshold answers those
        return None
    least = min(enough, key=_mistakes)
    most = _mistakes(least) + _error_of(least, len(yes), len(no))
    alike = [found for found in enough if _mistakes(found) <= most]
    answered, admitted, threshold = min(alike, key=lambda one: (abs(one[2] - THRESHOLD), one[2]))
    return Calibration(
        threshold=threshold,
        answered=round(answered, _DIGITS),
        refused=round(1 - admitted, _DIGITS),
        answerable=len(yes),
        unanswerable=len(no),
        set=name,
        mode=mode,
        scale=SCALE,
    )


def _mistakes(found: tuple[float, float, float]) -> float:
    """Of (answered, admitted, threshold): the share of either kind that is treated wrongly, together."""
    answered, admitted, _ = found
    return 1 - answered + admitted


def _error_of(found: tuple[float, float, float], yes: int, no: int) -> float:
    """The standard error of the mistakes; one more of each kind is assumed than was seen, for none is no proof."""
    missed, admitted = ((1 - found[0]) * yes + 1) / (yes + 2), (found[1] * no + 1) / (no + 2)
    return math.sqrt(missed * (1 - missed) / yes + admitted * (1 - admitted) / no)


def _says(result: AnswerResult, threshold: float, used: float) -> bool:
    """Whether a question would be answered with this threshold: it was, or nothing but the threshold refused it."""
    return result.confidence >= threshold and (result.is_answered or result.confidence < used)


def _share(confidences: Sequence[float], threshold: float) -> float:
    return sum(one >= threshold for one in confidences) / len(confidences)
