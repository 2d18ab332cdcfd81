"""Evidence: search, the graph around what was found, and the texts of nodes (D11–D21, D34)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from time import perf_counter
from typing import Annotated, Literal

import msgspec

from rag_assets.answer.abstention import Signals
from rag_assets.answer.context_pack import AnswerInputs
from rag_assets.answer.question_analysis import asks_in_english
from rag_assets.answer.results import as_it_is
from rag_assets.contracts.retrieval import Mode, RetrievalPlan
from rag_assets.errors import EvidenceLost
from rag_assets.qa.definition.action_registry import Action, StepOutcome
from rag_assets.qa.definition.steps import Transition
from rag_assets.qa.errors import TurnError
from rag_assets.qa.turn import RetrievalState, Turn, TurnContext
from rag_assets.search import Question, QuestionKind
from rag_assets.search.query_parser import plain_question, understood_or_plain

_WORD = re.compile(r"\w+")
_SENTENCES = re.compile(r"[.!?\n]\s{1,4}\S")
_LED_TO = 5
"""Files that a whole text finds first. Of right answers to its question alone the best quote is in one of them for
four of five, of wrong ones for two of five."""


def comparable(query: str) -> str:
    """The words of a query, each once, sorted."""
    folded = unicodedata.normalize("NFKC", query).casefold()
    return " ".join(sorted(set(_WORD.findall(folded)))) or folded.strip()


def same_query(query: str, asked: Iterable[str]) -> bool:
    """Whether a query was asked before; `asked` are comparable ones."""
    return comparable(query) in set(asked)


Which = Literal["active", "compared"]
Count = Annotated[int, msgspec.Meta(ge=1, le=100)]


class OfIndex(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which of the two indexes of a comparison."""

    index: Which = "active"


class FetchNodeTexts(OfIndex, frozen=True, forbid_unknown_fields=True):
    """`tests`: half of the texts may be those of tests of what was found, before other nodes."""

    tests: bool = False


