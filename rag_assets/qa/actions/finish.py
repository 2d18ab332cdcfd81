"""The ways a turn ends: checked citations, an answer without a model, an honest refusal, the answer in the language of
the question, the guard of the loop, and keeping the turn (D25, D26, D34, E21, R12, R21).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Literal

import msgspec

from rag_assets.answer.abstention import SENTENCE, is_refusal
from rag_assets.answer.citations import Policy, Support, check, is_cited
from rag_assets.answer.context_pack import AnswerInputs
from rag_assets.answer.extractive import answer_of, closest
from rag_assets.answer.question_analysis import QueryTerm
from rag_assets.answer.results import EXTRACTIVE, suggestions
from rag_assets.answer.results import reason as because
from rag_assets.answer.token_budget import named_within, pack
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.llm import Profile
from rag_assets.contracts.protocol_markers import defused
from rag_assets.qa.actions.question import Translate, translated
from rag_assets.qa.definition.action_registry import Action, PromptName, StepOutcome
from rag_assets.qa.definition.steps import Transition
from rag_assets.qa.errors import TurnError
from rag_assets.qa.turn import RetrievalState, Status, Turn, TurnContext


def check_citations(turn: Turn, _: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """Flags or drops what its citations do not support, as `citation_policy` says, and takes out what is no citation of
    the evidence; on_other where none is left, or no sentence is supported by its own: then nothing shows that the
    answer is about this code (E19)."""
    evidence = turn.evidence
    if is_refusal(turn.answer_en):
        return StepOutcome(
            replace(turn, answer_en="", uncited=True), Transition.OTHER, ("the model does not find the answer",)
        )
    with run.clock.step("check"):
        report = check(turn.answer_en, evidence, Policy(run.settings.citation_policy))
    bad = [
        f"{one.support.value}: {one.problem or one.sentence.text}" for one in report.sentences if _is_bad(one.support)
    ]
    if not report.has_support and is_cited(turn.answer_en, evidence):
        turn = replace(turn, answer_en="", unsupported=True)
        return StepOutcome(turn, Transition.OTHER, (*bad, "no sentence is supported by what it cites"))
    if not is_cited(report.text, evidence):
        return StepOutcome(
            replace(turn, answer_en="", uncited=True), Transition.OTHER, (*bad, "no citation of the evidence")
        )
    turn = replace(turn, answer_en=report.text, checks=report.sentences)
    return StepOutcome(turn, Transition.OK, tuple(bad))


def _is_bad(support: Support) -> bool:
    return support is not Support.SUPPORTED


GENERAL_LABEL = "General knowledge, no project data:"
QUOTES_INSTEAD = "what was found fits the question; for quotes of it ask again with --offline"
"""Of an answer that a model invented: that the index lacks what was asked for does not follow."""

_FEWEST_PARTS = 2
_CITATION = re.compile(r"[ \t]*\[(?:chunk|source):[^\]\n]*\]")


class Finalize(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prompt: PromptName = "translate_out"
    profile: Profile = "cheap"


class ExtractiveAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`when: fault` quotes only where a model was asked and gave nothing that can be used."""

    when: Literal["always", "fault"] = "always"


