"""Stage `bm25_artifacts`: BM25F statistics of the label, one sparse weight vector per section, and what past commits
say of each file.

Where files of a label have several levels of confidentiality, each level has statistics of its own, of the sections
that its readers may see. A section is weighed with those of its own level, so no score that a reader sees depends on
what the reader may not see (docs/decisions/0023-levels-of-readers.md).

A chunk of a text holds several times the words of a section of code. It is long or short beside other texts, and counts
as several pieces where rarities are counted, so how documents are cut hardly moves code in a ranking. All texts
together count at most as much as the code: what is rare in it does not depend on the books that lie beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rag_assets.index.blobs import BlobStore
from rag_assets.index.generations import level_folder
from rag_assets.index.keyword import FIELDS
from rag_assets.index.keyword.bm25f import (
    KeywordStatistics,
    SparseRows,
    TermFrequencies,
    assigned_indices,
    count_terms,
    hashes_of,
    keyword_fields,
    merge_statistics,
    pieces_of,
    statistics_of,
    weights,
)
from rag_assets.index.keyword.commit_subjects import write_past
from rag_assets.index.keyword.vocabulary import write_vocabulary
from rag_assets.index.parquet_parts import (
    digest_files,
    distinct_texts,
    lists,
    matrix,
    numbers,
    read_part,
    read_rows,
    to_numpy,
    write_part,
)
from rag_assets.languages.detection import SourceType, source_type
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, FirstSteps, bucket_inputs, recorded, stage_memo
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.schemas import KEYWORD_WEIGHTS, keyword_counts_schema, keyword_terms_schema
from rag_assets.pipeline.segments import indexed_files
from rag_assets.pipeline.versions import stage_version
from rag_assets.pipeline.workers.worker_pool import Broadcast, beside, broadcast, part_sizes

STAGE = "bm25_artifacts"
KEYWORD = "keyword"
COUNTS = "keyword_counts"
TERMS = "keyword_terms"


@dataclass(frozen=True, slots=True)
class _Lengths:
    """How many sections of one form there are, and how many terms they have in each field."""

    sections: int
    terms: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Counted:
    """What counting one bucket gave, for the readers of each level; code comes first, then texts."""

    lengths: list[list[_Lengths]]
    pieces: list[list[int]]

    @property
    def sections(self) -> int:
        return sum(form.sections for form in self.lengths[-1])


@dataclass(frozen=True, slots=True)
class _Weighed:
    sections: int


_COUNTS = BucketMemo(COUNTS, _Counted, (COUNTS, TERMS), stage_version(STAGE))
_WEIGHTS = BucketMemo(STAGE, _Weighed, (STAGE,))


@stage_memo(STAGE, "discovered_files", "summary_sections")
def build_keyword_weights(build: IndexBuild, progress: Progress) -> StageReport:
    """Counts the terms of every section, then weighs them with the statistics of the whole label."""
    progress.begin(STAGE, build.required("summary_sections").counts["sections"], "sections")
    levels, new = build.levels, 0
    sizes = part_sizes(build, "summary_sections")
    inputs = bucket_inputs(build, "discovered_files", "summary_sections")
    keys = [_COUNTS.key(*made, levels.walls) for made in inputs]
    known = _COUNTS.cached(build, keys)
    parts = _COUNTS.map(build, keys, _count_bucket, sizes=sizes, known=known)
    past = beside(partial(_write_past, build))  # while workers count what is new
    terms = _LabelTerms()
    terms.add(_terms(build, bucket) for bucket in known)
    counted = list[CachedBucket[_Counted]]()
    for part in parts:
        counted.append(part)
        new += 0 if part.reused else part.result.sections
        progress.advance(part.result.sections)
    terms.add(_terms(build, bucket) for bucket in build.buckets if bucket not in known)
    statistics = _statistics([part.result for part in counted], terms)
    merged = statistics[-1]  # of the highest level, whose readers see everything
    indices, displaced = assigned_indices(terms.hashes)
    averages = _average_lengths([part.result for part in counted])
    keyword = build.directory / KEYWORD
    for level, of_level, around in zip(levels.all, statistics, averages, strict=True):
        write_vocabulary(level_folder(keyword, level, levels), of_level, indices, around)
    sections = sum(part.result.sections for part in counted)
    weighed = _weighed(build, counted, averages, indices, displaced)
    files_with_past = past()
    files = [path for path in keyword.rglob("*") if path.is_file()]
    progress.end(f"{len(indices)} terms; {new} sections counted, {sections - new} from cache")
    return StageReport(
        **recorded(STAGE, weighed, digest_files(files, build.directory), first=FirstSteps().add(_COUNTS, counted)),
        counts={
            "sections": sections,
            "terms": len(indices),
            "files_with_past": files_with_past,
            **{f"{name}_terms": total for name, total in merged.total_lengths.items()},
        },
        work={"counted": new, "from_cache": sections - new},
    )


def _write_past(build: IndexBuild) -> int:
    """Writes, for each level, the subjects of the commits that changed a file; returns how many files have any."""
    columns, levels = ["path", "outcome", "subjects"], build.levels
    rows = (row for bucket in build.buckets for row in read_rows(build.directory, "discovered_files", bucket, columns))
    past = {row["path"]: row["subjects"] for row in rows if row["outcome"] == "indexed" and row["subjects"]}
    for level in levels.all:
        folder = level_folder(build.directory / KEYWORD, level, levels)
        write_past(folder, {path: said for path, said in past.items() if levels.visible(path, level)})
    return len(past)


def _weighed(
    build: IndexBuild,
    counted: list[CachedBucket[_Counted]],
    averages: list[list[list[float]]],
    indices: dict[str, int],
    displaced: list[str],
) -> list[CachedBucket[_Weighed]]:
    """The weights of every bucket. Of the rest of the label they know the average lengths of their level, which are
    rounded, and which terms share a hash."""
    label = json.dumps([averages, {term: indices[term] for term in displaced}], sort_keys=True)
    keys = [_WEIGHTS.key(part.digest, label, build.levels.walls) for part in counted]
    known = _WEIGHTS.cached(build, keys)
    if len(known) == len(keys):
        return [known[bucket] for bucket in build.buckets]
    with broadcast(build, (averages, indices)) as shared:
        return list(_WEIGHTS.map(build, keys, _weigh_bucket, shared, known=known))


USUAL_SECTIONS = 10
"""Sections of the usual length that each form has beside its own: two texts say little of how long texts are."""


def _average_lengths(counted: Sequence[_Counted]) -> list[list[list[float]]]:
    """By level, by form, by field."""
    made = []
    for level in zip(*(part.lengths for part in counted), strict=True):
        forms = [
            merge_statistics(KeywordStatistics(found.sections, found.terms, {}) for found in form)
            for form in zip(*level, strict=True)
        ]
        every = merge_statistics(forms)
        usual = {name: USUAL_SECTIONS * total // max(every.sections, 1) for name, total in every.total_lengths.items()}
        beside = KeywordStatistics(USUAL_SECTIONS, usual, {})
        made.append([merge_statistics([form, beside]).average_lengths() for form in forms])
    return made


def _levels_and_forms(build: IndexBuild, bucket: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By section of a bucket, the place of its level among those of the label, and 1 for a chunk of a text that is no
    code, else 0."""
    levels = build.levels
    rank = cache(lambda path: levels.all.index(levels.of(path)))
    languages = {row["path"]: row["language"] for row in indexed_files(build, bucket)}
    paths = read_part(build.directory, "summary_sections", bucket, ["path"]).column("path").to_pylist()
    ranks = [rank(path) for path in paths] if len(levels.all) > 1 else [0] * len(paths)
    texts = [source_type(languages[path]) is not SourceType.CODE for path in paths]
    return np.array(ranks, dtype=np.int64), np.array(texts, dtype=np.int64)


