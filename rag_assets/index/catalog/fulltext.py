"""Full-text search in the catalog (E06): which served chunks have all words of a question.

For looking things up where there is a database and nothing else. Ranking is the business of `rag-assets search`.
Conditions without a column read the payload, which is JSON.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    TableValuedAlias,
    Text,
    and_,
    cast,
    column,
    exists,
    false,
    func,
    literal,
    literal_column,
    not_,
    or_,
    select,
    table,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR

from rag_assets.index.catalog.database import WORDS_TABLE, Database, chunks, generations, labels
from rag_assets.index.catalog.history import COMPLETE
from rag_assets.index.catalog.rows import words
from rag_assets.index.vectors.conditions import (
    Absent,
    AllOf,
    AnyOf,
    BeginsWith,
    Between,
    Condition,
    Equal,
    HasId,
    KnownValues,
    Not,
    OneOf,
    conditions_of,
)
from rag_assets.index.vectors.filters import SearchScope

COLUMNS: dict[str, ColumnElement[str]] = {
    "OrgId": labels.c.org_id,
    "ProjectId": labels.c.project_id,
    "IndexLabel": labels.c.index_label,
    "Kind": chunks.c.kind,
    "CodeLanguage": chunks.c.language,
    "SourceType": chunks.c.source_type,
    "Symbol": chunks.c.symbol,
    "Path": chunks.c.path,
}

_LISTS = frozenset({"DeclaredNames"})


def compiled(condition: Condition, dialect: str) -> ColumnElement[bool]:
    match condition:
        case AnyOf():
            return or_(false(), *(compiled(found, dialect) for found in condition.conditions))
        case AllOf():
            return and_(*(compiled(found, dialect) for found in condition.conditions))
        case Not():
            return not_(func.coalesce(compiled(condition.condition, dialect), false()))
        case HasId():
            return chunks.c.point_id.in_(sorted(condition.ids))
        case Absent():
            return _field(condition.key, dialect).is_(None)
        case Between():
            changed = _field(condition.key, dialect)  # times as text of one length, which sorts as they do
            since = true() if condition.since is None else changed >= condition.since
            before = true() if condition.before is None else changed < condition.before
            return and_(changed.is_not(None), since, before)
        case Equal() | OneOf() | BeginsWith():
            if condition.key not in _LISTS:
                return _holds(_field(condition.key, dialect), condition)
            element = elements(condition.key, dialect)
            return exists(select(literal(1)).select_from(element).where(_holds(element.c.value, condition)))


def elements(key: str, dialect: str) -> TableValuedAlias:
    """The elements of a list in the payload, as rows with a `value`; none where there is no list."""
    if dialect == "postgresql":
        found = func.coalesce(cast(chunks.c.payload, JSONB)[key], cast("[]", JSONB))
        return func.jsonb_array_elements_text(found).table_valued("value")
    return func.json_each(chunks.c.payload, f"$.{key}").table_valued("value")


def _field(key: str, dialect: str) -> ColumnElement[Any]:
    if key in COLUMNS:
        return COLUMNS[key]
    if dialect == "postgresql":
        return func.jsonb_extract_path_text(cast(chunks.c.payload, JSONB), key)
    return cast(func.json_extract(chunks.c.payload, f"$.{key}"), Text)


def _holds(value: ColumnElement[Any], condition: Equal | OneOf | BeginsWith) -> ColumnElement[bool]:
    match condition:
        case Equal():
            return value == condition.value
        case OneOf():
            return value.in_(condition.values)
        case BeginsWith():
            return func.substr(value, 1, len(condition.prefix)) == condition.prefix  # LIKE of SQLite ignores case


_VECTOR: ColumnElement[Any] = literal_column("rag_chunks.search", TSVECTOR())


@dataclass(frozen=True, slots=True, kw_only=True)
class TextHit:
    """A chunk that has all words; `score` is the database's own, higher is better, comparable within one search."""

    index_label: str
    generation_id: str
    point_id: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    kind: str
    section_key: str
    text: str
    score: float


def search_text(database: Database, query: str, scope: SearchScope, limit: int) -> list[TextHit]:
    """The best `limit` chunks of the served generations within the scope that have every word of `query`, equal scores
    by id; none for a query without words. The tenant is part of `SearchScope`, which cannot be made without one.

    Raises CatalogError, and WrongQuestion for an unknown kind.
    """
    terms = list(words(query))
    if not terms or limit < 1:
        return []
    with database.transaction("searched") as connection:
        asked = _served(connection, scope)
        asked = _on_postgres(asked, terms) if connection.dialect.name == "postgresql" else _on_sqlite(asked, terms)
        return [TextHit(**row) for row in connection.execute(asked.limit(limit)).mappings()]


def _served(connection: Connection, scope: SearchScope) -> Select[Any]:
    active = generations.c.generation_id == labels.c.active_generation
    served = and_(generations.c.label_id == labels.c.label_id, active, generations.c.state == COMPLETE)
    visible = and_(chunks.c.born <= generations.c.sequence, chunks.c.died > generations.c.sequence)
    chosen = select(
        labels.c.index_label,
        generations.c.generation_id,
        chunks.c.point_id,
        chunks.c.path,
        func.coalesce(chunks.c.line_start, 0).label("start_line"),
        func.coalesce(chunks.c.line_end, 0).label("end_line"),
        chunks.c.symbol,
        chunks.c.kind,
        chunks.c.section_key,
        chunks.c.text,
    )
    joined = chosen.select_from(chunks).join(labels, labels.c.label_id == chunks.c.label_id).join(generations, served)
    known = KnownValues(lambda key, everything: _values(connection, key, everything)).within(scope)
    scope = replace(scope, required=tuple(one.normalized(lambda: known("Kind")) for one in scope.required))
    dialect = connection.dialect.name
    return joined.where(visible, *(compiled(found, dialect) for found in conditions_of(scope, known)))


def _on_postgres(asked: Select[Any], terms: list[str]) -> Select[Any]:
    wanted = func.plainto_tsquery(literal("simple").op("::")(column("regconfig")), " ".join(terms))
    score = func.ts_rank(_VECTOR, wanted).label("score")
    return asked.add_columns(score).where(_VECTOR.op("@@")(wanted)).order_by(score.desc(), chunks.c.point_id)


def _on_sqlite(asked: Select[Any], terms: list[str]) -> Select[Any]:
    found = table(WORDS_TABLE, column("rowid"), column("rank"))
    score = (-found.c.rank).label("score")
    matches = column(WORDS_TABLE).op("MATCH")(" ".join(f'"{term}"' for term in terms))  # terms hold no quotes
    joined = asked.add_columns(score).join(found, found.c.rowid == chunks.c.row_id)
    return joined.where(matches).order_by(score.desc(), chunks.c.point_id)


def _values(connection: Connection, key: str, scope: SearchScope) -> Iterable[str]:
    """All values of a field within the tenant and project: a glob becomes the list of those it matches."""
    of_tenant = and_(labels.c.org_id == scope.org_id, labels.c.project_id == scope.project_id)
    of_labels = labels.c.label_id == chunks.c.label_id
    if key in COLUMNS:
        asked = select(COLUMNS[key]).select_from(chunks).join(labels, of_labels)
        return sorted(connection.execute(asked.where(of_tenant).distinct()).scalars())
    element = elements(key, connection.dialect.name)
    listed = select(element.c.value).select_from(chunks.join(labels, of_labels).join(element, true()))
    return sorted(connection.execute(listed.where(of_tenant).distinct()).scalars())
