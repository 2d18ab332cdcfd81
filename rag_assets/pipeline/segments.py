"""Stage `segments`: the top-level symbols of every file, parsed once per (version, path, text) for all labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from rag_assets.contracts.identity import cache_key
from rag_assets.contracts.segment import ParseHealth, Segment, SegmentedFile
from rag_assets.index.blobs import BlobStore
from rag_assets.index.parquet_parts import read_part, read_rows, write_part
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.discovered_files import rows_of_files
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, ItemMemo, recorded, stage_memo
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.schemas import PARSED_FILES, SEGMENTS
from rag_assets.pipeline.versions import stage_version
from rag_assets.pipeline.workers.file_guard import FileGuard, Refusal
from rag_assets.segmentation import segment_file
from rag_assets.serialization import from_json

STAGE = "segments"
PARSED = "parsed_files"
_SHOWN_FILES = 200  # rows of the parse-health table in a report


def indexed_files(build: IndexBuild, bucket: int) -> list[dict[str, Any]]:
    """The rows of discovered_files that go on, in path order."""
    return [row for row in read_rows(build.directory, "discovered_files", bucket) if row["outcome"] == "indexed"]


@stage_memo(STAGE, "discovered_files")
def segment_files(build: IndexBuild, progress: Progress) -> StageReport:
    """Segments every discovered file. No file is lost: an empty one is listed with its health."""
    discovered = build.required("discovered_files")
    totals: Counter[str] = Counter()
    health: Counter[str] = Counter()
    unclean: list[dict[str, Any]] = []
    parts: list[CachedBucket[_Bucket]] = []
    progress.begin(STAGE, discovered.counts["indexed"], "files")
    keys = [_BUCKETS.key(files) for files in discovered.parts]
    for part in _BUCKETS.map(build, keys, _segment_bucket, sizes=partial(_text_size, build)):
        made = part.result
        parsed = 0 if part.reused else made.parsed
        totals.update(segments=made.segments, parsed=parsed, from_cache=made.files - parsed)
        health.update(made.health)
        unclean += made.unclean[: _SHOWN_FILES - len(unclean)]
        parts.append(part)
        progress.advance(made.files)
    progress.end(f"{totals['segments']} segments; {totals['parsed']} files parsed, {totals['from_cache']} from cache")
    return StageReport(
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


def _text_size(build: IndexBuild, bucket: int) -> int:
    """Bytes of source."""
    return sum(read_part(build.directory, "discovered_files", bucket, ["size_bytes"]).column("size_bytes").to_pylist())


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What segmenting one bucket gave."""

    files: int
    parsed: int
    segments: int
    health: dict[str, int]
    unclean: list[dict[str, str]]


def _segment_bucket(build: IndexBuild, bucket: int, guard: FileGuard) -> _Bucket:
    """Segments the files of one bucket and writes its parts. Runs in a worker process."""
    rows = indexed_files(build, bucket)
    segmented, parsed = _segmented(build, rows, guard)
    _write_bucket(build, bucket, rows, segmented)
    return _Bucket(
        files=len(rows),
        parsed=parsed,
        segments=sum(len(file.segments) for file in segmented),
        health=Counter(file.health.value for file in segmented),
        unclean=[
            {"path": row["path"], "health": file.health.value, "detail": file.detail}
            for row, file in zip(rows, segmented, strict=True)
            if file.health not in (ParseHealth.OK, ParseHealth.BY_PATTERNS, ParseHealth.NO_GRAMMAR)
        ],
    )


_BUCKETS = BucketMemo(STAGE, _Bucket, (PARSED, STAGE), files=True)


def _segmented(build: IndexBuild, rows: list[dict[str, Any]], guard: FileGuard) -> tuple[list[SegmentedFile], int]:
    """The segments of each row, and how many files had to be parsed."""
    blobs = BlobStore(build.home.blobs)

    def segment(row: int) -> SegmentedFile | Refusal:
        file = rows[row]
        path, text_sha256 = file["path"], file["text_sha256"]
        text = blobs.get(text_sha256)
        return guard.run(path, text_sha256, lambda: segment_file(text, path, file["language"]))

    with _SEGMENTS.open(build.home) as memo:
        found = list(memo.each([file_key(STAGE, row) for row in rows], segment))
    segmented = [
        SegmentedFile((), ParseHealth.REFUSED, made.detail) if isinstance(made, Refusal) else made for made, _ in found
    ]
    return segmented, sum(is_new for _, is_new in found)


def file_key(stage: str, row: Mapping[str, str]) -> bytes:
    """The key of what this version of a stage makes of one file alone; `row` is that of discovered_files."""
    return cache_key(stage, stage_version(stage), row["language"], row["path"], row["text_sha256"])


def used_file_keys(stage: str, directory: Path) -> Iterator[bytes]:
    """The keys of all indexed files of the generation in a folder. Raises TableDamaged."""
    for row in rows_of_files(directory, ["language", "path", "text_sha256"]):
        if row["text_sha256"]:
            yield file_key(stage, row)


_SEGMENTS = ItemMemo(STAGE, SegmentedFile, partial(used_file_keys, STAGE))


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
