"""The columns of every table of a generation, and the types their JSON columns hold.

Scalar columns are for people and filters; the JSON column carries the whole noun.
"""

from __future__ import annotations

import pyarrow as pa

DISCOVERED_FILES = pa.schema(
    [
        ("path", pa.string()),
        ("outcome", pa.string()),  # indexed | skipped
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
        ("subjects", pa.list_(pa.string())),  # of the commits that changed the file, as far as they are searched
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
        ("outcome", pa.string()),  # described | not-applicable | no-builder | failed
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
        ("description_row", pa.int64()),  # row of the description in the same bucket
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
        ("finder_snippet", pa.string()),  # the embedded text
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
        ("content_hash", pa.string()),  # of the payload: of the source slice
        ("text_hash", pa.string()),  # of snippet and source slice: what two generations are compared by
        ("digest", pa.string()),  # of vector, weights and payload: StoredPoint.digest
        ("slice_uri", pa.string()),
        ("description_uri", pa.string()),
        ("section_row", pa.int64()),  # row of the section in the same bucket
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
