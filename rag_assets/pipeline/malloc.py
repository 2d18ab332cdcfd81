"""How a process that indexes treats memory: it seldom looks for cycles, and gives back what a stage needed.

A stage decodes hundreds of thousands of records that live until it ends, and hardly ever makes a cycle. With Python's
own thresholds, which count what was made, the collector walks all of them again and again, and all that Dagster loaded:
a twelfth of the time of a small build.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_THRESHOLDS = (50_000, 20, 50)  # objects of about 100 bytes: cycles of a few MB may wait


def collect_seldom() -> None:
    """For the rest of this process: what is loaded already is never walked again."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """While the context lasts, for a process that goes on with something else."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def release_memory() -> None:
    """Returns to the system what is free: the next stage needs room for other things, and a peak is a sum of what was
    kept. A third of the peak of a large build; takes some milliseconds."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """glibc's `malloc_trim`; None where the C library has none and gives back by itself."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
