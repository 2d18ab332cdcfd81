"""Stage `bm25_artifacts`: BM25F statistics of the label, one sparse weight vector per section, and what past commits
say of each file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rag_assets.index.blobs import BlobStore
from rag_assets.index.keyword import FIELDS
from rag_assets.index.keyword.bm25f import (
    KeywordStatistics,
    SparseRows,
    TermFrequencies,
    assigned_indices,
    count_terms,
    merge_statistics,
    statistics_of,
    weights,
)
from rag_assets.index.keyword.commit_subjects import write_past
from rag_assets.index.keyword.vocabulary import write_vocabulary
from rag_assets.index.tables import digest_files, lists, matrix, numbers, read_part, read_rows, to_numpy, write_part
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, bucket_inputs, recorded, stage_memo
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.schemas import KEYWORD_TERMS, KEYWORD_WEIGHTS, keyword_counts_schema
from rag_assets.pipeline.segments import indexed_files
from rag_assets.pipeline.versions import stage_version
from rag_assets.pipeline.workers.worker_pool import Broadcast, broadcast, part_sizes

STAGE = "bm25_artifacts"
KEYWORD = "keyword"
COUNTS = "keyword_counts"
TERMS = "keyword_terms"


@dataclass(frozen=True, slots=True)
class _Counted:
    """What counting one bucket gave; `lengths` are the terms per field."""

    sections: int
    lengths: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Weighed:
    sections: int


_COUNTS = BucketMemo(COUNTS, _Counted, (COUNTS, TERMS), stage_version(STAGE))
_WEIGHTS = BucketMemo(STAGE, _Weighed, (STAGE,))


@stage_memo(STAGE, "discovered_files", "summary_sections")
def build_keyword_weights(build: IndexBuild, progress: Progress) -> StageReport:
    """Counts the terms of every section, then weighs them with the statistics of the whole label."""
    progress.begin(STAGE, build.required("summary_sections").counts["sections"], "sections")
    statistics, counted, new = [], list[CachedBucket[_Counted]](), 0
    sizes = part_sizes(build, "summary_sections")
    keys = [_COUNTS.key(*made) for made in bucket_inputs(build, "discovered_files", "summary_sections")]
    for bucket, part in enumerate(_COUNTS.map(build, keys, _count_bucket, sizes=sizes)):
        statistics.append(_statistics(build, bucket, part.result))
        counted.append(part)
        new += 0 if part.reused else part.result.sections
        progress.advance(part.result.sections)
    merged = merge_statistics(statistics)
    indices, displaced = assigned_indices(merged.document_frequencies)
    keyword = build.directory / KEYWORD
    keyword.mkdir(exist_ok=True)
    write_vocabulary(keyword, merged, indices)
    past = _past(build)
    write_past(keyword, past)
    weighed = _weighed(build, counted, merged, indices, displaced)
    files = [path for path in keyword.iterdir() if path.is_file()]
    progress.end(f"{len(indices)} terms; {new} sections counted, {merged.sections - new} from cache")
    return StageReport(
        **recorded(STAGE, weighed, digest_files(files, build.directory), **{COUNTS: [part.key for part in counted]}),
        counts={
            "sections": merged.sections,
            "terms": len(indices),
            "files_with_past": len(past),
            **{f"{name}_terms": total for name, total in merged.total_lengths.items()},
        },
        work={"counted": new, "from_cache": merged.sections - new},
    )


def _past(build: IndexBuild) -> dict[str, list[str]]:
    """Path → subjects of the commits that changed the file, of the indexed files that have any."""
    columns = ["path", "outcome", "subjects"]
    rows = (row for bucket in build.buckets for row in read_rows(build.directory, "discovered_files", bucket, columns))
    return {row["path"]: row["subjects"] for row in rows if row["outcome"] == "indexed" and row["subjects"]}


def _weighed(
    build: IndexBuild,
    counted: list[CachedBucket[_Counted]],
    statistics: KeywordStatistics,
    indices: dict[str, int],
    displaced: list[str],
) -> list[CachedBucket[_Weighed]]:
    """The weights of every bucket. Of the rest of the label they know the average lengths, which are
    rounded, and which terms share a hash."""
    averages = {name: statistics.average_length(name) for name in statistics.total_lengths}
    label = json.dumps([averages, {term: indices[term] for term in displaced}], sort_keys=True)
    keys = [_WEIGHTS.key(part.digest, label) for part in counted]
    known = _WEIGHTS.cached(build, keys)
    if len(known) == len(keys):
        return [known[bucket] for bucket in build.buckets]
    with broadcast(build, (statistics, indices)) as shared:
        return list(_WEIGHTS.map(build, keys, _weigh_bucket, shared, known=known))


def keyword_fields(build: IndexBuild, bucket: int) -> Iterator[dict[str, str]]:
    """The texts of the keyword fields of every section of a bucket (see `rag_assets.index.keyword`)."""
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


def _count_bucket(build: IndexBuild, bucket: int) -> _Counted:
    """Counts the terms of one bucket. Runs in a worker process."""
    counts = count_terms(keyword_fields(build, bucket))
    found = statistics_of(counts)
    width = len(counts.fields)
    columns = {
        "terms": lists(counts.offsets, counts.terms, pa.uint32()),
        "frequencies": lists(counts.offsets * width, counts.frequencies.reshape(-1), pa.uint32()),
        "lengths": pa.FixedSizeListArray.from_arrays(numbers(counts.lengths.reshape(-1), pa.uint32()), width),
    }
    write_part(build.directory, COUNTS, bucket, keyword_counts_schema(width), columns)
    frequencies = found.document_frequencies
    terms = {"term": list(frequencies), "sections": list(frequencies.values())}
    write_part(build.directory, TERMS, bucket, KEYWORD_TERMS, terms)
    return _Counted(found.sections, dict(found.total_lengths))


def _statistics(build: IndexBuild, bucket: int, counted: _Counted) -> KeywordStatistics:
    terms = read_part(build.directory, TERMS, bucket)
    frequencies = dict(zip(terms.column("term").to_pylist(), terms.column("sections").to_pylist(), strict=True))
    return KeywordStatistics(counted.sections, counted.lengths, frequencies)


def _load_counts(build: IndexBuild, bucket: int) -> TermFrequencies:
    counts = read_part(build.directory, COUNTS, bucket)
    terms = counts.column("terms").combine_chunks()
    frequencies = counts.column("frequencies").combine_chunks()
    lengths = counts.column("lengths").combine_chunks()
    fields = tuple(field.name for field in FIELDS)
    return TermFrequencies(
        fields=fields,
        vocabulary=tuple(read_part(build.directory, TERMS, bucket, ["term"]).column("term").to_pylist()),
        offsets=to_numpy(terms.offsets).astype(np.int64),
        terms=to_numpy(terms.values),
        frequencies=to_numpy(frequencies.values).reshape(-1, len(fields)),
        lengths=matrix(lengths),
    )


def _weigh_bucket(
    build: IndexBuild, bucket: int, label: Broadcast[tuple[KeywordStatistics, dict[str, int]]]
) -> _Weighed:
    """Weighs the counted terms of one bucket with what is known of the label. Runs in a worker process."""
    rows = weights(_load_counts(build, bucket), *label.value)
    columns = {
        "indices": lists(rows.offsets, rows.indices, pa.uint32()),
        "values": lists(rows.offsets, rows.values, pa.float32()),
    }
    write_part(build.directory, STAGE, bucket, KEYWORD_WEIGHTS, columns)
    return _Weighed(len(rows))


def read_weights(build: IndexBuild, bucket: int) -> SparseRows:
    """The sparse vectors of a bucket, in the order of its sections."""
    table = read_part(build.directory, STAGE, bucket)
    indices = table.column("indices").combine_chunks()
    values = table.column("values").combine_chunks()
    return SparseRows(
        offsets=to_numpy(indices.offsets).astype(np.int64),
        indices=to_numpy(indices.values),
        values=to_numpy(values.values),
    )
