"""The ways a turn ends: the guard of the loop, an answer without a model, an honest refusal, the answer in the language
of the question, and keeping it (D25, D26, D34, R12, R21)."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec

from rag_assets.contracts.llm import Profile
from rag_assets.query.answer.abstention import SENTENCE
from rag_assets.query.pipeline.actions.questions import Translate, translated
from rag_assets.query.pipeline.errors import TurnError
from rag_assets.query.pipeline.registry import Action, Outcome, PromptName
from rag_assets.query.pipeline.run import Run
from rag_assets.query.pipeline.state import Status, Turn
from rag_assets.query.pipeline.steps import On

GENERAL_LABEL = "General knowledge, no project data:"
_CITATION = re.compile(r"[ \t]*\[(?:chunk|source):[^\]\n]*\]")
_NAMED_PLACES = 5
"""Places that a refusal names: enough to look on, few enough to read."""


class Finalize(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prompt: PromptName = "translate_out"
    profile: Profile = "cheap"


def loop_guard(turn: Turn, _: msgspec.Struct, run: Run) -> Outcome:
    """Counts first: `max_turn_loops` requests for more are allowed, the next one is denied (D25, R21)."""
    turn = replace(turn, loops=turn.loops + 1)
    most = run.settings.max_turn_loops
    if turn.loops > most:
        return Outcome(turn, On.DENY, (f"loop {turn.loops} of {most}",))
    return Outcome(turn, On.ALLOW, (f"loop {turn.loops} of {most}",))


def answer_from_evidence(turn: Turn, _: msgspec.Struct, run: Run) -> Outcome:
    """An answer without a model: quotes with citations. on_other where the evidence does not have it."""
    extract = run.services.extract(turn.label, turn.question_en, turn.found_in(turn.label).all)
    turn = replace(turn, answer_en=extract.text)
    if extract.abstained:
        return Outcome(replace(turn, status=Status.ABSTAINED), On.OTHER)
    return Outcome(turn, On.ANSWER)


def explain_no_answer(turn: Turn, _: msgspec.Struct, run: Run) -> Outcome:
    """Says that there is no answer, why, and where the nearest evidence is; invents nothing (D25, D34, E20)."""
    if turn.status is Status.ABSTAINED and turn.answer_en:
        return Outcome(turn)
    status, reason = _reason(turn, run)
    places = list(dict.fromkeys(piece.place for found in turn.found.values() for piece in found.evidence))
    lines = [SENTENCE, reason]
    if places:
        lines.append(f"Nearest places: {', '.join(places[:_NAMED_PLACES])}")
    return Outcome(replace(turn, answer_en="\n".join(filter(None, lines)), status=status), notes=(reason,))


def _reason(turn: Turn, run: Run) -> tuple[Status, str]:
    if turn.refusal:
        return Status.ABSTAINED, turn.refusal
    if turn.fault:
        return Status.FAILED, "The model could not be asked."
    if turn.plan is not None and turn.plan.mode is None:
        return Status.ABSTAINED, "The question is not about the indexed code."
    wanted = f" The last request was: {turn.wanted}" if turn.wanted else ""
    if turn.repeated:
        return Status.GAVE_UP, f"The same data was asked for twice.{wanted}"
    if turn.loops > run.settings.max_turn_loops:
        return Status.GAVE_UP, f"Stopped after {run.settings.max_turn_loops} requests for more data.{wanted}"
    if turn.weak >= run.settings.max_weak_attempts:
        return Status.GAVE_UP, f"{turn.weak} searches found nothing that helps.{wanted}"
    if turn.uncited:
        return Status.ABSTAINED, "The answer of the model cited nothing of the evidence."
    return Status.FAILED, "The model did not give a usable answer."


def finalize(turn: Turn, parameters: Finalize, run: Run) -> Outcome:
    """The answer as the user reads it: labelled where it is general knowledge, in the language of the question."""
    status = turn.status or Status.ANSWERED
    text = turn.answer_en
    notes: tuple[str, ...] = ()
    if turn.plan is not None and turn.plan.mode is None and status is Status.ANSWERED:
        status = Status.GENERAL
        text = f"{GENERAL_LABEL} {_CITATION.sub('', text).strip()}"  # nothing was retrieved that could be cited
    answer = text
    if not turn.request.is_english:
        answer, note = translated(turn, text, Translate(parameters.prompt, parameters.profile), run)
        notes = (note,) if note else ()
    return Outcome(replace(turn, answer_en=text, answer=answer, status=status), notes=notes)


def persist_turn_and_finalize(turn: Turn, _: msgspec.Struct, run: Run) -> Outcome:
    """Keeps the turn with its lock and trace (D26): raw and translated question and answer, and where the summary
    stands. Without a session nothing is kept. A turn that cannot be kept is answered all the same, and says so."""
    if turn.status is None or not turn.answer:
        raise TurnError("there is no answer to keep yet; put a step of finalize before it")
    history, request = run.services.history, turn.request
    if history is None or not request.session:
        return Outcome(turn)
    from rag_assets.stores.conversations import ConversationError, NewTurn

    new = NewTurn(
        request_id=request.request_id,
        question=request.question,
        question_en=turn.question_en,
        answer=turn.answer,
        answer_en=turn.answer_en,
        status=turn.status.value,
        label=turn.label,
        summary_version=turn.history.summary_version,
        new_turns=turn.history.new_turns + 1,
        lock=msgspec.json.encode(run.lock).decode(),
        trace=msgspec.json.encode(run.records).decode(),
    )
    try:
        stored = history.append(request.user, request.session, new)
    except ConversationError as error:
        return Outcome(turn, notes=(f"not kept: {error}",))
    # Somebody may have sent the same request at the same time: both get the answer that is kept.
    turn = replace(
        turn, turn_id=stored.turn_id, answer=stored.answer, answer_en=stored.answer_en, status=Status(stored.status)
    )
    return Outcome(turn, notes=(f"kept as {stored.turn_id}",))


ACTIONS = (
    Action("loop_guard", loop_guard, 1, outcomes=lambda _: (On.ALLOW, On.DENY), guards_loops=True),
    Action("answer_from_evidence", answer_from_evidence, 1, outcomes=lambda _: (On.ANSWER, On.OTHER)),
    Action("explain_no_answer", explain_no_answer, 1),
    Action("finalize", finalize, 1, Finalize, ends=True),
    Action("persist_turn_and_finalize", persist_turn_and_finalize, 1, ends=True),
)
