"""Answers made by hand: a confidence per question, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rag_assets.answer.abstention import SURE, THRESHOLD
from rag_assets.index.answer_results import AnswerConditions, AnswerResult, Grade, Outcome

HOW = AnswerConditions(pipeline="p", pipeline_hash="h", model="extractive", mode="bm25", threshold=THRESHOLD, sure=SURE)


def answer(identifier: str, confidence: float, answerable: bool = True, **changes: Any) -> AnswerResult:
    """Answered, not sure or refused as the shipped thresholds say; what is shown for an answerable question cites what
    was expected, and an answer to it is right."""
    is_shown, is_answered = confidence >= THRESHOLD, confidence >= SURE
    outcome = Outcome.ANSWERED if is_answered else Outcome.UNSURE if is_shown else Outcome.REFUSED
    outcome = changes.get("outcome", outcome)
    cites = changes.get("cites_expected", is_shown and answerable)
    grade = Grade(outcome.value) if outcome is not Outcome.ANSWERED else Grade.RIGHT if cites else Grade.WRONG
    values: dict[str, Any] = {
        "id": identifier,
        "question": f"what is {identifier}?",
        "answerable": answerable,
        "outcome": outcome,
        "grade": grade,
        "cites_expected": cites,
        "confidence": confidence,
        "seconds": 0.01,
        "precision": 1.0 if is_answered and answerable else None,
        "recall": 1.0 if is_answered and answerable else None,
    }
    return AnswerResult(**(values | changes))


def answers(answerable: Iterable[float], unanswerable: Iterable[float]) -> list[AnswerResult]:
    """Of both sorts, by their confidences."""
    yes = [answer(f"yes-{number}", one) for number, one in enumerate(answerable)]
    return yes + [answer(f"no-{number}", one, answerable=False) for number, one in enumerate(unanswerable)]
