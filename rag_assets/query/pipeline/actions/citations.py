"""The citations of an answer, checked against the evidence that the model was given (E21)."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from rag_assets.query.answer.abstention import is_refusal
from rag_assets.query.answer.checking import Policy, Support, check
from rag_assets.query.answer.citations import citations_of
from rag_assets.query.pipeline.registry import Action, Outcome
from rag_assets.query.pipeline.run import Run
from rag_assets.query.pipeline.state import Turn
from rag_assets.query.pipeline.steps import On


def check_citations(turn: Turn, _: msgspec.Struct, run: Run) -> Outcome:
    """Flags or drops what its citations do not support, as `citation_policy` says, and takes out what is no citation of
    the evidence; on_other where none is left, or no sentence is supported by its own: then nothing shows that the
    answer is about this code (E19)."""
    evidence = turn.evidence
    if is_refusal(turn.answer_en):
        return Outcome(replace(turn, answer_en="", uncited=True), On.OTHER, ("the model does not find the answer",))
    with run.clock.step("check"):
        report = check(turn.answer_en, evidence, Policy(run.settings.citation_policy))
    bad = [
        f"{one.support.value}: {one.problem or one.sentence.text}" for one in report.sentences if _is_bad(one.support)
    ]
    if not report.has_support and citations_of(turn.answer_en, evidence):
        turn = replace(turn, answer_en="", unsupported=True)
        return Outcome(turn, On.OTHER, (*bad, "no sentence is supported by what it cites"))
    if not citations_of(report.text, evidence):
        return Outcome(replace(turn, answer_en="", uncited=True), On.OTHER, (*bad, "no citation of the evidence"))
    turn = replace(turn, answer_en=report.text, checks=report.sentences)
    return Outcome(turn, On.OK, tuple(bad))


def _is_bad(support: Support) -> bool:
    return support is not Support.SUPPORTED


ACTIONS = (Action("check_citations", check_citations, 2, outcomes=lambda _: (On.OK, On.OTHER)),)
