"""Python's collector is left as it was found."""

import gc
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from rag_assets.pipeline.workers.process_pool import collecting_before_the_next, collecting_seldom
from rag_assets_tests.conftest import freeze, unfreeze


@pytest.fixture(autouse=True)
def as_in_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "freeze", freeze)
    monkeypatch.setattr(gc, "unfreeze", unfreeze)


@pytest.mark.parametrize("collecting", [collecting_seldom, collecting_before_the_next])
def test_thresholds_hold_inside_and_are_given_back_after_an_error(
    collecting: Callable[[], AbstractContextManager[None]],
) -> None:
    before = gc.get_threshold()
    with pytest.raises(RuntimeError, match="inside"), collecting():
        assert gc.get_threshold() > before and gc.get_freeze_count() > 0
        raise RuntimeError("inside")
    assert gc.get_threshold() == before and gc.get_freeze_count() == 0


class Cycle:
    def __init__(self) -> None:
        self.itself = self


def test_the_cycles_of_a_run_are_collected_before_the_next() -> None:
    with collecting_before_the_next():
        left = weakref.ref(Cycle())
    assert left() is not None
    with collecting_before_the_next():
        assert left() is None
