"""Stage `qdrant_points`: validated points, and the vector shard of the generation made of exactly these."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from rag_assets.contracts.description import RagPoint
from rag_assets.contracts.identity import content_hash
from rag_assets.contracts.payload import NO_DOMAIN
from rag_assets.contracts.result import InvokeResult
from rag_assets.index.catalog import open_catalog_target
from rag_assets.index.generation_files import damaged_files
from rag_assets.index.generations import GenerationError, active_pointer, read_generation
from rag_assets.index.keyword.bm25f import SparseRows
from rag_assets.index.parquet_parts import read_part, read_rows, write_part
from rag_assets.index.vectors import has_vectors, open_writer
from rag_assets.index.vectors.vector_api import DeclaredPoints, PointTarget, StoredPoint, bring_to
from rag_assets.models.lexical_only import MODEL_ID as LEXICAL_ONLY
from rag_assets.pipeline.bm25_artifacts import read_weights
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.descriptions import read_descriptions
from rag_assets.pipeline.embeddings import read_vectors
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, bucket_inputs, recorded, stage_memo
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.schemas import POINTS
from rag_assets.pipeline.summary_sections import SectionRow, read_sections
from rag_assets.pipeline.versions import descriptions_version, stage_version
from rag_assets.pipeline.workers.process_pool import release_memory
from rag_assets.pipeline.workers.worker_pool import map_buckets

if TYPE_CHECKING:
    from rag_assets.contracts.embedder import Vectors

STAGE = "qdrant_points"
SHARD = "shard"
_SHOWN_PROBLEMS = 200
_INPUTS = ("descriptions", "summary_sections", "embeddings", "bm25_artifacts")
_UPSERT_BATCH = 1_000  # points in memory between two upserts


@stage_memo(STAGE, "summary_sections", "embeddings", "bm25_artifacts")
def build_points(build: IndexBuild, progress: Progress) -> StageReport:
    """Builds, validates and stores the points. A point with errors is left out and listed (B16); warnings are
    counted by rule. The store gets the difference to what an earlier generation of the label has there."""
    dimension = build.required("embeddings").counts["dimension"]
    warnings: Counter[str] = Counter()
    problems: list[str] = []
    made: list[CachedBucket[_Bucket]] = []

    def declared(parts: Iterator[CachedBucket[_Bucket]]) -> Iterator[DeclaredPoints]:
        for bucket, part in enumerate(parts):
            made.append(part)
            yield _declared(build, bucket)
            progress.advance(part.result.points + part.result.blocked)

    progress.begin(STAGE, build.required("summary_sections").counts["sections"], "points")
    parts = point_parts(build)  # a worker begins while the store of before is copied
    found = bring_to(_targets(build, dimension), declared(parts))
    release_memory()  # what the engine had
    for part in made:
        warnings.update(part.result.warnings)
        problems += part.result.problems[: _SHOWN_PROBLEMS - len(problems)]
    points, blocked = (sum(getattr(part.result, name) for part in made) for name in ("points", "blocked"))
    if not build.repository.domains and warnings[NO_DOMAIN] == points:  # nobody uses domains here
        del warnings[NO_DOMAIN]
    progress.end(f"{points} points, {blocked} blocked; {len(found.upserts)} stored, {len(found.deletes)} deleted")
    return StageReport(
        **recorded(STAGE, made),
        counts={"points": points, "blocked": blocked, "warnings": warnings.total()},
        work={"upserted": len(found.upserts), "deleted": len(found.deletes)},
        tables={
            "warnings by rule": [{"rule": rule, "points": count} for rule, count in sorted(warnings.items())],
        },
        problems=problems,
    )


def point_parts(build: IndexBuild, passing: Collection[int] = ()) -> Iterator[CachedBucket[_Bucket]]:
    """Every part in bucket order; those of the buckets `passing` are neither looked for nor kept."""
    identity = _identity(build)
    discovered = build.required("discovered_files").part_keys["discovered_files"]  # with the commits of files
    inputs = zip(discovered, bucket_inputs(build, *_INPUTS), strict=True)
    keys = [_BUCKETS.key(identity, files, *parts) for files, parts in inputs]
    made = map_buckets(_point_bucket, build, buckets=sorted(passing))
    known = {bucket: CachedBucket("", result, "", False) for bucket, result in zip(sorted(passing), made, strict=True)}
    known |= _BUCKETS.cached(build, [None if at in passing else key for at, key in enumerate(keys)])
    return _BUCKETS.map(build, keys, _point_bucket, known=known)


def _targets(build: IndexBuild, dimension: int) -> list[PointTarget]:
    """Where the points go, in order: what can be read as text is kept before what is only searched (E05)."""
    owner = {
        "org_id": build.repository.org,
        "project_id": build.repository.project_id,
        "index_label": build.spec.index_label,
        "generation_id": build.spec.generation_id,
    }
    catalog = open_catalog_target(build.settings, **owner)
    writer = open_writer(
        build.settings.stores,
        build.directory / SHARD,
        dimension,
        embedding_model=build.spec.embedding_model,
        base=base_of(build, dimension),
        **owner,
    )
    return [writer] if catalog is None else [catalog, writer]


def base_of(build: IndexBuild, dimension: int) -> Path | None:
    """The vector folder of the generation to begin with: the active one, if its points have the same form."""
    if build.spec.fresh:
        return None
    label = build.spec.index_label
    pointer = active_pointer(build.home, label)
    try:
        earlier = read_generation(build.home, label, pointer.generation_id) if pointer else None
    except GenerationError:
        return None
    if earlier is None:
        return None
    known = earlier.manifest
    same = (known.embedding_model, known.dimension, known.stage_versions.get(STAGE)) == (
        build.spec.embedding_model,
        dimension,
        stage_version(STAGE),
    )
    whole = same and has_vectors(earlier.vectors) and next(damaged_files(earlier.directory, f"{SHARD}/"), None) is None
    return earlier.vectors if whole else None


def _identity(build: IndexBuild) -> str:
    """What points are made of beside the tables: whose they are, and which classes of descriptions made them."""
    spec, repository = build.spec, build.repository
    owner = (repository.org, repository.organisation_namespace, repository.project_id, repository.id)
    levels = json.dumps([repository.confidentiality, repository.confidential_paths], sort_keys=True)
    made_by = (descriptions_version(), spec.embedding_model, str(repository.require_business_domain))
    return "\n".join((*owner, levels, spec.index_label, spec.git.branch, spec.git.remote_url, *made_by))


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What building the points of one bucket gave."""

    points: int
    blocked: int
    warnings: dict[str, int]
    problems: list[str]


