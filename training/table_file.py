"""The file of the table that the package maps: int8 rows with a scale each, weights, vocabulary, hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from training.model import DIMENSIONS, TF_EXPONENT, Table

MAGIC = b"RASTATIC"
VERSION = 1
MODEL_ID = "static-code-1"
_ALIGNED = 64
_STEPS = 127  # of int8, symmetric


def quantised(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """int8 rows and the scale of each: row = int8 row * scale."""
    scales = np.maximum(np.abs(table.rows).max(axis=1), 1e-8).astype(np.float32) / np.float32(_STEPS)
    return np.rint(table.rows / scales[:, None]).astype(np.int8), scales


def as_stored(table: Table) -> Table:
    """The table as a reader of the file has it, rounded."""
    rows, scales = quantised(table)
    return Table(rows.astype(np.float32) * scales[:, None], table.text_weights, table.question_weights)


def table_bytes(table: Table, vocabulary: Sequence[str]) -> bytes:
    rows, scales = quantised(table)
    parts = [
        rows.tobytes(),
        scales.astype("<f4").tobytes(),
        np.exp(table.text_weights).astype("<f4").tobytes(),
        np.exp(table.question_weights).astype("<f4").tobytes(),
    ]
    arrays = b"".join(part + bytes(-len(part) % _ALIGNED) for part in parts) + "\n".join(vocabulary).encode("ascii")
    header = {
        "version": VERSION,
        "model_id": MODEL_ID,
        "dimension": rows.shape[1],
        "dimensions": [d for d in DIMENSIONS if d <= rows.shape[1]],
        "entries": len(rows),
        "tf_exponent": TF_EXPONENT,
        "sha256": "0" * 64,
    }
    start = len(MAGIC) + 4
    padding = bytes(-(start + len(_json(header))) % _ALIGNED)
    header["sha256"] = hashlib.sha256(padding + arrays).hexdigest()
    said = _json(header)
    return MAGIC + len(said).to_bytes(4, "little") + said + padding + arrays


def _json(header: dict[str, object]) -> bytes:
    return json.dumps(header, sort_keys=True, separators=(",", ":")).encode()


def write_table(table: Table, vocabulary: Sequence[str], path: Path) -> str:
    """Writes the file; returns its sha256."""
    made = table_bytes(table, vocabulary)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made)
    return hashlib.sha256(made).hexdigest()
