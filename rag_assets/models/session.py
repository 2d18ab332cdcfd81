"""The model on onnxruntime: a graph without weights over mapped weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from rag_assets.models.graphs import WORD_EMBEDDINGS, Precision, graph_bytes
from rag_assets.models.quantisation import int8_weights
from rag_assets.models.safetensors import map_tensors
from rag_assets.models.weights import WEIGHTS_SHA256

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

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
