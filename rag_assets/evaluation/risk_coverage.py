"""How much is answered, and how often wrongly, as the threshold of confidence moves; and the threshold to use (E22).
Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from rag_assets.answer.abstention import SCALE, THRESHOLD
from rag_assets.evaluation.summary import WRONG
from rag_assets.index.answer_results import AnswerResult, Calibration, Outcome

if TYPE_CHECKING:
    from pandas import DataFrame

    from rag_assets.index.eval_records import EvalRun

FEWEST = 50
"""Answerable questions, and unanswerable ones, that a threshold is made of: with 50 the share that is answered is known
to ± .10 (95 %, at .85), with 20 to ± .16, which is more than thresholds differ in."""

_DIGITS = 6


def risk_curve(run: EvalRun) -> DataFrame:
    """What each confidence of a run, and the threshold that was used, would do as the threshold: a row for each, the
    lowest `threshold` first. What was refused for another reason than its confidence stays refused. Empty without
    answers, or without an answerable question.

    `coverage` is the share of the answerable questions that are answered, `admitted` that of the unanswerable ones, NaN
    without any; `risk` the share of wrong answers among all, NaN where nothing is answered, or where the run has
    refused what would be: then nobody knows.
    """
    from rag_assets.evaluation.frames import answers  # pandas takes 0.2 s and 76 MB, which only a report needs

    known = answers([run])
    known = known[known["outcome"] != Outcome.FAILED]
    answerable = known["answerable"].sum()
    used = run.answering.threshold if run.answering is not None and answerable else math.inf
    would = known[(known["outcome"] == Outcome.ANSWERED) | (known["confidence"] < used)].assign(said=1)
    steps = sorted({used, *known["confidence"]}) if answerable else []
    counts = would.groupby("confidence")[["said", "answerable", WRONG]].sum().reindex(steps, fill_value=0)
    counts = counts[::-1].cumsum()[::-1].rename_axis("threshold").reset_index()
    return counts.assign(
        coverage=counts["answerable"] / answerable,
        admitted=(counts["said"] - counts["answerable"]) / (len(known) - answerable),
        risk=(counts[WRONG] / counts["said"]).where(counts["threshold"] >= used),
    )[["threshold", "coverage", "admitted", "risk"]]


def row_at(curve: DataFrame, threshold: float) -> int:
    """The row of a curve that does what a threshold between two confidences does."""
    return min(int(curve["threshold"].searchsorted(threshold)), len(curve) - 1)


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


def _share(confidences: Sequence[float], threshold: float) -> float:
    return sum(one >= threshold for one in confidences) / len(confidences)
