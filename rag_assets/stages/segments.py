"""Stage `segments`: the top-level symbols of every file, parsed once per (version, path, text) for all labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from rag_assets.contracts.segment import ParseHealth, Segment, SegmentedFile
from rag_assets.segmentation import segment_file
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.progress import Progress
from rag_assets.stages.rows import PARSED_FILES, SEGMENTS
from rag_assets.stages.versions import stage_version
from rag_assets.stages.workers import map_buckets
from rag_assets.stores.blobs import BlobStore
from rag_assets.stores.cache import Cache, cache_key
from rag_assets.stores.tables import digest_files, read_part, read_rows, write_part

STAGE = "segments"
PARSED = "parsed_files"
_SHOWN_FILES = 200  # rows of the parse-health table in a report
_CACHE_BATCH = 64  # files parsed between two cache writes: what a killed run loses at most


def indexed_files(build: IndexBuild, bucket: int) -> list[dict[str, Any]]:
    """The rows of discovered_files that go on, in path order."""
    return [row for row in read_rows(build.directory, "discovered_files", bucket) if row["outcome"] == "indexed"]


def segment_files(build: IndexBuild, progress: Progress) -> StageReport:
    """Segments every discovered file. No file is lost: an empty one is listed with its health."""
    inputs = build.inputs_of(STAGE, "discovered_files")
    done = build.finished(STAGE, inputs)
    if done is not None:
        return done
    totals: Counter[str] = Counter()
    health: Counter[str] = Counter()
    unclean: list[dict[str, Any]] = []
    parts: list[Path] = []
    progress.begin(STAGE, build.required("discovered_files").counts["indexed"], "files")
    for made in map_buckets(_segment_bucket, build, sizes=_text_sizes(build)):
        totals.update(made.totals)
        health.update(made.health)
        unclean += made.unclean[: _SHOWN_FILES - len(unclean)]
        parts += made.parts
        progress.advance(made.health.total())
    progress.end(f"{totals['segments']} segments; {totals['parsed']} files parsed, {totals['from_cache']} from cache")
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        output=digest_files(parts, build.directory),
        counts={
            "segments": totals["segments"],
            **{f"health_{name.replace('-', '_')}": health[name] for name in sorted(health)},
        },
        work={"parsed": totals["parsed"], "from_cache": totals["from_cache"]},
        tables={
            "parse health": [{"health": name, "files": count} for name, count in sorted(health.items())],
            "files not parsed cleanly": unclean,
        },
    )
    return build.finish(report)


def _text_sizes(build: IndexBuild) -> list[int]:
    """Bytes of source per bucket."""
    columns = (read_part(build.directory, "discovered_files", bucket, ["size_bytes"]) for bucket in build.buckets)
    return [sum(table.column("size_bytes").to_pylist()) for table in columns]


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What segmenting one bucket gave."""

    parts: list[Path]
    totals: Counter[str]
    health: Counter[str]
    unclean: list[dict[str, Any]]


def _segment_bucket(build: IndexBuild, bucket: int) -> _Bucket:
    """Segments the files of one bucket and writes its parts. Runs in a worker process."""
    totals: Counter[str] = Counter()
    rows = indexed_files(build, bucket)
    with Cache(build.home.cache, STAGE) as cache:
        segmented = _segmented(build, cache, rows, totals)
    totals["segments"] = sum(len(file.segments) for file in segmented)
    unclean = [
        {"path": row["path"], "health": file.health.value, "detail": file.detail}
        for row, file in zip(rows, segmented, strict=True)
        if file.health not in (ParseHealth.OK, ParseHealth.NO_GRAMMAR)
    ]
    parts = _write_bucket(build, bucket, rows, segmented)
    return _Bucket(parts, totals, Counter(file.health.value for file in segmented), unclean)


def _segmented(
    build: IndexBuild, cache: Cache, rows: list[dict[str, Any]], totals: Counter[str]
) -> list[SegmentedFile]:
    """The segments of each row, from the cache where it has them."""
    blobs = BlobStore(build.home.blobs)
    keys = [segment_key(row["language"], row["path"], row["text_sha256"]) for row in rows]
    found = {key: msgspec.msgpack.decode(value, type=SegmentedFile) for key, value in cache.get_many(keys).items()}
    missing = [(key, row) for key, row in zip(keys, rows, strict=True) if key not in found]
    totals["parsed"] += len(missing)
    totals["from_cache"] += len(rows) - len(missing)
    for start in range(0, len(missing), _CACHE_BATCH):
        made = []
        for key, row in missing[start : start + _CACHE_BATCH]:
            found[key] = segment_file(blobs.get(row["text_sha256"]), row["path"], row["language"])
            made.append((key, msgspec.msgpack.encode(found[key])))
        cache.put_many(made)
    return [found[key] for key in keys]


def segment_key(language: str, path: str, text_sha256: str) -> bytes:
    """Where the cache has the segments that this version makes of a file."""
    return cache_key(STAGE, stage_version(STAGE), language, path, text_sha256)


def _write_bucket(
    build: IndexBuild, bucket: int, rows: list[dict[str, Any]], segmented: list[SegmentedFile]
) -> list[Path]:
    parsed = {
        "path": [row["path"] for row in rows],
        "health": [file.health.value for file in segmented],
        "detail": [file.detail for file in segmented],
        "masked": [list(file.masked) for file in segmented],
        "segments": [len(file.segments) for file in segmented],
    }
    pairs: list[tuple[str, Segment]] = [
        (row["path"], segment) for row, file in zip(rows, segmented, strict=True) for segment in file.segments
    ]
    columns = {
        "path": [path for path, _ in pairs],
        "ordinal": [segment.ordinal for _, segment in pairs],
        "symbol": [segment.symbol for _, segment in pairs],
        "symbol_type": [segment.kind for _, segment in pairs],
        "language": [segment.language for _, segment in pairs],
        "line_start": [segment.span.line_start for _, segment in pairs],
        "line_end": [segment.span.line_end for _, segment in pairs],
        "char_start": [segment.span.char_start for _, segment in pairs],
        "char_end": [segment.span.char_end for _, segment in pairs],
        "segment": [msgspec.json.encode(segment) for _, segment in pairs],
    }
    return [
        write_part(build.directory, PARSED, bucket, PARSED_FILES, parsed),
        write_part(build.directory, STAGE, bucket, SEGMENTS, columns),
    ]


def read_segments(build: IndexBuild, bucket: int) -> dict[str, list[Segment]]:
    """Path → its segments in text order."""
    found: dict[str, list[Segment]] = {}
    for row in read_rows(build.directory, STAGE, bucket, ["path", "segment"]):
        found.setdefault(row["path"], []).append(msgspec.json.decode(row["segment"], type=Segment))
    return found
