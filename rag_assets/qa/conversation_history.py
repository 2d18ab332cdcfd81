"""What of a conversation goes into a prompt (D05–D08): all turns, or a summary and the turns since. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.answer.token_budget import TokenCounter

if TYPE_CHECKING:
    from rag_assets.history.conversations import PastTurn, Summary

_SUMMARY = "Summary of the conversation before:"


@dataclass(frozen=True, slots=True)
class Injected:
    """`text` as a prompt gets it; `summary` and `turns` are what it consists of."""

    text: str
    summary: Summary | None
    turns: tuple[PastTurn, ...]


def injected(summary: Summary | None, turns: Sequence[PastTurn]) -> Injected:
    """The summary, where there is one, and only the turns that it does not cover, oldest first (D07)."""
    newer = tuple(turn for turn in turns if summary is None or turn.position > summary.through)
    return Injected(formatted(summary.text if summary else "", newer), summary, newer)


def formatted(summary: str, turns: Sequence[PastTurn]) -> str:
    parts = [f"{_SUMMARY}\n{summary}"] if summary else []
    parts += [f"User: {turn.question_en}\nAssistant: {turn.answer_en}" for turn in turns]
    return "\n\n".join(parts)


def newest_that_fit(found: Injected, budget: int, count: TokenCounter) -> str:
    """As much of it as fits: the summary, then turns from the newest back; '' where not even one fits."""
    summary = found.summary.text if found.summary else ""
    for start in range(len(found.turns) + 1):
        text = formatted(summary, found.turns[start:])
        if count([text])[0] <= budget:
            return text
    return ""


def cut_to(text: str, budget: int, count: TokenCounter) -> str:
    """The beginning of a text within a budget, at a word: for a summary that came out longer than was asked for."""
    if count([text])[0] <= budget:
        return text
    words = text.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count([" ".join(words[:middle])])[0] <= budget else (low, middle - 1)
    return " ".join(words[:low])
