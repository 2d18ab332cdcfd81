"""The verdict of the promotion gate as a check, and in words. It is decided in `pipeline.eval_runs`."""

from __future__ import annotations

from pathlib import Path

from rag_assets.evaluation.tables import format_rank
from rag_assets.index.eval_records import Decision, WorseQuestion, read_decision
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.checks.memoized_checks import CheckResult

GATE_CHECK = "quality_holds"
NO_EVAL_SET = "no eval set"

_SHOWN_QUESTIONS = 5
_SHOWN_ABSENT = 3


def question_file_of(build: IndexBuild) -> Path | None:
    """The question set that the configuration has for the repository of a build now, or None."""
    identifier = build.repository.id
    return next((known.eval_set for known in build.settings.repositories if known.id == identifier), None)


def quality_holds(build: IndexBuild) -> CheckResult:
    """The build answers its question set as well as the one that is served, within the configured tolerance."""
    decision = read_decision(build.directory)
    if decision is None:
        if question_file_of(build) is None:
            return CheckResult(True, NO_EVAL_SET)
        label, current = build.spec.index_label, build.spec.generation_id
        return CheckResult(
            False, "the questions were not asked", {}, [f"{label}: materialize eval_runs for {current} first"]
        )
    numbers = {"questions": decision.questions, "worse": len(decision.worse), "better": decision.better}
    examples = refusal(decision) if decision.refused else []
    return CheckResult(not decision.refused, decision.reason, numbers, examples)


def refusal(decision: Decision) -> list[str]:
    """Why a candidate is refused: the numbers, the questions, and what to do; a line each."""
    current, active = decision.generation_id, decision.active_generation_id
    lines = [decision.reason]
    questions = [_moved(question) for question in decision.worse[:_SHOWN_QUESTIONS]]
    left = len(decision.worse) - len(questions)
    if questions:
        lines.append(f"worse: {', '.join(questions)}{f' and {left} more' if left > 0 else ''}{_absent(decision)}")
    elif decision.absent:
        lines.append(_absent(decision).removeprefix("; "))
    look = f"what changed: rag-assets generations compare {active} {current}; " if active else ""
    lines.append(
        f"{look}serve it anyway: rag-assets generations activate {current}; "
        "or change evaluation.tolerance or the question set, and run: rag-assets index"
    )
    return lines


def _moved(question: WorseQuestion) -> str:
    return f"{question.id} (rank {format_rank(question.active_rank)} → {format_rank(question.candidate_rank)})"


def _absent(decision: Decision) -> str:
    """`; not in this commit: a.cs, b.cs`: files that questions name and that may only have been moved."""
    if not decision.absent:
        return ""
    left = len(decision.absent) - _SHOWN_ABSENT
    return (
        f"; not in this commit: {', '.join(decision.absent[:_SHOWN_ABSENT])}{f' and {left} more' if left > 0 else ''}"
    )
