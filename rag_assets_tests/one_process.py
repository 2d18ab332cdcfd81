"""Small builds of tests are made in the test process alone.

A build of a few files gives them to one copy of its process, which a file that crashes its parser may end, and to a
second one with what the first stages made. To copy a test process, with all its tests, takes longer than the work on
those files. Commands in processes of their own have these copies, and tests that ask for `copies_for_small_builds`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

wanted = True
"""Whether one process is enough where several would have one task."""


@cache
def remember() -> None:
    """For the rest of this process."""
    from rag_assets.pipeline import discovered_files
    from rag_assets.pipeline.workers import worker_pool
    from rag_assets.pipeline.workers.process_pool import ProcessPool

    guarded_pool, plain_copies = worker_pool.guarded_pool, ProcessPool.plain_copies

    def several_or_none(*arguments: Any) -> ProcessPool | None:
        pool = guarded_pool(*arguments)
        return None if wanted and pool is not None and pool.size == 1 else pool

    def copies_of_several() -> ProcessPool | None:
        return None if wanted and ProcessPool._workers < 2 else plain_copies()

    for module in (worker_pool, discovered_files):
        module.guarded_pool = several_or_none  # type: ignore[attr-defined]
    ProcessPool.plain_copies = copies_of_several  # type: ignore[method-assign]
