"""The evidence of a turn as the text of a prompt (D22, D23): pieces with their citation ids, and the graph.

Whole where it fits: a description, then its source. Else descriptions alone; else a summary by the model, which has to
keep every identifier or gets them appended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import msgspec

from rag_assets.answer.question_analysis import asks_how
from rag_assets.answer.token_budget import ContextPack, TokenCounter, block, pack
from rag_assets.contracts.evidence import Evidence, EvidenceForm
from rag_assets.contracts.llm import Profile
from rag_assets.contracts.protocol_markers import neutral
from rag_assets.qa.definition.action_registry import Action, PromptName, StepOutcome
from rag_assets.qa.definition.steps import Transition
from rag_assets.qa.turn import RetrievalState, Turn, TurnContext

GRAPH_SHARE = 0.4
"""Of a budget that is too small for everything: what the graph may take of it before the pieces, so that 60 nodes of 25
to 40 tokens, as long names make them, fit the default budget; edges take what the pieces leave."""

NAMED_KEYS = 4
"""Of a piece that is only named, the node keys besides those that the graph lists: a whole class has a hundred, which
took more tokens than its signatures."""

DESCRIBED = 0.5
"""Of the pieces, by score, the least share that is described or whole. The others are named, so a model can ask for
one; a summary costs several calls and loses the words of all of them. By score, because the last of thirty pieces are
there to be complete."""

_LINE_END = 1  # token between two parts
_GRAPH_HEAD = "Graph: nodes with their numbers, then edges as `source relation targets`"
_ALSO = "Also in the evidence, not described above:"


@dataclass(frozen=True, slots=True)
class ComposedContext:
    """`complete`: most of the evidence is described at least, and of every node of the graph its key."""

    text: str
    tokens: int
    complete: bool


def whole(found: RetrievalState, count: TokenCounter) -> ComposedContext:
    """Everything, without a limit."""
    blocks = [block(piece, EvidenceForm.WHOLE) for piece in found.all]
    text = _joined([*blocks, graph_text(found)])
    return ComposedContext(text, count([text])[0], True)


def is_within(found: RetrievalState, budget: int, count: TokenCounter) -> bool:
    """Whether everything fits, by the parts: they are counted again when they are packed, the whole text is not."""
    blocks = [block(piece, EvidenceForm.WHOLE) for piece in found.all]
    return sum(count([f"{part}\n" for part in (*blocks, graph_text(found))])) <= budget


def compacted(found: RetrievalState, budget: int, count: TokenCounter, *, asks_how: bool = True) -> ComposedContext:
    """At most `budget` tokens: descriptions without their sources where that is worth most, every node key, and the
    edges of the most relevant nodes."""
    keys, edges = _graph_lines(found)
    share = _fitting(_GRAPH_HEAD, keys, int(budget * GRAPH_SHARE), count)
    reserved = count([share])[0] + _LINE_END if share else 0
    packed = pack(_with_few_keys(found), max(1, budget - reserved), count, asks_how=asks_how)
    left = budget - packed.tokens - _LINE_END  # what the pieces do not need is the graph's, too
    graph = _fitting(_GRAPH_HEAD, [*keys, *edges], left, count)
    text = _joined([packed.text, graph])
    complete = _described(packed) >= DESCRIBED and graph.count("\n") >= len(keys)
    return ComposedContext(text, count([text])[0], complete)


def _with_few_keys(found: RetrievalState) -> list[Evidence]:
    listed = set(_node_keys(found))
    return [
        replace(piece, node_keys=tuple(key for key in piece.node_keys if key not in listed)[:NAMED_KEYS])
        for piece in found.all
    ]


def _described(packed: ContextPack) -> float:
    """The share of the evidence, by score, that is described at least; what was left out is not."""
    everything = sum(piece.evidence.score for piece in packed.pieces) + sum(piece.score for piece in packed.left_out)
    told = sum(piece.evidence.score for piece in packed.pieces if piece.form is not EvidenceForm.NAME)
    return told / everything if everything else 1.0


def batches(found: RetrievalState, budget: int, count: TokenCounter) -> list[str]:
    """All of it in texts of at most `budget` tokens, the best pieces first, for a summary part by part; a piece that is
    larger alone is cut at its lines."""
    parts: list[str] = []
    for piece in sorted(found.all, key=lambda piece: -piece.score):
        parts += _cut(block(piece, EvidenceForm.WHOLE), budget, count)
    graph = graph_text(found)
    parts += _cut(graph, budget, count) if graph else []
    made: list[list[str]] = []
    used = budget
    for part, size in zip(parts, count(parts), strict=True):
        if used + size + _LINE_END > budget:
            made.append([])
            used = -_LINE_END
        made[-1].append(part)
        used += size + _LINE_END
    return [_joined(batch) for batch in made]


def with_identifiers(
    summaries: Sequence[str], found: RetrievalState, budget: int, count: TokenCounter
) -> tuple[str, int]:
    """(the summaries within `budget`, and below them every id and node key that they lack; how many those were).

    Ids come first: they are what a later question or a citation needs. Then the prose has its share, and node keys have
    what is left.
    """
    kept = neutral(_joined([summary.strip() for summary in summaries]))
    while True:  # cutting prose can cut identifiers, which then have to be listed, too: it only gets shorter
        said = min(count([kept])[0], int(budget * _SUMMARY_SHARE)) + _LINE_END if kept else 0
        listed, missing = _listed(found, kept, budget, budget - said, count)
        room = budget - (count([listed])[0] + 1 if listed else 0)
        cut = _first_lines(kept, room, count)
        if cut == kept:
            return _joined([kept, listed]), missing
        kept = cut


def _listed(found: RetrievalState, prose: str, budget: int, room: int, count: TokenCounter) -> tuple[str, int]:
    """(the identifiers that the prose lacks, how many there are). Where there is not room for all of them the pieces
    have their ids only, so that all of them can be cited; those may take the whole budget."""
    pieces = [piece for piece in found.all if piece.id not in prose or any(key not in prose for key in piece.node_keys)]
    seen = {key for piece in pieces for key in piece.node_keys}
    keys = [key for key in _node_keys(found) if key not in seen and key not in prose]
    full = [f"{piece.id} {neutral(piece.place)} {' '.join(piece.node_keys)}".rstrip() for piece in pieces]
    short = [piece.id for piece in pieces]
    missing = len(pieces) + len(keys)
    for lines in (full, short):
        listed = _fitting(_ALSO, [*lines, *keys], room, count)
        if listed.count("\n") >= len(lines):
            return listed, missing
    return _fitting(_ALSO, short, budget, count), missing


def graph_text(found: RetrievalState) -> str:
    """All nodes and edges; '' without any edge. Every key is written once: edges have the numbers of their ends."""
    keys, edges = _graph_lines(found)
    return "\n".join([_GRAPH_HEAD, *keys, *edges]) if edges else ""


def _graph_lines(found: RetrievalState) -> tuple[list[str], list[str]]:
    """(the nodes, the edges of each node by relation), the most relevant nodes first."""
    around = found.neighbourhood
    if around is None or not around.edges:
        return [], []
    number = {node.key: at for at, node in enumerate(around.nodes, 1)}
    targets: dict[tuple[int, str], list[int]] = {}
    for edge in around.edges:
        targets.setdefault((number[edge.source], edge.relation.value), []).append(number[edge.target])
    keys = [neutral(f"{at} {key}") for key, at in number.items()]
    edges = [f"{at} {name} {' '.join(map(str, sorted(set(ends))))}" for (at, name), ends in sorted(targets.items())]
    return keys, edges


def _node_keys(found: RetrievalState) -> list[str]:
    return [] if found.neighbourhood is None else [node.key for node in found.neighbourhood.nodes]


def _fitting(head: str, lines: Sequence[str], budget: int, count: TokenCounter) -> str:
    """The head and as many lines as fit; '' where none does."""
    sizes = count([f"{line}\n" for line in lines])
    used, kept = count([f"{head}\n"])[0], 0
    for size in sizes:
        if used + size > budget:
            break
        used, kept = used + size, kept + 1
    while kept and count(["\n".join([head, *lines[:kept]])])[0] > budget:
        kept -= 1
    return "\n".join([head, *lines[:kept]]) if kept else ""


def _first_lines(text: str, budget: int, count: TokenCounter) -> str:
    """As many whole lines from the beginning as fit; a line that is too long alone is cut at a word."""
    if count([text])[0] <= budget:
        return text
    parts = text.split("\n")
    kept = _most(len(parts), lambda size: count(["\n".join(parts[:size])])[0] <= budget)
    if kept:
        return "\n".join(parts[:kept])
    words = parts[0].split(" ")
    return " ".join(words[: _most(len(words), lambda size: count([" ".join(words[:size])])[0] <= budget)])


def _cut(text: str, budget: int, count: TokenCounter) -> list[str]:
    made = []
    while text and count([text])[0] > budget:
        first = _first_lines(text, budget, count)
        if not first:
            first = text[: max(1, budget)]  # one word without an end: a token has at least a character
        made.append(first)
        text = text[len(first) :].lstrip("\n ")
    return [*made, text] if text else made


def _most(size: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `size` that fits, by halving; 0 where none does."""
    low, high = 0, size
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _joined(parts: Sequence[str]) -> str:
    return "\n".join(part for part in parts if part)


