"""A trained table as the file that the package maps, and as its readers see it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_assets.models.model_files import write_whole
from rag_assets.models.static_code import table as file_format
from rag_assets.models.static_code.embedder import MODEL_ID
from rag_assets.training.errors import TrainingError
from rag_assets.training.model import DIMENSIONS, TF_EXPONENT, Table
from rag_assets.training.related_words import package_synonyms, related_words


def as_stored(table: Table) -> Table:
    """The table as a reader of the file has it, rounded."""
    rows, scales = file_format.quantised(table.rows)
    return Table(rows.astype(np.float32) * scales[:, None], table.text_weights, table.question_weights)


def encoded(table: Table, vocabulary: Sequence[str], model_id: str = MODEL_ID) -> bytes:
    """The content of a file."""
    rows, scales = file_format.quantised(table.rows)
    return file_format.encoded(
        vocabulary,
        rows,
        scales,
        np.exp(table.text_weights),
        np.exp(table.question_weights),
        related_words(vocabulary, rows, package_synonyms()),
        model_id=model_id,
        dimensions=[dimension for dimension in DIMENSIONS if dimension <= table.rows.shape[1]],
        tf_exponent=TF_EXPONENT,
    )


def write_table(table: Table, vocabulary: Sequence[str], path: Path) -> str:
    """Writes the file; returns its sha256."""
    content = encoded(table, vocabulary)
    write_whole(path, [content])
    return hashlib.sha256(content).hexdigest()


def relate(path: Path) -> str:
    """Writes a table anew with the related words of these `synonyms.txt`, and nothing else changed; returns its
    sha256."""
    try:
        read = file_format.open_table(path, repair="python -m training write")
    except OSError as error:
        raise TrainingError(f"{path}: {error.strerror}") from error
    model_id = read.header.model_id
    content = file_format.encoded(
        read.vocabulary,
        read.rows,
        read.scales,
        read.document_weights,
        read.query_weights,
        related_words(read.vocabulary, read.rows, package_synonyms()),
        model_id=file_format.OWN_MODEL_ID if model_id.startswith(file_format.OWN_PREFIX) else model_id,
        dimensions=read.header.dimensions,
        tf_exponent=read.header.tf_exponent,
    )
    write_whole(path, [content])
    return hashlib.sha256(content).hexdigest()


def read_table(path: Path) -> tuple[Table, list[str]]:
    """A written table and its entries, which need not be those of this training."""
    read = file_format.open_table(path, repair="python -m training write")
    rows = read.rows * read.scales[:, None]
    return Table(rows, np.log(read.document_weights), np.log(read.query_weights)), list(read.vocabulary)
