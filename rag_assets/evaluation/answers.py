"""Asking a generation the questions of a set for answers, as everybody asks, and comparing what they cite with what was
expected (E24)."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from rag_assets.answer.citations import by_id
from rag_assets.answer.cited_lines import Citation
from rag_assets.answer.results import EXTRACTIVE, Answer
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.identity import cache_key
from rag_assets.contracts.segment import one_line
from rag_assets.errors import RagAssetsError
from rag_assets.evaluation.questions import EvalQuestion, LineSpan, QuestionSet, is_symbol, split_target
from rag_assets.evaluation.risk_coverage import calibrated
from rag_assets.index.answer_results import AnswerConditions, AnswerResult, Grade, Outcome
from rag_assets.index.eval_records import EvalRun
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.qa.answering import QuestionAnswerer
from rag_assets.qa.ask_options import AskOptions
from rag_assets.qa.engine import TurnResult
from rag_assets.qa.turn import Status
from rag_assets.search.index import LabelIndex

if TYPE_CHECKING:
    from rag_assets.evaluation.judge import Judge
    from rag_assets.settings import AnswerSettings

_DIGEST_DIGITS = 16
_OUTCOMES = {
    Status.ANSWERED: Outcome.ANSWERED,
    Status.GENERAL: Outcome.ANSWERED,
    Status.UNSURE: Outcome.UNSURE,
    Status.FAILED: Outcome.FAILED,
}
"""The others are refusals."""

_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"\s*(?:/{2,}!?|/?\*+|#+|--)\s*")
_TAG = re.compile(r"</?[a-z][^<>]*>")
_FEWEST_WORDS = 2
"""Of a line that answers: a brace, or `else`, is quoted with everything."""


def with_answers(
    run: EvalRun,
    index: LabelIndex,
    questions: QuestionSet,
    options: AskOptions,
    *,
    answered_share: float,
    settings: str = "",
    limit: int | None = None,
    judge: Judge | None = None,
    asked: Callable[[str], None] = lambda question_id: None,
) -> EvalRun:
    """The run with the answers to its questions, or to `limit` of them, and the thresholds that follow from them.

    `settings` is a digest of what else decides the answers, `answered_share` is what the threshold must not refuse of
    the answerable questions. A `judge` marks what was answered. A question that fails, or whose model does, is recorded
    as such. What would fail for every question raises: UnknownPipeline, PipelineError, ConfigError.
    """
    chosen = questions.questions if limit is None else sample(questions.questions, limit)
    results, models = [], dict[str, None]()
    with QuestionAnswerer(index, options, logged=False) as asker:
        pipeline = asker.pipeline()
        for question in chosen:
            result, used, answer = ask_question(asker, question)
            if judge is not None and answer is not None and result.is_answered:
                result = replace(result, judged=judge.judge(answer))
            results.append(result)
            models |= dict.fromkeys(used)
            asked(question.id)
    answering = AnswerConditions(
        pipeline=pipeline.name,
        pipeline_hash=pipeline.digest,
        model=", ".join(sorted(models)) or EXTRACTIVE,
        mode=pipeline.settings.default_mode.value,
        threshold=pipeline.settings.weak_below,
        sure=pipeline.settings.sure_from,
        settings=settings,
    )
    calibration = calibrated(results, run.set, answering.mode, answered_share)
    judging = judge.how if judge is not None else None
    return replace(run, answers=tuple(results), answering=answering, calibration=calibration, judging=judging)


def settings_digest(answer: AnswerSettings, limit: int | None, answered_share: float) -> str:
    """What decides the answers of a run besides the index, the questions and the pipeline."""
    return cache_key("answers", answer.model_dump_json(), str(limit), str(answered_share)).hex()[:_DIGEST_DIGITS]


def sample(questions: Sequence[EvalQuestion], limit: int) -> tuple[EvalQuestion, ...]:
    """`limit` of the questions in their order, chosen by the hashes of their ids: of every sort about as many as there
    are, and the same ones every time."""
    chosen = sorted(questions, key=lambda question: hashlib.sha256(question.id.encode()).digest())[:limit]
    ids = {question.id for question in chosen}
    return tuple(question for question in questions if question.id in ids)


def ask_question(asker: QuestionAnswerer, question: EvalQuestion) -> tuple[AnswerResult, list[str], Answer | None]:
    """(the result, the models that said something, the answer). The question is read as a person's is: names and
    filters in it are a part of what is measured."""
    filters = SearchFilters(paths=question.paths, kinds=question.kinds, languages=question.languages)
    started = perf_counter()
    try:
        turn = asker.ask(question.question, filters=filters)
    except RagAssetsError as error:
        failed = AnswerResult(
            id=question.id,
            question=question.question,
            answerable=question.answerable,
            outcome=Outcome.FAILED,
            grade=Grade.FAILED,
            confidence=0.0,
            seconds=round(perf_counter() - started, 6),
            error=str(error),
            tags=question.tags,
        )
        return failed, [], None
    seconds = perf_counter() - started
    assert turn.response is not None  # only a request that was answered before has none
    models = [call.model for record in turn.records for call in record.calls if call.model]
    answer = turn.response
    outcome = _OUTCOMES.get(turn.status, Outcome.REFUSED)
    return result_of(question, answer, outcome, _errors(turn), seconds), models, answer


def result_of(question: EvalQuestion, answer: Answer, outcome: Outcome, error: str, seconds: float) -> AnswerResult:
    """What is kept of an answer. Citations are those of its sentences before the policy dropped any: what the model
    wrote is measured, not what was left of it. Pure."""
    known = by_id(answer.evidence)
    ids = list(dict.fromkeys(one for checked in answer.checks for one in checked.cited))
    pieces = [known[one] for one in ids if one in known]
    unknown = sum(one not in known for one in ids)
    cited = tuple(dict.fromkeys(piece.path for piece in pieces))
    targets = [split_target(target) for target in question.relevant]
    right = {piece.path for piece in pieces if any(_is_of(piece, *target) for target in targets)}
    found = sum(any(_is_of(piece, *target) for piece in pieces) for target in targets)
    has_shown = outcome in (Outcome.ANSWERED, Outcome.UNSURE)
    usage, is_measured = answer.usage, outcome is Outcome.ANSWERED and question.answerable
    return AnswerResult(
        id=question.id,
        question=question.question,
        answerable=question.answerable,
        outcome=outcome,
        grade=grade_of(question, answer, outcome, cites_expected=found > 0),
        cites_expected=has_shown and found > 0,
        confidence=round(answer.confidence, 6),
        seconds=round(seconds, 6),
        checks=dict(sorted(Counter(checked.support.value for checked in answer.checks).items())),
        cited=cited,
        unknown_citations=unknown,
        precision=len(right) / (len(cited) + unknown) if is_measured and ids else None,
        recall=found / len(targets) if is_measured else None,
        prompt_tokens=usage.prompt_tokens if usage else 0,
        completion_tokens=usage.completion_tokens if usage else 0,
        cost=usage.cost if usage else None,
        error=error,
        tags=question.tags,
    )


def grade_of(question: EvalQuestion, answer: Answer, outcome: Outcome, *, cites_expected: bool) -> Grade:
    """What an answer is worth. It is right where it cites what was expected and quotes a fact or a line of it that
    answers; where the question names neither, nobody knows more than the file, and citing that is right. Pure."""
    if outcome is not Outcome.ANSWERED:
        return Grade(outcome.value)
    if not question.answerable or not cites_expected:
        return Grade.WRONG
    text = one_line(answer.text)
    if not question.spans and not question.facts:
        return Grade.RIGHT
    is_right = any(one_line(fact) in text for fact in question.facts) or quotes_a_line(answer, question.spans)
    return Grade.RIGHT if is_right else Grade.PARTLY


def quotes_a_line(answer: Answer, spans: Sequence[LineSpan]) -> bool:
    """Whether one of the lines is cited, and quoted in the text."""
    text, known = one_line(answer.text), by_id(answer.evidence)
    return any(
        len(_WORD.findall(line)) >= _FEWEST_WORDS and (one_line(line) in text or one_line(_said(line)) in text)
        for citation in answer.citations
        for span in spans
        if span.path == citation.path
        for line in _lines(citation, span, known)
    )


def _lines(citation: Citation, span: LineSpan, known: Mapping[str, Evidence]) -> list[str]:
    """The source lines that are cited and answer."""
    piece = known.get(citation.id)
    if piece is None:
        return []
    start, end = max(citation.line_start, span.start), min(citation.line_end, span.end)
    return piece.text.split("\n")[max(0, start - piece.line_start) : max(0, end - piece.line_start + 1)]


def _said(line: str) -> str:
    """What a comment says, as answers quote it: without its marks."""
    mark = _COMMENT.match(line)
    said = _TAG.sub("", line[mark.end() :]) if mark else ""
    return said if len(_WORD.findall(said)) >= _FEWEST_WORDS else line


def _errors(turn: TurnResult) -> str:
    """What calls of a model failed with, each once."""
    return "; ".join(dict.fromkeys(call.error for record in turn.records for call in record.calls if call.error))


def _is_of(piece: Evidence, kind: str, value: str) -> bool:
    """Whether a piece of evidence is what a target names; of a section, whether it is of the same file or symbol."""
    if kind == "point":
        return value.lower() in piece.point_ids
    if kind == "section":
        value = value.rpartition("#")[0]
        return piece.path == value or is_symbol(piece.symbol, value)
    return piece.path == value if kind == "path" else is_symbol(piece.symbol, value)
