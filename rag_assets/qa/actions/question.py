"""Before retrieval: the question in the language of the model (D04) and what was said before (D05–D08)."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from rag_assets.contracts.llm import Profile
from rag_assets.qa.code_placeholders import protect, restore
from rag_assets.qa.conversation_history import Injected, cut_to, formatted, injected, newest_that_fit
from rag_assets.qa.coreference import carried_over
from rag_assets.qa.definition.action_registry import Action, PromptName, StepOutcome
from rag_assets.qa.state import HistoryState, Turn
from rag_assets.qa.turn_context import TurnContext

MAX_TRANSLATION_TOKENS = 4_000


class Translate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prompt: PromptName = "translate_in"
    profile: Profile = "cheap"


class LoadHistory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prompt: PromptName = "history_summary"
    profile: Profile = "cheap"


def translate_in_if_needed(turn: Turn, parameters: Translate, run: TurnContext) -> StepOutcome:
    """Only where the caller says that the question is not English; nothing is detected (D04). A question that cannot be
    translated is asked as it is: names in it find code in any language, and its other words are no sign that the index
    has nothing."""
    if turn.request.is_english:
        return StepOutcome(turn)
    if not run.services.has_model:
        missing = "which --offline leaves out" if run.services.offline else "and none is configured (answer.base_url)"
        said = f"translation needs a model, {missing}: the question was searched for as it is"
        return StepOutcome(replace(turn, untranslated=True).warned(said), notes=(said,))
    text, note = translated(turn, turn.asked.typed, parameters, run)
    if note:
        turn = replace(turn, untranslated=True).warned(f"{note}; the question was searched for as it is")
    return StepOutcome(replace(turn, question_en=text), notes=(note,) if note else ())


def translated(turn: Turn, text: str, parameters: Translate, run: TurnContext) -> tuple[str, str]:
    """(the translation, or the text as it is; why). Code, identifiers and citations stay (R28)."""
    protected = protect(text)
    values = {"text": protected.text, "original_question": turn.asked.typed}
    _, reply, fault = run.ask(
        turn, parameters.prompt, values, profile=parameters.profile, max_tokens=MAX_TRANSLATION_TOKENS
    )
    if fault:
        return text, f"not translated: {fault}"
    made = restore(reply.strip(), protected) if reply.strip() else None
    if made is None:
        return text, "not translated: the reply is empty or has lost code, names or citations"
    return made, ""


def load_conversation_history(turn: Turn, parameters: LoadHistory, run: TurnContext) -> StepOutcome:
    """The turns of the session, or its rolling summary and the turns since, within `max_history_tokens` (D05–D08)."""
    history, request = run.services.history, turn.request
    if history is None or not request.session:
        return StepOutcome(turn)
    from rag_assets.history.conversations import ConversationError

    try:
        past = history.load(request.user, request.session)
    except ConversationError as error:  # an answer that follows nothing is better than none, as long as it says so
        return StepOutcome(turn.warned(f"read without the turns before: {error}"), notes=(f"not read: {error}",))
    found = injected(past.summary, past.turns)
    budget, count = run.settings.max_history_tokens, run.services.count_tokens
    state = HistoryState(
        text=found.text,
        turns=past.count,
        summary_version=past.summary.version if past.summary else 0,
        summarised_through=past.summary.through if past.summary else 0,
        new_turns=len(found.turns),
        last_question=found.turns[-1].question_en if found.turns else "",
    )
    if count([found.text])[0] <= budget:
        return StepOutcome(replace(turn, history=state))
    if run.settings.history_summarization_policy == "newest_turns":
        return StepOutcome(
            replace(turn, history=replace(state, text=newest_that_fit(found, budget, count))),
            notes=("history over the budget: the newest turns only",),
        )
    return _summarised(turn, state, found, parameters, run)


def carry_names_over(turn: Turn, _: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """A follow-up question without a model: "who calls it" asks for the callers of the one name that the question
    before was about. Says so, because it may be wrong."""
    made, name = carried_over(turn.question_en, turn.history.last_question)
    if not name:
        return StepOutcome(turn)
    said = f"read as: {made} ({name} is from the question before)"
    return StepOutcome(replace(turn, question_en=made).warned(said), notes=(said,))


def _summarised(
    turn: Turn, state: HistoryState, found: Injected, parameters: LoadHistory, run: TurnContext
) -> StepOutcome:
    """A new summary of the old one and the new turns, kept with a pointer to the last of them (D06, D07)."""
    budget, count, request = run.settings.max_history_tokens, run.services.count_tokens, turn.request
    values = {"question": turn.question_en, "history": found.text}
    _, reply, fault = run.ask(turn, parameters.prompt, values, profile=parameters.profile, max_tokens=budget)
    if fault or not reply.strip() or not found.turns:
        kept = replace(state, text=newest_that_fit(found, budget, count))
        reason = fault or "the reply is empty"
        return StepOutcome(
            replace(turn, history=kept), notes=(f"history not summarised ({reason}): the newest turns only",)
        )
    head = count([formatted("x", ())])[0]
    text = cut_to(reply.strip(), max(1, budget - head), count)
    through = found.turns[-1].position
    assert run.services.history is not None
    saved = run.services.history.save_summary(
        request.user, request.session, text, through=through, after_version=state.summary_version
    )
    made = HistoryState(formatted(saved.text, ()), state.turns, state.last_question, saved.version, saved.through, 0)
    return StepOutcome(replace(turn, history=made), notes=(f"history summarised through turn {through}",))


ACTIONS = (
    Action("translate_in_if_needed", translate_in_if_needed, 1, Translate),
    Action("load_conversation_history", load_conversation_history, 1, LoadHistory),
    Action("carry_names_over", carry_names_over, 1),
)
