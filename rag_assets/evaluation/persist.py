"""Where a run goes: its record and its table to the generation, its numbers to the history of the label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from rag_assets.answer.citations import Support
from rag_assets.evaluation.summary import record_of
from rag_assets.index.answer_results import AnswerResult, Judged, write_calibration
from rag_assets.index.eval_records import (
    EvalRecord,
    EvalRun,
    QuestionResult,
    note_record,
    read_run,
    run_path,
    write_run,
)
from rag_assets.index.generation_files import MANIFEST, RUNS, list_files
from rag_assets.index.generations import Generation, Manifest, is_finished
from rag_assets.index.layout import IndexHome
from rag_assets.index.locks import pointer_lock
from rag_assets.index.parquet_parts import arrow_table, write_file

_COLUMNS = (
    ("label", pa.string()),
    ("generation_id", pa.string()),
    ("commit_sha", pa.string()),
    ("set", pa.string()),
    ("question_id", pa.string()),
    ("question", pa.string()),
    ("tags", pa.list_(pa.string())),
    ("first_rank", pa.int32()),
    ("seconds", pa.float32()),
    ("absent", pa.list_(pa.string())),
    ("files", pa.list_(pa.string())),
)
"""The metrics of the run follow, as float32 under their names."""

_ANSWERS = (
    *_COLUMNS[:7],
    ("answerable", pa.bool_()),
    ("outcome", pa.string()),
    ("grade", pa.string()),
    ("cites_expected", pa.bool_()),
    ("confidence", pa.float32()),
    *((f"sentences_{kind.name.lower()}", pa.int32()) for kind in Support),
    ("cited", pa.list_(pa.string())),
    ("unknown_citations", pa.int32()),
    ("precision", pa.float32()),
    ("recall", pa.float32()),
    ("seconds", pa.float32()),
    ("prompt_tokens", pa.int32()),
    ("completion_tokens", pa.int32()),
    ("cost", pa.float32()),
    ("error", pa.string()),
    ("judge", pa.float32()),
    ("judge_reason", pa.string()),
)


def keep_run(home: IndexHome, generation: Generation, run: EvalRun) -> EvalRecord:
    """Keeps a run in place of the former one of its set, and returns its numbers (E24). Raises OSError, HomeBusy.

    generations/{id}/eval/{set}.json       the run, `index.eval_records`
    generations/{id}/eval/{set}.parquet    a row per question
    generations/{id}/eval/{set}.answers.parquet    a row per answer, where there are some
    generations/{id}/threshold.json        the thresholds that were calibrated, `index.answer_results`
    labels/{label}/eval_history.json       means and intervals, `index.eval_records`
    """
    with pointer_lock(home, generation.manifest.index_label):
        return _keep(home, generation, run)


def keep_run_of_finished(home: IndexHome, generation: Generation, run: EvalRun) -> EvalRecord | None:
    """The same, or None where the generation has been deleted meanwhile: its folder must not come back. A run that
    asked for no answers, or counted no tokens, keeps those of the one in whose place it comes: the generation is the
    same."""
    manifest = generation.manifest
    with pointer_lock(home, manifest.index_label):
        if not is_finished(home, manifest.index_label, manifest.generation_id):
            return None
        former = read_run(generation.directory, run.set)
        if not run.answers and former is not None and former.is_like(run):
            run = replace(
                run,
                answers=former.answers,
                answering=former.answering,
                calibration=former.calibration,
                judging=former.judging,
            )
        if not run.tokens and former is not None and former.is_like(run):
            run = replace(run, tokens=former.tokens, tokenizer=former.tokenizer)
        return _keep(home, generation, run)


def _keep(home: IndexHome, generation: Generation, run: EvalRun) -> EvalRecord:
    write_run(generation.directory, run)
    table = run_path(generation.directory, run.set).with_suffix(".parquet")
    write_file(table, _table(run, generation.manifest))
    answers = table.with_suffix(".answers.parquet")
    if run.answers:
        write_file(answers, _answers(run, generation.manifest))
    else:
        answers.unlink(missing_ok=True)
    if run.calibration is not None and _saw_everything(generation, run):
        write_calibration(generation.directory, run.calibration)
    if (generation.directory / MANIFEST).is_file():
        list_files(generation.directory, again=(f"{RUNS}{table.stem}.",))
    record = record_of(run, generation.manifest)
    note_record(home, generation.manifest.index_label, record)
    return record


def _saw_everything(generation: Generation, run: EvalRun) -> bool:
    """Whether a run is of the whole generation: a threshold holds for everybody, and a role that sees less meets other
    evidence."""
    return run.conditions.clearance == generation.manifest.levels.all[-1].value


def _table(run: EvalRun, manifest: Manifest) -> pa.Table:
    """The questions of a run, in their order."""
    schema = pa.schema([*_COLUMNS, *((metric, pa.float32()) for metric in run.metrics)])
    found = run.results
    columns = _same(run, manifest, found) | {
        "first_rank": [result.first_rank for result in found],
        "seconds": [result.seconds for result in found],
        "absent": [list(result.absent) for result in found],
        "files": [[file.path for file in result.files] for result in found],
    }
    scores = {metric: [result.scores[metric] for result in found] for metric in run.metrics}
    return arrow_table(columns | scores, schema)


def _answers(run: EvalRun, manifest: Manifest) -> pa.Table:
    """The answers of a run, in the order of their questions."""
    plain = [name for name, _ in _ANSWERS[7:] if not name.startswith(("sentences_", "judge"))]
    columns = _same(run, manifest, run.answers)
    columns |= {name: [_present(getattr(result, name)) for result in run.answers] for name in plain}
    columns["outcome"] = [result.outcome.value for result in run.answers]
    columns["grade"] = [result.grade.value for result in run.answers]
    columns["cited"] = [list(result.cited) for result in run.answers]
    judged = [result.judged or Judged() for result in run.answers]
    columns["judge"] = [_present(one.score) for one in judged]
    columns["judge_reason"] = [one.reason or one.error for one in judged]
    for kind in Support:
        columns[f"sentences_{kind.name.lower()}"] = [result.checks.get(kind.value, 0) for result in run.answers]
    return arrow_table(columns, pa.schema(_ANSWERS))


def _present(value: Any) -> Any:
    """What a column holds: the tables have no missing values, and every reader takes this one for it."""
    return math.nan if value is None else value


def _same(run: EvalRun, manifest: Manifest, found: Sequence[QuestionResult | AnswerResult]) -> dict[str, list[Any]]:
    """The columns that both tables begin with."""
    same = {
        "label": manifest.index_label,
        "generation_id": run.generation_id,
        "commit_sha": manifest.commit_sha,
        "set": run.set,
    }
    return {name: [value] * len(found) for name, value in same.items()} | {
        "question_id": [result.id for result in found],
        "question": [result.question for result in found],
        "tags": [list(result.tags) for result in found],
    }
