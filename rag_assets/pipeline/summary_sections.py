"""Stage `summary_sections`: the sections of every description, split to the window of the embedding model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.embedder import EmbeddingWindow
from rag_assets.contracts.section import SummarySection
from rag_assets.graph.csr_graph import by_count
from rag_assets.index.parquet_parts import read_rows, write_part
from rag_assets.models import embedding_window, window_fingerprint
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.descriptions import (
    EncodedDescription,
    description_decoder,
    encoded_descriptions,
    file_contexts,
)
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, ItemMemo, recorded, stage_memo
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.schemas import SUMMARY_SECTIONS
from rag_assets.pipeline.segments import file_key, indexed_files, used_file_keys
from rag_assets.pipeline.versions import descriptions_version
from rag_assets.pipeline.workers.file_guard import FileGuard, Refusal
from rag_assets.pipeline.workers.worker_pool import part_sizes
from rag_assets.serialization import from_json
from rag_assets.settings import EmbedderSettings

STAGE = "summary_sections"


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section with the row numbers, in its bucket, of itself and of its description."""

    path: str
    row: int
    description_row: int
    section: SummarySection


@stage_memo(STAGE, "descriptions")
def build_sections(build: IndexBuild, progress: Progress) -> StageReport:
    """Builds the sections of all descriptions, for the window of the embedder in the settings."""
    totals: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    parts: list[CachedBucket[_Bucket]] = []
    progress.begin(STAGE, build.required("descriptions").counts["descriptions"], "descriptions")
    made_by = (descriptions_version(), build.spec.embedding_model, window_fingerprint(build.settings.embedder))
    keys = [_BUCKETS.key(described, *made_by) for described in build.required("descriptions").parts]
    work = partial(_BUCKETS.map, build, keys, _section_bucket, "\n".join(made_by))
    for part in work(sizes=part_sizes(build, "descriptions")):
        made = part.result
        sections, built = sum(made.kinds.values()), 0 if part.reused else made.built
        totals.update(sections=sections, split=made.split, built=built, from_cache=sections - built)
        kinds.update(made.kinds)
        parts.append(part)
        progress.advance(made.descriptions)
    progress.end(f"{totals['sections']} sections; {totals['built']} built, {totals['from_cache']} from cache")
    return StageReport(
        **recorded(STAGE, parts),
        counts={"sections": totals["sections"], "sections_split_into_parts": totals["split"]},
        work={"built": totals["built"], "from_cache": totals["from_cache"]},
        tables={"sections by kind": [{"kind": kind, "sections": count} for kind, count in by_count(kinds)]},
    )


@dataclass(frozen=True, slots=True)
class _Bucket:
    """What building the sections of one bucket gave; `kinds` counts sections, `split` symbols in several parts, `built`
    the sections of files of which none were known."""

    descriptions: int
    built: int
    split: int
    kinds: dict[str, int]


def _section_bucket(build: IndexBuild, bucket: int, guard: FileGuard, made_by: str) -> _Bucket:
    """Writes the sections of one bucket, new ones of files whose descriptions are. Runs in a worker process."""
    described, decoded = encoded_descriptions(build, bucket), description_decoder(build, bucket)
    rows = [row for row in indexed_files(build, bucket) if row["path"] in described]
    inputs = [_inputs(described[row["path"]], made_by) for row in rows]
    window = cache(partial(_window, build.settings.embedder, build.home.cache))

    def make(number: int) -> SectionedFile | Refusal:
        row = rows[number]
        build_sections = partial(_sections, described[row["path"]], decoded, window())
        found = guard.run(row["path"], row["text_sha256"], build_sections)
        return found if isinstance(found, Refusal) else SectionedFile(found, inputs[number])

    columns: dict[str, list[Any]] = {name: [] for name in SUMMARY_SECTIONS.names}
    built = 0
    with _FILES.open(build.home, fresh=build.spec.fresh) as memo:
        keys = [file_key(STAGE, row) for row in rows]
        made = memo.each(keys, make, holds=lambda number, known: known.inputs == inputs[number])
        for row, (file, is_new) in zip(rows, made, strict=True):
            if isinstance(file, Refusal):
                continue
            of_file = [stored.row for stored in described[row["path"]]]
            own = file.columns | {"description_row": [of_file[place] for place in file.columns["description_row"]]}
            for name, values in own.items():
                columns[name] += values
            built += len(own["path"]) if is_new else 0
    write_part(build.directory, STAGE, bucket, SUMMARY_SECTIONS, columns)
    places = zip(columns["part_index"], columns["part_total"], strict=True)
    split = sum(total > 1 and index == 1 for index, total in places)
    return _Bucket(sum(map(len, described.values())), built, split, Counter(columns["kind"]))


_BUCKETS = BucketMemo(STAGE, _Bucket, (STAGE,), files=True)


class SectionedFile(msgspec.Struct, array_like=True):
    """An entry of the cache: columns of the table for one file, where `description_row` counts the descriptions of the
    file. `inputs` is a digest of these, and of what else sections are made by."""

    columns: dict[str, list[Any]]
    inputs: str


_FILES = ItemMemo("sectioned_files", SectionedFile, partial(used_file_keys, STAGE), compressed=True)


def _inputs(described: Sequence[EncodedDescription], made_by: str) -> str:
    parts = (f"{stored.ordinal} {stored.type_name} {len(stored.data)}".encode() for stored in described)
    return hashlib.sha256(b"\n".join([made_by.encode(), *parts, *(stored.data for stored in described)])).hexdigest()


def _sections(
    described: Sequence[EncodedDescription],
    decoded: Callable[[EncodedDescription], SummaryFacts],
    window: EmbeddingWindow,
) -> dict[str, list[Any]]:
    """The columns of a file."""
    rows = [
        _row(description, stored.ordinal, place, section)
        for place, (stored, description) in enumerate(zip(described, map(decoded, described), strict=True))
        for section in description.use_window(window).build_summary_sections()
    ]
    return {name: [row[name] for row in rows] for name in SUMMARY_SECTIONS.names}


@lru_cache(maxsize=1)
def _window(settings: EmbedderSettings, cache: Path) -> EmbeddingWindow:
    """Once per process: the tokenizer takes a tenth of a second to load and keeps the words it has seen."""
    return embedding_window(settings, cache)


def _row(description: SummaryFacts, ordinal: int, row: int, section: SummarySection) -> dict[str, Any]:
    return {
        "path": description.path,
        "ordinal": ordinal,
        "description_row": row,
        "symbol": section.symbol,
        "kind": section.kind,
        "section_key": section.section_key,
        "part_index": section.part_index,
        "part_total": section.part_total,
        "line_start": section.span.line_start,
        "line_end": section.span.line_end,
        "char_start": section.span.char_start,
        "char_end": section.span.char_end,
        "names": list(section.names),
        "finder_snippet": section.section_normalized_text,
        "section": msgspec.json.encode(section),
    }


def read_sections(build: IndexBuild, bucket: int) -> Iterator[SectionRow]:
    """The sections of a bucket in table order, each with its source slice."""
    texts = {path: context.contents for path, context in file_contexts(build, bucket).items()}
    rows = read_rows(build.directory, STAGE, bucket, ["path", "description_row", "section"])
    for number, row in enumerate(rows):
        section = from_json(row["section"], SummarySection)
        section.source_text = section.span.slice(texts[row["path"]])
        yield SectionRow(row["path"], number, row["description_row"], section)
