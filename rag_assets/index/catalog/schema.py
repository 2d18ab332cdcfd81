"""The tables of the catalog, and making them.

A chunk is valid from the build that wrote it (`born`) up to the one that replaced or deleted it (`died`), counted in
sequence numbers of its label. So a build writes what changed, and every kept generation can be read exactly:
generation s consists of the rows with born <= s < died.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    inspect,
    select,
    text,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

SCHEMA_VERSION = "2"
"""Raise it when an older version of this program could misread the tables."""

ALIVE = 2**31 - 1
"""`died` of a row that no build has replaced."""

_CREATION_LOCK = 7_160_254_113  # any fixed number: two first openings of one database wait for each other

metadata = MetaData()

about = Table("rag_catalog", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

labels = Table(
    "rag_labels",
    metadata,
    Column("label_id", Integer, Identity(), primary_key=True),
    Column("org_id", Text, nullable=False),
    Column("project_id", Text, nullable=False),
    Column("index_label", Text, nullable=False),
    Column("last_sequence", Integer, nullable=False),
    Column("writer", Text, nullable=False),  # who writes now: a build that finds another name here has lost the label
    Column("active_generation", Text, nullable=False),
    UniqueConstraint("org_id", "project_id", "index_label"),
)

generations = Table(
    "rag_generations",
    metadata,
    Column("label_id", ForeignKey(labels.c.label_id), primary_key=True),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("generation_id", Text, nullable=False),
    Column("state", Text, nullable=False),  # writing | complete
    Column("points", Integer, nullable=False),
    Column("commit_sha", Text, nullable=False),
    Column("config_hash", Text, nullable=False),
    Column("embedding_model", Text, nullable=False),
    Column("dimension", Integer, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("files", Text, nullable=False),  # JSON: name → sha256, the keyword files among the documents
    Column("manifest", Text, nullable=False),  # JSON; empty until a build has finished the generation
)

chunks = Table(
    "rag_chunks",
    metadata,
    Column("row_id", BigInteger().with_variant(Integer, "sqlite"), Identity(), primary_key=True),
    Column("label_id", ForeignKey(labels.c.label_id), nullable=False),
    Column("point_id", Uuid(as_uuid=False), nullable=False),
    Column("born", Integer, nullable=False),
    Column("died", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("symbol", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("source_type", Text, nullable=False),
    Column("section_key", Text, nullable=False),
    Column("part_index", Integer, nullable=False),
    Column("part_total", Integer, nullable=False),
    Column("line_start", Integer),
    Column("line_end", Integer),
    Column("char_start", Integer),
    Column("char_end", Integer),
    Column("document_sha256", Text, nullable=False),  # the text of the file is among the documents
    Column("text", Text, nullable=False),  # the finder snippet
    Column("words", Text, nullable=False),  # what the full-text index holds: identifiers split, each term once
    Column("payload", Text, nullable=False),  # JSON, whole
    Column("dense", LargeBinary),  # float32, little-endian
    Column("sparse", LargeBinary, nullable=False),  # uint32 indices, then as many float32 weights
    UniqueConstraint("label_id", "point_id", "born"),
    Index("rag_chunks_died", "label_id", "died", "born"),
)

documents = Table(
    "rag_documents",
    metadata,
    Column("label_id", ForeignKey(labels.c.label_id), primary_key=True),
    Column("sha256", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),  # zlib
)

eval_runs = Table(
    "rag_eval_runs",
    metadata,
    Column("label_id", ForeignKey(labels.c.label_id, ondelete="CASCADE"), primary_key=True),
    Column("generation_id", Text, primary_key=True),
    Column("question_set", Text, primary_key=True),
    Column("category", Text, primary_key=True),
    Column("position", Integer, nullable=False),  # of the category; that of all questions is 0
    Column("questions", Integer, nullable=False),
    Column("commit_sha", Text, nullable=False),
    Column("commit_date", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("k", Integer, nullable=False),
    Column("metrics_version", Integer, nullable=False),
    Column("mode", Text, nullable=False),
    Column("embedding_model", Text, nullable=False),
    Column("metrics", Text, nullable=False),  # JSON: metric → value, low, high
    Column("p50_ms", Float, nullable=False),
    Column("p95_ms", Float, nullable=False),
    Column("conditions", Text),  # JSON: how it was searched; NULL where the run does not say it
    Column("answers", Text),  # JSON: the numbers of the answers, beside all questions; NULL where only the search ran
)
WORDS_TABLE = "rag_chunk_words"
"""The full-text index on SQLite; on Postgres it is the column `search`."""

_POSTGRES = (
    "ALTER TABLE rag_chunks ADD COLUMN search tsvector "
    "GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, words)) STORED",
    "CREATE INDEX rag_chunks_search ON rag_chunks USING gin (search)",
    # Vectors and weights do not shrink: trying costs a third of the writing time.
    "ALTER TABLE rag_chunks ALTER COLUMN dense SET STORAGE EXTERNAL, ALTER COLUMN sparse SET STORAGE EXTERNAL",
    "ALTER TABLE rag_documents ALTER COLUMN content SET STORAGE EXTERNAL",
)
_SQLITE = (
    f"CREATE VIRTUAL TABLE {WORDS_TABLE} USING fts5(words, content='rag_chunks', content_rowid='row_id')",
    f"CREATE TRIGGER rag_chunk_added AFTER INSERT ON rag_chunks BEGIN "
    f"INSERT INTO {WORDS_TABLE}(rowid, words) VALUES (new.row_id, new.words); END",
    f"CREATE TRIGGER rag_chunk_gone AFTER DELETE ON rag_chunks BEGIN "
    f"INSERT INTO {WORDS_TABLE}({WORDS_TABLE}, rowid, words) VALUES ('delete', old.row_id, old.words); END",
)


@dataclass(frozen=True, slots=True)
class CatalogIdentity:
    """Which catalog a database holds, and the version of its tables; empty where nothing says it."""

    id: str
    version: str


def ensure_schema(connection: Connection) -> CatalogIdentity:
    """Makes the tables where there are none, all or nothing, and returns the identity of the catalog. Whoever may only
    write rows can use tables that somebody else has made."""
    found = identity(connection)
    if found is not None:
        return found
    postgres = connection.dialect.name == "postgresql"
    if postgres:
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CREATION_LOCK})
        found = identity(connection)  # somebody else may have made them meanwhile
        if found is not None:
            return found
    metadata.create_all(connection)
    for statement in _POSTGRES if postgres else _SQLITE:
        connection.execute(text(statement))
    made = CatalogIdentity(uuid.uuid4().hex, SCHEMA_VERSION)
    rows = [{"name": "version", "value": made.version}, {"name": "id", "value": made.id}]
    connection.execute(about.insert(), rows)
    return made


def identity(connection: Connection) -> CatalogIdentity | None:
    """Which catalog this is; None for a database that holds none."""
    if not inspect(connection).has_table(about.name):
        return None
    known = {row.name: row.value for row in connection.execute(select(about))}
    return CatalogIdentity(known.get("id", ""), known.get("version", ""))
