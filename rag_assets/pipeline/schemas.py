"""The columns of every table of a generation, and the types their JSON columns hold.

Scalar columns are for people and filters; the JSON column carries the whole noun.
"""

from __future__ import annotations

import pyarrow as pa

_TEXT, _NUMBER, _JSON, _TEXTS = pa.string(), pa.int64(), pa.binary(), pa.list_(pa.string())

_OF_ROW: dict[str, tuple[pa.DataType, str]] = {
    "path": (_TEXT, "of the file, relative to the repository"),
    "ordinal": (_NUMBER, "number of the segment in its file, in text order"),
    "language": (_TEXT, "of the file, as detected from name and content"),
    "symbol": (_TEXT, "qualified name of the declaration"),
    "line_start": (_NUMBER, "first line, counted from 1"),
    "line_end": (_NUMBER, "last line"),
    "char_start": (_NUMBER, "first character in the decoded text"),
    "char_end": (_NUMBER, "behind the last character"),
    "kind": (_TEXT, "role of the segment, as Controller or Test"),
}
"""Columns that mean the same in every table."""


def _of_row(*names: str) -> dict[str, tuple[pa.DataType, str]]:
    return {name: _OF_ROW[name] for name in names}


_PLACE = _of_row("line_start", "line_end", "char_start", "char_end")

_COLUMNS: dict[str, dict[str, tuple[pa.DataType, str]]] = {
    "discovered_files": {
        **_of_row("path"),
        "outcome": (_TEXT, "indexed or skipped"),
        "reason": (_TEXT, "why a skipped file is not indexed"),  # SkipReason
        "detail": (_TEXT, "the rule or error behind the reason"),
        **_of_row("language"),
        "encoding": (_TEXT, "that the bytes were decoded with"),
        "blob_id": (_TEXT, "object id of git; without git, sha256 of the bytes"),
        "text_sha256": (_TEXT, "address of the text, with secrets masked"),
        "size_bytes": (_NUMBER, "of the file in the commit"),
        "line_count": (_NUMBER, "of the text"),
        "redacted_secrets": (_NUMBER, "how many secrets were masked"),
        "replaced_characters": (_NUMBER, "bytes that are no text in the encoding"),
        "subjects": (_TEXTS, "of the commits that changed the file, as far as they are searched"),
        # the three of pipeline.commit_subjects.FileOrigin
        "commit_sha": (_TEXT, "the commit that gave the file its text"),
        "commit_date": (_TEXT, "of that commit, ISO 8601 UTC"),
        "dated": (pa.bool_(), "whether it is known that this commit changed the file"),
    },
    "segments": {
        **_of_row("path", "ordinal", "symbol"),
        "symbol_type": (_TEXT, "class, method, table, section …"),
        **_of_row("language"),
        **_PLACE,
        "segment": (_JSON, "the whole segment as JSON"),  # contracts.segment.Segment
    },
    "descriptions": {
        **_of_row("path", "ordinal", "symbol", "kind"),
        "reason": (_TEXT, "why the segment has its kind"),
        "evidence": (_TEXTS, "what the rule matched"),
        "rule": (_TEXT, "that decided the kind"),
        "pack": (_TEXT, "rule pack that the rule is in"),
        "outcome": (_TEXT, "described, not-applicable, no-builder or failed"),
        "messages": (_TEXTS, "warnings and errors of the builder"),
        "builder": (_TEXT, "that read the facts"),
        "description_type": (_TEXT, "class of the description"),
        "description": (_JSON, "the facts as JSON"),  # a SummaryFacts subclass
    },
    "summary_sections": {
        **_of_row("path", "ordinal"),
        "description_row": (_NUMBER, "row of the description in the same bucket"),
        **_of_row("symbol", "kind"),
        "section_key": (_TEXT, "which section of the description it is"),
        "part_index": (_NUMBER, "number of the part, where a section is split"),
        "part_total": (_NUMBER, "how many parts the section has"),
        **_PLACE,
        "names": (_TEXTS, "identifiers that keyword search weighs more"),
        "finder_snippet": (_TEXT, "the text that is embedded"),
        "section": (_JSON, "the whole section as JSON"),  # contracts.section.SummarySection
    },
    "bm25_artifacts": {
        "indices": (pa.list_(pa.uint32()), "numbers of the terms of the section"),
        "values": (pa.list_(pa.float32()), "BM25F weight of each"),
    },
    "qdrant_points": {
        "point_id": (_TEXT, "UUID made of owner, label and semantic id"),
        "semantic_id": (_TEXT, "owner, project, repository, type and name of the symbol, section and part"),
        **_of_row("path"),
        "content_hash": (_TEXT, "of the source slice"),
        "text_hash": (_TEXT, "of snippet and source slice: two generations are compared by it"),
        "digest": (_TEXT, "of vector, weights and payload"),  # StoredPoint.digest
        "slice_uri": (_TEXT, "address of the source slice"),
        "description_uri": (_TEXT, "address of the description as Markdown"),
        "section_row": (_NUMBER, "row of the section in the same bucket"),
        "payload": (_JSON, "what is stored beside the vector, as JSON"),  # RagVectorPayload.to_dictionary()
    },
}
"""Table → column → its type, and what it holds, for people."""


def _schema(table: str) -> pa.Schema:
    return pa.schema([(name, kind) for name, (kind, _) in _COLUMNS[table].items()])


DISCOVERED_FILES = _schema("discovered_files")
SEGMENTS = _schema("segments")
DESCRIPTIONS = _schema("descriptions")
SUMMARY_SECTIONS = _schema("summary_sections")
KEYWORD_WEIGHTS = _schema("bm25_artifacts")
POINTS = _schema("qdrant_points")
PARSED_FILES = pa.schema(
    [("path", _TEXT), ("health", _TEXT), ("detail", _TEXT), ("masked", _TEXTS), ("segments", _NUMBER)]
)


def keyword_terms_schema(forms: int) -> pa.Schema:
    """The terms of one bucket, sorted, each with the sections of each form that hold it for the readers of each
    level."""
    return pa.schema([("term", _TEXT), ("sections", pa.list_(_NUMBER, forms))])


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


def column_meaning(table: str, column: str) -> str:
    """What a column holds, for people."""
    if table == "embeddings":
        return "normalised, one for each row of summary_sections, in its order"
    return _COLUMNS[table][column][1]