def fields_of_bucket(build: IndexBuild, bucket: int) -> Iterator[dict[str, str]]:
    """The texts of the keyword fields of every section of a bucket (see `rag_assets.index.keyword`)."""
    blobs = BlobStore(build.home.blobs)
    texts = {row["path"]: row["text_sha256"] for row in indexed_files(build, bucket)}
    columns = ["path", "names", "finder_snippet", "char_start", "char_end"]
    path = text = ""
    for row in read_rows(build.directory, "summary_sections", bucket, columns):
        if row["path"] != path:  # the sections of a file follow each other
            path, text = row["path"], blobs.get(texts[row["path"]])
        yield keyword_fields(row["names"], path, row["finder_snippet"], text[row["char_start"] : row["char_end"]])


def _count_bucket(build: IndexBuild, bucket: int) -> _Counted:
    """Counts the terms of one bucket. Runs in a worker process."""
    counts = count_terms(fields_of_bucket(build, bucket))
    ranks, texts = _levels_and_forms(build, bucket)
    width = len(counts.fields)
    seen = [ranks <= rank for rank in range(len(build.levels.all))]
    pieces = pieces_of(counts, texts == 1)
    of_forms = [of_level & (texts == form) for of_level in seen for form in _FORMS]
    counted = [statistics_of(counts, of_form, pieces) for of_form in of_forms]
    columns = {
        "terms": lists(counts.offsets, counts.terms, pa.uint32()),
        "frequencies": lists(counts.offsets * width, counts.frequencies.reshape(-1), pa.uint32()),
        "lengths": pa.FixedSizeListArray.from_arrays(numbers(counts.lengths.reshape(-1), pa.uint32()), width),
    }
    write_part(build.directory, COUNTS, bucket, keyword_counts_schema(width), columns)
    holding = [known.document_frequencies.get(term, 0) for term in counts.vocabulary for known in counted]
    terms = {
        "term": counts.vocabulary,
        "sections": pa.FixedSizeListArray.from_arrays(numbers(holding, pa.int64()), len(counted)),
    }
    write_part(build.directory, TERMS, bucket, keyword_terms_schema(len(counted)), terms)
    lengths = [
        _Lengths(int(of_form.sum()), dict(known.total_lengths))
        for of_form, known in zip(of_forms, counted, strict=True)
    ]
    return _Counted(_by_level(lengths), _by_level([known.sections for known in counted]))


