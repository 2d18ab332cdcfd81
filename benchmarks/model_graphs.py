"""Makes the graph files of `rag_assets/models/graphs`. Needs the `onnx` package, which only developers have.

    python benchmarks/model_graphs.py [--out FOLDER]

One run is one text: no padding, no mask, and nothing of a vector depends on what else is embedded, in which
order or by how many threads. Texts are spread over threads instead. Measured (1 thread, pieces of C#): a run of
one text is as fast as a batch of 8 from 16 tokens on, and faster from 64 tokens on, where a batch leaves the cache.

All activations are (tokens, features). Against the fused operators of the usual exporters, measured:
- Add + LayerNormalization takes a quarter of the time of SkipLayerNormalization (90 against 355 µs).
- Three projections + MultiHeadAttention beat Attention, whose matrix product is the slower one.
- int8: activations are quantised per token (one scale per row), not per tensor as DynamicQuantizeLinear does:
  cosine to fp32 .996 with 7-bit weights, against .993 with 8-bit ones, and no batch effect.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import rag_assets.models
from rag_assets.models.minilm.weights import WORD_EMBEDDINGS, Precision

LAYERS = 6
HIDDEN = 384
HEADS = 12
INTERMEDIATE = 1536
VOCABULARY = 30_522
POSITIONS = 512
TOKEN_TYPES = 2
LAYER_NORM_EPSILON = 1e-12

_MICROSOFT = "com.microsoft"
_OPSET = 20  # the first with Gelu
_IR_VERSION = 9  # fixed, so that another onnx release writes the same bytes
_EXTERNAL = "weights"  # a name is required; the data always comes from memory

_CODES = 127  # activations: codes 1..255 around 128
_ZERO = 128
# GELU never falls below -0.16998, so its outputs use the byte better with a low zero point: codes 0..255 hold
# [-16, 239] scales. Any value of 8..127 gives the same cosine within .0003.
_GELU_MINIMUM = 0.17
_GELU_ZERO = 16
_SMALLEST_SCALE = 1e-9  # a row of zeros must not divide by zero


class _Graph:
    """Nodes and initializers in the order they are added; names are counted, so the bytes are reproducible."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: dict[str, onnx.TensorProto] = {}

    def add(self, operator: str, *inputs: str, domain: str = "", output: str = "", **attributes: Any) -> str:
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], domain=domain, **attributes))
        return output

    def external(self, name: str, *shape: int, dtype: int = TensorProto.FLOAT) -> str:
        """A weight that is handed over when the graph is loaded."""
        tensor = TensorProto(name=name, dims=shape, data_type=dtype, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value=_EXTERNAL)
        self.initializers[name] = tensor
        return name

    def constant(self, name: str, value: np.ndarray) -> str:
        self.initializers[name] = numpy_helper.from_array(value, name)
        return name

    def number(self, name: str, value: float) -> str:
        return self.constant(name, np.array(value, np.float32))

    def axis(self, value: int) -> str:
        return self.constant(f"axis_{value}".replace("-", "minus_"), np.array([value], np.int64))


class _Projections:
    """Fully connected layers in fp32: weights as the safetensors file has them, (out, in)."""

    def __init__(self, graph: _Graph) -> None:
        self.graph = graph

    def __call__(self, x: str, layers: list[tuple[str, int, int]], *, after_gelu: bool = False) -> list[str]:
        """`x` through each of `layers` (name, in, out), which share it."""
        return [self._project(x, name, width, out) for name, width, out in layers]

    def _project(self, x: str, name: str, width: int, out: int) -> str:
        graph = self.graph
        return graph.add(
            "Gemm", x, graph.external(f"{name}.weight", out, width), graph.external(f"{name}.bias", out), transB=1
        )