class Fetch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`mode` and `top_k` are used instead of those of the plan and the settings."""

    index: Which = "active"
    mode: Mode | None = None
    top_k: Count | None = None


def check_evidence(turn: Turn, _: msgspec.Struct, run: TurnContext) -> StepOutcome:
    """One search for the question itself, before any model is asked what to do with it: what nothing in the index is
    like costs no call (E22). on_other ends the turn; a question that follows others, or may be about general knowledge,
    is for the router in any case. What it finds is evidence where it is strong."""
    turn, reading, notes = _read(turn, turn.label, _asked(turn), run.settings.default_mode, run)
    if not _is_weak(reading, run):
        return StepOutcome(_added(turn, turn.label, reading)[0], Transition.OK, notes)
    notes = (*notes, f"weak: {reading.confidence:.2f} of {run.settings.weak_below:.2f}")
    if turn.history.turns or run.settings.direct_policy != "abstain":
        return StepOutcome(turn, Transition.OK, notes)
    return StepOutcome(turn, Transition.OTHER, notes)


def fetch_more_context(turn: Turn, parameters: Fetch, run: TurnContext) -> StepOutcome:
    """Runs the plan and adds what is new to the evidence. Ends with on_other after `max_weak_attempts` retrievals that
    brought nothing (D34), else with on_ok."""
    label = _label(turn, parameters.index)
    plan = turn.plan if turn.plan is not None and turn.plan.query else RetrievalPlan(None, turn.question_en)
    mode = parameters.mode or plan.mode or run.settings.default_mode
    # Of a query of the model words and nothing else, within the filters of the person who asked.
    question = _asked(turn) if plan.query == turn.question_en else _within(turn.asked, plain_question(plan.query))
    turn, reading, notes = _read(turn, label, question, mode, run, parameters.top_k)
    turn, new = _added(turn, label, reading)
    # What a first search does not find because the question itself found it is no sign of weakness.
    if _is_weak(reading, run) or (turn.loops and not new):
        turn = replace(turn, weak=turn.weak + 1)
    notes = (f"{reading.search.mode.value} on {label}: {len(reading.evidence)} found, {new} new", *notes)
    if turn.weak >= run.settings.max_weak_attempts:
        return StepOutcome(turn, Transition.OTHER, (*notes, f"nothing new or nothing strong {turn.weak} times"))
    return StepOutcome(turn, Transition.OK, notes)


def expand_dependency_tree(turn: Turn, parameters: OfIndex, run: TurnContext) -> StepOutcome:
    """What is around everything that was found so far, within the bounds of the settings (D19, D20)."""
    label = _label(turn, parameters.index)
    if turn.is_narrowed:
        return StepOutcome(turn, notes=("the question is narrowed: nothing but its hits",))
    found = turn.found_in(label)
    entries = entries_of(found)
    if not entries:
        return StepOutcome(turn, notes=("no graph nodes behind the evidence",))
    settings = run.settings
    with run.clock.step("graph"):
        around = run.services.expand(
            label, entries, steps=run.pipeline.walk, depth=settings.graph_max_depth, nodes=settings.graph_max_nodes
        )
    notes = (f"{len(entries)} entries, {len(around.nodes)} nodes, {len(around.edges)} edges", *around.warnings)
    return StepOutcome(_with(turn, label, replace(found, neighbourhood=around)), notes=notes)


def fetch_node_texts(turn: Turn, parameters: FetchNodeTexts, run: TurnContext) -> StepOutcome:
    """The texts of the most relevant nodes that no piece of evidence shows, by identity and not by a search (D21)."""
    label = _label(turn, parameters.index)
    found, limit = turn.found_in(label), run.settings.node_text_fetch_top_n
    if found.neighbourhood is None or limit == 0:
        return StepOutcome(turn)
    shown = {key for piece in found.evidence for key in piece.node_keys}
    keys = [node.key for node in found.neighbourhood.nodes if node.key not in shown]
    if parameters.tests:
        testing = {edge.source for edge in found.neighbourhood.edges if edge.relation.value == _TESTS}
        first = [key for key in keys if key in testing][: limit // 2]
        keys = [*dict.fromkeys((*first, *keys))]
    with run.clock.step("graph"):
        texts = run.services.node_texts(label, keys, limit)
    texts = tuple(text for text in texts if not any(piece.holds(text) for piece in found.evidence))
    return StepOutcome(_with(turn, label, replace(found, texts=texts)), notes=(f"{len(texts)} node texts",))


_TESTS = "Tests"
"""The relation by name: whoever asks documents needs no graph."""


def entries_of(found: RetrievalState) -> dict[str, float]:
    """Node keys with the score of the best piece that shows them."""
    entries: dict[str, float] = {}
    for piece in found.evidence:
        for key in piece.node_keys:
            entries[key] = max(piece.score, entries.get(key, 0.0))
    return {key: score for key, score in entries.items() if score > 0}


def _read(
    turn: Turn, label: str, question: Question, mode: Mode, run: TurnContext, limit: int | None = None
) -> tuple[Turn, AnswerInputs, tuple[str, ...]]:
    """(the state with the best reading so far, this reading, its warnings). The same question to the same index is
    searched for once."""
    limit = limit or run.settings.retrieval_top_k
    before = turn.reading
    is_same = label == turn.label and limit == run.settings.retrieval_top_k
    if is_same and before and (before.search.question, before.search.requested_mode) == (question, mode):
        return turn, before, ()
    started = perf_counter()
    reading = run.services.search(label, question, mode, limit, turn.request.filters, members=run.services.has_model)
    if turn.untranslated:
        reading = as_it_is(reading)
    elif not (run.services.has_model or turn.request.literal):
        turn, reading = _respelled(turn, label, reading, mode, limit, run)
        reading = _without_story(turn, label, question, reading, mode, limit, run)
    if not asks_in_english(question.typed):
        from rag_assets.answer.question_form import is_courtesy  # start-up budget: most questions ask something

        if is_courtesy(question.typed):  # that some page thanks too is no answer
            reading = replace(reading, signals=Signals())
    searched = reading.search.timings["total"]
    run.clock.add("search", searched)
    run.clock.add("evidence", perf_counter() - started - searched)
    ensure_readable(turn, label, reading)
    queries = tuple(dict.fromkeys((*turn.queries, comparable(question.text or question.typed))))
    if label == turn.label and (before is None or reading.confidence > before.confidence):
        turn = replace(turn, reading=reading)
    return replace(turn, queries=queries).warned(*reading.warnings), reading, reading.warnings


def _respelled(
    turn: Turn, label: str, reading: AnswerInputs, mode: Mode, limit: int, run: TurnContext
) -> tuple[Turn, AnswerInputs]:
    """The reading of the question as it is meant, where it has a slip of typing, and that fits better."""
    slip = run.services.respelled(label, reading)
    if slip is None:
        return turn, reading
    if not slip.text:
        return turn, replace(reading, meant=slip.meant)
    meant = _within(turn.asked, understood_or_plain(slip.text))
    again = run.services.search(label, meant, mode, limit, turn.request.filters, members=run.services.has_model)
    if again.confidence < reading.confidence:
        return turn, replace(reading, meant=slip.meant)
    told = f"read as: {slip.text} (nothing here says {' or '.join(slip.typed)})"
    return replace(turn, question_en=slip.text).warned(told), again


def _without_story(
    turn: Turn, label: str, question: Question, told: AnswerInputs, mode: Mode, limit: int, run: TurnContext
) -> AnswerInputs:
    """The reading of the sentences that ask alone, where they say what they ask: of what is `told` beside them nothing
    need be said where the answer is. Not where that leads to other files: then it says more of the question."""
    whole = question.typed
    if question.asks or question.phrases or question.kind is not QuestionKind.PROSE or not _SENTENCES.search(whole):
        return told
    from rag_assets.answer.question_form import asked_alone  # start-up budget: few questions come with a story

    alone = asked_alone(whole) if question.text == whole and told.search.question == question else ""
    if not alone:
        return told
    asked = understood_or_plain(alone)
    if not (set(question.symbols) <= set(asked.symbols) and set(question.places) <= set(asked.places)):
        return told
    reading = run.services.search(label, asked, mode, limit, turn.request.filters, members=run.services.has_model)
    if reading.signals.planned or told.signals.planned:
        return reading if reading.signals.planned else told
    if reading.confidence < run.settings.sure_from:  # what is told beside it proves nothing of what is asked
        surer = reading if reading.confidence > told.confidence else told
        return replace(surer, signals=replace(surer.signals, absent=True))
    files = list(dict.fromkeys(hit.path for hit in told.search.hits))[:_LED_TO]
    best = [reading.passages.passages[at].evidence.path for at in reading.passages.chosen(1)]
    return told if set(best).isdisjoint(files) else reading


def ensure_readable(turn: Turn, label: str, reading: AnswerInputs) -> None:
    """Raises EvidenceLost where something was found and nothing of it is left to answer from: a refusal would say that
    the index does not have the answer."""
    if reading.lost and not reading.evidence and not turn.evidence:
        count = len(reading.lost)
        told = "the one file that was found cannot" if count == 1 else f"none of the {count} files that were found can"
        raise EvidenceLost(f"{label}: {told} be read: {reading.lost[0]}")


def _added(turn: Turn, label: str, reading: AnswerInputs) -> tuple[Turn, int]:
    """(the state with what a reading brings, how much of it is new)."""
    found = turn.found_in(label)
    known = {identifier for piece in found.all for identifier in piece.ids}
    new = tuple(piece for piece in reading.evidence if not known.issuperset(piece.ids))
    return _with(turn, label, replace(found, evidence=(*found.evidence, *new))), len(new)


def _asked(turn: Turn) -> Question:
    """The question as it is searched for: in the language of the model, with the filters that were typed."""
    asked = turn.asked
    if turn.question_en == asked.typed:
        return asked
    read = plain_question if turn.request.literal else understood_or_plain
    return _within(asked, read(turn.question_en))


def _within(asked: Question, other: Question) -> Question:
    return replace(other, phrases=asked.phrases, wanted=asked.wanted, excluded=asked.excluded)


def _is_weak(reading: AnswerInputs, run: TurnContext) -> bool:
    return not reading.evidence or reading.confidence < run.settings.weak_below


def _label(turn: Turn, index: Which) -> str:
    if index == "active":
        return turn.label
    if not turn.compared_label:
        raise TurnError("there is nothing to compare with; set compare_index in the pipeline")
    return turn.compared_label


def _with(turn: Turn, label: str, found: RetrievalState) -> Turn:
    return replace(turn, found={**turn.found, label: found})


ACTIONS = (
    Action("check_evidence", check_evidence, 1, outcomes=(Transition.OK, Transition.OTHER)),
    Action("fetch_more_context", fetch_more_context, 2, Fetch, outcomes=(Transition.OK, Transition.OTHER)),
    Action("expand_dependency_tree", expand_dependency_tree, 2, OfIndex),
    Action("fetch_node_texts", fetch_node_texts, 3, FetchNodeTexts),
)
