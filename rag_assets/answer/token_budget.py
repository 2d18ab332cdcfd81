"""Evidence within a token budget: whole sections where they are worth their tokens, signatures instead of bodies before
anything is left out, names to the last (D22, D23, E13). Pure.

Every piece begins as its name; then the step that adds the most value per token is taken until no step fits. That is
the greedy solution of the multiple-choice knapsack problem (Sinha and Zoltners 1979), and never depends on input order.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.answer.passages import PROSE, OutlinePart, outline
from rag_assets.contracts.evidence import Evidence, EvidenceForm
from rag_assets.contracts.protocol_markers import EVIDENCE_TAG, defused
from rag_assets.errors import RagAssetsError

_SHORT_BODY = 48
"""Characters. `{ get; init; } = 3;` and `=> _inner.Count;` say what a signature should, for a word or two."""

_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z0-9`*\[])")
_ELIDED = "…"
_LEFT_OUT = re.compile(r"`[^`]+` · |\s+`\[|\[|```")


@lru_cache(maxsize=1_024)  # a budget tries what the next turn packs again
def signatures(text: str, language: str) -> str:
    """The declarations of a text without their bodies, comments included; of prose the headings and the first sentence
    of every paragraph. Never longer than the text."""
    parts = outline(text, language)
    made = "\n".join(_first_sentence(text, part) if language in PROSE else _signature(text, part) for part in parts)
    return made if len(made) < len(text) else text


def _signature(text: str, part: OutlinePart) -> str:
    whole = text[part.start : part.end]
    if part.body >= part.end or part.end - part.body <= _SHORT_BODY:
        return whole
    mark = "=> " if text.startswith("=>", part.body) else ""
    head = text[part.start : part.body].rstrip()
    return f"{head} {mark}{_ELIDED}" if mark else f"{head} {{ {_ELIDED} }}"


def _first_sentence(text: str, part: OutlinePart) -> str:
    whole = text[part.start : part.end]
    if whole.lstrip().startswith(("#", "|", "-", "*", "```")):
        return whole
    first = _SENTENCE_END.split(whole, maxsplit=1)[0]
    return first if len(first) == len(whole) else f"{first} {_ELIDED}"


@lru_cache(maxsize=1_024)
def brief(description: str) -> str:
    """A description without attributes, fences, empty lines, and the place that the head of its block says."""
    return "\n".join(line for line in description.split("\n") if line.strip() and not _LEFT_OUT.match(line))


TokenCounter = Callable[[Sequence[str]], list[int]]
"""Tokens of each text, as the model counts them (R24); see `models.openai_compat.token_counting.token_counter`."""

_WORTH = {EvidenceForm.NAME: 0.1, EvidenceForm.DESCRIBED: 0.6, EvidenceForm.WHOLE: 1.0}
"""Of the score of a piece. A brief description or signatures tell most of what a section is about in a quarter of the
tokens of all of it."""

_WORTH_OF_FACTS = {**_WORTH, EvidenceForm.DESCRIBED: 0.9}
"""For a question that does not ask how: sources have the room that descriptions leave."""

_SOURCE = "Source:"
"""Between the description of a piece and its source."""

_LEAST_SCORE = 0.05
"""Of the best score: a neighbour in the graph may have next to none, and still is there for a reason."""


class BudgetError(RagAssetsError, ValueError):
    """A budget that no context has."""


@dataclass(frozen=True, slots=True)
class Packed:
    """One piece as it is in a context."""

    evidence: Evidence
    form: EvidenceForm
    block: str


@dataclass(frozen=True, slots=True)
class ContextPack:
    """`pieces` by score, `text` all of them, `tokens` what that takes; `left_out` did not even fit by name."""

    pieces: tuple[Packed, ...]
    text: str
    tokens: int
    budget: int
    left_out: tuple[Evidence, ...] = ()

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(piece.evidence for piece in self.pieces)


def pack(evidence: Sequence[Evidence], budget: int, count: TokenCounter, *, asks_how: bool = True) -> ContextPack:
    """The context of an answer: at most `budget` tokens by `count`, every piece in it named with its citation id, place
    and graph node keys. A question that `asks_how` needs sources; for others descriptions come first. Raises
    BudgetError for a budget below 1."""
    if budget < 1:
        raise BudgetError(f"a context needs a budget of at least 1 token, got {budget}")
    ordered = _ordered(evidence)
    texts = [block(known, EvidenceForm.WHOLE) for known in ordered]
    whole = [_Sized(text, size) for text, size in zip(texts, count([f"{text}\n" for text in texts]), strict=True)]
    if sum(known.tokens for known in whole) <= budget:
        made = _made(
            ordered, [{EvidenceForm.WHOLE: known} for known in whole], [EvidenceForm.WHOLE] * len(whole), budget, count
        )
        if len(made.pieces) == len(whole):
            return made
    forms = [_forms(known, size, count) for known, size in zip(ordered, whole, strict=True)]
    names = [sizes[EvidenceForm.NAME].tokens for sizes in forms]
    fits = _fitting(names, budget)
    chosen = [EvidenceForm.NAME if known else None for known in fits]
    used = sum(size for size, known in zip(names, fits, strict=True) if known)
    _upgrade(ordered, forms, chosen, budget - used, _WORTH if asks_how else _WORTH_OF_FACTS)
    return _made(ordered, forms, chosen, budget, count)


def named_within(evidence: Sequence[Evidence], budget: int, count: TokenCounter) -> tuple[Evidence, ...]:
    """What a context has at least the name of, best first: the pieces of `pack`, without their texts, for an answer
    that no model reads a context for; first those that show a fact, of which no more is told. By a counter that makes
    more of a text than of its parts, some more of them."""
    ordered = _ordered(evidence)
    named = [f"{known.path} {known.via}" if known.via else block(known, EvidenceForm.NAME) for known in ordered]
    names = count([f"{one}\n" for one in named])
    if sum(names) <= budget:
        return tuple(ordered)
    if sum(count([f"{block(known, EvidenceForm.WHOLE)}\n" for known in ordered])) <= budget:
        return tuple(ordered)  # the name of a piece lists its nodes, of which a class has a hundred
    taken = sorted(range(len(ordered)), key=lambda number: not ordered[number].via)
    fits = dict(zip(taken, _fitting([names[number] for number in taken], budget), strict=True))
    return tuple(known for number, known in enumerate(ordered) if fits[number])


def _ordered(evidence: Sequence[Evidence]) -> list[Evidence]:
    return sorted(evidence, key=lambda known: (-known.score, known.label, known.path, known.line_start, known.id))


def _fitting(sizes: Sequence[int], budget: int) -> list[bool]:
    """Which of some pieces, best first, have room by their names."""
    made = []
    for size in sizes:
        made.append(size <= budget)
        budget -= size if made[-1] else 0
    return made


@dataclass(frozen=True, slots=True)
class _Sized:
    block: str
    tokens: int


def _forms(known: Evidence, whole: _Sized, count: TokenCounter) -> dict[EvidenceForm, _Sized]:
    """The forms of a piece that differ, from the shortest to the longest."""
    texts = {
        EvidenceForm.NAME: block(known, EvidenceForm.NAME),
        EvidenceForm.DESCRIBED: block(known, EvidenceForm.DESCRIBED),
    }
    if whole.block == texts[EvidenceForm.DESCRIBED]:
        del texts[EvidenceForm.DESCRIBED]
    sizes = count([f"{text}\n" for text in texts.values()])
    made = {form: _Sized(text, size) for (form, text), size in zip(texts.items(), sizes, strict=True)}
    return made | {EvidenceForm.WHOLE: whole}


def _upgrade(
    ordered: Sequence[Evidence],
    forms: Sequence[dict[EvidenceForm, _Sized]],
    chosen: list[EvidenceForm | None],
    spare: int,
    worth: Mapping[EvidenceForm, float],
) -> None:
    best = max((known.score for known in ordered), default=0.0) or 1.0
    value = [max(known.score / best, _LEAST_SCORE) for known in ordered]
    steps: list[tuple[float, int, EvidenceForm]] = []

    def offer(at: int) -> None:
        present = chosen[at]
        if present is None:
            return
        now = forms[at][present]
        for form in list(forms[at])[list(forms[at]).index(present) + 1 :]:
            more = max(1, forms[at][form].tokens - now.tokens)
            gain = value[at] * (worth[form] - worth[present])
            heapq.heappush(steps, (-gain / more, at, form))

    for at in range(len(ordered)):
        offer(at)
    while steps:
        _, at, form = heapq.heappop(steps)
        present = chosen[at]
        if present is None or worth[form] <= worth[present]:
            continue
        more = forms[at][form].tokens - forms[at][present].tokens
        if more <= spare:
            spare -= more
            chosen[at] = form
            offer(at)


def _made(
    ordered: Sequence[Evidence],
    forms: Sequence[dict[EvidenceForm, _Sized]],
    chosen: list[EvidenceForm | None],
    budget: int,
    count: TokenCounter,
) -> ContextPack:
    """The blocks as one text. Counted again as a whole: a tokenizer may make more of a text than of its parts, and then
    the last pieces go."""
    kept = [at for at, form in enumerate(chosen) if form is not None]
    while True:
        pieces = tuple(
            Packed(ordered[at], form, forms[at][form].block) for at in kept if (form := chosen[at]) is not None
        )
        text = "\n".join(piece.block for piece in pieces)
        tokens = count([text])[0] if pieces else 0
        if tokens <= budget or not kept:
            missing = set(range(len(ordered))) - set(kept)
            return ContextPack(pieces, text, tokens, budget, tuple(ordered[at] for at in sorted(missing)))
        last = next((at for at in reversed(kept) if chosen[at] is not EvidenceForm.NAME), None)
        if last is None or EvidenceForm.NAME not in forms[last]:
            kept.pop()
        else:
            chosen[last] = EvidenceForm.NAME


def block(known: Evidence, form: EvidenceForm) -> str:
    """A piece as a model reads it: delimited, marked with its citation id, everything in it neutral (E16)."""
    keys = f" nodes={defused(' '.join(known.node_keys))!r}" if known.node_keys and form is EvidenceForm.NAME else ""
    via = f" via={defused(known.via)!r}" if known.via else ""
    head = f'<{EVIDENCE_TAG} id="{known.id}" at="{defused(known.place)}" of="{defused(known.symbol)}"{via}{keys}'
    if form is EvidenceForm.NAME:
        return f"{head}/>"
    if form is EvidenceForm.WHOLE:
        parts = [known.description, _SOURCE, known.text] if known.description else [known.text]
    else:
        parts = [brief(known.description)] if known.description else []
        if not parts or known.language in PROSE:  # whose description is a head above the text
            parts.append(signatures(known.text, known.language))
    text = "\n".join(parts)
    return f"{head}>\n{defused(text)}\n</{EVIDENCE_TAG}>"
