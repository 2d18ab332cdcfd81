"""The risk-coverage curve, and the threshold that is made of it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from rag_assets.evaluation.risk import FEWEST, calibrated, risk_curve
from rag_assets.evaluation.risk_plot import risk_plot
from rag_assets.query.answer.abstention import SCALE, THRESHOLD
from rag_assets.stores.eval_answers import Calibration, Outcome
from rag_assets_tests.evaluation.made_answers import HOW, answer, answers

pytestmark = pytest.mark.rule("E22")
ENOUGH = FEWEST


def calibration(yes: list[float], no: list[float], share: float = 0.85) -> Calibration | None:
    return calibrated(answers(yes, no), "set", "bm25", share)


def test_a_point_of_the_curve_says_what_its_threshold_does() -> None:
    results = answers([0.9, 0.8, 0.6, 0.3], [0.7, 0.2])
    known = {point.threshold: (point.coverage, point.admitted, point.risk) for point in risk_curve(results, HOW)}
    assert list(known) == sorted(known)
    assert known[0.2] == (1.0, 1.0, None), "below what was used nobody knows what would have been cited"
    assert known[THRESHOLD] == (0.75, 0.5, 0.25)
    assert known[0.8] == (0.5, 0.0, 0.0)


def test_an_answer_that_cites_nothing_expected_is_wrong() -> None:
    results = [answer("a", 0.9), answer("b", 0.8, recall=0.0, precision=0.0)]
    assert [(point.threshold, point.risk) for point in risk_curve(results, HOW)] == [(0.5, 0.5), (0.8, 0.5), (0.9, 0.0)]


def test_what_was_refused_for_another_reason_stays_refused() -> None:
    """A model that says that it does not know, however well the evidence fits."""
    results = [answer("a", 0.9, outcome=Outcome.REFUSED), answer("b", 0.1), answer("c", 0.95)]
    curve = risk_curve(results, HOW)
    assert [point.coverage for point in curve] == pytest.approx([2 / 3, 1 / 3, 1 / 3, 1 / 3])


def test_questions_that_failed_say_nothing() -> None:
    failed = answer("f", 0.0, answerable=False, outcome=Outcome.FAILED)
    assert risk_curve([*answers([0.9], []), failed], HOW) == risk_curve(answers([0.9], []), HOW)
    assert risk_curve([failed], HOW) == ()


def test_the_threshold_parts_what_can_be_parted() -> None:
    found = calibration([0.9] * ENOUGH, [0.7] * ENOUGH)
    assert found is not None
    assert (found.threshold, found.answered, found.refused) == (0.8, 1.0, 1.0)
    assert (found.answerable, found.unanswerable, found.mode, found.scale) == (ENOUGH, ENOUGH, "bm25", SCALE)


@pytest.mark.parametrize(("share", "answered"), [(0.85, 0.9), (0.95, 1.0)])
def test_enough_is_answered_whatever_that_admits(share: float, answered: float) -> None:
    """A tenth of the answerable is below most of the others: leaving it out makes the fewest mistakes."""
    found = calibration([0.9] * 45 + [0.55] * 5, [0.7] * ENOUGH, share)
    assert found is not None and found.answered == pytest.approx(answered)


def test_of_equally_good_thresholds_it_is_the_shipped_one() -> None:
    found = calibration([0.99] * ENOUGH, [0.01] * ENOUGH)
    assert found is not None and found.threshold == THRESHOLD


@pytest.mark.parametrize(("admitted", "threshold"), [(1, THRESHOLD), (10, 0.75)])
def test_a_few_questions_do_not_move_the_threshold(admitted: int, threshold: float) -> None:
    found = calibration([0.9] * ENOUGH, [0.6] * admitted + [0.1] * (ENOUGH - admitted))
    assert found is not None and found.threshold == threshold


@pytest.mark.parametrize(
    ("yes", "no"), [(ENOUGH - 1, ENOUGH), (ENOUGH, ENOUGH - 1)], ids=["too few answerable", "too few others"]
)
def test_few_questions_make_no_threshold(yes: int, no: int) -> None:
    assert calibration([0.9] * yes, [0.1] * no) is None


def test_the_plot_is_a_picture_with_the_threshold_in_it() -> None:
    curve = risk_curve(answers([0.9, 0.8, 0.3], [0.7, 0.2]), HOW)
    page = risk_plot(curve, [("used", 0.5), ("calibrated", 0.75)])
    root = ElementTree.fromstring(page)
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"unanswerable", "wrong answers", "| used 0.500", "| calibrated 0.750"} <= set(texts)
    assert sum(element.tag.endswith("polyline") for element in root.iter()) == 2
    assert page == risk_plot(curve, [("used", 0.5), ("calibrated", 0.75)])


def test_without_unanswerable_questions_there_is_one_line() -> None:
    page = risk_plot(risk_curve(answers([0.9, 0.3], []), replace(HOW, threshold=0.0)), [])
    assert "unanswerable" not in page and "wrong answers" in page
