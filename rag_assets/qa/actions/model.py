"""Asking the model, and reading what it said: `call_model` and `handle_prefix` (D09–D12, D24, R11–R13)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

import msgspec

from rag_assets.answer.abstention import is_refusal
from rag_assets.contracts.llm import Profile
from rag_assets.contracts.protocol_markers import ANSWER_WORDS
from rag_assets.contracts.retrieval import Mode, RetrievalPlan
from rag_assets.qa.actions.retrieval import same_query
from rag_assets.qa.definition.action_registry import Action, PromptName, StepOutcome
from rag_assets.qa.definition.steps import Transition
from rag_assets.qa.reply_parser import Answered, InvalidReply, Requested, parse_answer, parse_route
from rag_assets.qa.turn import Turn, TurnContext

MaxTokens = Annotated[int, msgspec.Meta(ge=1, le=100_000)]
Temperature = Annotated[float, msgspec.Meta(ge=0, le=2)]

_MODES = {
    Mode.SEMANTIC: Transition.SEMANTIC,
    Mode.SEMANTIC_RERANK: Transition.SEMANTIC_RERANK,
    Mode.BM25: Transition.BM25,
    Mode.HYBRID: Transition.HYBRID,
}
_ROUTES = (*_MODES.values(), Transition.DIRECT, Transition.OTHER)
_ANSWERS = (Transition.ANSWER, Transition.FOLLOWUP, Transition.OTHER)
_NO_ANSWER = object()


class CallModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`keep: draft` keeps the text for a later prompt instead of parsing it; `stream` shows an answer while it is made.
    A `temperature` that is not given is that of the model."""

    prompt: PromptName
    profile: Profile = "balanced"
    max_tokens: MaxTokens = 1_500
    temperature: Temperature | None = None
    keep: Literal["reply", "draft"] = "reply"
    stream: bool = False


class HandlePrefix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    protocol: Literal["router", "answer"]


def call_model(turn: Turn, parameters: CallModel, run: TurnContext) -> StepOutcome:
    """One prompt, one reply. A model that cannot be asked leaves no reply but a fault, which `handle_prefix` deals
    with: what is right to do depends on the protocol."""
    values = {
        "question": turn.question_en,
        "original_question": turn.asked.typed,
        "history": turn.history.text,
        "evidence": turn.context,
        "compared_evidence": turn.compared_context,
        "request": turn.wanted,
        "draft": turn.draft,
    }
    call, reply, fault = run.ask(
        turn,
        parameters.prompt,
        values,
        profile=parameters.profile,
        max_tokens=parameters.max_tokens,
        temperature=parameters.temperature,
        streamed=parameters.stream,
    )
    notes = (f"the model gave nothing: {fault}",) if fault else ()
    if parameters.keep == "draft":
        return StepOutcome(replace(turn, draft=reply, fault=fault), notes=notes)
    return StepOutcome(replace(turn, call=call, reply=reply, fault=fault, endless=run.was_endless), notes=notes)


def handle_prefix(turn: Turn, parameters: HandlePrefix, run: TurnContext) -> StepOutcome:
    """The typed result of a reply. A violation is asked about once (R11)."""
    return _route(turn, run) if parameters.protocol == "router" else _answer(turn, run)


def _route(turn: Turn, run: TurnContext) -> StepOutcome:
    """A plan that the server can do, in any case: without a usable reply it is the default mode on the question."""
    parsed, turn, notes = _parsed(turn, run, parse_route, _route_complaint(run))
    default = RetrievalPlan(run.settings.default_mode, turn.question_en)
    if not isinstance(parsed, RetrievalPlan):
        notes += (f"no usable plan: {default.mode} on the question instead",)
        return _planned(turn, default, notes)
    if parsed.mode is None:
        return _direct(turn, run, default, notes)
    if parsed.mode not in run.settings.retrieval_modes:
        said = f"{parsed.mode.value} is not one of retrieval_modes: {default.mode} instead"
        return _planned(turn, replace(parsed, mode=default.mode), (*notes, said))
    return _planned(turn, parsed, notes)


