"""Where a run goes: its record and its table to the generation, its numbers to the history of the label."""

from __future__ import annotations

from rag_assets.evaluation.summary import record_of
from rag_assets.evaluation.tables import write_table
from rag_assets.stores.eval_history import EvalRecord, note_record
from rag_assets.stores.eval_records import EvalRun, run_path, write_run
from rag_assets.stores.generations import Generation, is_finished
from rag_assets.stores.home import Home
from rag_assets.stores.locks import pointer_lock


def keep_run(home: Home, generation: Generation, run: EvalRun) -> EvalRecord:
    """Keeps a run in place of the former one of its set, and returns its numbers (E24). Raises OSError, HomeBusy.

    generations/{id}/eval/{set}.json       the run, `stores.eval_records`
    generations/{id}/eval/{set}.parquet    a row per question
    labels/{label}/eval_history.json       means and intervals, `stores.eval_history`
    """
    with pointer_lock(home, generation.manifest.index_label):
        return _keep(home, generation, run)


def keep_run_of_finished(home: Home, generation: Generation, run: EvalRun) -> EvalRecord | None:
    """The same, or None where the generation has been deleted meanwhile: its folder must not come back."""
    manifest = generation.manifest
    with pointer_lock(home, manifest.index_label):
        if not is_finished(home, manifest.index_label, manifest.generation_id):
            return None
        return _keep(home, generation, run)


def _keep(home: Home, generation: Generation, run: EvalRun) -> EvalRecord:
    write_run(generation.directory, run)
    write_table(run_path(generation.directory, run.set).with_suffix(".parquet"), run, generation.manifest)
    record = record_of(run, generation.manifest)
    note_record(home, generation.manifest.index_label, record)
    return record
