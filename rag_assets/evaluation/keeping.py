"""Where a run goes: its record and its table to the generation, its numbers to the history of the label."""

from __future__ import annotations

from dataclasses import replace

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.evaluation.summary import record_of
from rag_assets.evaluation.tables import write_answers, write_table
from rag_assets.stores.eval_answers import write_calibration
from rag_assets.stores.eval_history import EvalRecord, note_record
from rag_assets.stores.eval_records import EvalRun, read_run, run_path, write_run
from rag_assets.stores.generations import Generation, is_finished
from rag_assets.stores.home import Home
from rag_assets.stores.locks import pointer_lock


def keep_run(home: Home, generation: Generation, run: EvalRun) -> EvalRecord:
    """Keeps a run in place of the former one of its set, and returns its numbers (E24). Raises OSError, HomeBusy.

    generations/{id}/eval/{set}.json       the run, `stores.eval_records`
    generations/{id}/eval/{set}.parquet    a row per question
    generations/{id}/eval/{set}.answers.parquet    a row per answer, where there are some
    generations/{id}/threshold.json        the threshold that was calibrated, `stores.eval_answers`
    labels/{label}/eval_history.json       means and intervals, `stores.eval_history`
    """
    with pointer_lock(home, generation.manifest.index_label):
        return _keep(home, generation, run)


def keep_run_of_finished(home: Home, generation: Generation, run: EvalRun) -> EvalRecord | None:
    """The same, or None where the generation has been deleted meanwhile: its folder must not come back. A run that
    asked for no answers keeps those of the one in whose place it comes: the generation is the same."""
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
        return _keep(home, generation, run)


def _keep(home: Home, generation: Generation, run: EvalRun) -> EvalRecord:
    write_run(generation.directory, run)
    table = run_path(generation.directory, run.set).with_suffix(".parquet")
    write_table(table, run, generation.manifest)
    answers = table.with_suffix(".answers.parquet")
    if run.answers:
        write_answers(answers, run, generation.manifest)
    else:
        answers.unlink(missing_ok=True)
    if run.calibration is not None and _saw_everything(generation, run):
        write_calibration(generation.directory, run.calibration)
    record = record_of(run, generation.manifest)
    note_record(home, generation.manifest.index_label, record)
    return record


def _saw_everything(generation: Generation, run: EvalRun) -> bool:
    """Whether a run is of the whole generation: a threshold holds for everybody, and a role that sees less meets other
    evidence."""
    return run.conditions.clearance == generation.manifest.levels.reached(Confidentiality.RESTRICTED).value
