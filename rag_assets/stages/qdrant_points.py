"""Stage `qdrant_points`: validated points, and the vector shard of the generation made of exactly these."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rag_assets.contracts.description import RagPoint
from rag_assets.contracts.result import InvokeResult
from rag_assets.models.lexical import MODEL_ID as LEXICAL_ONLY
from rag_assets.stages.bm25_artifacts import read_weights
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.descriptions import read_descriptions
from rag_assets.stages.embeddings import read_vectors
from rag_assets.stages.progress import Progress
from rag_assets.stages.rows import POINTS
from rag_assets.stages.summary_sections import SectionRow, read_sections
from rag_assets.stages.versions import stage_version
from rag_assets.stages.workers import map_buckets
from rag_assets.stores.points import StoredPoint
from rag_assets.stores.tables import digest_files, read_rows, write_part
from rag_assets.stores.vector_store import open_writer

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
    dimension = build.required("embeddings").counts["dimension"]
    warnings: Counter[str] = Counter()
    problems: list[str] = []
    blocked = stored = 0
    parts: list[Path] = []
    progress.begin(STAGE, build.required("summary_sections").counts["sections"], "points")
    searchable = 0 if build.spec.embedding_model == LEXICAL_ONLY else dimension  # equal vectors rank nothing
    writer = open_writer(
        build.settings.stores,
        build.directory / SHARD,
        searchable,
        embedding_model=build.spec.embedding_model,
        org_id=build.repository.org,
        project_id=build.repository.project_id,
        index_label=build.spec.index_label,
        generation_id=build.spec.generation_id,
    )
    for bucket, made in enumerate(map_buckets(_point_bucket, build, dimension)):
        for batch in _stored_points(build, bucket, dimension):
            writer.upsert(batch)
            stored += len(batch)
            progress.advance(len(batch))
        parts.append(made.part)
        warnings.update(made.warnings)
        problems += made.problems[: _SHOWN_PROBLEMS - len(problems)]
        blocked += made.blocked
        progress.advance(made.blocked)
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


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What building the points of one bucket gave."""

    part: Path
    warnings: Counter[str]
    problems: list[str]
    blocked: int


def _point_bucket(build: IndexBuild, bucket: int, dimension: int) -> _Bucket:
    """Builds and validates the points of one bucket and writes their part. Runs in a worker process."""
    warnings: Counter[str] = Counter()
    problems: list[str] = []
    rows: list[dict[str, Any]] = []
    results = 0
    for found, result in _points(build, bucket, dimension):
        results += 1
        warnings.update(warning.code for warning in result.warnings)
        if result.value is not None:
            rows.append(_row(result.value, found.row))
        elif len(problems) < _SHOWN_PROBLEMS:
            problems.extend(f"{found.path} {found.section.symbol}: {error}" for error in result.errors)
    columns = {name: [row[name] for row in rows] for name in POINTS.names}
    part = write_part(build.directory, STAGE, bucket, POINTS, columns)
    return _Bucket(part, warnings, problems, results - len(rows))


def _points(build: IndexBuild, bucket: int, dimension: int) -> Iterator[tuple[SectionRow, InvokeResult[RagPoint]]]:
    """Every section of a bucket with its point, or with the reason why there is none."""
    vectors = read_vectors(build, bucket, dimension)
    descriptions = {row: description for row, _, description in read_descriptions(build, bucket)}
    for description_row, group in groupby(read_sections(build, bucket), key=lambda found: found.description_row):
        rows = list(group)
        for found in rows:
            found.section.vectors = vectors[found.row]
            found.section.embedding_model = build.spec.embedding_model
        description = descriptions[description_row].use_sections([found.section for found in rows])
        yield from zip(rows, description.build_rag_points(), strict=True)


def _stored_points(build: IndexBuild, bucket: int, dimension: int) -> Iterator[list[StoredPoint]]:
    """The points of a written part with their vectors, in batches: the shard is made of the tables alone (R8)."""
    vectors = read_vectors(build, bucket, dimension)
    weights = read_weights(build, bucket)
    rows = read_rows(build.directory, STAGE, bucket, ["point_id", "section_row", "payload"])
    for start in range(0, len(rows), _UPSERT_BATCH):
        yield [
            StoredPoint(
                row["point_id"],
                vectors[row["section_row"]],
                weights[row["section_row"]],
                msgspec.json.decode(row["payload"]),
            )
            for row in rows[start : start + _UPSERT_BATCH]
        ]


def _row(point: RagPoint, section_row: int) -> dict[str, Any]:
    return {
        "point_id": point.point_id,
        "semantic_id": point.payload.semantic_id,
        "path": point.payload.path,
        "content_hash": point.payload.content_hash,
        "slice_uri": point.payload.source_slice_blob_uri,
        "description_uri": point.payload.description_blob_uri,
        "section_row": section_row,
        "payload": msgspec.json.encode(point.payload.to_dictionary()),
    }
