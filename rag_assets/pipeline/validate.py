"""Compares every stored point that a label serves with IDX-025, IDX-069 and IDX-070, store by store, as whoever reads
the shard, the server or the database without us would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from rag_assets.contracts.identity import content_hash, normalized_content
from rag_assets.contracts.point_validation import PointValidator, RawPoint, RuleVerdict
from rag_assets.index.artifacts import ArtifactStore
from rag_assets.index.blobs import BlobError, BlobStore
from rag_assets.index.catalog import open_catalog
from rag_assets.index.generations import Generation, active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.parquet_parts import read_part
from rag_assets.index.vectors.raw_points import raw_points
from rag_assets.settings import Settings

_DOCUMENTS = 64  # in memory: the points of a file are not next to each other in a store


@dataclass(frozen=True, slots=True)
class StoreVerdicts:
    """What a store has and breaks; `declared` is how many points the generation should have there."""

    store: str
    points: int
    declared: int
    verdicts: tuple[RuleVerdict, ...]

    @property
    def violations(self) -> int:
        return sum(verdict.violations for verdict in self.verdicts) + abs(self.declared - self.points)


@dataclass(frozen=True, slots=True)
class Validation:
    """All stores of what a label serves."""

    label: str
    generation_id: str
    stores: tuple[StoreVerdicts, ...]

    @property
    def violations(self) -> int:
        return sum(store.violations for store in self.stores)


def validate(home: IndexHome, settings: Settings, label: str) -> Validation:
    """Reads what is served from its vector store, and from the catalog where there is one. Raises GenerationError,
    VectorStoreError, CatalogError or TableDamaged for what cannot be read."""
    generation = active_generation(home, label)
    artifacts = _Artifacts(home, generation, range(generation.manifest.bucket_count))
    name, points = raw_points(generation.vectors)
    stores = [_compared(name, points, generation.manifest.counts["points"], artifacts)]
    if settings.stores.catalog != "none":
        from rag_assets.index.catalog.history import Tenant
        from rag_assets.index.catalog.reader import raw_points as rows

        manifest = generation.manifest
        with open_catalog(settings) as database:
            stored = rows(database, Tenant(manifest.org_id, manifest.project_id, label))
            stores.append(_compared(f"catalog, {database.location.name}", stored, stores[0].declared, artifacts))
    return Validation(label, generation.manifest.generation_id, tuple(stores))


def validate_buckets(
    home: IndexHome, generation: Generation, buckets: Sequence[int], known: Mapping[int, Path]
) -> StoreVerdicts:
    """The same for the points of some buckets, of a vector store beside the index: what is in no bucket is not looked
    for. `known` are folders of generations with the bucket, whose points were right: files that have the same there are
    left out. Raises VectorStoreError or TableDamaged."""
    ids: set[str] = set()
    for bucket in buckets:
        now = _points_of_files(generation.directory, bucket)
        before = _points_of_files(known[bucket], bucket) if bucket in known else {}
        ids.update(*(points for path, points in now.items() if points != before.get(path)))
    name, points = raw_points(generation.vectors, ids)
    return _compared(name, points, len(ids), _Artifacts(home, generation, buckets))


def _points_of_files(directory: Path, bucket: int) -> dict[str, dict[str, str]]:
    """Path → id → digest."""
    table = read_part(directory, "qdrant_points", bucket, ["path", "point_id", "digest"])
    found: dict[str, dict[str, str]] = {}
    for path, point, digest in zip(*(column.to_pylist() for column in table.columns), strict=True):
        found.setdefault(path, {})[point] = digest
    return found


def _compared(name: str, points: Iterable[RawPoint], declared: int, artifacts: _Artifacts) -> StoreVerdicts:
    rules = PointValidator(artifacts.problem)
    for point in points:
        rules.add(point)
    return StoreVerdicts(name, rules.points, declared, tuple(rules.verdicts()))


class _Artifacts:
    """Whether the addresses in a payload lead to the recorded texts."""

    def __init__(self, home: IndexHome, generation: Generation, buckets: Iterable[int]) -> None:
        self._store = ArtifactStore(home, generation)
        self._buckets = buckets
        self._blobs = BlobStore(home.blobs)
        self._document = lru_cache(maxsize=_DOCUMENTS)(self._read)

    def problem(self, payload: Mapping[str, Any]) -> str | None:
        text = self._document(str(payload.get("BlobVersionId", "")))
        if text is None:
            return "its document cannot be read"
        start, end = payload.get("CharStart"), payload.get("CharEnd")
        if content_hash(text[start:end]) != payload.get("SourceSha256"):
            return "the slice of its document is not the recorded text"
        content = normalized_content(text[start:end])
        if (content_hash(content), len(content)) != (payload.get("ContentHash"), payload.get("ContentLenChars")):
            return "ContentHash or ContentLenChars are not those of its slice"
        if payload.get("DescriptionBlobUri") not in self._described:
            return "its description cannot be read"
        return None

    @cached_property
    def _described(self) -> frozenset[str]:
        return frozenset(self._store.description_uris(self._buckets))

    def _read(self, address: str) -> str | None:
        try:
            return self._blobs.get(address)
        except (BlobError, ValueError):
            return None
