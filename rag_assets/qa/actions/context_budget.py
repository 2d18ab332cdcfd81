"""The evidence within its budget (D22, D23): composed, compacted, and only then summarised by a model."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from rag_assets.contracts.llm import Profile
from rag_assets.qa.definition.action_registry import Action, PromptName, StepOutcome
from rag_assets.qa.definition.steps import Transition
from rag_assets.qa.prompt_context import batches, compacted, is_within, whole, with_identifiers
from rag_assets.qa.state import RetrievalState, Turn
from rag_assets.qa.turn_context import TurnContext

_SUMMARY_SHARE = 0.7
"""Of the budget that the model is told: the identifiers that it drops are appended, and models count badly."""


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
    """Signatures instead of bodies, without a model; on_over_limit where pieces or node keys had to be left out, or
    most pieces are only named. What there is then fits in any case."""
    contexts, complete, tokens, notes = {}, True, 0, []
    for label, budget in _budgets(turn, run):
        composed = compacted(turn.found_in(label), budget, run.services.count_tokens)
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
    return StepOutcome(replace(_with(turn, contexts, tokens), summarised=True), notes=tuple(notes))


def _summary(
    turn: Turn, found: RetrievalState, budget: int, parameters: Summarise, run: TurnContext
) -> tuple[str, str]:
    """(at most `budget` tokens about what was found, what was done)."""
    count = run.services.count_tokens
    parts = batches(found, budget, count)
    if not parts:
        return "", "nothing to summarise"
    limit = max(1, int(budget * _SUMMARY_SHARE / len(parts)))
    summaries = []
    for part in parts:
        values = {"question": turn.question_en, "evidence": part}
        _, reply, fault = run.ask(turn, parameters.prompt, values, profile=parameters.profile, max_tokens=limit)
        if fault or not reply.strip():
            return compacted(found, budget, count).text, f"no summary ({fault or 'empty reply'}); compacted instead"
        summaries.append(reply)
    text, missing = with_identifiers(summaries, found, budget, count)
    return text, f"{len(parts)} parts summarised, {missing} identifiers appended"


def _budgets(turn: Turn, run: TurnContext) -> list[tuple[str, int]]:
    labels = [label for label in (turn.label, turn.compared_label) if label]
    return [(label, run.settings.max_context_tokens // len(labels)) for label in labels]


def _with(turn: Turn, contexts: dict[str, str], tokens: int) -> Turn:
    compared = contexts.get(turn.compared_label, "")
    return replace(turn, context=contexts[turn.label], compared_context=compared, context_tokens=tokens)


ACTIONS = (
    Action("check_context_budget", check_context_budget, 1, outcomes=lambda _: (Transition.OK, Transition.OVER_LIMIT)),
    Action("compact_context", compact_context, 1, outcomes=lambda _: (Transition.OK, Transition.OVER_LIMIT)),
    Action("summarize_context", summarize_context, 1, Summarise),
)