_BUCKETS = BucketMemo(STAGE, _Bucket, (STAGE,))


def _point_bucket(build: IndexBuild, bucket: int) -> _Bucket:
    """Builds and validates the points of one bucket and writes their part. Runs in a worker process."""
    warnings: Counter[str] = Counter()
    problems: list[str] = []
    rows: list[dict[str, Any]] = []
    results = 0
    weights = read_weights(build, bucket)
    for found, result in _points(build, bucket):
        results += 1
        warnings.update(warning.code for warning in result.warnings)
        if result.value is not None:
            rows.append(_row(result.value, found, weights))
        elif len(problems) < _SHOWN_PROBLEMS:
            problems.extend(f"{found.path} {found.section.symbol}: {error}" for error in result.errors)
    columns = {name: [row[name] for row in rows] for name in POINTS.names}
    write_part(build.directory, STAGE, bucket, POINTS, columns)
    return _Bucket(len(rows), results - len(rows), warnings, problems)


def _points(build: IndexBuild, bucket: int) -> Iterator[tuple[SectionRow, InvokeResult[RagPoint]]]:
    """Every section of a bucket with its point, or with the reason why there is none."""
    embedder = _Embedded(build, bucket)
    descriptions = {row: description for row, _, description in read_descriptions(build, bucket)}
    for description_row, group in groupby(read_sections(build, bucket), key=lambda found: found.description_row):
        rows = list(group)
        description = descriptions[description_row].use_sections([found.section for found in rows])
        description.require_domain(build.repository.require_business_domain)
        embedded = description.create_embeddings(embedder)
        for found, result in zip(rows, description.build_rag_points(), strict=True):
            if result.value is None and embedded.errors:
                result = InvokeResult.failure([*embedded.errors, *result.errors], result.warnings)
            yield found, result


