"""The model on onnxruntime: a graph without weights over mapped weights, in fp32 or int8.

The int8 weights are made once from the fp32 ones, as a derived file in the cache: per output channel and symmetric.
Codes stay within ±64: on x86 without VNNI, u8 · s8 products are added in pairs in 16 bits, and 2 · 255 · 64 still fits
while 2 · 255 · 127 saturates. So every CPU computes the same integers, for a cosine to fp32 of .996 instead of .998
with ±127 (measured on 300 pieces of C#).
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from rag_assets.models.minilm.weights import (
    WEIGHTS_SHA256,
    WORD_EMBEDDINGS,
    Precision,
    TensorFile,
    TensorFileError,
    graph_bytes,
    map_tensors,
    write_tensors,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


QUANTISER_VERSION = 1
MAX_CODE = 64
# The six projections of a layer; embeddings and the unused pooler stay as they are.
_PROJECTION = re.compile(r"encoder\.layer\.\d+\..*\.weight")
_LAYER_NORM = ".LayerNorm."

_log = logging.getLogger(__name__)


def int8_weights(weights: Mapping[str, NDArray[Any]], source_sha256: str, cache: Path) -> dict[str, NDArray[Any]]:
    """`{name}.int8` (in, out) and `{name}.scale` (out,) of every projection in `weights`.

    Read from `cache` when a sound file is there, else made (0.2 s) and kept for the next process. A cache that
    cannot be written costs that time at every start and is reported, no more.
    """
    path = cache / f"minilm-int8-{source_sha256[:16]}-v{QUANTISER_VERSION}.safetensors"
    kept = _read(path, source_sha256)
    if kept is not None:
        return kept
    made = quantise(weights)
    digest = _digest(made)
    try:
        write_tensors(path, made, _metadata(source_sha256) | {"digest": digest})
    except OSError as error:
        _log.warning("cannot keep the int8 weights in %s (%s): they are made again at every start", path, error)
    return made


def quantise(weights: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Pure; division and rounding are exact by IEEE 754, so every machine gives the same bytes."""
    made: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        if _PROJECTION.fullmatch(name) and _LAYER_NORM not in name:
            made[f"{name}.int8"], made[f"{name}.scale"] = quantise_matrix(weight)
    return made


def quantise_matrix(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """(out, in) float32 → codes (in, out) int8 within ±MAX_CODE and scales (out,) float32; code · scale ≈ weight."""
    scale = np.abs(weight).max(axis=1) / np.float32(MAX_CODE)
    scale = np.where(scale > 0, scale, np.float32(1)).astype(np.float32)  # a channel of zeros has codes 0
    codes = np.rint(weight / scale[:, None]).astype(np.int8)
    return np.ascontiguousarray(codes.T), scale


def _read(path: Path, source_sha256: str) -> dict[str, NDArray[Any]] | None:
    """The kept weights, or None when there are none, or they are damaged or of other weights."""
    try:
        kept: TensorFile = map_tensors(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except TensorFileError as error:
        _log.warning("%s; it is made again", error)
        return None
    if kept.metadata != _metadata(source_sha256) | {"digest": _digest(kept.tensors)}:
        _log.warning("%s is damaged; it is made again", path)
        return None
    return kept.tensors


def _metadata(source_sha256: str) -> dict[str, str]:
    return {"source_sha256": source_sha256, "quantiser": str(QUANTISER_VERSION)}


def _digest(tensors: Mapping[str, NDArray[Any]]) -> str:
    """Over names, kinds, shapes and values. blake2b: 10 MB in about 10 ms, little enough to check at every start."""
    digest = hashlib.blake2b(digest_size=16)
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype.str} {tensor.shape}\n".encode())
        digest.update(tensor.data)
    return digest.hexdigest()


_UNUSED = ("pooler.", "embeddings.position_ids")  # sentence-transformers pools by the mean
_ERRORS_ONLY = 3


class ModelSession:
    """One run = one text. Safe to call from several threads; each call computes on its own thread alone."""

    def __init__(self, graph: bytes, weights: Mapping[str, NDArray[Any]]) -> None:
        self._words = weights[WORD_EMBEDDINGS]
        self._initializers = {name: tensor for name, tensor in weights.items() if name != WORD_EMBEDDINGS}
        # The API lets onnxruntime read this memory for as long as the session lives: hence the attribute.
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(tensor) for tensor in self._initializers.values()]
        options = _options()
        options.add_external_initializers(list(self._initializers), values)
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    @classmethod
    def open(cls, weights_file: Path, precision: Precision, cache: Path) -> ModelSession:
        """`weights_file` must be verified; weights derived from it are kept in `cache`."""
        source = map_tensors(weights_file).tensors
        weights = {name: tensor for name, tensor in source.items() if not name.startswith(_UNUSED)}
        if precision is Precision.INT8:
            made = int8_weights(weights, WEIGHTS_SHA256, cache)
            weights = {name: tensor for name, tensor in weights.items() if f"{name}.int8" not in made} | made
        return cls(graph_bytes(precision), weights)

    def vector(self, token_ids: Sequence[int]) -> NDArray[np.float32]:
        """(384,) float32 of unit length. The interpreter is released while the graph runs."""
        inputs = {"input_ids": np.array(token_ids, np.int64), WORD_EMBEDDINGS: self._words}
        made: NDArray[np.float32] = self._session.run(None, inputs)[0]
        return made


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    # Threads take whole texts, so that a vector does not depend on how many there are.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # The graph is written as it shall run: measured equal, and no release fuses it into other roundings.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_mem_pattern = False  # one plan would be kept for each of 255 lengths
    options.log_severity_level = _ERRORS_ONLY
    return options
