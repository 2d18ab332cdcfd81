"""A run as a Parquet table beside its record: one row per question, for notebooks and spreadsheets.

It is written without pandas, which would cost every build half a second, and is what `pandas.read_parquet` reads.
"""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.stores.columns import table
from rag_assets.stores.eval_records import EvalRun
from rag_assets.stores.generations import Manifest

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


def write_table(path: Path, run: EvalRun, manifest: Manifest) -> Path:
    """Writes the questions of a run, in their order, atomically. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        pq.write_table(_table(run, manifest), temporary, compression="zstd")
        temporary.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    return path


def _table(run: EvalRun, manifest: Manifest) -> pa.Table:
    schema = pa.schema([*_COLUMNS, *((metric, pa.float32()) for metric in run.metrics)])
    same = {
        "label": manifest.index_label,
        "generation_id": run.generation_id,
        "commit_sha": manifest.commit_sha,
        "set": run.set,
    }
    found = run.results
    columns = {name: [value] * len(found) for name, value in same.items()} | {
        "question_id": [result.id for result in found],
        "question": [result.question for result in found],
        "tags": [list(result.tags) for result in found],
        "first_rank": [result.first_rank for result in found],
        "seconds": [result.seconds for result in found],
        "absent": [list(result.absent) for result in found],
        "files": [[file.path for file in result.files] for result in found],
    }
    scores = {metric: [result.scores[metric] for result in found] for metric in run.metrics}
    return table(columns | scores, schema)
