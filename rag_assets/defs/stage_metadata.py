"""What the UI shows of a materialization: the numbers of the report of its stage, and its table as Dagster's own names
of metadata describe it. All of it is in hand when the stage ends; nothing is read for it but a manifest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import pyarrow as pa
from dagster import (
    AssetKey,
    MarkdownMetadataValue,
    MetadataValue,
    TableColumn,
    TableColumnDep,
    TableColumnLineage,
    TableMetadataValue,
    TableRecord,
    TableSchema,
)

from rag_assets.graph.build import EDGES, NODES
from rag_assets.index.generations import GenerationError, active_pointer, generation_directory, read_generation
from rag_assets.pipeline.build import IndexBuild, StageReport
from rag_assets.pipeline.schemas import (
    DESCRIPTIONS,
    DISCOVERED_FILES,
    KEYWORD_WEIGHTS,
    POINTS,
    SEGMENTS,
    SUMMARY_SECTIONS,
    column_meaning,
    embeddings_schema,
)
from rag_assets.sources.forge_links import commit_page, diff_page

_DIGITS = 4  # of a measure: more are noise
_MOST_OF_ONE_ROW = 3
_SHOWN_ROWS = 50  # of a table of a report; the Parquet tables have them all
_MARKDOWN = re.compile(r"[<>&|`\\*_\[\]{}~!#\n\r]|(?<=http):|(?<=https):|(?<=www)\.", re.IGNORECASE)
_BULLET = re.compile(r"^[-+=]")  # begins a list of its own, or makes a heading

_ROWS: Mapping[str, tuple[str, ...]] = {
    "discovered_files": ("indexed", "skipped"),
    "segments": ("segments",),
    "descriptions": ("descriptions", "not_applicable", "no_builder", "failed"),
    "summary_sections": ("sections",),
    "embeddings": ("vectors",),
    "bm25_artifacts": ("sections",),
    "qdrant_points": ("points",),
}
"""The counts of a report that add up to the rows of the table of the stage. The graph is merged from tables that repeat
nodes, so it has none."""

_SCHEMAS: Mapping[str, pa.Schema] = {
    "discovered_files": DISCOVERED_FILES,
    "segments": SEGMENTS,
    "descriptions": DESCRIPTIONS,
    "summary_sections": SUMMARY_SECTIONS,
    "bm25_artifacts": KEYWORD_WEIGHTS,
    "qdrant_points": POINTS,
}

_OF_TEXT = (("discovered_files", "text_sha256"), ("discovered_files", "language"))
_OF_SEGMENT = (("segments", "segment"),)
_OF_DESCRIPTION = (("descriptions", "description"),)
_OF_SECTION = (("summary_sections", "section"),)
_OF_ID = tuple(("summary_sections", name) for name in ("symbol", "section_key", "part_index"))
_SNIPPET = ("summary_sections", "finder_snippet")
_ORIGIN = tuple(("discovered_files", name) for name in ("commit_sha", "commit_date"))

_LINEAGE: Mapping[str, Mapping[str, tuple[tuple[str, str], ...]]] = {
    "segments": {"path": (("discovered_files", "path"),), "language": (("discovered_files", "language"),)}
    | dict.fromkeys(
        ("ordinal", "symbol", "symbol_type", "line_start", "line_end", "char_start", "char_end", "segment"), _OF_TEXT
    ),
    "descriptions": {name: (("segments", name),) for name in ("path", "ordinal", "symbol")}
    | dict.fromkeys(
        ("kind", "reason", "evidence", "rule", "pack", "outcome", "messages", "builder", "description"), _OF_SEGMENT
    ),
    "summary_sections": {name: (("descriptions", name),) for name in ("path", "ordinal", "kind")}
    | dict.fromkeys(
        ("symbol", "section_key", "line_start", "line_end", "char_start", "char_end", "names", "section"),
        _OF_DESCRIPTION,
    )
    | {"finder_snippet": _OF_DESCRIPTION},
    "embeddings": {"vector": (_SNIPPET,)},
    "bm25_artifacts": dict.fromkeys(
        ("indices", "values"), (_SNIPPET, *(("summary_sections", name) for name in ("names", "path", "section")))
    ),
    "qdrant_points": {
        "path": (("summary_sections", "path"),),
        "point_id": _OF_ID,
        "semantic_id": _OF_ID,
        "content_hash": _OF_SECTION,
        "text_hash": (_SNIPPET, *_OF_SECTION),
        "slice_uri": _OF_SECTION,
        "description_uri": _OF_DESCRIPTION,
        "payload": (_SNIPPET, *_OF_SECTION, *_OF_DESCRIPTION, *_ORIGIN),
        "digest": (
            ("embeddings", "vector"),
            ("bm25_artifacts", "indices"),
            ("bm25_artifacts", "values"),
            *_OF_SECTION,
        ),
    },
}
"""Stage → column → the columns it is made of. So the UI can follow a payload back to the text of a file."""


def stage_metadata(build: IndexBuild, report: StageReport, key: Callable[[str], AssetKey]) -> dict[str, Any]:
    """`key` gives that of another stage of the same scope."""
    found: dict[str, Any] = {
        "generation": build.spec.generation_id,
        "commit": build.spec.git.commit_sha,
        "unchanged": report.unchanged,
    }
    if report.stage in ("discovered_files", "active_index"):
        found |= _links(build)
    if report.all_problems:
        found["problems"] = markdown_list(report.all_problems[:_SHOWN_ROWS])
    found |= report.counts
    found |= {name: round(value, _DIGITS) for name, value in report.measures.items()}
    found |= report.work
    found |= {name: table(rows) for name, rows in report.tables.items() if rows}
    return found | _table_metadata(build, report, key)


def _links(build: IndexBuild) -> dict[str, Any]:
    """Pages of the forge: the commit, and what changed since the one that is served, or was before this one."""
    remote, commit = build.spec.git.remote_url, build.spec.git.commit_sha
    page = commit_page(remote, commit) if remote and build.spec.git.is_git else ""
    if not page:
        return {}
    changes = diff_page(remote, _commit_before(build), commit)
    return {"commit page": MetadataValue.url(page)} | ({"diff page": MetadataValue.url(changes)} if changes else {})


def _commit_before(build: IndexBuild) -> str:
    """The commit of the generation that a build replaces; '' where there is none."""
    pointer = active_pointer(build.home, build.spec.index_label)
    if pointer is None:
        return ""
    served = pointer.generation_id
    before = pointer.previous_generation_id if served == build.spec.generation_id else served
    try:
        return read_generation(build.home, build.spec.index_label, before).manifest.commit_sha if before else ""
    except GenerationError:
        return ""


def _table_metadata(build: IndexBuild, report: StageReport, key: Callable[[str], AssetKey]) -> dict[str, Any]:
    stage, stores = report.stage, build.settings.stores
    found: dict[str, Any] = {"dagster/uri": (build.directory / stage).as_uri(), "dagster/storage_kind": "parquet"}
    match stage:
        case "eval_runs":
            return {}
        case "active_index":
            (row,) = report.tables["active index"]
            served = generation_directory(build.home, build.spec.index_label, row["generation"])
            return {"dagster/uri": served.as_uri()}
        case "code_graph":
            schemas = {"nodes schema": NODES, "edges schema": EDGES}
            found["dagster/uri"] = (build.directory / "graph").as_uri()
            shown = {name: [TableColumn(field.name, _type(field)) for field in kept] for name, kept in schemas.items()}
            return found | {name: MetadataValue.table_schema(TableSchema(columns)) for name, columns in shown.items()}
        case "embeddings" if not report.counts["vectors"]:
            return found  # one constant vector per section keeps the contract, and is no embedding
        case "qdrant_points":
            server = stores.vectors == "qdrant"
            found["dagster/uri"] = stores.qdrant_url if server else (build.directory / "shard").as_uri()
            found["dagster/storage_kind"] = "faiss" if stores.vectors == "faiss" else "qdrant"
    rows = sum(report.counts[name] for name in _ROWS[stage])
    schema = embeddings_schema(report.counts["dimension"]) if stage == "embeddings" else _SCHEMAS[stage]
    return found | {
        # The table of a generation has the rows of one label: it is a partition, and all that this address holds.
        "dagster/row_count": rows,
        "dagster/partition_row_count": rows,
        "dagster/column_schema": TableSchema(
            [TableColumn(field.name, _type(field), column_meaning(stage, field.name)) for field in schema]
        ),
        **({"dagster/column_lineage": column_lineage(stage, key)} if stage in _LINEAGE else {}),
    }


def column_lineage(stage: str, key: Callable[[str], AssetKey]) -> TableColumnLineage:
    return TableColumnLineage(
        {
            column: [TableColumnDep(key(upstream), name) for upstream, name in made_of]
            for column, made_of in _LINEAGE[stage].items()
        }
    )


def _type(field: pa.Field) -> str:
    """As Arrow calls it, a list without the name of its elements."""
    return str(field.type).replace("item: ", "")


def table(rows: Sequence[Mapping[str, Any]]) -> TableMetadataValue:
    """The first rows, of the columns of the first one. The UI shows cells as text, whatever they contain. It
    breaks no id in two, and cuts off what is too wide: one row of many columns becomes a line for each."""
    if len(rows) == 1 and len(rows[0]) > _MOST_OF_ONE_ROW:
        rows = [{"what": name, "value": "" if value is None else str(_cell(value))} for name, value in rows[0].items()]
    columns = {name: _type_of(value) for name, value in rows[0].items()}
    records = [TableRecord({name: _cell(row.get(name)) for name in columns}) for row in rows[:_SHOWN_ROWS]]
    return MetadataValue.table(records, TableSchema([TableColumn(name, kind) for name, kind in columns.items()]))


def _cell(value: object) -> str | int | float | bool | None:
    if isinstance(value, Enum):
        return _cell(value.value)  # Dagster stores no enums of ours, not even those that are strings
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _type_of(value: object) -> str:
    return next((kind.__name__ for kind in (bool, int, float) if isinstance(value, kind)), "string")


def markdown_text(text: str) -> str:
    """A text that markdown shows as it is, on one line; `html.unescape` gives it back. Names of files and texts of a
    repository are data: the UI must not take them for HTML, and follow no link or image of theirs."""
    return _MARKDOWN.sub(_entity, text)


def _entity(found: re.Match[str]) -> str:
    return f"&#{ord(found[0])};"


def markdown_list(texts: Sequence[str]) -> MarkdownMetadataValue:
    return MetadataValue.md("\n".join(f"- {_BULLET.sub(_entity, markdown_text(text))}" for text in texts))
