"""The int8 weights: exact on every machine, kept, checked and made again when damaged."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rag_assets.models.minilm.session import MAX_CODE, QUANTISER_VERSION, int8_weights, quantise, quantise_matrix
from rag_assets.models.minilm.weights import ModelFiles, map_tensors

NAME = "encoder.layer.0.output.dense.weight"
SOURCE = "0" * 64
# Of all codes and scales. Another value means other vectors: raise QUANTISER_VERSION and graphs.GRAPH_VERSION.
PINNED = {1: "d356755f161c2cbee9723f0fc04a713592ab9ff09e47b49948b3c967475d8c89"}


def small_weights() -> dict[str, np.ndarray]:
    values = np.random.default_rng(7).standard_normal((8, 16)).astype(np.float32)
    return {
        NAME: values,
        "encoder.layer.0.output.LayerNorm.weight": values[0],
        "encoder.layer.0.output.dense.bias": values[0],
    }


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    int8_weights(small_weights(), SOURCE, tmp_path)
    (made,) = tmp_path.iterdir()
    return made


def test_codes_stay_in_range_and_close() -> None:
    weight = small_weights()[NAME]
    codes, scale = quantise_matrix(weight)
    assert (codes.shape, codes.dtype, scale.shape, scale.dtype) == ((16, 8), np.int8, (8,), np.float32)
    assert np.abs(codes.astype(int)).max() == MAX_CODE
    assert (np.abs(codes.T * scale[:, None] - weight) <= scale[:, None] * 0.5001).all()


def test_pairs_of_products_fit_in_16_bits() -> None:
    """What makes CPUs without VNNI compute the same integers."""
    assert np.iinfo(np.int16).max >= 2 * 255 * MAX_CODE


def test_a_channel_of_zeros() -> None:
    codes, scale = quantise_matrix(np.zeros((2, 4), np.float32))
    assert not codes.any()
    assert np.isfinite(scale).all()


def test_only_projections_are_quantised(model_files: ModelFiles) -> None:
    assert set(quantise(small_weights())) == {f"{NAME}.int8", f"{NAME}.scale"}
    assert len(quantise(map_tensors(model_files.weights).tensors)) == 2 * 6 * 6


def test_every_machine_makes_the_same_weights(model_files: ModelFiles) -> None:
    digest = hashlib.sha256()
    for name, tensor in sorted(quantise(map_tensors(model_files.weights).tensors).items()):
        digest.update(name.encode())
        digest.update(tensor.tobytes())
    assert digest.hexdigest() == PINNED[QUANTISER_VERSION]


def test_kept_weights_are_used(kept: Path, tmp_path: Path) -> None:
    before = kept.stat().st_mtime_ns
    again = int8_weights({}, SOURCE, tmp_path)  # nothing to make them from: they can only have been read
    np.testing.assert_array_equal(again[f"{NAME}.int8"], quantise_matrix(small_weights()[NAME])[0])
    assert kept.stat().st_mtime_ns == before


def flip_last_byte(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(flip_last_byte, id="one bit"),
        pytest.param(lambda file: file.write_bytes(file.read_bytes()[:-9]), id="truncated"),
        pytest.param(lambda file: file.write_bytes(b""), id="empty"),
        pytest.param(lambda file: file.write_bytes(file.read_bytes().replace(b'"0000', b'"1000')), id="other source"),
    ],
)
def test_damaged_weights_are_made_again(
    damage: object, kept: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = kept.read_bytes()
    damage(kept)  # type: ignore[operator]
    made = int8_weights(small_weights(), SOURCE, tmp_path)
    np.testing.assert_array_equal(made[f"{NAME}.int8"], quantise_matrix(small_weights()[NAME])[0])
    assert "made again" in caplog.text
    assert kept.read_bytes() == good


def test_a_cache_that_cannot_be_written_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Bad input: read-only home."""
    (tmp_path / "cache").touch()
    assert f"{NAME}.int8" in int8_weights(small_weights(), SOURCE, tmp_path / "cache")
    assert "made again at every start" in caplog.text


def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from rag_assets.models.minilm.embedder import MiniLmEmbedder;"
        "print(MiniLmEmbedder.load(Path(sys.argv[1]), threads=1).embed(['order']).tobytes().hex())"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    answers = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0, 0], answers
    assert len({out for out, _ in answers}) == 1
    assert not list(tmp_path.glob("*.tmp"))
