"""The graph files: reproducible, without weights, and tied to the version in the model id."""

from __future__ import annotations

import hashlib
import runpy
from pathlib import Path

import pytest

from rag_assets.models.minilm.weights import GRAPH_VERSION, Precision, graph_bytes

# Another graph gives other vectors, and kept vectors would be wrong: raise GRAPH_VERSION with a new entry here.
PINNED = {
    1: {
        Precision.FP32: "b06c396a45bd28c2a91c268accd4e58687dd7f69f91a17661533222deddceb7f",
        Precision.INT8: "bd2be6178b0bab1dda191dcdfa3440d8969f97bff669ef3a5c12377031b615e3",
    }
}
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "model_graphs.py"
MOST_BYTES = 50_000  # nodes and names; one small weight matrix alone has 590,000


@pytest.mark.parametrize("precision", Precision)
def test_the_version_is_that_of_the_files(precision: Precision) -> None:
    assert hashlib.sha256(graph_bytes(precision)).hexdigest() == PINNED[GRAPH_VERSION][precision]


@pytest.mark.parametrize("precision", Precision)
def test_no_weights_are_inside(precision: Precision) -> None:
    assert len(graph_bytes(precision)) < MOST_BYTES


@pytest.mark.parametrize("precision", Precision)
def test_the_script_makes_the_files(precision: Precision) -> None:
    pytest.importorskip("onnx", reason="only developers have onnx: pip install 'rag-assets[dev]'")
    build = runpy.run_path(str(SCRIPT))["build"]
    assert build(precision) == graph_bytes(precision)
