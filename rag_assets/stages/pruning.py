"""Deleting old generations at the end of a build: whatever it came to, disks do not fill up."""

from __future__ import annotations

import contextlib
import time

from rag_assets.stages.build import IndexBuild
from rag_assets.stages.cache_use import used_parts
from rag_assets.stores.garbage import LEFTOVER_GRACE_SECONDS, sweep_parts
from rag_assets.stores.generations import GenerationError
from rag_assets.stores.locks import HomeBusy
from rag_assets.stores.retention import prune, prune_servers
from rag_assets.stores.sweep import SweepError


def prune_old(build: IndexBuild) -> tuple[list[str], list[str]]:
    """What was deleted, and what could not be: a build that is done must not fail because an old one stays."""
    label, keep = build.spec.index_label, build.settings.retention.keep
    try:
        found = prune(build.home, label, keep, later=True)
    except (OSError, GenerationError, HomeBusy) as error:
        kept = f"old generations were not deleted: {error}; try again with: rag-assets generations prune {label}"
        return [], [kept, *prune_servers(build.home, label)]
    if found:
        _sweep_parts(build)
    in_use = [f"{gone.generation_id} is in use and goes another time" for gone in found if gone.in_use]
    return [gone.generation_id for gone in found if not gone.in_use], in_use + prune_servers(build.home, label)


def _sweep_parts(build: IndexBuild) -> None:
    """Cached parts that only deleted generations had, but those that another build may be making. Generations have
    links of their own, so what is in one is safe; where it cannot be known what is needed, `gc` says so."""
    with contextlib.suppress(SweepError, OSError):
        before = time.time() - LEFTOVER_GRACE_SECONDS
        sweep_parts(build.home, used_parts(build.home), dry_run=False, older_than=before)
