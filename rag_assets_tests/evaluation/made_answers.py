"""Answers made by hand: a confidence per question, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rag_assets.answer.abstention import THRESHOLD
from rag_assets.index.answer_results import AnswerConditions, AnswerResult, Outcome

HOW = AnswerConditions(pipeline="p", pipeline_hash="h", model="extractive", mode="bm25", threshold=THRESHOLD)


def answer(identifier: str, confidence: float, answerable: bool = True, **changes: Any) -> AnswerResult:
    """Answered where the threshold lets it; an answer to an answerable question cites what was expected."""
    is_answered = confidence >= THRESHOLD
    values: dict[str, Any] = {
        "id": identifier,
        "question": f"what is {identifier}?",
        "answerable": answerable,
        "outcome": Outcome.ANSWERED if is_answered else Outcome.REFUSED,
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
