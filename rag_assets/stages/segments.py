"""Stage `segments`: the top-level symbols of every file, parsed once per (version, path, text) for all labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from rag_assets.contracts.segment import ParseHealth, Segment, SegmentedFile
from rag_assets.decoders import from_json, from_msgpack
from rag_assets.segmentation import segment_file
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.parts import Part, PartsOf, made_parts, part_key, recorded
from rag_assets.stages.progress import Progress
from rag_assets.stages.rows import PARSED_FILES, SEGMENTS
from rag_assets.stages.versions import stage_version
from rag_assets.stores.blobs import BlobStore
from rag_assets.stores.cache import Cache, cache_key
from rag_assets.stores.tables import read_part, read_rows, write_part

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
    discovered = build.required("discovered_files")
    totals: Counter[str] = Counter()
    health: Counter[str] = Counter()
    unclean: list[dict[str, Any]] = []
    parts: list[Part[_Bucket]] = []
    progress.begin(STAGE, discovered.counts["indexed"], "files")
    keys = [part_key(STAGE, files) for files in discovered.parts]
    for part in made_parts(build, _PARTS, keys, _segment_bucket, sizes=_text_sizes(build)):
        made = part.result
        parsed = 0 if part.reused else made.parsed
        totals.update(segments=made.segments, parsed=parsed, from_cache=made.files - parsed)
        health.update(made.health)
        unclean += made.unclean[: _SHOWN_FILES - len(unclean)]
        parts.append(part)
        progress.advance(made.files)
    progress.end(f"{totals['segments']} segments; {totals['parsed']} files parsed, {totals['from_cache']} from cache")
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        **recorded(STAGE, parts),
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

    files: int
    parsed: int
    segments: int
    health: dict[str, int]
    unclean: list[dict[str, str]]


def _segment_bucket(build: IndexBuild, bucket: int) -> _Bucket:
    """Segments the files of one bucket and writes its parts. Runs in a worker process."""
    rows = indexed_files(build, bucket)
    with Cache(build.home.cache, STAGE) as cache:
        segmented, parsed = _segmented(build, cache, rows)
    _write_bucket(build, bucket, rows, segmented)
    return _Bucket(
        files=len(rows),
        parsed=parsed,
        segments=sum(len(file.segments) for file in segmented),
        health=Counter(file.health.value for file in segmented),
        unclean=[
            {"path": row["path"], "health": file.health.value, "detail": file.detail}
            for row, file in zip(rows, segmented, strict=True)
            if file.health not in (ParseHealth.OK, ParseHealth.NO_GRAMMAR)
        ],
    )


_PARTS = PartsOf(STAGE, _Bucket, (PARSED, STAGE))


def _segmented(build: IndexBuild, cache: Cache, rows: list[dict[str, Any]]) -> tuple[list[SegmentedFile], int]:
    """The segments of each row, from the cache where it has them, and how many were not there."""
    blobs = BlobStore(build.home.blobs)
    keys = [segment_key(row["language"], row["path"], row["text_sha256"]) for row in rows]
    found = {key: from_msgpack(value, SegmentedFile) for key, value in cache.get_many(keys).items()}
    missing = [(key, row) for key, row in zip(keys, rows, strict=True) if key not in found]
    for start in range(0, len(missing), _CACHE_BATCH):
        made = []
        for key, row in missing[start : start + _CACHE_BATCH]:
            found[key] = segment_file(blobs.get(row["text_sha256"]), row["path"], row["language"])
            made.append((key, msgspec.msgpack.encode(found[key])))
        cache.put_many(made)
    return [found[key] for key in keys], len(missing)


def segment_key(language: str, path: str, text_sha256: str) -> bytes:
    """Where the cache has the segments that this version makes of a file."""
    return cache_key(STAGE, stage_version(STAGE), language, path, text_sha256)


def _write_bucket(build: IndexBuild, bucket: int, rows: list[dict[str, Any]], segmented: list[SegmentedFile]) -> None:
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
    write_part(build.directory, PARSED, bucket, PARSED_FILES, parsed)
    write_part(build.directory, STAGE, bucket, SEGMENTS, columns)


def read_segments(build: IndexBuild, bucket: int) -> dict[str, list[Segment]]:
    """Path → its segments in text order."""
    return {path: decoded_segments(encoded) for path, encoded in encoded_segments(build, bucket).items()}


def encoded_segments(build: IndexBuild, bucket: int) -> dict[str, list[bytes]]:
    """Path → its segments in text order, for who wants those of a few files (`decoded_segments`)."""
    found: dict[str, list[bytes]] = {}
    for row in read_rows(build.directory, STAGE, bucket, ["path", "segment"]):
        found.setdefault(row["path"], []).append(row["segment"])
    return found


def decoded_segments(encoded: Iterable[bytes]) -> list[Segment]:
    return [from_json(segment, Segment) for segment in encoded]
