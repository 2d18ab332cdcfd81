"""The model as two graphs without weights, made by `python -m rag_assets.models.graphs.build`."""

from __future__ import annotations

from enum import StrEnum
from importlib import resources

GRAPH_VERSION = 1
"""Part of the model id: raise it with every change that alters vectors. A test ties it to the files' hashes."""

WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"
"""An input, not an initializer: onnxruntime copies initializers, and of these 46 MB a text touches a few rows."""


class Precision(StrEnum):
    """INT8: twice the speed at a cosine of .996. FP32: the reference."""

    INT8 = "int8"
    FP32 = "fp32"


def graph_bytes(precision: Precision) -> bytes:
    """The ONNX graph of `precision`.

    Inputs: `input_ids` int64 (tokens,), one text with its special tokens, and the table of WORD_EMBEDDINGS.
    Output: `vector` float32 (384,) of unit length. All other weights are external
    initializers named as in the safetensors file; int8 needs `quantisation.int8_weights`.
    """
    return resources.files(__name__).joinpath(f"minilm-{precision}.onnx").read_bytes()
