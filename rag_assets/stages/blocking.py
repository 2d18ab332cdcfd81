"""The blocking checks, run where a generation is about to be finished: no path leads around them."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from rag_assets.stages.build import BuildError, IndexBuild
from rag_assets.stages.checks import CHECKS

_CHECKS_AT_A_TIME = 2  # one waits for the workers while another reads the vector store
_LONGEST = "store_matches_declaration"  # begun first: it takes one worker as long as all others take the rest


def run_blocking_checks(build: IndexBuild, *, without: Iterable[str] = ()) -> None:
    """Raises BuildError naming the first check that failed, in their order."""
    left_out = set(without)
    blocking = {
        name: (asset, check)
        for name, (asset, is_blocking, check) in CHECKS.items()
        if is_blocking and name not in left_out
    }
    with ThreadPoolExecutor(_CHECKS_AT_A_TIME, thread_name_prefix="check") as pool:
        begun = sorted(blocking, key=lambda name: name != _LONGEST)
        verdicts = {name: pool.submit(blocking[name][1], build) for name in begun}
    for name, (asset, _) in blocking.items():
        result = verdicts[name].result()
        if not result.passed:
            detail = "; ".join(result.examples[:3]) or str(result.numbers)
            raise BuildError(f"{build.spec.index_label}: check {name} on {asset} failed: {detail}")
