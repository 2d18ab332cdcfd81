"""Runs of question sets, their history and the query log as pandas frames: for comparisons, reports and notebooks.

Importing pandas costs 0.2 s and 76 MB beside numpy. `eval compare` and `eval report` import this module when they need
it; a search, an `ask`, `eval run` and a build never do.

Texts have the dtype `str` (`object` in pandas 2), tuples `object`, times `datetime64` in UTC. A number that is not
known is NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import pandas as pd

from rag_assets.evaluation.summary import ANSWER_METRICS, JUDGE, metric_estimates, values_of
from rag_assets.history.query_log import LoggedQuestion
from rag_assets.index.answer_results import AnswerResult
from rag_assets.index.eval_records import EvalRecord, EvalRun, QuestionResult

_TEXT, _WHOLE, _NUMBER, _TIME, _TUPLE = "str", "int64", "float64", "datetime64[ns, UTC]", "object"

_QUESTION = {"set": _TEXT, "generation_id": _TEXT, "question_id": _TEXT, "question": _TEXT, "tags": _TUPLE}
_RUN = _QUESTION | {"first_rank": _WHOLE, "seconds": _NUMBER, "absent": _TUPLE, "files": _TUPLE}
_ANSWER = _QUESTION | {
    "answerable": "bool",
    "outcome": _TEXT,
    "grade": _TEXT,
    "cites_expected": "bool",
    "confidence": _NUMBER,
    "seconds": _NUMBER,
    "cited": _TUPLE,
    "unknown_citations": _WHOLE,
    "prompt_tokens": _WHOLE,
    "completion_tokens": _WHOLE,
    "cost": _NUMBER,
    "error": _TEXT,
    **dict.fromkeys(ANSWER_METRICS, _NUMBER),
}
_RECORD = {
    "generation_id": _TEXT,
    "commit_sha": _TEXT,
    "commit_date": _TIME,
    "set": _TEXT,
    "fingerprint": _TEXT,
    "k": _WHOLE,
    "mode": _TEXT,
    "embedding_model": _TEXT,
}
_ESTIMATE = {
    "category": _TEXT,
    "questions": _WHOLE,
    "metric": _TEXT,
    "value": _NUMBER,
    "low": _NUMBER,
    "high": _NUMBER,
}
_TURN_TYPES = {"asked_utc": _TIME, "calls": _WHOLE, "prompt_tokens": _WHOLE, "completion_tokens": _WHOLE}
_TURN_TYPES |= dict.fromkeys(("seconds", "retrieval_seconds", "generation_seconds", "cost"), _NUMBER)
_TURN_TYPES |= dict.fromkeys(("models", "chunk_ids", "cited_ids"), _TUPLE)
_TURN = {field.name: _TURN_TYPES.get(field.name, _TEXT) for field in fields(LoggedQuestion)}


def runs(found: Iterable[EvalRun]) -> pd.DataFrame:
    """A row per run and question: `set`, `generation_id`, `question_id`, `question`, `tags`, `first_rank` (0: none of
    the answers was found), `seconds`, `absent`, `files` (the ranked paths), and a column per metric (`recall@10`)."""
    known = list(found)
    metrics = dict.fromkeys((metric for run in known for metric in run.metrics), _NUMBER)
    rows = [
        _question(run, result)
        | {"first_rank": result.first_rank, "absent": result.absent, "files": tuple(file.path for file in result.files)}
        | result.scores
        for run in known
        for result in run.results
    ]
    return _frame(rows, _RUN | metrics)


def answers(found: Iterable[EvalRun]) -> pd.DataFrame:
    """A row per run and answer: the fields of `AnswerResult`, and the metrics of `summarise_answers` between 0 and 1,
    NaN where a metric says nothing about the question."""
    rows = []
    for run in found:
        values = values_of(run.answers)
        for result in run.answers:
            own = {name: getattr(result, name) for name in _ANSWER if name not in (*_QUESTION, *ANSWER_METRICS)}
            enums = {"outcome": result.outcome.value, "grade": result.grade.value}
            metrics = {name: by_question[result.id] for name, by_question in values.items()}
            rows.append(_question(run, result) | own | enums | metrics)
    return _frame(rows, _ANSWER)


def history(records: Iterable[EvalRecord]) -> pd.DataFrame:
    """A row per record, category and metric, in the order of the records: which generation was asked, the `value` of
    the metric, and its bounds at 95 %, `low` and `high`. The metrics of answers are in the category of all questions.
    """
    rows = []
    for record in records:
        own = {name: getattr(record, name) for name in _RECORD}
        searched = [(category, category.metrics.items()) for category in record.categories]
        answered = {} if record.answers is None else metric_estimates(record.answers)
        if record.answers is not None and record.answers.judge is not None:
            answered[JUDGE] = record.answers.judge.score
        for category, estimates in (*searched, (record.total, answered.items())):
            about = own | {"category": category.name, "questions": category.questions}
            rows += [about | {"metric": name} | ({} if one is None else asdict(one)) for name, one in estimates]
    return _frame(rows, _RECORD | _ESTIMATE)


def query_log(turns: Iterable[LoggedQuestion]) -> pd.DataFrame:
    """A row per question that was asked of an index, with the fields of `LoggedQuestion` as columns."""
    return _frame([{name: getattr(turn, name) for name in _TURN} for turn in turns], _TURN)


def _question(run: EvalRun, result: QuestionResult | AnswerResult) -> dict[str, Any]:
    about = {"set": run.set, "generation_id": run.generation_id}
    return about | {
        "question_id": result.id,
        "question": result.question,
        "tags": result.tags,
        "seconds": result.seconds,
    }


def _frame(rows: Sequence[Mapping[str, Any]], types: Mapping[str, str]) -> pd.DataFrame:
    """The rows with these columns and dtypes, also where there is no row."""
    made = pd.DataFrame(rows, columns=list(types))
    times = {name: pd.to_datetime(made[name], utc=True, format="ISO8601") for name in types if types[name] == _TIME}
    return made.assign(**times).astype(types)
