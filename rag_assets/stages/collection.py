"""Garbage collection of a home: removes what no generation and no running build needs.

A collection holds the gate that every build passes (`stores.locks.collection_lock`) and the locks of all labels it
can get. With all of them nobody writes a document, or relies on one that no table names yet. Where a label is being
built, its own files, all documents and all caches stay until the next collection.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from rag_assets.decoders import from_json
from rag_assets.settings import Settings
from rag_assets.sources.mirror import mirror_path
from rag_assets.sources.urls import is_remote
from rag_assets.stages.build import LabelBusy, label_holder, label_lock
from rag_assets.stages.cache_use import SWEPT_CACHES, used_parts
from rag_assets.stores import garbage
from rag_assets.stores.garbage import Swept
from rag_assets.stores.home import Home
from rag_assets.stores.locks import collection_lock
from rag_assets.stores.retention import prune_servers
from rag_assets.stores.scratch import scratch_in_use
from rag_assets.stores.sweep import SweepError

_GATE_WAIT_SECONDS = 10.0  # builds pass in an instant; longer is another collection
_LABEL_WAIT_SECONDS = 0.5  # whoever only looks at a label holds it for an instant


@dataclass(frozen=True, slots=True)
class Collection:
    """What a collection removed, or would remove. `kept` says, for people, what was left alone and why."""

    swept: list[Swept] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(found.count for found in self.swept)

    @property
    def bytes(self) -> int:
        return sum(found.bytes for found in self.swept)


def collect_garbage(home: Home, settings: Settings, *, dry_run: bool = False, now: float | None = None) -> Collection:
    """Removes abandoned builds, leftovers, mirrors, documents and cache entries that nothing needs.

    A dry run changes nothing and works in a read-only home. `now` (seconds since 1970) decides what is old enough;
    default: the clock. Raises HomeBusy while another collection runs, OSError for what cannot be removed.
    """
    at = time.time() if now is None else now
    found = Collection()
    if not home.root.is_dir():
        return found
    with nullcontext(_free_labels(home, found)) if dry_run else _held(home, found) as free:
        builds = [(label, path) for label in free for path in garbage.abandoned_builds(home, label, at)]
        found.swept.append(garbage.sweep_builds(home, builds, dry_run=dry_run))
        if not dry_run:
            found.kept.extend(problem for label in free for problem in prune_servers(home, label))
        found.swept.append(garbage.sweep_leftovers(home, free, at, dry_run=dry_run))
        needed = _needed_mirrors(home, settings, found)
        if needed is not None:
            found.swept.append(garbage.sweep_mirrors(home, needed, at, dry_run=dry_run))
        if scratch_in_use(home):
            found.kept.append("documents and cache entries: a plan is being made; collect again when it is done")
        elif len(free) == len(home.known_labels()):
            _sweep_shared(home, found, {path for _, path in builds}, dry_run)
        else:
            found.kept.append("documents and cache entries: a build may need them; collect again when it is done")
    return found


def _sweep_shared(home: Home, found: Collection, without: set[Path], dry_run: bool) -> None:
    """Documents and caches, which all labels share. What cannot be judged stays, with the reason."""
    try:
        found.swept.append(garbage.sweep_documents(home, without=without, dry_run=dry_run))
        found.swept.append(garbage.sweep_parts(home, used_parts(home, without), dry_run=dry_run))
        for name, used in SWEPT_CACHES.items():
            try:
                found.swept.append(garbage.sweep_cache(home, name, used(home, without), dry_run=dry_run))
            except OSError as error:  # a full disk, or a home that may only be read: the rest goes all the same
                found.kept.append(f"cache entries of {name}: {error}")
    except SweepError as error:
        found.kept.append(f"documents and cache entries: {error}")


@contextmanager
def _held(home: Home, found: Collection) -> Iterator[list[str]]:
    """The labels that nobody builds, held, and the gate shut for everybody else."""
    with ExitStack() as locks:
        locks.enter_context(collection_lock(home, wait_seconds=_GATE_WAIT_SECONDS))
        free = []
        for label in home.known_labels():
            try:
                locks.enter_context(label_lock(home, label, wait_seconds=_LABEL_WAIT_SECONDS))
                free.append(label)
            except LabelBusy as busy:
                found.kept.append(str(busy))
        yield free


def _free_labels(home: Home, found: Collection) -> list[str]:
    """What a collection would hold if it were made now."""
    holders = {label: label_holder(home, label) for label in home.known_labels()}
    found.kept.extend(f"{label} is being indexed by {holder}" for label, holder in holders.items() if holder)
    return [label for label, holder in holders.items() if not holder]


def _needed_mirrors(home: Home, settings: Settings, found: Collection) -> set[Path] | None:
    """The mirrors of all labels and of all configured repositories; None where a label does not say what it is of."""
    locations = [repository.location for repository in settings.repositories]
    for label in home.known_labels():
        path = home.label(label) / "label.json"
        try:
            locations.append(str(from_json(path.read_bytes(), dict[str, object])["location"]))
        except FileNotFoundError:
            continue
        except (msgspec.DecodeError, KeyError) as error:
            found.kept.append(f"mirrors: {path} is damaged ({error}); run: rag-assets index {label}")
            return None
    return {mirror_path(home.mirrors, location) for location in locations if is_remote(location)}
