"""How a question was understood, how sure its answer is and why its passages were chosen, as a person can read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rag_assets.answer.abstention import Signals, Thresholds, ceiling_of, known_confidence, likelihood, parts_of
from rag_assets.answer.cited_lines import Citation
from rag_assets.answer.passage_ranking import MOST_QUOTED
from rag_assets.answer.passages import Passage
from rag_assets.answer.question_analysis import Intent, listed_noun, role_of
from rag_assets.answer.results import Answer
from rag_assets.contracts.evidence import lines_of

_ROLES = {"subject": "about", "relation": "asks", "manner": "how"}


def explanation(found: Answer, thresholds: Thresholds) -> dict[str, Any]:
    """The object `explain` of `ask --json`: the words by their role with their weights, the intent with its names or
    its noun, the parts of the confidence, and the best passages with the parts of their scores."""
    read = found.read
    known = known_confidence(read.signals)
    text = read.search.question.text
    return {
        "read_as": text,
        "intent": read.wish.intent.value,
        "list_of": listed_noun(text)[0] or None if read.wish.intent is Intent.LIST else None,
        "names": list(read.wish.names),
        "unknown_names": list(read.unknown),
        "words": [
            {"word": one.word, "role": role_of(one), "weight": round(one.weight, 2), "known": one.known}
            for one in read.words
        ],
        "confidence": round(read.confidence, 4),
        "because": _because(read.signals),
        "parts": {} if known is not None else _rounded(parts_of(read.signals)),
        "refused_below": thresholds.weak_below,
        "sure_from": thresholds.sure_from,
        "passages": [
            {
                "place": lines_of(passage.evidence.path, passage.line_start, passage.line_end),
                "name": passage.name,
                "quoted": any(_has(passage, one) for one in found.citations),
                "score": round(float(read.passages.scores[number]), 2),
                "parts": _rounded(read.passages.parts_of(number)),
                "says": [word.word for word in read.passages.words_of(number)],
            }
            for number in read.passages.chosen(MOST_QUOTED)
            for passage in [read.passages.passages[number]]
        ],
    }


def _because(signals: Signals) -> str | None:
    """The one rule that decided the confidence, if one did."""
    if signals.absent:
        return "what is asked was looked for, and is nowhere"
    known = known_confidence(signals)
    if known is not None:
        return known[1]
    is_capped = likelihood(signals) > ceiling_of(signals)
    if signals.records and is_capped:
        return "what fits best is a record of data"
    if signals.hidden and is_capped:
        return "what fits best is nothing that others can call"
    return f"no passage says {signals.unsaid:.0%} of the question" if is_capped else None


def rows_of(explained: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """An explanation as titles with texts."""
    yield "read as", explained["read_as"]
    yield "kind", f"a list of: {explained['list_of']}" if explained["list_of"] else explained["intent"]
    for role, title in _ROLES.items():
        words = [
            f"{one['word']} {one['weight']:.1f}{'' if one['known'] else ' (in no section)'}"
            for one in explained["words"]
            if one["role"] == role
        ]
        yield title, ", ".join(words)
    nowhere = explained["unknown_names"]
    yield "names", ", ".join(f"{name}{' (nowhere)' if name in nowhere else ''}" for name in explained["names"])
    yield (
        "confidence",
        f"{explained['confidence']:.2f}; refused below {explained['refused_below']:.2f}, "
        f"not sure below {explained['sure_from']:.2f}",
    )
    yield "because", explained["because"] or ""
    yield "made of", _sum(explained["parts"].items())
    for number, one in enumerate(explained["passages"], 1):
        parts = sorted(one["parts"].items(), key=lambda part: -abs(part[1]))
        yield f"passage {number}", f"{one['place']}  {one['score']:.2f} = {_sum(parts)}"
        yield "", f"{'quoted; ' if one['quoted'] else ''}says {', '.join(one['says'])}"


def _has(passage: Passage, cited: Citation) -> bool:
    """Whether a citation names lines of a passage."""
    is_near = cited.line_start <= passage.line_end and passage.line_start <= cited.line_end
    return is_near and (cited.label, cited.path) == (passage.evidence.label, passage.evidence.path)


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 2) for name, value in parts.items() if value}


def _sum(parts: Iterable[tuple[str, float]]) -> str:
    return " ".join(f"{name} {value:+.2f}" for name, value in parts)
