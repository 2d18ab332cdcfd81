"""How much is answered, and how often wrongly, as a threshold of confidence moves; what two of them make of the
questions; and the two to use (E22). Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rag_assets.answer.abstention import SCALE, SURE, THRESHOLD
from rag_assets.index.answer_results import AnswerResult, Calibration, Outcome

if TYPE_CHECKING:
    from pandas import DataFrame

    from rag_assets.index.eval_records import EvalRun

FEWEST = 50
"""Answerable questions, and unanswerable ones, that a threshold is made of: with 50 the share that is answered is known
to ± .10 (95 %, at .85), with 20 to ± .16, which is more than thresholds differ in."""

LEAST_REFUSED = 0.5
"""Of the unanswerable questions, by a calibrated threshold: the shipped one refuses three fifths of those that people
ask, and most of the others are not answered either, but told what is closest."""

MOST_ADMITTED = 0.05
"""Of the unanswerable questions, that a calibrated `sure` lets be answered."""

_DIGITS = 6


def risk_curve(run: EvalRun) -> DataFrame:
    """What each confidence of a run, and the threshold that was used, would do as the threshold: a row for each, the
    lowest `threshold` first. What was refused for another reason than its confidence stays refused. Empty without
    answers, or without an answerable question.

    `coverage` is the share of the answerable questions whose confidence it lets pass, `admitted` that of the
    unanswerable ones, NaN without any; `risk` is the share of those that pass and cite nothing expected, or have no
    answer, NaN where none passes, or where the run has refused what would: then nobody knows what would have been
    cited. Where the threshold is that of an answer they are answered, where it is that of a refusal answered or not
    sure.
    """
    from rag_assets.evaluation.frames import answers  # pandas takes 0.2 s and 76 MB, which only a report needs

    known = answers([run])
    known = known[known["outcome"] != Outcome.FAILED]
    answerable = known["answerable"].sum()
    used = run.answering.threshold if run.answering is not None and answerable else math.inf
    would = known[(known["outcome"] != Outcome.REFUSED) | (known["confidence"] < used)]
    would = would.assign(said=1, wrong=~(would["answerable"] & would["cites_expected"]))
    steps = sorted({used, *known["confidence"]}) if answerable else []
    counts = would.groupby("confidence")[["said", "answerable", "wrong"]].sum().reindex(steps, fill_value=0)
    counts = counts[::-1].cumsum()[::-1].rename_axis("threshold").reset_index()
    return counts.assign(
        coverage=counts["answerable"] / answerable,
        admitted=(counts["said"] - counts["answerable"]) / (len(known) - answerable),
        risk=(counts["wrong"] / counts["said"]).where(counts["threshold"] >= used),
    )[["threshold", "coverage", "admitted", "risk"]]


def row_at(curve: DataFrame, threshold: float) -> int:
    """The row of a curve that does what a threshold between two confidences does."""
    return min(int(curve["threshold"].searchsorted(threshold)), len(curve) - 1)


@dataclass(frozen=True, slots=True)
class ThreeOutcomes:
    """What two thresholds make of the questions: shares that are answered, not sure and refused, of the answerable and
    of the others, NaN without any. `name` says whose thresholds they are."""

    name: str
    threshold: float
    sure: float
    answerable: tuple[float, float, float]
    unanswerable: tuple[float, float, float]


def three_outcomes(run: EvalRun) -> tuple[ThreeOutcomes, ...]:
    """Of the thresholds that were used, and of those that were calibrated; none without answers."""
    curve = risk_curve(run)
    if run.answering is None or curve.empty:
        return ()
    pairs = {"used": (run.answering.threshold, run.answering.sure)}
    if run.calibration is not None:
        pairs["calibrated"] = (run.calibration.threshold, run.calibration.sure)
    return tuple(
        ThreeOutcomes(
            name, low, max(low, high), _three(curve, "coverage", low, high), _three(curve, "admitted", low, high)
        )
        for name, (low, high) in pairs.items()
    )


def _three(curve: DataFrame, column: str, low: float, high: float) -> tuple[float, float, float]:
    """Shares of one sort: answered, not sure, refused."""
    shown, answered = (_passing(curve, column, one) for one in (low, max(low, high)))
    return answered, shown - answered, 1 - shown


def _passing(curve: DataFrame, column: str, threshold: float) -> float:
    """The share whose confidence a threshold lets pass: of one above all of the curve, none."""
    if threshold > curve["threshold"].iloc[-1]:
        return float(curve[column].iloc[-1]) * 0.0  # NaN stays it
    return float(curve[column].iloc[row_at(curve, threshold)])


def calibrated(results: Sequence[AnswerResult], name: str, mode: str, answered_share: float) -> Calibration | None:
    """The two confidences nearest to those that are shipped, which are fitted to more questions than there are here,
    that fit the questions of a generation; None where fewer than `FEWEST` of either kind were asked.

    The threshold lets `answered_share` of the answerable questions pass, and of the others it refuses `LEAST_REFUSED`
    where one does that. Sure is a confidence, not below the threshold, that `MOST_ADMITTED` of the unanswerable reach
    at most: an answer that says that it is one must be wrong seldom, whatever that leaves to what is not sure.

    Neither is what parts the two kinds best: the words of mined questions are those of the index, so what parts them
    lies where people's questions would be refused.
    """
    known = [result for result in results if result.outcome is not Outcome.FAILED]
    yes = [result.confidence for result in known if result.answerable]
    no = [result.confidence for result in known if not result.answerable]
    if min(len(yes), len(no)) < FEWEST:
        return None
    between = [round((low + high) / 2, _DIGITS) for low, high in pairwise(sorted({*yes, *no}))]
    allowed = [one for one in {THRESHOLD, *between} if _share(yes, one) >= answered_share]
    if not allowed:  # names that are nowhere, for instance: no threshold answers those
        return None
    refusing = [one for one in allowed if 1 - _share(no, one) >= LEAST_REFUSED]
    threshold = min(refusing or allowed, key=lambda one: (abs(one - THRESHOLD), one))
    few = [one for one in {SURE, threshold, *between} if one >= threshold and _share(no, one) <= MOST_ADMITTED]
    sure = min(few, key=lambda one: (abs(one - SURE), one), default=1.0)
    return Calibration(
        threshold=threshold,
        sure=sure,
        shown=round(_share(yes, threshold), _DIGITS),
        answered=round(_share(yes, sure), _DIGITS),
        refused=round(1 - _share(no, threshold), _DIGITS),
        admitted=round(_share(no, sure), _DIGITS),
        answerable=len(yes),
        unanswerable=len(no),
        set=name,
        mode=mode,
        scale=SCALE,
    )


def _share(confidences: Sequence[float], threshold: float) -> float:
    return sum(one >= threshold for one in confidences) / len(confidences)
