"""Writes the points of one generation for FAISS (`index.vectors.vector_api.PointTarget`).

All points are in memory while a generation is written: a payload, a vector and the weights take 5 KB.
"""

from __future__ import annotations

import logging
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path

import msgspec

from rag_assets.index.vectors.faiss.reader import KeptPoint, faiss_module, kept_points, read_files, write_files
from rag_assets.index.vectors.vector_api import StoredPoint, VectorStoreError

_log = logging.getLogger(__name__)


class FaissWriter:
    """Writes one generation that begins with the points of an earlier one. Whatever a killed build left in `directory`
    is removed first. `dimension` 0: without vectors."""

    def __init__(self, directory: Path, dimension: int, *, base: Path | None = None) -> None:
        """`base` is the folder of a finished generation with the same vectors; a damaged one is not used. Raises
        VectorStoreError."""
        if dimension:
            faiss_module()  # said now, not when everything is computed
        self._directory = directory
        self._dimension = dimension
        self._kept = self._of(base)
        try:
            if directory.exists():
                shutil.rmtree(directory)
            directory.mkdir(parents=True)
        except OSError as error:
            raise VectorStoreError(f"FAISS store {directory} cannot be made: {error}") from error

    def stored(self) -> dict[str, str]:
        """id → digest of what the generation begins with."""
        return {known: point.digest for known, point in self._kept.items()}

    def upsert(self, batch: Sequence[StoredPoint]) -> None:
        """Takes points in; one that has the id of an earlier one replaces it. Raises VectorStoreError."""
        self._kept.update((point.id, self._checked(point)) for point in batch)

    def delete(self, ids: Sequence[str]) -> None:
        """Takes points out."""
        for known in ids:
            self._kept.pop(known, None)

    def finish(self) -> None:
        """Makes the generation readable. Raises VectorStoreError."""
        try:
            write_files(self._directory, self._dimension, self._kept)
        except OSError as error:
            raise VectorStoreError(f"FAISS store {self._directory} could not be finished: {error}") from error

    def _of(self, base: Path | None) -> dict[str, KeptPoint]:
        if base is None:
            return {}
        try:
            files = read_files(base)
        except VectorStoreError as error:
            _log.warning("%s cannot be built upon (%s); making a new store", base, error)
            return {}
        return kept_points(files) if files.dimension == self._dimension else {}

    def _checked(self, point: StoredPoint) -> KeptPoint:
        dense = point.dense if self._dimension else None
        if dense is not None and dense.shape != (self._dimension,):
            raise VectorStoreError(
                f"point {point.id}: vector of shape {dense.shape}, the store holds ({self._dimension},)"
            )
        try:
            uuid.UUID(point.id)
            payload = msgspec.json.encode(point.payload)
        except (TypeError, ValueError) as error:  # not a UUID, or a payload that is not JSON
            raise VectorStoreError(f"point {point.id} of {point.payload.get('Path', '?')}: {error}") from error
        return KeptPoint(dense, point.sparse, payload, point.digest)
