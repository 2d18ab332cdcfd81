"""How much work a call does, without a clock: a busy machine changes none of it.

Speed is measured in `benchmarks/`. A test asks one of two things: does the work grow as its input does (`lines_run`,
the same on every machine), and does it end at all (`ends_within`, whose limits are many times what a slow machine
takes, and a small part of what quadratic work or a backtracking pattern takes).
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


def lines_run(action: Callable[[], object]) -> int:
    """How many lines of Python an action runs. What one C call does (a pattern, a sort) counts as its one line."""
    count = 0

    def traced(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


@contextmanager
def ends_within(seconds: float) -> Iterator[None]:
    """Fail where the block takes more seconds of this process's CPU."""
    started = time.process_time()
    yield
    assert time.process_time() - started < seconds
