"""Before retrieval: the question in the language of the model (D04), and what was said before (D05–D08).

Translation takes code, identifiers and citations out and puts them back (R28). Without a model, a follow-up is read
with the names of the turns before (`qa.follow_up`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from rag_assets.answer.citations import cited_ids
from rag_assets.answer.question_analysis import asks_in_english
from rag_assets.answer.token_budget import TokenCounter
from rag_assets.contracts.llm import Profile
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.definition.action_registry import Action, PromptName, StepOutcome
from rag_assets.qa.turn import HistoryState, Status, Turn, TurnContext
from rag_assets.search.query_parser import names_in

if TYPE_CHECKING:
    from rag_assets.history.conversations import PastTurn, Summary
    from rag_assets.qa.follow_up import Before, CitedSymbol


_SUMMARY = "Summary of the conversation before:"
_LOOKED_BACK = 5
"""Turns in which a follow-up without a model looks for what it points at: behind more refusals nobody remembers."""


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


_KEPT = re.compile(
    r"```.*?(?:```|\Z)"  # fenced code
    r"|`[^`\n]+`"
    r"|\[(?:chunk|source):[^\]\n]*\]"
    r"|https?://\S+"
    r"|\b[\w.-]+(?:/[\w.-]+)+(?::\d+(?:-\d+)?)?"  # paths, with lines
    r"|\b\w+(?:(?:\.|::)\w+)+(?:\(\))?"  # qualified names
    r"|\b[A-Za-z]*[a-z0-9][A-Z]\w*\b|\b[A-Z][A-Z]+[a-z]\w*\b|\b\w*[A-Za-z0-9]_\w+\b"  # camelCase, snake_case
    r"|\b[A-Za-z]\w*\(\)",
    re.DOTALL,
)
_PLACEHOLDER = re.compile(r"⟦(\d{1,9})⟧")


@dataclass(frozen=True, slots=True)
class ProtectedText:
    """`text` has `⟦0⟧`, `⟦1⟧` … in place of `kept`; equal ones share a number."""

    text: str
    kept: tuple[str, ...]


def protect(text: str) -> ProtectedText:
    """Takes out what no translation may change. What reads like a placeholder already is taken out, too."""
    kept: dict[str, int] = {}

    def out(found: re.Match[str]) -> str:
        return f"⟦{kept.setdefault(found.group(), len(kept))}⟧"

    pattern = re.compile(f"{_PLACEHOLDER.pattern}|{_KEPT.pattern}", re.DOTALL)
    made = pattern.sub(out, text)
    return ProtectedText(made, tuple(kept))


def restore(translated: str, protected: ProtectedText) -> str | None:
    """The translation with everything back in its place; None where something is lost or made up."""
    found = [int(number) for number in _PLACEHOLDER.findall(translated)]
    if set(found) != set(range(len(protected.kept))):
        return None
    return _PLACEHOLDER.sub(lambda found: protected.kept[int(found[1])], translated)


MAX_TRANSLATION_TOKENS = 4_000


class Translate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prompt: PromptName = "translate_in"
    profile: Profile = "cheap"


class LoadHistory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prompt: PromptName = "history_summary"
    profile: Profile = "cheap"


def translate_in_if_needed(turn: Turn, parameters: Translate, run: TurnContext) -> StepOutcome:
    """Only where the caller says that the question is not English: for a model nothing is detected (D04). A question
    that cannot be translated is asked as it is: names in it find code in any language, and its other words are no sign
    that the index has nothing."""
    if not run.services.has_model:
        return _by_names(turn, run)
    if turn.request.is_english:
        return StepOutcome(turn)
    text, note = translated(turn, turn.asked.typed, parameters, run)
    if note:
        turn = replace(turn, untranslated=True).warned(f"{note}; the question was searched for as it is")
    return StepOutcome(replace(turn, question_en=text), notes=(note,) if note else ())


def _by_names(turn: Turn, run: TurnContext) -> StepOutcome:
    """Without a model: what a question in another language asks about a name, as far as its words show that; else the
    question as it is. That it is in another language is believed where it looks so, and the index lacks its words."""
    typed = turn.asked.typed
    if turn.request.is_english and asks_in_english(typed):
        return StepOutcome(turn)
    from rag_assets.answer.question_form import ascii_names, foreign_language, in_english, is_function_word

    language = foreign_language(typed)
    if turn.request.is_english:
        if not language or turn.request.literal:
            return StepOutcome(turn)
        words = run.services.asked_words(turn.label, typed)
        if all(word.known for word in words if is_function_word(word.word) or not word.word.isascii()):
            return StepOutcome(turn)  # its documents are in that language
    names = names_in(ascii_names(typed))
    asked = in_english(typed, names)
    as_it_is = "the question was searched for as it is"
    read_as = f"the question is read as “{asked}”" if asked else as_it_is
    if turn.request.is_english:
        said = f"the question seems to be {language}, and without a model the index reads English: {read_as}"
    else:
        missing = "which --offline leaves out" if run.services.offline else "and none is configured (answer.base_url)"
        said = f"translation needs a model, {missing}: {read_as}"
    if asked:
        turn = replace(turn, question_en=asked)
    return StepOutcome(replace(turn, untranslated=True).warned(said), notes=(said,))


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
        new_turns=len(found.turns),
        newest=found.turns[-_LOOKED_BACK:],
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
    before was about, else of what its answer cited first. Says so, because it may be wrong."""
    if not turn.history.newest or turn.untranslated:
        return StepOutcome(turn)
    from rag_assets.qa.follow_up import read_follow_up  # start-up budget: most questions follow none

    def is_known(name: str) -> bool:
        return bool(run.services.known_names(turn.label, name))

    read = read_follow_up(turn.question_en, _before(turn, run, is_known), is_known)
    if read is None:
        return StepOutcome(turn)
    said = f"read as: {read.question} ({read.because})"
    files = run.services.test_files(turn.label, read.tests_of) if read.tests_of else None
    if files == ():
        said = f"{said}; the graph knows no test of it"
    elif files:  # the tests that the graph knows, and not whatever says a word of the name
        told = files[0] if len(files) == 1 else f"the {len(files)} files of its tests"
        said = f"{said}; looked for in {told}"
        turn = replace(turn, asked=replace(turn.asked, wanted=SearchFilters(paths=files)))
    return StepOutcome(replace(turn, question_en=read.question).warned(said), notes=(said,))


