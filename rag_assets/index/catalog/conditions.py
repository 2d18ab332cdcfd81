"""Compiles the conditions of a scope to SQL. What has no column is read out of the payload, which is JSON."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    TableValuedAlias,
    Text,
    and_,
    cast,
    exists,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB

from rag_assets.index.catalog.schema import chunks, labels
from rag_assets.index.vectors.conditions import (
    Absent,
    AllOf,
    AnyOf,
    BeginsWith,
    Between,
    Condition,
    Equal,
    HasId,
    Not,
    OneOf,
)

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
