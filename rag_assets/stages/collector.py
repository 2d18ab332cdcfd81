"""How often a process that indexes looks for cycles of garbage.

A stage decodes hundreds of thousands of records that live until it ends, and hardly ever makes a cycle. With Python's
own thresholds, which count what was made, the collector walks all of them again and again, and all that Dagster loaded:
a twelfth of the time of a small build.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

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
