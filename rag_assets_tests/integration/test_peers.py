"""The peer of benchmarks/retrieval.py: what is said where there is none, and the vectors that it is given."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from retrieval_peers import PeerError, Semble, reduced_rows, weighed_rows


@pytest.mark.parametrize(
    ("python", "said"),
    [("nowhere/python", "cannot be run"), (sys.executable, "No module named 'semble'")],
    ids=["no such program", "without semble"],
)
def test_a_python_without_the_peer_is_told_how_to_get_it(python: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(PeerError, match=said) as caught:
        Semble(Path(python), "", tmp_path)
    assert "pip install semble; then: --peer-python" in str(caught.value)


def test_rare_tokens_weigh_more_and_special_ones_nothing() -> None:
    weighed = weighed_rows(np.ones((4, 2)), ["[CLS]", "the", "[", "retry"])
    assert weighed.dtype == np.float32
    assert weighed[0].tolist() == [0.0, 0.0]
    assert 0 < weighed[1, 0] < weighed[2, 0] < weighed[3, 0] < 1


def test_the_components_with_most_variance_stay() -> None:
    rows = np.random.default_rng(0).standard_normal((600, 300)) * np.linspace(10, 0.1, 300)
    reduced = reduced_rows(rows)
    assert reduced.shape == (600, 256)
    spread = reduced.std(axis=0)
    assert (np.diff(spread) <= 1e-9).all(), "the widest first"
    np.testing.assert_allclose(np.square(reduced).sum(), np.square(rows - rows.mean(axis=0)).sum(), rtol=0.01)
