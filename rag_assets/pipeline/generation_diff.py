"""What changed between two generations: points by semantic id and text, grouped by path and symbol.

The point tables are read one bucket at a time into a temporary database, which keeps what does not fit into its page
cache on disk. Buckets are no help: their number depends on that of the files, and a moved file changes its bucket.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.index.generations import Generation, Manifest
from rag_assets.index.parquet_parts import read_part

_CACHE_KIB = 65_536  # of pages in memory: 200,000 points; more of them go through the disk

_SCHEMA = """
CREATE TABLE {side} (semantic_id TEXT PRIMARY KEY, text_hash TEXT, path TEXT, symbol TEXT) WITHOUT ROWID
"""
_CHANGES = """
CREATE TABLE changes AS
SELECT new.path, new.symbol, 'added' AS what, '' AS was FROM new
  LEFT JOIN old USING (semantic_id) WHERE old.semantic_id IS NULL
UNION ALL
SELECT old.path, old.symbol, 'removed', '' FROM old
  LEFT JOIN new USING (semantic_id) WHERE new.semantic_id IS NULL
UNION ALL
SELECT new.path, new.symbol, 'changed', iif(new.path = old.path, '', old.path) FROM new
  JOIN old USING (semantic_id) WHERE new.text_hash <> old.text_hash
UNION ALL
SELECT new.path, new.symbol, 'moved', old.path FROM new
  JOIN old USING (semantic_id) WHERE new.text_hash = old.text_hash AND new.path <> old.path
"""
_GROUPS = """
SELECT path, symbol, sum(what = 'added'), sum(what = 'changed'), sum(what = 'removed'), sum(what = 'moved'), max(was)
FROM changes GROUP BY path, symbol ORDER BY path, symbol LIMIT ?
"""


class TwoOrganisations(RagAssetsError):
    """Generations of two organisations: nobody is in both of them (B02)."""


@dataclass(frozen=True, slots=True)
class SymbolChange:
    """The points of one symbol that differ, counted; `moved_from` is its old path where it has another one now."""

    path: str
    symbol: str
    added: int
    changed: int
    removed: int
    moved: int
    moved_from: str


@dataclass(frozen=True, slots=True)
class GenerationDiff:
    """From `old` to `new`. Counts are points; `moved` ones have another path and the same text.

    `changes` are the first groups in order of path and symbol, of `groups` in all; `notes` say what else differs and
    how the counts are to be read then.
    """

    old: Manifest
    new: Manifest
    added: int
    changed: int
    removed: int
    moved: int
    unchanged: int
    paths: int
    groups: int
    changes: tuple[SymbolChange, ...]
    notes: tuple[str, ...]

    @property
    def equal(self) -> bool:
        return self.groups == 0


def compare(
    old: Generation,
    new: Generation,
    *,
    clearance: Confidentiality = Confidentiality.RESTRICTED,
    limit: int | None = None,
) -> GenerationDiff:
    """Compares two finished generations, of one label or of two of one organisation. `limit` bounds the listed groups,
    not the counts.

    What `clearance` does not reach for is neither listed nor counted (E12), in each generation by its own levels: a
    file that became confidential is removed for who may not see it any more. Raises TwoOrganisations, and OSError or
    an Arrow error for a table that cannot be read.
    """
    refuse_two_organisations(old.manifest, new.manifest)
    with closing(sqlite3.connect("")) as database:  # a file without a name, gone when it is closed
        database.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        for side, generation in (("old", old), ("new", new)):
            database.execute(_SCHEMA.format(side=side))
            for rows in _points(generation, clearance):
                database.executemany(f"INSERT INTO {side} VALUES (?, ?, ?, ?)", rows)
        database.execute(_CHANGES)
        counts: dict[str, int] = dict(database.execute("SELECT what, count(*) FROM changes GROUP BY what"))
        (paths,) = database.execute("SELECT count(DISTINCT path) FROM changes").fetchone()
        (groups,) = database.execute("SELECT count(*) FROM (SELECT DISTINCT path, symbol FROM changes)").fetchone()
        (points,) = database.execute("SELECT count(*) FROM new").fetchone()
        listed = database.execute(_GROUPS, (-1 if limit is None else limit,)).fetchall()
    added, changed, removed, moved = (counts.get(what, 0) for what in ("added", "changed", "removed", "moved"))
    return GenerationDiff(
        old=old.manifest,
        new=new.manifest,
        added=added,
        changed=changed,
        removed=removed,
        moved=moved,
        unchanged=points - added - changed - moved,
        paths=paths,
        groups=groups,
        changes=tuple(SymbolChange(*row) for row in listed),
        notes=tuple(_notes(old.manifest, new.manifest)),
    )


def refuse_two_organisations(old: Manifest, new: Manifest) -> None:
    """Raises TwoOrganisations, whatever else may be compared."""
    if old.org_id != new.org_id:
        raise TwoOrganisations(
            f"labels of several organisations ({old.org_id}, {new.org_id}) are never compared; "
            "see which there are with: rag-assets generations list"
        )


def _points(generation: Generation, clearance: Confidentiality) -> Iterator[list[tuple[str, str, str, str]]]:
    """(semantic id, text hash, path, symbol) of every visible point, one bucket after the other."""
    sees = cache(partial(generation.manifest.levels.visible, clearance=clearance))
    for bucket in range(generation.manifest.bucket_count):
        columns = ["semantic_id", "text_hash", "path", "section_row"]
        table = read_part(generation.directory, "qdrant_points", bucket, columns)
        sections = read_part(generation.directory, "summary_sections", bucket, ["symbol"]).column("symbol")
        symbols = sections.take(table.column("section_row")).to_pylist()
        plain = (table.column(name).to_pylist() for name in columns[:3])
        yield [row for row in zip(*plain, symbols, strict=True) if sees(row[2])]


def _notes(old: Manifest, new: Manifest) -> Iterator[str]:
    if (old.project_id, old.repository_id) != (new.project_id, new.repository_id):
        yield (
            f"two repositories or projects: {old.project_id}/{old.repository_id} and "
            f"{new.project_id}/{new.repository_id}; their semantic ids have nothing in common"
        )
    if (old.embedding_model, old.dimension) != (new.embedding_model, new.dimension):
        yield (
            f"two embedding spaces: {old.embedding_model} ({old.dimension}) and {new.embedding_model} "
            f"({new.dimension}); every vector is another one, also of unchanged points"
        )
    stages = sorted(
        stage
        for stage in {*old.stage_versions, *new.stage_versions}
        if old.stage_versions.get(stage) != new.stage_versions.get(stage)
    )
    if stages:
        yield f"made by two versions of {', '.join(stages)}; equal sources may give different points"
    elif old.config_hash != new.config_hash and old.commit_sha == new.commit_sha:
        yield "one commit, two configurations"
