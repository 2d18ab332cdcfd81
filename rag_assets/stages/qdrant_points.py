"""Stage `qdrant_points`: validated points, and the vector shard of the generation made of exactly these."""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from rag_assets.contracts.description import RagPoint
from rag_assets.models.lexical import MODEL_ID as LEXICAL_ONLY
from rag_assets.stages.bm25_artifacts import read_weights
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.descriptions import read_descriptions
from rag_assets.stages.embeddings import read_vectors
from rag_assets.stages.progress import Progress
from rag_assets.stages.rows import POINTS
from rag_assets.stages.summary_sections import SectionRow, read_sections
from rag_assets.stages.versions import stage_version
from rag_assets.stores.tables import digest_files, write_part
from rag_assets.stores.vectors import ShardWriter, StoredPoint

if TYPE_CHECKING:
    from collections.abc import Iterator

STAGE = "qdrant_points"
SHARD = "shard"
_SHOWN_PROBLEMS = 200
_UPSERT_BATCH = 1_000  # points in memory between two upserts


def build_points(build: IndexBuild, progress: Progress) -> StageReport:
    """Builds, validates and stores the points. A point with errors is left out and listed (B16); warnings are
    counted by rule. The shard is written anew: a half-written one of a killed run is replaced."""
    inputs = build.inputs_of(STAGE, "summary_sections", "embeddings", "bm25_artifacts")
    done = build.finished(STAGE, inputs)
    if done is not None:
        return done
    shard = build.directory / SHARD
    if shard.exists():
        shutil.rmtree(shard)
    dimension = build.required("embeddings").counts["dimension"]
    warnings: Counter[str] = Counter()
    problems: list[str] = []
    blocked = stored = 0
    parts: list[Path] = []
    progress.begin(STAGE, build.required("summary_sections").counts["sections"], "points")
    searchable = 0 if build.spec.embedding_model == LEXICAL_ONLY else dimension  # equal vectors rank nothing
    writer = ShardWriter(shard, searchable, hnsw_from_points=build.settings.stores.hnsw_from_points)
    for bucket in build.buckets:
        rows: list[dict[str, Any]] = []
        batch: list[StoredPoint] = []
        for point, row, sparse, messages in _points(build, bucket, dimension, problems):
            warnings.update(messages)
            progress.advance(1)
            if point is None:
                blocked += 1
                continue
            payload = point.payload.to_dictionary()
            rows.append(_row(point, row, payload))
            batch.append(StoredPoint(point.point_id, np.asarray(point.vector), sparse, payload))
            if len(batch) >= _UPSERT_BATCH:
                writer.upsert(batch)
                batch.clear()
        writer.upsert(batch)
        stored += len(rows)
        columns = {name: [row[name] for row in rows] for name in POINTS.names}
        parts.append(write_part(build.directory, STAGE, bucket, POINTS, columns))
    writer.finish()
    progress.end(f"{stored} points stored, {blocked} blocked")
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        output=digest_files(parts, build.directory),
        counts={"points": stored, "blocked": blocked, "warnings": sum(warnings.values())},
        tables={
            "warnings by rule": [{"rule": rule, "points": count} for rule, count in sorted(warnings.items())],
        },
        problems=problems,
    )
    return build.finish(report)


Sparse = tuple["np.typing.NDArray[np.uint32]", "np.typing.NDArray[np.float32]"]


def _points(
    build: IndexBuild, bucket: int, dimension: int, problems: list[str]
) -> Iterator[tuple[RagPoint | None, int, Sparse, list[str]]]:
    """(point or None when blocked, section row, sparse vector, warning codes) of every section of a bucket."""
    vectors = read_vectors(build, bucket, dimension)
    weights = read_weights(build, bucket)
    descriptions = {row: description for row, _, description in read_descriptions(build, bucket)}
    sections = groupby(read_sections(build, bucket), key=lambda found: found.description_row)
    for description_row, group in sections:
        rows: list[SectionRow] = list(group)
        for found in rows:
            found.section.vectors = vectors[found.row]
            found.section.embedding_model = build.spec.embedding_model
        description = descriptions[description_row].use_sections([found.section for found in rows])
        for found, result in zip(rows, description.build_rag_points(), strict=True):
            if not result.successful and len(problems) < _SHOWN_PROBLEMS:
                problems.extend(f"{found.path} {found.section.symbol}: {error}" for error in result.errors)
            yield result.value, found.row, weights[found.row], [warning.code for warning in result.warnings]


def _row(point: RagPoint, section_row: int, payload: dict[str, Any]) -> dict[str, Any]:
    return {
        "point_id": point.point_id,
        "semantic_id": point.payload.semantic_id,
        "path": point.payload.path,
        "content_hash": point.payload.content_hash,
        "slice_uri": point.payload.source_slice_blob_uri,
        "description_uri": point.payload.description_blob_uri,
        "section_row": section_row,
        "payload": msgspec.json.encode(payload),
    }
