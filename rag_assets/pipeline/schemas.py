"""The columns of every table of a generation, and the types their JSON columns hold.

Scalar columns are for people and filters; the JSON column carries the whole noun.
"""

from __future__ import annotations

import pyarrow as pa

DISCOVERED_FILES = pa.schema(
    [
        ("path", pa.string()),
        ("outcome", pa.string()),
        ("reason", pa.string()),  # SkipReason of a skipped file
        ("detail", pa.string()),
        ("language", pa.string()),
        ("encoding", pa.string()),
        ("blob_id", pa.string()),
        ("text_sha256", pa.string()),
        ("size_bytes", pa.int64()),
        ("line_count", pa.int64()),
        ("redacted_secrets", pa.int64()),
        ("replaced_characters", pa.int64()),
        ("subjects", pa.list_(pa.string())),
        ("commit_sha", pa.string()),  # the three of pipeline.commit_subjects.FileOrigin
        ("commit_date", pa.string()),
        ("dated", pa.bool_()),
    ]
)

PARSED_FILES = pa.schema(
    [
        ("path", pa.string()),
        ("health", pa.string()),
        ("detail", pa.string()),
        ("masked", pa.list_(pa.string())),
        ("segments", pa.int64()),
    ]
)

SEGMENTS = pa.schema(
    [
        ("path", pa.string()),
        ("ordinal", pa.int64()),
        ("symbol", pa.string()),
        ("symbol_type", pa.string()),
        ("language", pa.string()),
        ("line_start", pa.int64()),
        ("line_end", pa.int64()),
        ("char_start", pa.int64()),
        ("char_end", pa.int64()),
        ("segment", pa.binary()),  # contracts.segment.Segment
    ]
)

DESCRIPTIONS = pa.schema(
    [
        ("path", pa.string()),
        ("ordinal", pa.int64()),
        ("symbol", pa.string()),
        ("kind", pa.string()),
        ("reason", pa.string()),
        ("evidence", pa.list_(pa.string())),
        ("rule", pa.string()),
        ("pack", pa.string()),
        ("outcome", pa.string()),
        ("messages", pa.list_(pa.string())),
        ("builder", pa.string()),
        ("description_type", pa.string()),
        ("description", pa.binary()),  # a SummaryFacts subclass
    ]
)

SUMMARY_SECTIONS = pa.schema(
    [
        ("path", pa.string()),
        ("ordinal", pa.int64()),
        ("description_row", pa.int64()),
        ("symbol", pa.string()),
        ("kind", pa.string()),
        ("section_key", pa.string()),
        ("part_index", pa.int64()),
        ("part_total", pa.int64()),
        ("line_start", pa.int64()),
        ("line_end", pa.int64()),
        ("char_start", pa.int64()),
        ("char_end", pa.int64()),
        ("names", pa.list_(pa.string())),
        ("finder_snippet", pa.string()),
        ("section", pa.binary()),  # contracts.section.SummarySection
    ]
)


def keyword_terms_schema(forms: int) -> pa.Schema:
    """The terms of one bucket, sorted, each with the sections of each form that hold it for the readers of each
    level."""
    return pa.schema([("term", pa.string()), ("sections", pa.list_(pa.int64(), forms))])


KEYWORD_WEIGHTS = pa.schema([("indices", pa.list_(pa.uint32())), ("values", pa.list_(pa.float32()))])

POINTS = pa.schema(
    [
        ("point_id", pa.string()),
        ("semantic_id", pa.string()),
        ("path", pa.string()),
        ("content_hash", pa.string()),
        ("text_hash", pa.string()),
        ("digest", pa.string()),  # of vector, weights and payload: StoredPoint.digest
        ("slice_uri", pa.string()),
        ("description_uri", pa.string()),
        ("section_row", pa.int64()),
        ("payload", pa.binary()),  # RagVectorPayload.to_dictionary() as JSON
    ]
)


def keyword_counts_schema(fields: int) -> pa.Schema:
    """One row per section: its terms (rows of keyword_terms), their frequencies field by field, the lengths of the
    fields."""
    return pa.schema(
        [
            ("terms", pa.list_(pa.uint32())),
            ("frequencies", pa.list_(pa.uint32())),
            ("lengths", pa.list_(pa.uint32(), fields)),
        ]
    )


def embeddings_schema(dimension: int) -> pa.Schema:
    """One vector per row of summary_sections, in its order."""
    return pa.schema([("vector", pa.list_(pa.float32(), dimension))])


_OF_ROW: dict[str, str] = {
    "path": "of the file, relative to the repository",
    "ordinal": "number of the segment in its file, in text order",
    "language": "of the file, as detected from name and content",
    "symbol": "qualified name of the declaration",
    "line_start": "first line, counted from 1",
    "line_end": "last line",
    "char_start": "first character in the decoded text",
    "char_end": "behind the last character",
    "kind": "role of the segment, as Controller or Test",
}
"""Columns that mean the same in every table."""

COLUMN_MEANINGS: dict[str, dict[str, str]] = {
    "discovered_files": {
        "outcome": "indexed or skipped",
        "reason": "why a skipped file is not indexed",
        "detail": "the rule or error behind the reason",
        "encoding": "that the bytes were decoded with",
        "blob_id": "object id of git; without git, sha256 of the bytes",
        "text_sha256": "address of the text, with secrets masked",
        "size_bytes": "of the file in the commit",
        "line_count": "of the text",
        "redacted_secrets": "how many secrets were masked",
        "replaced_characters": "bytes that are no text in the encoding",
        "subjects": "of the commits that changed the file, as far as they are searched",
        "commit_sha": "the commit that gave the file its text",
        "commit_date": "of that commit, ISO 8601 UTC",
        "dated": "whether it is known that this commit changed the file",
    },
    "segments": {
        "symbol_type": "class, method, table, section …",
        "segment": "the whole segment as JSON",
    },
    "descriptions": {
        "reason": "why the segment has its kind",
        "evidence": "what the rule matched",
        "rule": "that decided the kind",
        "pack": "rule pack that the rule is in",
        "outcome": "described, not-applicable, no-builder or failed",
        "messages": "warnings and errors of the builder",
        "builder": "that read the facts",
        "description_type": "class of the description",
        "description": "the facts as JSON",
    },
    "summary_sections": {
        "description_row": "row of the description in the same bucket",
        "section_key": "which section of the description it is",
        "part_index": "number of the part, where a section is split",
        "part_total": "how many parts the section has",
        "names": "identifiers that keyword search weighs more",
        "finder_snippet": "the text that is embedded",
        "section": "the whole section as JSON",
    },
    "embeddings": {"vector": "normalised, one for each row of summary_sections, in its order"},
    "bm25_artifacts": {
        "indices": "numbers of the terms of the section",
        "values": "BM25F weight of each",
    },
    "qdrant_points": {
        "point_id": "UUID made of owner, label and semantic id",
        "semantic_id": "owner, project, repository, type and name of the symbol, section and part",
        "content_hash": "of the source slice",
        "text_hash": "of snippet and source slice: two generations are compared by it",
        "digest": "of vector, weights and payload",
        "slice_uri": "address of the source slice",
        "description_uri": "address of the description as Markdown",
        "section_row": "row of the section in the same bucket",
        "payload": "what is stored beside the vector, as JSON",
    },
}
"""Table → column → what it holds, for people; columns of `_OF_ROW` are left out."""


def column_meaning(table: str, column: str) -> str:
    return COLUMN_MEANINGS[table].get(column) or _OF_ROW[column]
