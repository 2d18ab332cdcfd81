"""The risk-coverage curve, and the threshold that is made of it."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from pandas import DataFrame

from rag_assets.answer.abstention import SCALE, SURE, THRESHOLD
from rag_assets.evaluation.charts import risk_plot
from rag_assets.evaluation.risk_coverage import FEWEST, calibrated, risk_curve, row_at, three_outcomes
from rag_assets.index.answer_results import AnswerConditions, AnswerResult, Calibration, Outcome
from rag_assets_tests.evaluation.made_answers import HOW, answer, answers
from rag_assets_tests.evaluation.made_runs import run

pytestmark = pytest.mark.rule("E22")
ENOUGH = FEWEST


def curve(results: list[AnswerResult], how: AnswerConditions = HOW) -> DataFrame:
    return risk_curve(run({"q": 1}, answers=tuple(results), answering=how))


def calibration(yes: list[float], no: list[float], share: float = 0.85) -> Calibration | None:
    return calibrated(answers(yes, no), "set", "bm25", share)


def test_a_point_of_the_curve_says_what_its_threshold_does() -> None:
    known = curve(answers([0.9, 0.8, 0.6, 0.11], [0.7, 0.1])).set_index("threshold")
    assert list(known.index) == sorted(known.index)
    assert known.loc[0.1, ["coverage", "admitted"]].tolist() == [1.0, 1.0]
    assert math.isnan(known.loc[0.1, "risk"]), "below what was used nobody knows what would have been cited"
    assert known.loc[THRESHOLD].tolist() == [0.75, 0.5, 0.25]
    assert known.loc[0.8].tolist() == [0.5, 0.0, 0.0]


@pytest.mark.parametrize("confidence", [0.8, 0.9], ids=["not sure", "answered"])
def test_what_cites_nothing_expected_is_wrong_wherever_it_passes(confidence: float) -> None:
    results = [answer("a", 0.95), answer("b", confidence, cites_expected=False)]
    found = curve(results)[["threshold", "risk"]].to_numpy().tolist()
    assert found == [[THRESHOLD, 0.5], [confidence, 0.5], [0.95, 0.0]]


def test_two_thresholds_make_three_outcomes() -> None:
    results = answers([0.9, 0.89, 0.39, 0.11], [0.9, 0.39, 0.3, 0.11, 0.1])
    made = run({"q": 1}, answers=tuple(results), answering=HOW)
    (used,) = three_outcomes(made)
    assert (used.name, used.threshold, used.sure) == ("used", THRESHOLD, SURE)
    assert used.answerable == pytest.approx((0.5, 0.25, 0.25)) and used.unanswerable == pytest.approx((0.2, 0.4, 0.4))
    known = calibration([0.9] * ENOUGH, [0.7] * ENOUGH)
    _, other = three_outcomes(replace(made, calibration=known))
    assert (other.name, other.answerable) == ("calibrated", pytest.approx((0.5, 0.0, 0.5)))
    (strict,) = three_outcomes(replace(made, answering=replace(HOW, sure=0.95)))
    assert strict.answerable == pytest.approx((0.0, 0.75, 0.25)), "nothing is above all confidences"
    (odd,) = three_outcomes(replace(made, answering=replace(HOW, sure=0.1)))
    assert odd.answerable == pytest.approx((0.75, 0.0, 0.25)), "what is refused is not answered"
    assert three_outcomes(run({"q": 1})) == ()


def test_what_was_refused_for_another_reason_stays_refused() -> None:
    """A model that says that it does not know, however well the evidence fits."""
    results = [answer("a", 0.9, outcome=Outcome.REFUSED), answer("b", 0.1), answer("c", 0.95)]
    assert curve(results)["coverage"].tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 3, 1 / 3])


def test_questions_that_failed_say_nothing() -> None:
    failed = answer("f", 0.0, answerable=False, outcome=Outcome.FAILED)
    assert curve([*answers([0.9], []), failed]).equals(curve(answers([0.9], [])))
    assert curve([failed]).empty


def test_a_run_without_answers_has_no_curve() -> None:
    assert risk_curve(run({"q": 1})).empty


@pytest.mark.parametrize(("threshold", "row"), [(0.0, 0), (0.1, 0), (0.11, 1), (THRESHOLD, 1), (0.95, 2)])
def test_a_threshold_between_two_confidences_does_what_the_next_one_does(threshold: float, row: int) -> None:
    assert row_at(curve(answers([0.1, 0.9], [])), threshold) == row


def test_the_threshold_parts_what_can_be_parted() -> None:
    found = calibration([0.9] * ENOUGH, [0.7] * ENOUGH)
    assert found is not None
    assert (found.threshold, found.shown, found.refused) == (0.8, 1.0, 1.0)
    assert (found.sure, found.answered, found.admitted) == (0.8, 1.0, 0.0)
    assert (found.answerable, found.unanswerable, found.mode, found.scale) == (ENOUGH, ENOUGH, "bm25", SCALE)


@pytest.mark.parametrize(("share", "shown"), [(0.85, 0.9), (0.95, 1.0)])
def test_enough_is_shown_whatever_that_admits(share: float, shown: float) -> None:
    """A tenth of the answerable is below most of the others: leaving it out makes the fewest mistakes."""
    found = calibration([0.9] * 45 + [0.55] * 5, [0.7] * ENOUGH, share)
    assert found is not None and found.shown == pytest.approx(shown)


def test_of_equally_good_thresholds_it_is_the_shipped_one() -> None:
    found = calibration([0.99] * ENOUGH, [0.01] * ENOUGH)
    assert found is not None and found.threshold == THRESHOLD


@pytest.mark.parametrize(("admitted", "threshold"), [(1, THRESHOLD), (20, THRESHOLD), (30, 0.75)])
def test_the_threshold_moves_only_where_most_would_be_shown_something(admitted: int, threshold: float) -> None:
    found = calibration([0.9] * ENOUGH, [0.6] * admitted + [0.1] * (ENOUGH - admitted))
    assert found is not None and found.threshold == threshold


@pytest.mark.parametrize(
    ("no", "sure", "admitted"),
    [
        ([0.1] * ENOUGH, SURE, 0.0),
        ([0.1] * 47 + [0.88] * 3, 0.89, 0.0),
        ([0.1] * 49 + [0.88], SURE, 0.02),
        ([0.1] * 47 + [1.0] * 3, 1.0, 0.06),
    ],
    ids=["the shipped one", "above what would be admitted", "few are admitted", "what nothing keeps out"],
)
def test_sure_is_what_hardly_an_unanswerable_question_reaches(no: list[float], sure: float, admitted: float) -> None:
    found = calibration([0.9] * ENOUGH, no)
    assert found is not None
    assert (found.sure, found.admitted) == pytest.approx((sure, admitted)) and found.sure >= found.threshold


@pytest.mark.parametrize(
    ("yes", "no"), [(ENOUGH - 1, ENOUGH), (ENOUGH, ENOUGH - 1)], ids=["too few answerable", "too few others"]
)
def test_few_questions_make_no_threshold(yes: int, no: int) -> None:
    assert calibration([0.9] * yes, [0.1] * no) is None


def test_the_plot_is_a_picture_with_the_threshold_in_it() -> None:
    known = curve(answers([0.9, 0.8, 0.3], [0.7, 0.2]))
    shares = (0.25, 0.5, 0.25)
    page = risk_plot(known, [("used", 0.5), ("calibrated", 0.75)], shares)
    root = ElementTree.fromstring(page)
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"unanswerable", "wrong answers", "| used 0.500", "| calibrated 0.750"} <= set(texts)
    assert sum(element.tag.endswith("polyline") for element in root.iter()) == 2
    assert page == risk_plot(known, [("used", 0.5), ("calibrated", 0.75)], shares)
    assert {"answered 25%", "not sure 50%", "refused 25%"} <= set(texts), "an area for each outcome"


def test_without_unanswerable_questions_there_is_one_line() -> None:
    page = risk_plot(curve(answers([0.9, 0.3], []), replace(HOW, threshold=0.0)), [])
    assert "unanswerable" not in page and "wrong answers" in page