class _Embedded:
    """The embedder of the stage before: it has computed the texts of a bucket, and gives out what it has (A28, A29)."""

    def __init__(self, build: IndexBuild, bucket: int) -> None:
        texts = read_part(build.directory, "summary_sections", bucket, ["finder_snippet"]).column(0).to_pylist()
        self._vectors = read_vectors(build, bucket)
        self._rows = {text: row for row, text in enumerate(texts)}
        self.model_id = build.spec.embedding_model

    @property
    def dimension(self) -> int:
        return int(self._vectors.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises ValueError for a text that was not embedded."""
        lost = [text for text in texts if text not in self._rows]
        if lost:
            raise ValueError(f"it has no vector of {lost[0]!r}; run: rag-assets index --force")
        return self._vectors[[self._rows[text] for text in texts]]


def _declared(build: IndexBuild, bucket: int) -> DeclaredPoints:
    """The points of a written part: the store is made of the tables alone (R8)."""
    table = read_part(build.directory, STAGE, bucket, ["point_id", "digest"])
    digests = dict(zip(table.column("point_id").to_pylist(), table.column("digest").to_pylist(), strict=True))
    return DeclaredPoints(digests, partial(_stored_points, build, bucket))


def _stored_points(build: IndexBuild, bucket: int, wanted: Collection[str]) -> Iterator[list[StoredPoint]]:
    """The wanted points of a bucket with their vectors, in batches. Without a model there are none, and none
    of a text whose words the model does not know: equal vectors rank nothing."""
    vectors = None if build.spec.embedding_model == LEXICAL_ONLY else read_vectors(build, bucket)
    weights = read_weights(build, bucket)
    columns = ["point_id", "section_row", "payload", "digest"]
    rows = [row for row in read_rows(build.directory, STAGE, bucket, columns) if row["point_id"] in wanted]
    for start in range(0, len(rows), _UPSERT_BATCH):
        yield [
            StoredPoint(
                row["point_id"],
                _known(vectors, row["section_row"]),
                weights[row["section_row"]],
                msgspec.json.decode(row["payload"]),
                row["digest"],
            )
            for row in rows[start : start + _UPSERT_BATCH]
        ]


def _known(vectors: Vectors | None, row: int) -> Vectors | None:
    return None if vectors is None or not vectors[row].any() else vectors[row]


def _row(point: RagPoint, found: SectionRow, weights: SparseRows) -> dict[str, Any]:
    stored = point.payload.to_qdrant_point(point.point_id, point.vector)
    encoded = msgspec.json.encode(stored.payload)
    indices, values = weights[found.row]
    dense = np.asarray(stored.vector, dtype=np.float32)
    digest = hashlib.blake2b(digest_size=16)
    for part in (dense.tobytes(), indices.tobytes(), values.tobytes(), encoded):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return {
        "point_id": point.point_id,
        "semantic_id": point.payload.semantic_id,
        "path": point.payload.path,
        "content_hash": point.payload.content_hash,
        "text_hash": content_hash(f"{point.payload.finder_snippet}\n\n{found.section.source_text}"),
        "digest": digest.hexdigest(),
        "slice_uri": point.payload.source_slice_blob_uri,
        "description_uri": point.payload.description_blob_uri,
        "section_row": found.row,
        "payload": encoded,
    }
