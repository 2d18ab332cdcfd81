"""Stage `bm25_artifacts`: BM25F statistics of the label, and one sparse weight vector per section."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.progress import Progress
from rag_assets.stages.rows import KEYWORD_WEIGHTS
from rag_assets.stages.segments import indexed_files
from rag_assets.stages.versions import stage_version
from rag_assets.stages.workers import Broadcast, broadcast, map_buckets, part_sizes
from rag_assets.stores.blobs import BlobStore
from rag_assets.stores.keyword.bm25f import SparseRows, merge_statistics, statistics_of, term_indices, weights
from rag_assets.stores.keyword.counts import TermCounts, count_terms
from rag_assets.stores.keyword.vocabulary import write_vocabulary
from rag_assets.stores.tables import digest_files, read_part, read_rows, write_part

if TYPE_CHECKING:
    from rag_assets.stores.keyword.bm25f import KeywordStatistics

STAGE = "bm25_artifacts"
KEYWORD = "keyword"
_COUNTS = "keyword_counts"  # first-pass counts, on disk so that memory holds one bucket; removed at the end


def build_keyword_weights(build: IndexBuild, progress: Progress) -> StageReport:
    """Counts the terms of every section, then weighs them with the statistics of the whole label."""
    inputs = build.inputs_of(STAGE, "summary_sections")
    done = build.finished(STAGE, inputs)
    if done is not None:
        return done
    progress.begin(STAGE, build.required("summary_sections").counts["sections"], "sections")
    counted = build.directory / _COUNTS
    if counted.exists():
        shutil.rmtree(counted)
    counted.mkdir(parents=True)
    statistics = []
    for found in map_buckets(_count_bucket, build, counted, sizes=part_sizes(build, "summary_sections")):
        statistics.append(found)
        progress.advance(found.sections)
    merged = merge_statistics(statistics)
    indices = term_indices(merged.document_frequencies)
    keyword = build.directory / KEYWORD
    keyword.mkdir(exist_ok=True)
    write_vocabulary(keyword, merged, indices)
    with broadcast(build, (merged, indices)) as label:
        parts = list(map_buckets(_weigh_bucket, build, counted, label))
    shutil.rmtree(counted)
    files = [*parts, *(path for path in keyword.iterdir() if path.is_file())]
    progress.end(f"{len(indices)} terms")
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        output=digest_files(files, build.directory),
        counts={
            "sections": merged.sections,
            "terms": len(indices),
            **{f"{name}_terms": total for name, total in merged.total_lengths.items()},
        },
    )
    return build.finish(report)


def keyword_fields(build: IndexBuild, bucket: int) -> Iterator[dict[str, str]]:
    """The texts of the keyword fields of every section of a bucket (see `rag_assets.stores.keyword.fields`)."""
    blobs = BlobStore(build.home.blobs)
    texts = {row["path"]: row["text_sha256"] for row in indexed_files(build, bucket)}
    columns = ["path", "names", "finder_snippet", "char_start", "char_end"]
    path = text = ""
    for row in read_rows(build.directory, "summary_sections", bucket, columns):
        if row["path"] != path:  # the sections of a file follow each other
            path, text = row["path"], blobs.get(texts[row["path"]])
        yield {
            "names": " ".join(row["names"]),
            "path": path,
            "snippet": row["finder_snippet"],
            "body": text[row["char_start"] : row["char_end"]],
        }


def _count_bucket(build: IndexBuild, bucket: int, folder: Path) -> KeywordStatistics:
    """Counts the terms of one bucket into a file of `folder`. Runs in a worker process."""
    counts = count_terms(keyword_fields(build, bucket))
    np.savez(
        folder / f"{bucket:03d}.npz",
        offsets=counts.offsets,
        terms=counts.terms,
        frequencies=counts.frequencies,
        lengths=counts.lengths,
        fields=np.array(counts.fields),
        vocabulary=np.frombuffer("\n".join(counts.vocabulary).encode(), dtype=np.uint8),  # terms hold no line breaks
    )
    return statistics_of(counts)


def _load_counts(folder: Path, bucket: int) -> TermCounts:
    with np.load(folder / f"{bucket:03d}.npz") as found:
        vocabulary = found["vocabulary"].tobytes().decode()
        return TermCounts(
            fields=tuple(str(name) for name in found["fields"]),
            vocabulary=tuple(vocabulary.split("\n")) if vocabulary else (),
            offsets=found["offsets"],
            terms=found["terms"],
            frequencies=found["frequencies"],
            lengths=found["lengths"],
        )


def _weigh_bucket(
    build: IndexBuild, bucket: int, folder: Path, label: Broadcast[tuple[KeywordStatistics, dict[str, int]]]
) -> Path:
    """Weighs the counted terms of one bucket with what is known of the label. Runs in a worker process."""
    return _write(build, bucket, weights(_load_counts(folder, bucket), *label.value))


def _write(build: IndexBuild, bucket: int, rows: SparseRows) -> Path:
    offsets = pa.array(rows.offsets, type=pa.int32())
    columns = {
        "indices": pa.ListArray.from_arrays(offsets, pa.array(rows.indices, type=pa.uint32())),
        "values": pa.ListArray.from_arrays(offsets, pa.array(rows.values, type=pa.float32())),
    }
    return write_part(build.directory, STAGE, bucket, KEYWORD_WEIGHTS, columns)


def read_weights(build: IndexBuild, bucket: int) -> SparseRows:
    """The sparse vectors of a bucket, in the order of its sections."""
    table = read_part(build.directory, STAGE, bucket)
    indices = table.column("indices").combine_chunks()
    values = table.column("values").combine_chunks()
    return SparseRows(
        offsets=indices.offsets.to_numpy().astype(np.int64),
        indices=indices.values.to_numpy(),
        values=values.values.to_numpy(),
    )