def _direct(turn: Turn, run: TurnContext, default: RetrievalPlan, notes: tuple[str, ...]) -> StepOutcome:
    """DIRECT by policy (R12): a question that names something of the index is about the index."""
    names = run.services.known_names(turn.label, turn.question_en)
    if turn.question_en != turn.asked.typed:
        names += run.services.known_names(turn.label, turn.asked.typed)
    if names:
        said = f"DIRECT refused, the index knows {', '.join(dict.fromkeys(names))}: {default.mode} instead"
        return _planned(turn, default, (*notes, said))
    planned = replace(turn, plan=RetrievalPlan(None, ""))
    if run.settings.direct_policy == "abstain":
        return StepOutcome(planned, Transition.OTHER, (*notes, "DIRECT, which direct_policy does not allow"))
    return StepOutcome(planned, Transition.DIRECT, notes)


def _planned(turn: Turn, plan: RetrievalPlan, notes: tuple[str, ...]) -> StepOutcome:
    assert plan.mode is not None
    return StepOutcome(
        replace(turn, plan=plan, fault=""), _MODES[plan.mode], notes
    )  # a fault is dealt with by the plan


def _answer(turn: Turn, run: TurnContext) -> StepOutcome:
    """An answer, or a request for what was not asked for before: the same request again would bring the same."""
    strict = run.settings.answer_prefix_strict
    parsed, turn, notes = _parsed(turn, run, lambda reply: _said(reply, strict=strict), _ANSWER_COMPLAINT)
    if parsed is _NO_ANSWER:
        return StepOutcome(
            replace(turn, uncited=True, provider=run.model), Transition.OTHER, (*notes, "the model finds no answer")
        )
    if isinstance(parsed, Answered):
        return StepOutcome(replace(turn, answer_en=parsed.text, provider=run.model), Transition.ANSWER, notes)
    if not isinstance(parsed, Requested):
        why = turn.fault or "twice it did not reply as the protocol says"
        return StepOutcome(replace(turn, fault=why), Transition.OTHER, (*notes, "no usable answer"))
    turn = replace(turn, wanted=parsed.query)
    if same_query(parsed.query, turn.queries):
        return StepOutcome(
            replace(turn, repeated=True),
            Transition.OTHER,
            (*notes, f"asked for the same again: {turn.without_links(parsed.query)}"),
        )
    mode = turn.plan.mode if turn.plan is not None and turn.plan.mode is not None else run.settings.default_mode
    return StepOutcome(replace(turn, plan=RetrievalPlan(mode, parsed.query)), Transition.FOLLOWUP, notes)


def _said(reply: str, *, strict: bool) -> Any:
    """As `parse_answer`, or `_NO_ANSWER`: the sentence of every refusal needs no prefix."""
    return _NO_ANSWER if is_refusal(reply) else parse_answer(reply, strict=strict)


def _parsed(turn: Turn, run: TurnContext, parse: Any, complaint: str) -> tuple[Any, Turn, tuple[str, ...]]:
    """(what was said or how it was wrong twice, the state with the last reply, notes)."""
    if turn.call is None or (turn.fault and not turn.endless):
        return None, turn, ()
    parsed = InvalidReply.ENDLESS if turn.endless else parse(turn.reply)
    if not isinstance(parsed, InvalidReply):
        return parsed, turn, ()
    notes: tuple[str, ...] = (f"{parsed.value}; asked once more",)
    _, reply, fault = run.ask_again(turn.call, turn.reply, f"{complaint} The problem: {parsed.value}.")
    turn = replace(turn, reply=reply, fault=fault, endless=False)
    again = None if fault else parse(reply)
    if fault:
        notes += (f"the model gave nothing: {fault}",)
    elif isinstance(again, InvalidReply):
        notes += (f"again: {again.value}",)
    return again, turn, notes


def _route_complaint(run: TurnContext) -> str:
    modes = ", ".join(f"[{mode.name}:]" for mode in run.settings.retrieval_modes)
    return f"Reply with exactly one line that begins with exactly one of {modes}, [DIRECT:] and nothing else."


_ANSWER_COMPLAINT = (
    f"Reply again. Begin with exactly one of [{ANSWER_WORDS[0]}:] and [{ANSWER_WORDS[1]}:], in this spelling, and use "
    "it only once."
)

ACTIONS = (
    Action("call_model", call_model, 1, CallModel),
    Action(
        "handle_prefix",
        handle_prefix,
        2,
        HandlePrefix,
        outcomes_by=("protocol", {"router": _ROUTES, "answer": _ANSWERS}),
    ),
)
