"""The citations of an answer, checked against the evidence that the model was given (E21)."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from rag_assets.answer.abstention import is_refusal
from rag_assets.answer.citation_check import Policy, Support, check
from rag_assets.answer.citations import citations_of
from rag_assets.qa.definition.action_registry import Action, StepOutcome
from rag_assets.qa.definition.steps import Transition
from rag_assets.qa.state import Turn
from rag_assets.qa.turn_context import TurnContext


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
    if not report.has_support and citations_of(turn.answer_en, evidence):
        turn = replace(turn, answer_en="", unsupported=True)
        return StepOutcome(turn, Transition.OTHER, (*bad, "no sentence is supported by what it cites"))
    if not citations_of(report.text, evidence):
        return StepOutcome(
            replace(turn, answer_en="", uncited=True), Transition.OTHER, (*bad, "no citation of the evidence")
        )
    turn = replace(turn, answer_en=report.text, checks=report.sentences)
    return StepOutcome(turn, Transition.OK, tuple(bad))


def _is_bad(support: Support) -> bool:
    return support is not Support.SUPPORTED


ACTIONS = (Action("check_citations", check_citations, 2, outcomes=lambda _: (Transition.OK, Transition.OTHER)),)
