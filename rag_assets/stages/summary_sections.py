"""Stage `summary_sections`: the sections of every description, split to the window of the embedding model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from rag_assets.contracts.description import SummaryFacts
from rag_assets.contracts.section import EmbeddingWindow, SummarySection
from rag_assets.models import embedding_window
from rag_assets.settings import EmbedderSettings
from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.descriptions import file_contexts, read_descriptions
from rag_assets.stages.progress import Progress
from rag_assets.stages.rows import SUMMARY_SECTIONS
from rag_assets.stages.versions import stage_version
from rag_assets.stages.workers import map_buckets, part_sizes
from rag_assets.stores.tables import digest_files, read_rows, write_part

STAGE = "summary_sections"


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section with the row numbers, in its bucket, of itself and of its description."""

    path: str
    row: int
    description_row: int
    section: SummarySection


def build_sections(build: IndexBuild, progress: Progress) -> StageReport:
    """Builds the sections of all descriptions, for the window of the embedder in the settings."""
    inputs = build.inputs_of(STAGE, "descriptions")
    done = build.finished(STAGE, inputs)
    if done is not None:
        return done
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    parts: list[Path] = []
    progress.begin(STAGE, build.required("descriptions").counts["descriptions"], "descriptions")
    for part, found, found_kinds in map_buckets(_section_bucket, build, sizes=part_sizes(build, "descriptions")):
        parts.append(part)
        counts.update(found)
        kinds.update(found_kinds)
        progress.advance(found["descriptions"])
    progress.end(f"{counts['sections']} sections")
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        output=digest_files(parts, build.directory),
        counts={"sections": counts["sections"], "sections_split_into_parts": counts["split"]},
        tables={"sections by kind": [{"kind": kind, "sections": count} for kind, count in kinds.most_common()]},
    )
    return build.finish(report)


def _section_bucket(build: IndexBuild, bucket: int) -> tuple[Path, Counter[str], Counter[str]]:
    """Writes the sections of one bucket: (part, counts, sections by kind). Runs in a worker process."""
    window = _window(build.settings.embedder, build.home.cache)
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for row, ordinal, description in read_descriptions(build, bucket):
        for section in description.use_window(window).build_summary_sections():
            rows.append(_row(description, ordinal, row, section))
            kinds[section.kind] += 1
            counts["split"] += section.part_total > 1 and section.part_index == 1
        counts["descriptions"] += 1
    counts["sections"] = len(rows)
    columns = {name: [row[name] for row in rows] for name in SUMMARY_SECTIONS.names}
    return write_part(build.directory, STAGE, bucket, SUMMARY_SECTIONS, columns), counts, kinds


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
        section = msgspec.json.decode(row["section"], type=SummarySection)
        section.source_text = section.span.slice(texts[row["path"]])
        yield SectionRow(row["path"], number, row["description_row"], section)