class _QuantisedProjections(_Projections):
    """The same in int8: every token gets its own scale, products are summed exactly in int32."""

    def __init__(self, graph: _Graph, tokens: str) -> None:
        super().__init__(graph)
        self._zero_points = {zero: self._zero_point(zero, tokens) for zero in (_ZERO, _GELU_ZERO)}

    def __call__(self, x: str, layers: list[tuple[str, int, int]], *, after_gelu: bool = False) -> list[str]:
        graph = self.graph
        scale = self._gelu_scale(x) if after_gelu else self._symmetric_scale(x)
        zero, zero_per_token = self._zero_points[_GELU_ZERO if after_gelu else _ZERO]
        codes = graph.add("QuantizeLinear", x, scale, zero_per_token, axis=0)
        scale_column = graph.add("Unsqueeze", scale, graph.axis(-1))
        made = []
        for name, width, out in layers:
            product = graph.add(
                "MatMulIntegerToFloat",
                codes,
                graph.external(f"{name}.weight.int8", width, out, dtype=TensorProto.INT8),
                graph.number("one", 1.0),
                graph.external(f"{name}.weight.scale", out),
                zero,
                domain=_MICROSOFT,
            )
            scaled = graph.add("Mul", product, scale_column)
            made.append(graph.add("Add", scaled, graph.external(f"{name}.bias", out)))
        return made

    def _zero_point(self, zero: int, tokens: str) -> tuple[str, str]:
        value = np.array([zero], np.uint8)
        name = self.graph.constant(f"zero_{zero}", value.reshape(()))
        return name, self.graph.add("ConstantOfShape", tokens, value=numpy_helper.from_array(value))

    def _symmetric_scale(self, x: str) -> str:
        graph = self.graph
        largest = graph.add("ReduceMax", graph.add("Abs", x), graph.axis(-1), keepdims=0)
        scale = graph.add("Mul", largest, graph.number("per_code", 1 / _CODES))
        return graph.add("Max", scale, graph.number("smallest_scale", _SMALLEST_SCALE))

    def _gelu_scale(self, x: str) -> str:
        graph = self.graph
        largest = graph.add("ReduceMax", x, graph.axis(-1), keepdims=0)
        scale = graph.add("Mul", largest, graph.number("per_gelu_code", 1 / (255 - _GELU_ZERO)))
        return graph.add("Max", scale, graph.number("smallest_gelu_scale", _GELU_MINIMUM / _GELU_ZERO))


def build(precision: Precision) -> bytes:
    """The serialised graph of `precision`; the same bytes at every call."""
    graph = _Graph()
    tokens = graph.add("Shape", "input_ids")
    project = _Projections(graph) if precision is Precision.FP32 else _QuantisedProjections(graph, tokens)
    x = _embeddings(graph, tokens)
    for layer in range(LAYERS):
        x = _layer(graph, project, f"encoder.layer.{layer}", x)
    pooled = graph.add("ReduceMean", x, graph.axis(0), keepdims=0)
    graph.add("LpNormalization", pooled, axis=-1, p=2, output="vector")
    return _serialise(graph, precision)


def _embeddings(graph: _Graph, tokens: str) -> str:
    positions = graph.external("embeddings.position_embeddings.weight", POSITIONS, HIDDEN)
    types = graph.external("embeddings.token_type_embeddings.weight", TOKEN_TYPES, HIDDEN)
    start = graph.constant("start", np.array([0], np.int64))
    x = graph.add("Gather", WORD_EMBEDDINGS, "input_ids")
    x = graph.add("Add", x, graph.add("Slice", positions, start, tokens))
    x = graph.add("Add", x, graph.add("Gather", types, graph.constant("first_type", np.array(0, np.int64))))
    return _normalise(graph, "embeddings", x)


def _layer(graph: _Graph, project: _Projections, name: str, x: str) -> str:
    attention, output = f"{name}.attention.self", f"{name}.attention.output"
    heads = project(x, [(f"{attention}.{part}", HIDDEN, HIDDEN) for part in ("query", "key", "value")])
    batched = [graph.add("Unsqueeze", part, graph.axis(0)) for part in heads]
    context = graph.add("MultiHeadAttention", *batched, domain=_MICROSOFT, num_heads=HEADS)
    context = graph.add("Squeeze", context, graph.axis(0))
    (attended,) = project(context, [(f"{output}.dense", HIDDEN, HIDDEN)])
    x = _normalise(graph, output, graph.add("Add", attended, x))
    (wide,) = project(x, [(f"{name}.intermediate.dense", HIDDEN, INTERMEDIATE)])
    (narrow,) = project(graph.add("Gelu", wide), [(f"{name}.output.dense", INTERMEDIATE, HIDDEN)], after_gelu=True)
    return _normalise(graph, f"{name}.output", graph.add("Add", narrow, x))


def _normalise(graph: _Graph, name: str, x: str) -> str:
    weight = graph.external(f"{name}.LayerNorm.weight", HIDDEN)
    bias = graph.external(f"{name}.LayerNorm.bias", HIDDEN)
    return graph.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=LAYER_NORM_EPSILON)


def _serialise(graph: _Graph, precision: Precision) -> bytes:
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["tokens"])
    words = helper.make_tensor_value_info(WORD_EMBEDDINGS, TensorProto.FLOAT, [VOCABULARY, HIDDEN])
    vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [HIDDEN])
    body = helper.make_graph(
        graph.nodes, f"minilm-{precision}", [ids, words], [vector], list(graph.initializers.values())
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
    model = helper.make_model(body, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="rag_assets")
    serialised: bytes = model.SerializeToString(deterministic=True)
    return serialised


def main() -> None:
    """Writes both files into the package, or into the folder given."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path, default=Path(rag_assets.models.__file__).parent / "graphs")
    folder: Path = parser.parse_args().out
    for precision in Precision:
        file = folder / f"minilm-{precision}.onnx"
        file.write_bytes(build(precision))
        print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
