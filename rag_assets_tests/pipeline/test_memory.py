"""Python's collector is left as it was found."""

import gc

import pytest

from rag_assets.pipeline.workers.process_pool import collecting_seldom


def test_thresholds_hold_inside_and_are_given_back_after_an_error() -> None:
    before = gc.get_threshold()
    with pytest.raises(RuntimeError, match="inside"), collecting_seldom():
        assert gc.get_threshold() > before and gc.get_freeze_count() > 0
        raise RuntimeError("inside")
    assert gc.get_threshold() == before and gc.get_freeze_count() == 0