_FORMS = (0, 1)  # code, texts

T = TypeVar("T")


def _by_level(of_forms: Sequence[T]) -> list[list[T]]:
    return [list(of_forms[at : at + len(_FORMS)]) for at in range(0, len(of_forms), len(_FORMS))]


def _terms(build: IndexBuild, bucket: int) -> pa.Table:
    return read_part(build.directory, TERMS, bucket, dictionaries=["term"])


class _LabelTerms:
    """The terms of a label, with how many pieces of each level and form hold them."""

    def __init__(self) -> None:
        self.hashes: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._holding: list[tuple[list[int], NDArray[np.int64]]] = []  # of some buckets, with the numbers of the terms

    def add(self, buckets: Iterable[pa.Table]) -> None:
        tables = list(buckets)
        if not tables:
            return
        table = pa.concat_tables(tables)
        found, rows = distinct_texts(table.column("term").combine_chunks())
        terms = [term.decode() for term in found]
        new = [term for term in terms if term not in self._numbers]
        self._numbers.update(zip(new, count(len(self._numbers))))
        self.hashes |= hashes_of(new)
        columns = matrix(table.column("sections").combine_chunks()).T
        holding = np.array([np.bincount(rows, column, len(terms)) for column in columns], dtype=np.int64)
        self._holding.append(([self._numbers[term] for term in terms], holding))

    def ordered(self) -> tuple[list[str], NDArray[np.int64]]:
        """The terms, and how many hold them: (levels and forms, terms)."""
        together = np.zeros((len(self._holding[0][1]), len(self._numbers)), dtype=np.int64)
        for places, holding in self._holding:
            together[:, places] += holding
        terms = sorted(self._numbers)
        return terms, together[:, [self._numbers[term] for term in terms]]


def _statistics(counted: Sequence[_Counted], terms: _LabelTerms) -> list[KeywordStatistics]:
    """Of each level."""
    ordered, holding = terms.ordered()
    made = list[KeywordStatistics]()
    for level, of_level in enumerate(holding.reshape(len(counted[0].lengths), len(_FORMS), -1)):
        lengths = [form.terms for part in counted for form in part.lengths[level]]
        pieces = [sum(part.pieces[level][form] for part in counted) for form in _FORMS]
        sections, frequencies = _balanced(pieces, of_level)
        held = {term: n for term, n in zip(ordered, frequencies.tolist(), strict=True) if n}
        totals = merge_statistics(KeywordStatistics(0, of_form, {}) for of_form in lengths).total_lengths
        made.append(KeywordStatistics(sections, totals, held))
    return made


def _balanced(pieces: Sequence[int], holding: NDArray[np.int64]) -> tuple[int, NDArray[np.int64]]:
    """Of code and texts together, where the texts count at most as many pieces as there are sections of code, if there
    is any code: how many there are, and how many hold each term.

    Five editions of a book beside 380 sections of code had made every word of the trade common. Without a limit, with
    2, 1.4, 1, .7 and .5 times the sections of code: commit subjects .550 .556 .559 .562 .562 .560, doc summaries .756
    .754 .756 .752 .748 .741.
    """
    (code, texts), (in_code, in_texts) = pieces, holding
    if 0 < code < texts:
        in_texts = np.maximum(np.rint(in_texts * (code / texts)).astype(np.int64), in_texts > 0)
        texts = code
    return code + texts, in_code + in_texts


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
    build: IndexBuild, bucket: int, label: Broadcast[tuple[list[list[list[float]]], dict[str, int]]]
) -> _Weighed:
    """Weighs the counted terms of one bucket with what is known of the label. Runs in a worker process."""
    averages, indices = label.value
    rows = weights(_load_counts(build, bucket), np.array(averages)[_levels_and_forms(build, bucket)], indices)
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
