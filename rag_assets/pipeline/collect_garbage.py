"""Garbage collection of a home: removes what no generation and no running build needs.

A collection holds the gate that every build passes (`index.locks.collection_lock`) and the locks of all labels it
can get. With all of them nobody writes a document, or relies on one that no table names yet. Where a label is being
built, its own files, all documents and all caches stay until the next collection.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from rag_assets.index import gc
from rag_assets.index.gc import LEFTOVER_GRACE_SECONDS, SweepError, Swept, marked
from rag_assets.index.generations import GenerationError
from rag_assets.index.inventory import prune, prune_servers
from rag_assets.index.layout import IndexHome, RecordDamaged, read_record
from rag_assets.index.locks import HomeBusy, collection_lock, scratch_in_use
from rag_assets.pipeline.build import IndexBuild, LabelBusy, label_holder, label_lock, read_spec
from rag_assets.pipeline.checks import generation_checks  # noqa: F401  # declares its memos, as all stages before it
from rag_assets.pipeline.memo import ITEM_MEMOS, used_buckets
from rag_assets.settings import Settings
from rag_assets.sources.git.mirror import mirror_path
from rag_assets.sources.urls import is_remote

_GATE_WAIT_SECONDS = 10.0  # builds pass in an instant; longer is another collection
_LABEL_WAIT_SECONDS = 0.5  # whoever only looks at a label holds it for an instant


@dataclass(frozen=True, slots=True)
class GarbageCollection:
    """What a collection removed, or would remove. `kept` says, for people, what was left alone and why."""

    swept: list[Swept] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        return sum(found.bytes for found in self.swept)


def collect_garbage(
    home: IndexHome, settings: Settings, *, dry_run: bool = False, now: float | None = None
) -> GarbageCollection:
    """Removes abandoned builds, leftovers, mirrors, tables of vectors, documents and cache entries that nothing needs.

    A dry run changes nothing and works in a read-only home. `now` (seconds since 1970) decides what is old enough;
    default: the clock. Raises HomeBusy while another collection runs, OSError for what cannot be removed.
    """
    at = time.time() if now is None else now
    found = GarbageCollection()
    if not home.root.is_dir():
        return found
    with nullcontext(_free_labels(home, found)) if dry_run else _held(home, found) as free:
        builds = [(label, path) for label in free for path in gc.abandoned_builds(home, label, at)]
        found.swept.append(gc.sweep_builds(home, builds, dry_run=dry_run))
        if not dry_run:
            found.kept.extend(problem for label in free for problem in prune_servers(home, label))
        found.swept.append(gc.sweep_leftovers(home, free, at, dry_run=dry_run))
        needed = _needed_mirrors(home, settings, found)
        if needed is not None:
            found.swept.append(gc.sweep_mirrors(home, needed, at, dry_run=dry_run))
        try:
            tables = _needed_tables(home, settings, {path for _, path in builds})
            found.swept.append(gc.sweep_tables(home, tables, at, dry_run=dry_run))
        except SweepError as error:
            found.kept.append(f"tables: {error}")
        if scratch_in_use(home):
            found.kept.append("documents and cache entries: a plan is being made; collect again when it is done")
        elif len(free) == len(home.known_labels()):
            _sweep_shared(home, found, {path for _, path in builds}, dry_run)
        else:
            found.kept.append("documents and cache entries: a build may need them; collect again when it is done")
    return found


def _sweep_shared(home: IndexHome, found: GarbageCollection, without: set[Path], dry_run: bool) -> None:
    """Documents and caches, which all labels share. What cannot be judged stays, with the reason."""
    try:
        found.swept.append(gc.sweep_documents(home, without=without, dry_run=dry_run))
        found.swept.append(gc.sweep_parts(home, _used_parts(home, without), dry_run=dry_run))
        for name, memo in sorted(ITEM_MEMOS.items()):
            used = marked(home, memo.used, without=without)
            try:
                found.swept.append(gc.sweep_cache(home, name, used, dry_run=dry_run))
            except OSError as error:  # a full disk, or a home that may only be read: the rest goes all the same
                found.kept.append(f"cache entries of {name}: {error}")
    except SweepError as error:
        found.kept.append(f"documents and cache entries: {error}")


def _used_parts(home: IndexHome, without: Collection[Path] = ()) -> dict[str, set[str]]:
    """Memo → keys of its buckets that a generation is made of. Raises SweepError."""
    found: dict[str, set[str]] = {}
    for name, keys in marked(home, lambda directory: used_buckets(directory).items(), without=without):
        found.setdefault(name, set()).update(keys)
    return found


def prune_old(build: IndexBuild) -> tuple[list[str], list[str]]:
    """Deletes old generations at the end of a build, whatever it came to: disks do not fill up. What was deleted, and
    what could not be: a build that is done must not fail because an old one stays."""
    label, keep = build.spec.index_label, build.settings.retention.keep
    try:
        found = prune(build.home, label, keep, damaged=build.spec.replaces, later=True)
    except (OSError, GenerationError, HomeBusy) as error:
        kept = f"old generations were not deleted: {error}; try again with: rag-assets generations prune {label}"
        return [], [kept, *prune_servers(build.home, label)]
    if found:
        _sweep_unshared_parts(build.home)
    in_use = [f"{gone.generation_id} is in use and goes another time" for gone in found if gone.in_use]
    return [gone.generation_id for gone in found if not gone.in_use], in_use + prune_servers(build.home, label)


def _sweep_unshared_parts(home: IndexHome) -> None:
    """Cached parts that only deleted generations had, but those that another build may be making. Generations have
    links of their own, so what is in one is safe; where it cannot be known what is needed, `gc` says so."""
    with suppress(SweepError, OSError):
        before = time.time() - LEFTOVER_GRACE_SECONDS
        gc.sweep_parts(home, _used_parts(home), dry_run=False, older_than=before)


@contextmanager
def _held(home: IndexHome, found: GarbageCollection) -> Iterator[list[str]]:
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


def _free_labels(home: IndexHome, found: GarbageCollection) -> list[str]:
    """What a collection would hold if it were made now."""
    holders = {label: label_holder(home, label) for label in home.known_labels()}
    found.kept.extend(f"{label} is being indexed by {holder}" for label, holder in holders.items() if holder)
    return [label for label, holder in holders.items() if not holder]


def _needed_mirrors(home: IndexHome, settings: Settings, found: GarbageCollection) -> set[Path] | None:
    """The mirrors of all labels and of all configured repositories; None where a label does not say what it is of."""
    locations = [repository.location for repository in settings.repositories]
    for label in home.known_labels():
        path = home.label(label) / "label.json"
        try:
            locations.append(str(read_record(path, dict[str, object])["location"]))
        except FileNotFoundError:
            continue
        except (RecordDamaged, KeyError) as error:
            found.kept.append(f"mirrors: {path} is damaged ({error}); run: rag-assets index {label}")
            return None
    return {mirror_path(home.mirrors, location) for location in locations if is_remote(location)}


def _needed_tables(home: IndexHome, settings: Settings, without: Collection[Path]) -> set[Path]:
    """The table of the configuration, and those that a generation was embedded with. Raises SweepError."""
    models = set(marked(home, lambda directory: [read_spec(directory).embedding_model], without=without))
    configured = [settings.embedder.table] if settings.embedder.table is not None else []
    return {path.resolve() for path in (*configured, *map(home.own_table, models))}
