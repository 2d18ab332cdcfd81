"""Arrow columns of the two passes, so that a stage can keep them between buckets and runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rag_assets.stores.keyword.bm25f import SparseRows
from rag_assets.stores.keyword.counts import TermCounts
from rag_assets.stores.keyword.fields import FIELDS, Field

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TERMS = pa.list_(pa.dictionary(pa.int32(), pa.string()))

WEIGHTS = pa.schema([("indices", pa.list_(pa.uint32())), ("values", pa.list_(pa.float32()))])
"""Columns of `SparseRows`, one row per section."""


def counts_schema(fields: Sequence[Field] = FIELDS) -> pa.Schema:
    """Columns of `TermCounts`, one row per section: its terms, and per field their frequencies and the length."""
    columns = [("terms", _TERMS)]
    for field in fields:
        columns += [(f"{field.name}_frequencies", pa.list_(pa.uint32())), (f"{field.name}_length", pa.uint32())]
    return pa.schema(columns)


def counts_to_columns(counts: TermCounts) -> dict[str, pa.Array]:
    offsets = pa.array(counts.offsets, type=pa.int32())
    vocabulary = pa.array(counts.vocabulary, type=pa.string())
    terms = pa.DictionaryArray.from_arrays(pa.array(counts.terms.astype(np.int32)), vocabulary)
    columns: dict[str, pa.Array] = {"terms": pa.ListArray.from_arrays(offsets, terms)}
    for position, name in enumerate(counts.fields):
        frequencies = pa.array(np.ascontiguousarray(counts.frequencies[:, position]))
        columns[f"{name}_frequencies"] = pa.ListArray.from_arrays(offsets, frequencies)
        columns[f"{name}_length"] = pa.array(np.ascontiguousarray(counts.lengths[:, position]))
    return columns


def counts_from_table(table: pa.Table, fields: Sequence[Field] = FIELDS) -> TermCounts:
    """The inverse of `counts_to_columns`. Raises KeyError where the table lacks a field."""
    names = tuple(field.name for field in fields)
    lists = _combined(table, "terms")
    terms = lists.flatten().unify_dictionaries() if isinstance(lists, pa.ChunkedArray) else lists.flatten()
    if not isinstance(terms.type, pa.DictionaryType):
        terms = terms.dictionary_encode()
    stored = terms.dictionary.to_pylist()
    vocabulary = sorted(stored)
    positions = {term: position for position, term in enumerate(vocabulary)}
    rank = np.array([positions[term] for term in stored], dtype=np.uint32)
    frequencies = [_combined(table, f"{name}_frequencies").flatten().to_numpy() for name in names]
    lengths = [_combined(table, f"{name}_length").to_numpy() for name in names]
    return TermCounts(
        fields=names,
        vocabulary=tuple(vocabulary),
        offsets=_offsets(lists),
        terms=rank[terms.indices.to_numpy()],
        frequencies=np.stack(frequencies, axis=1),
        lengths=np.stack(lengths, axis=1),
    )


def weights_to_columns(rows: SparseRows) -> dict[str, pa.Array]:
    offsets = pa.array(rows.offsets, type=pa.int32())
    return {
        "indices": pa.ListArray.from_arrays(offsets, pa.array(rows.indices)),
        "values": pa.ListArray.from_arrays(offsets, pa.array(rows.values)),
    }


def weights_from_table(table: pa.Table) -> SparseRows:
    """The inverse of `weights_to_columns`."""
    indices = _combined(table, "indices")
    values = _combined(table, "values")
    return SparseRows(_offsets(indices), indices.flatten().to_numpy(), values.flatten().to_numpy())


def _combined(table: pa.Table, name: str) -> pa.Array:
    """A column as one array that starts at its own first row."""
    column = table.column(name).combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def _offsets(lists: pa.ListArray) -> NDArray[np.int64]:
    offsets = lists.offsets.to_numpy().astype(np.int64)
    made: NDArray[np.int64] = offsets - offsets[0]
    return made
