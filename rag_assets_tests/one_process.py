"""What the one worker of a small build would do is done in the test process.

Such a worker is a copy of the process that builds, and ends with the build: what it loads, it loads anew each time, and
a large process like this one takes long to copy. That is half of what a small build takes, and tests make hundreds.
Builds that want several workers have them, and so have tests of workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rag_assets.pipeline import discovered_files
from rag_assets.pipeline.build import IndexBuild
from rag_assets.pipeline.workers import worker_pool
from rag_assets.pipeline.workers.process_pool import ProcessPool

_guarded_pool = worker_pool.guarded_pool
_plain_copies = ProcessPool.plain_copies
_wanted = False


def remember() -> None:
    """For the rest of this process."""
    for module in (worker_pool, discovered_files):
        vars(module)["guarded_pool"] = _guarded
    ProcessPool.plain_copies = _copies  # type: ignore[method-assign]


@contextmanager
def one_worker() -> Iterator[None]:
    """For tests of it: while the context lasts, a small build has its worker."""
    global _wanted
    before, _wanted = _wanted, True
    try:
        yield
    finally:
        _wanted = before


def _guarded(build: IndexBuild, tasks: int) -> ProcessPool | None:
    return _or_here(_guarded_pool(build, tasks))


def _copies() -> ProcessPool | None:
    return _or_here(_plain_copies())


def _or_here(pool: ProcessPool | None) -> ProcessPool | None:
    return pool if pool is not None and (_wanted or pool.size > 1) else None