def _before(turn: Turn, run: TurnContext, is_known: Callable[[str], bool]) -> Before:
    """What the newest turns leave to point at. A refusal leaves the name that it was asked about, if the index has it:
    else what was before it holds."""
    from rag_assets.qa.follow_up import Before, cited_symbols, names_of

    newest = turn.history.newest
    about: tuple[str, ...] = ()
    for past in reversed(newest):
        about = names_of(past.question_en)
        if _has_answer(past) or (len(about) == 1 and is_known(about[0])):
            break
    answered = next((past for past in reversed(newest) if _has_answer(past)), None)

    def cited() -> tuple[CitedSymbol, ...]:
        if answered is None or answered.label != turn.label:
            return ()
        return cited_symbols(answered.answer_en, run.services.cited_evidence(turn.label, answered.answer_en))

    return Before(newest[-1].question_en, about, cited)


def _has_answer(past: PastTurn) -> bool:
    """A turn that says what comes closest, and cites it, is no refusal."""
    return past.status in (Status.ANSWERED, Status.GENERAL) or bool(cited_ids(past.answer_en))


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
    made = replace(state, text=formatted(saved.text, ()), summary_version=saved.version, new_turns=0)
    return StepOutcome(replace(turn, history=made), notes=(f"history summarised through turn {through}",))


ACTIONS = (
    Action("translate_in_if_needed", translate_in_if_needed, 2, Translate),
    Action("load_conversation_history", load_conversation_history, 1, LoadHistory),
    Action("carry_names_over", carry_names_over, 2),
)
