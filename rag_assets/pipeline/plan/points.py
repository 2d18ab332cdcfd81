"""What a build would do to the points and files of a label: its tables against those of the generation it serves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rag_assets.index.generations import Generation
from rag_assets.index.tables import read_part
from rag_assets.sources.git.git_diff import Rename, TreeDiff, changes_of


@dataclass(frozen=True, slots=True)
class PlanTables:
    """The tables of a generation, or of a plan."""

    directory: Path
    buckets: int

    @classmethod
    def of(cls, generation: Generation) -> PlanTables:
        return cls(generation.directory, generation.manifest.bucket_count)


@dataclass(frozen=True, slots=True)
class PlannedPoints:
    """By semantic id against the generation that is served; `changed` have another ContentHash. `upserted` is what
    the store is sent: also what only moved in its file, weighs differently, or goes into a new embedding space."""

    total: int = 0
    added: int = 0
    changed: int = 0
    deleted: int = 0
    upserted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFiles:
    """Indexed files against the generation that is served. `skipped` counts all that are left out, `newly_skipped`
    those that were not left out for that reason before, by reason. `read` is what no earlier build has read."""

    total: int = 0
    skipped: int = 0
    newly_skipped: dict[str, int] = field(default_factory=dict)
    read: int = 0
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    renamed: tuple[Rename, ...] = ()
    deleted: tuple[str, ...] = ()


def compare_points(new: PlanTables, old: PlanTables | None, *, same_store: bool) -> PlannedPoints:
    """`same_store`: what is stored of `old` is what the new points are compared with, digest by digest."""
    before: dict[str, tuple[str, str]] = {}
    if old is not None:
        before = {known: (content, digest) for known, content, digest in _points(old)}
    counts: Counter[str] = Counter()
    for known, content, digest in _points(new):
        was = before.pop(known, None)
        counts["total"] += 1
        counts["added"] += was is None
        counts["changed"] += was is not None and was[0] != content
        counts["upserted"] += not same_store or was is None or was[1] != digest
    return PlannedPoints(**counts, deleted=len(before))


def compare_files(new: PlanTables, old: PlanTables | None, git: TreeDiff | None, read: int) -> PlannedFiles:
    """`git` is what differs between the commits, where git can say: it knows renames with edits."""
    indexed, skipped = _files(new)
    was_indexed, was_skipped = _files(old) if old is not None else ({}, {})
    found = changes_of(was_indexed, indexed, git)
    newly = Counter(reason for path, reason in skipped.items() if was_skipped.get(path) != reason)
    return PlannedFiles(
        total=len(indexed),
        skipped=len(skipped),
        newly_skipped=dict(newly.most_common()),
        read=read,
        added=found.added,
        changed=found.modified,
        renamed=found.renamed,
        deleted=found.deleted,
    )


def _points(tables: PlanTables) -> Iterator[tuple[str, str, str]]:
    """(semantic id, content hash, digest) of every point."""
    columns = ["semantic_id", "content_hash", "digest"]
    for bucket in range(tables.buckets):
        part = read_part(tables.directory, "qdrant_points", bucket, columns)
        yield from zip(*(part.column(name).to_pylist() for name in columns), strict=True)


def _files(tables: PlanTables) -> tuple[dict[str, str], dict[str, str]]:
    """Path → blob id of the indexed files, path → reason of the others."""
    indexed, skipped = dict[str, str](), dict[str, str]()
    columns = ["path", "outcome", "reason", "blob_id"]
    for bucket in range(tables.buckets):
        part = read_part(tables.directory, "discovered_files", bucket, columns)
        for path, outcome, reason, blob_id in zip(*(part.column(name).to_pylist() for name in columns), strict=True):
            if outcome == "indexed":
                indexed[path] = blob_id
            else:
                skipped[path] = reason
    return indexed, skipped
