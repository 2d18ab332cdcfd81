"""Small labels are worked on in the test process, unless a test is about worker processes.

A stage has files worked on by a copy of its process, which may die of one. A test process has half a gigabyte to copy:
a third of what the build of a small label takes, and tests build hundreds. What comes out is the same:
`test_a_copy_changes_no_byte` in `pipeline/test_workers.py`. Processes that tests start work as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest

_of_process = pytest.MonkeyPatch()


def work_here(patch: pytest.MonkeyPatch) -> None:
    """Until it is undone, this process works on files itself where one other would do."""
    from rag_assets.pipeline import discovered_files
    from rag_assets.pipeline.build import IndexBuild
    from rag_assets.pipeline.workers import worker_pool
    from rag_assets.pipeline.workers.process_pool import ProcessPool

    chosen = worker_pool.guarded_pool

    def only_several(build: IndexBuild, tasks: int) -> ProcessPool | None:
        pool = chosen(build, tasks)
        return pool if pool is not None and pool.size > 1 else None

    for module in (discovered_files, worker_pool):
        patch.setattr(module, "guarded_pool", only_several)
    patch.setattr(ProcessPool, "plain_copies", classmethod(lambda cls: None))


@cache
def prefer() -> None:
    """For the rest of this process."""
    work_here(_of_process)


@contextmanager
def not_preferred() -> Iterator[None]:
    prefer()
    _of_process.undo()
    yield
    work_here(_of_process)
