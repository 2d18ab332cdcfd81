"""Stage `summary_sections`: the sections of every description, split to the window of the embedding model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
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
from rag_assets.pipeline.descriptions import file_contexts, read_descriptions
from rag_assets.pipeline.memo import BucketMemo, CachedBucket, recorded, stage_memo
from rag_assets.pipeline.progress import Progress
from rag_assets.pipeline.schemas import SUMMARY_SECTIONS
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
    for part in _BUCKETS.map(build, keys, _section_bucket, sizes=part_sizes(build, "descriptions")):
        made = part.result
        sections = sum(made.kinds.values())
        totals.update(sections=sections, split=made.split)
        totals["from_cache" if part.reused else "built"] += sections
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
    """What building the sections of one bucket gave; `kinds` counts sections, `split` symbols in several parts."""

    descriptions: int
    split: int
    kinds: dict[str, int]


def _section_bucket(build: IndexBuild, bucket: int, guard: FileGuard) -> _Bucket:
    """Writes the sections of one bucket. Runs in a worker process."""
    window = _window(build.settings.embedder, build.home.cache)
    kinds: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    descriptions = split = 0
    for path, described in groupby(read_descriptions(build, bucket), key=lambda row: row[2].path):
        of_file = list(described)
        found = guard.run(path, of_file[0][2].document_sha256, partial(_sections, of_file, window))
        for (row, ordinal, description), sections in () if isinstance(found, Refusal) else found:
            rows += [_row(description, ordinal, row, section) for section in sections]
            kinds.update(section.kind for section in sections)
            split += sum(section.part_total > 1 and section.part_index == 1 for section in sections)
        descriptions += len(of_file)
    columns = {name: [row[name] for row in rows] for name in SUMMARY_SECTIONS.names}
    write_part(build.directory, STAGE, bucket, SUMMARY_SECTIONS, columns)
    return _Bucket(descriptions, split, kinds)


_BUCKETS = BucketMemo(STAGE, _Bucket, (STAGE,), files=True)

Described = tuple[int, int, SummaryFacts]
"""As `read_descriptions` gives it."""


def _sections(of_file: Sequence[Described], window: EmbeddingWindow) -> list[tuple[Described, list[SummarySection]]]:
    return [(row, list(row[2].use_window(window).build_summary_sections())) for row in of_file]


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