_SUMMARY_SHARE = 0.7
"""Of the budget that the model is told: the identifiers that it drops are appended, and models count badly."""


SENTENCE_TOKENS = 40
"""What a sentence with a path and two names of types needs: a model that may write less is not asked. Of evidence that
has more parts than sentences have room, the last and least are only named."""


class Summarise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prompt: PromptName = "context_summary"
    profile: Profile = "cheap"


def check_context_budget(turn: Turn, _: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """Composes all evidence; on_over_limit where it is more than `max_context_tokens`. Two indexes share the budget."""
    tokens = 0
    contexts = {}
    for label, budget in _budgets(turn, run):
        found, count = turn.found_in(label), run.services.count_tokens
        composed = whole(found, count) if is_within(found, budget, count) else None
        if composed is None or composed.tokens > budget:
            return StepOutcome(turn, Transition.OVER_LIMIT, (f"{label}: more than {budget} tokens",))
        contexts[label] = composed.text
        tokens += composed.tokens
    return StepOutcome(_with(turn, contexts, tokens), Transition.OK, (f"{tokens} tokens",))


def compact_context(turn: Turn, _: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """Descriptions without sources, without a model; on_over_limit where pieces or node keys had to be left out, or
    most pieces are only named. What there is then fits in any case."""
    contexts, complete, tokens, notes = {}, True, 0, []
    for label, budget in _budgets(turn, run):
        composed = compacted(
            turn.found_in(label), budget, run.services.count_tokens, asks_how=asks_how(turn.question_en)
        )
        contexts[label] = composed.text
        complete &= composed.complete
        tokens += composed.tokens
        notes.append(f"{label}: {composed.tokens} tokens")
    return StepOutcome(
        _with(turn, contexts, tokens), Transition.OK if complete else Transition.OVER_LIMIT, tuple(notes)
    )


def summarize_context(turn: Turn, parameters: Summarise, run: TurnContext) -> StepOutcome:
    """A summary for this question in place of the evidence (D23), every identifier of it kept. Where the model gives
    none, the compacted evidence stays."""
    contexts, notes = {}, []
    for label, budget in _budgets(turn, run):
        made, said = _summary(turn, turn.found_in(label), budget, parameters, run)
        contexts[label] = made
        notes.append(f"{label}: {said}")
    tokens = sum(run.services.count_tokens(list(contexts.values())))
    return StepOutcome(_with(turn, contexts, tokens), notes=tuple(notes))


def _summary(
    turn: Turn, found: RetrievalState, budget: int, parameters: Summarise, run: TurnContext
) -> tuple[str, str]:
    """(at most `budget` tokens about what was found, what was done)."""
    count = run.services.count_tokens
    everything = batches(found, budget, count)
    if not everything:
        return "", "nothing to summarise"
    ids = count([_listed(found, "", budget, 0, count)[0]])[0]
    room = min(int(budget * _SUMMARY_SHARE), budget - ids - _LINE_END)
    parts = everything[: max(0, room) // SENTENCE_TOKENS]
    limit = room // max(1, len(parts))
    summaries = []
    for part in parts:
        values = {"question": turn.question_en, "evidence": part}
        _, reply, fault = run.ask(turn, parameters.prompt, values, profile=parameters.profile, max_tokens=limit)
        if fault or not reply.strip():
            return compacted(found, budget, count).text, f"no summary ({fault or 'empty reply'}); compacted instead"
        summaries.append(reply)
    text, missing = with_identifiers(summaries, found, budget, count)
    return text, f"{len(parts)} of {len(everything)} parts summarised, {missing} identifiers appended"


def _budgets(turn: Turn, run: TurnContext) -> list[tuple[str, int]]:
    labels = [label for label in (turn.label, turn.compared_label) if label]
    return [(label, run.settings.max_context_tokens // len(labels)) for label in labels]


def _with(turn: Turn, contexts: dict[str, str], tokens: int) -> Turn:
    compared = contexts.get(turn.compared_label, "")
    return replace(turn, context=contexts[turn.label], compared_context=compared, context_size=lambda: tokens)


ACTIONS = (
    Action("check_context_budget", check_context_budget, 2, outcomes=(Transition.OK, Transition.OVER_LIMIT)),
    Action("compact_context", compact_context, 2, outcomes=(Transition.OK, Transition.OVER_LIMIT)),
    Action("summarize_context", summarize_context, 2, Summarise),
)