def loop_guard(turn: Turn, _: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """Counts first: `max_turn_loops` requests for more are allowed, the next one is denied (D25, R21)."""
    turn = replace(turn, loops=turn.loops + 1)
    most = run.settings.max_turn_loops
    if turn.loops > most:
        return StepOutcome(turn, Transition.DENY, (f"loop {turn.loops} of {most}",))
    return StepOutcome(turn, Transition.ALLOW, (f"loop {turn.loops} of {most}",))


def answer_from_evidence(turn: Turn, parameters: ExtractiveAnswer, run: TurnContext) -> StepOutcome:
    """An answer without a model: quotes with citations, each compared with its source; what is closest where it is not
    sure that they answer. on_other where what was read does not fit the question, or nothing of it can be quoted (E19,
    E20, E22)."""
    reading, settings = turn.reading, run.settings
    if parameters.when == "fault" and not turn.fault:
        return StepOutcome(turn, Transition.OTHER)
    if reading is None or not reading.evidence or reading.confidence < settings.weak_below:
        return StepOutcome(turn, Transition.OTHER)
    several = _answer_of_parts(turn, run)
    if several is not None:
        return StepOutcome(several, Transition.ANSWER)
    is_sure = reading.confidence >= settings.sure_from
    if _is_by_words(turn):
        if not is_sure:
            return StepOutcome(turn, Transition.OTHER)
        is_sure = False
    quotable, text = _quotes_of(reading, run, is_sure=is_sure)
    with run.clock.step("check"):
        report = check(text, quotable, Policy(settings.citation_policy))
    budget, count = settings.max_context_tokens, run.services.count_tokens
    turn = replace(
        turn,
        quoted=quotable,
        provider=EXTRACTIVE,
        context_size=cache(lambda: pack(reading.evidence, budget, count).tokens),
    )
    if not is_cited(report.text, quotable):
        return StepOutcome(turn, Transition.OTHER)
    if turn.fault:
        turn = turn.warned(f"quotes only, the model did not answer: {turn.fault}")
    status = turn.status if is_sure else Status.UNSURE
    made = replace(turn, answer_en=report.text, checks=report.sentences, fault="", status=status)
    return StepOutcome(made, Transition.ANSWER)


def _answer_of_parts(turn: Turn, run: TurnContext) -> Turn | None:
    """Of several questions in one an answer to each, below its words; a warning names those without one. None for a
    single question, and where none of them has an answer of its own."""
    asked = turn.asked
    if turn.question_en != asked.typed or turn.untranslated or turn.is_narrowed or turn.request.literal:
        return None
    is_one = asked.typed.count("?") < _FEWEST_PARTS
    if is_one and " and " not in asked.typed:
        return None
    from rag_assets.qa.several_questions import parts_of  # start-up budget: most questions are one

    def words(text: str) -> tuple[QueryTerm, ...]:
        return run.services.asked_words(turn.label, text)

    settings, is_any_sure = run.settings, False
    made: list[str] = []
    missing: list[str] = []
    quotable: list[Evidence] = []
    for part in parts_of(asked, words):
        mode, limit = settings.default_mode, settings.retrieval_top_k
        reading = run.services.search(
            turn.label, part.question, mode, limit, turn.request.filters, members=run.services.has_model
        )
        text = ""
        if reading.confidence >= settings.weak_below:
            is_sure = reading.confidence >= settings.sure_from
            found, text = _quotes_of(reading, run, is_sure=is_sure)
            quotable += found
            is_any_sure |= is_sure
        if text:
            made.append(f"**{defused(part.said)}**\n\n{text}")
        else:
            missing.append(part.said)
    if not made or (is_one and not is_any_sure):
        return None
    pieces = RetrievalState(tuple(quotable)).all
    report = check("\n\n".join(made), pieces, Policy(settings.citation_policy))
    if any(one.support not in (Support.SUPPORTED, Support.UNCITED) for one in report.sentences):
        return None  # two readings of one section: the question as a whole has one
    turn = turn.warned(*(f"not answered: {said}" for said in missing))
    quoted = tuple({one.id: one for one in quotable if one in pieces}.values())
    status = turn.status if is_any_sure else Status.UNSURE
    count = run.services.count_tokens
    turn = replace(
        turn,
        quoted=quoted,
        provider=EXTRACTIVE,
        context_size=cache(lambda: sum(count([one.text for one in quoted]))),
        fault="",
        status=status,
    )
    return replace(turn, answer_en=report.text, checks=report.sentences)


def _quotes_of(reading: AnswerInputs, run: TurnContext, *, is_sure: bool) -> tuple[tuple[Evidence, ...], str]:
    """The evidence of a reading that there is room for, and the answer that is made from it, or what is closest."""
    with run.clock.step("pack"):
        quotable = named_within(reading.evidence, run.settings.max_context_tokens, run.services.count_tokens)
    with run.clock.step("answer"):
        kept = {piece.id: piece for piece in quotable}
        at = {fact: kept[piece.id] for fact, piece in reading.at.items() if piece.id in kept}
        if not is_sure:
            return quotable, closest(reading.words, quotable, reading.passages, reading.facts, at)
        lead = [kept[piece.id] for piece in reading.lead if piece.id in kept]
        parts = (reading.words, quotable, reading.passages, reading.facts, at, lead)
        return quotable, answer_of(reading.wish, *parts)


def _is_by_words(turn: Turn) -> bool:
    """Whether only words of another language were looked for: some happen to be in the index, and are no answer."""
    return turn.untranslated and turn.reading is not None and not turn.reading.wish.names


def explain_no_answer(turn: Turn, _: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """Says that there is no answer, why, where the nearest evidence is and what to ingest; invents nothing (D25, D34,
    E20)."""
    status, reason = _reason(turn, run)
    told = suggestions(turn.reading, untranslated=turn.untranslated) if turn.reading is not None else ()
    if turn.unsupported and _fits(turn, run):  # the index may well have it: nothing has to be ingested for that
        told = (*told[:-1], QUOTES_INSTEAD)
    lines = [
        SENTENCE,
        *(f"{said[:1].upper()}{said[1:]}." if said[-1] not in ".?" else said for said in (reason, *told)),
    ]
    turn = turn.warned(f"the model did not answer: {turn.fault}") if turn.fault else turn
    made = replace(turn, answer_en="\n".join(lines), status=status, reason=reason, suggestions=told, checks=())
    return StepOutcome(made, notes=(reason,))


def _fits(turn: Turn, run: TurnContext) -> bool:
    reading = turn.reading
    return reading is not None and bool(reading.evidence) and reading.confidence >= run.settings.weak_below


def _reason(turn: Turn, run: TurnContext) -> tuple[Status, str]:
    settings, reading = run.settings, turn.reading
    if turn.reason:  # a step has said it
        return Status.ABSTAINED, turn.reason
    if turn.plan is not None and turn.plan.mode is None:
        return Status.ABSTAINED, "the question is not about the indexed code"
    if reading is not None and not _fits(turn, run):
        return Status.ABSTAINED, because(reading, settings.weak_below)
    if _is_by_words(turn):
        return Status.ABSTAINED, "the question is in another language, and the index has too few of its words"
    wanted = f"; the last request was: {turn.without_links(turn.wanted)}" if turn.wanted else ""
    if turn.repeated:
        return Status.GAVE_UP, f"the same data was asked for twice{wanted}"
    if turn.loops > settings.max_turn_loops:
        return Status.GAVE_UP, f"stopped after {settings.max_turn_loops} requests for more data{wanted}"
    if turn.weak >= settings.max_weak_attempts:
        return Status.GAVE_UP, f"{turn.weak} searches found nothing that helps{wanted}"
    if turn.uncited:
        said = f"{turn.provider} did not find the answer in what was retrieved, or cited nothing of it"
        return Status.ABSTAINED, said
    if turn.unsupported:
        return Status.ABSTAINED, f"nothing that {turn.provider} wrote is supported by what it cited"
    if turn.fault:
        return Status.FAILED, "the model did not give a usable answer, and nothing that was found can be quoted for it"
    if reading is not None:
        return Status.ABSTAINED, because(reading, settings.weak_below)
    return Status.FAILED, "nothing was searched for"


def finalize(turn: Turn, parameters: Finalize, run: TurnContext) -> StepOutcome:
    """The answer as the user reads it: labelled where it is general knowledge, in the language of the question."""
    status = turn.status or Status.ANSWERED
    text = turn.answer_en
    notes: tuple[str, ...] = ()
    if turn.plan is not None and turn.plan.mode is None and status is Status.ANSWERED:
        status = Status.GENERAL
        text = f"{GENERAL_LABEL} {_CITATION.sub('', text).strip()}"  # nothing was retrieved that could be cited
    answer = text
    if not turn.request.is_english and run.services.has_model:  # without one, the question was not translated either
        answer, note = translated(turn, text, Translate(parameters.prompt, parameters.profile), run)
        if note:
            turn = turn.warned(f"{note}; this is the answer in the language of the model")
            notes = (note,)
    return StepOutcome(replace(turn, answer_en=text, answer=answer, status=status), notes=notes)


def persist_turn_and_finalize(turn: Turn, _: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """Keeps the turn with its lock and trace (D26): raw and translated question and answer, and where the summary
    stands. Without a session nothing is kept. A turn that cannot be kept is answered all the same, and says so."""
    if turn.status is None or not turn.answer:
        raise TurnError("there is no answer to keep yet; put a step of finalize before it")
    history, request = run.services.history, turn.request
    if history is None or not request.session:
        return StepOutcome(turn)
    from rag_assets.history.conversations import ConversationError, NewTurn

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
        return StepOutcome(turn.warned(f"this turn is not kept: {error}"), notes=(f"not kept: {error}",))
    # Somebody may have sent the same request at the same time: both get the answer that is kept.
    turn = replace(
        turn, turn_id=stored.turn_id, answer=stored.answer, answer_en=stored.answer_en, status=Status(stored.status)
    )
    return StepOutcome(turn, notes=(f"kept as {stored.turn_id}",))


ACTIONS = (
    Action("check_citations", check_citations, 2, outcomes=(Transition.OK, Transition.OTHER)),
    Action("loop_guard", loop_guard, 1, outcomes=(Transition.ALLOW, Transition.DENY), guards_loops=True),
    Action(
        "answer_from_evidence",
        answer_from_evidence,
        3,
        ExtractiveAnswer,
        outcomes=(Transition.ANSWER, Transition.OTHER),
    ),
    Action("explain_no_answer", explain_no_answer, 3),
    Action("finalize", finalize, 1, Finalize, ends=True),
    Action("persist_turn_and_finalize", persist_turn_and_finalize, 1, ends=True),
)
