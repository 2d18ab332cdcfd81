"""Contexts, sets, entities and migrations as nodes, and the tables that they map to or change.

Foreign keys that only a migration spells out come from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, sql_key, symbol_key
from rag_assets.contracts.segment import Member, Segment
from rag_assets.languages.csharp.binder.type_syntax import attribute_name
from rag_assets.languages.csharp.declaration_ranges import (
    LANGUAGE,
    classes_of,
    entity_key,
    migration_key,
    type_key,
    whole,
)
from rag_assets.languages.csharp.ef.entity_stores import resolved_type
from rag_assets.languages.csharp.ef.mappings import (
    code_of,
    configured_parts,
    db_sets,
    entity_mappings,
    is_context,
    is_migration,
    owned_mappings,
    table_of,
    table_of_attribute,
)
from rag_assets.languages.csharp.ef.migrations import FOREIGN_KEY, RENAME_TABLE, schema_operations
from rag_assets.languages.csharp.ef.stored_entities import StoredEntity
from rag_assets.languages.csharp.facts.masked_body import MaskedBody
from rag_assets.languages.csharp.facts.type_names import parse_type
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile

DEFAULT_SCHEMA = "dbo"
"""A name without a schema belongs to this one, as it does for points of SQL objects and references in SQL."""

_ROWS = frozenset({NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW})


def table_node(written: str, symbols: LabelDeclarations) -> str:
    """The key of `sales.Orders` or `Orders`."""
    schema, _, name = written.rpartition(".")
    declared = [found for found in symbols.sql.named(name, schema) if found.kind in _ROWS]
    if len(declared) == 1:
        return declared[0].key
    return sql_key(schema or DEFAULT_SCHEMA, name, NodeType.TABLE_OR_VIEW)


_RELATED = re.compile(r"\.\s*(?:Has|Owns)(?:One|Many)\s*<\s*([\w.:]{1,200})\s*>")
_TO_TABLE = re.compile(r"\.\s*To(?:Table|View)\s*\(")


def ef_model(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """DBSET and ENTITY nodes; set → entity, entity → type, table and other entities (domain reference §5)."""
    if file.language != LANGUAGE:
        return
    for segment in classes_of(file.segments):
        if is_context(segment):
            yield from _sets(file, whole(segment, symbols.declared_types), symbols)
        entity = symbols.ef.entity(segment.symbol)
        if entity is not None:
            yield from _entity(file, segment, entity, symbols)
        if any("Builder" in parameter.type for member in segment.members for parameter in member.parameters):
            yield from _configuration(file, segment, symbols)


def set_key(symbol: str) -> str:
    return symbol_key(LANGUAGE, symbol, NodeType.DBSET)


def _sets(file: ParsedFile, context: Segment, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
    if context.kind == "interface":
        return
    for found in db_sets(context, symbols.declared_types):
        key = set_key(f"{context.symbol}.{found.name}")
        start, stop = found.span.line_start, found.span.line_end
        if found.inherited:
            stop = start
        signature = f"DbSet<{found.entity}> {found.name}"
        yield GraphNode(key, NodeType.DBSET, found.name, file.path, start, stop, LANGUAGE, signature)
        yield GraphEdge(type_key(context.symbol), Relation.CONTAINS, key, Confidence.RESOLVED, file.path, start)
        symbol = resolved_type(found.entity, context, file.path, symbols.csharp)
        if symbol:
            yield GraphEdge(key, Relation.MAPS_TO, entity_key(symbol), Confidence.RESOLVED, file.path, start)


def _entity(
    file: ParsedFile, segment: Segment, entity: StoredEntity, symbols: LabelDeclarations
) -> Iterator[GraphNode | GraphEdge]:
    key, line = entity_key(segment.symbol), segment.span.line_start
    stop = segment.span.line_end
    yield GraphNode(key, NodeType.ENTITY, segment.name, file.path, line, stop, LANGUAGE, segment.signature)
    yield GraphEdge(key, Relation.MAPS_TO, type_key(segment.symbol), Confidence.RESOLVED, file.path, line)
    for attribute in segment.attributes:
        table = table_of_attribute(attribute) if attribute_name(attribute) == "Table" else ""
        if table:
            yield GraphEdge(
                key,
                Relation.MAPS_TO,
                table_node(symbols.ef.table(segment.symbol, table), symbols),
                Confidence.RESOLVED,
                file.path,
                line,
            )
    if entity.table:
        target = table_node(entity.table, symbols)
        yield GraphEdge(key, Relation.MAPS_TO, target, Confidence.PROBABLE, file.path, line)
    members = {member.name: member for member in segment.members}
    parameters = {parameter.name for parameter in segment.parameters}
    for link in symbols.ef.links(segment.symbol):
        member = members.get(link.property)
        if member is not None or link.property in parameters:  # others are of another part or of a base, whose own node
            at = _named_at(member, file) if member is not None else line
            yield GraphEdge(key, Relation.REFERENCES, entity_key(link.target), Confidence.RESOLVED, file.path, at)


def _named_at(member: Member, file: ParsedFile) -> int:
    """The line, from 1, that names a member; the last of it where none does."""
    named = re.compile(rf"(?!\s*(?://|\[)).*\b{re.escape(member.name)}\b")
    text = member.span.slice(file.text).split("\n")
    inside = enumerate(text, member.span.line_start)
    return next((line for line, said in inside if named.match(said)), member.span.line_end)


def _configuration(file: ParsedFile, segment: Segment, symbols: LabelDeclarations) -> Iterator[GraphEdge]:
    body = code_of(segment, file.text)
    for found in entity_mappings(body, segment, symbols.declared_types):
        symbol = resolved_type(found.entity, segment, file.path, symbols.csharp)
        if symbol:
            at = _table_line(body, found.table, found.line)
            yield from _mapped(file, symbol, found.table, at, symbols)
            yield GraphEdge(
                type_key(segment.symbol), Relation.REFERENCES, entity_key(symbol), Confidence.RESOLVED, file.path,
                found.line,
            )  # fmt: skip
    for entity, start, stop in configured_parts(segment, body):
        symbol = resolved_type(entity, segment, file.path, symbols.csharp)
        if symbol:
            yield from _configured(file, segment, body, symbol, (start, stop), symbols)


def _configured(
    file: ParsedFile, segment: Segment, body: MaskedBody, symbol: str, part: tuple[int, int], symbols: LabelDeclarations
) -> Iterator[GraphEdge]:
    """One entity in the part of a type that configures it: its tables, what it owns, what it relates to."""
    start, stop = part
    line = body.line_at(start)
    source = type_key(segment.symbol)
    yield GraphEdge(source, Relation.REFERENCES, entity_key(symbol), Confidence.RESOLVED, file.path, line)
    table = table_of(body, start, stop)
    named = _TO_TABLE.search(body.code, start, stop)
    yield from _mapped(file, symbol, table, body.line_at(named.start()) if named else line, symbols)
    links = {link.property: link.target for link in symbols.ef.links(symbol)}
    for owned in owned_mappings(body, start, stop):
        target = links.get(owned.navigation, "")
        if not target:
            continue
        at = _line_of(body, owned.navigation, start, stop, line)
        yield from _mapped(file, target, owned.table, at, symbols)
        if not owned.table:  # stored in the columns of its owner
            stored = symbols.ef.entity(symbol)
            for name in (*stored.tables, stored.table) if stored is not None else ():
                if name:
                    key = table_node(name, symbols)
                    yield GraphEdge(entity_key(target), Relation.MAPS_TO, key, Confidence.PROBABLE, file.path, at)
    for found in _RELATED.finditer(body.code, start, stop):
        target = resolved_type(parse_type(found[1]).name, segment, file.path, symbols.csharp)
        if target and symbols.ef.entity(target) is not None:
            yield GraphEdge(
                entity_key(symbol), Relation.REFERENCES, entity_key(target), Confidence.RESOLVED, file.path,
                body.line_at(found.start()),
            )  # fmt: skip


def _mapped(file: ParsedFile, symbol: str, table: str, line: int, symbols: LabelDeclarations) -> Iterator[GraphEdge]:
    if table:
        target = table_node(symbols.ef.table(symbol, table), symbols)
        yield GraphEdge(entity_key(symbol), Relation.MAPS_TO, target, Confidence.RESOLVED, file.path, line)


def _table_line(body: MaskedBody, table: str, line: int) -> int:
    """The line of the string that names a table, else that of the entity."""
    if not table:
        return line
    at = body.text.find(f'"{table.rpartition(".")[2]}"')
    return body.line_at(at) if at >= 0 else line


def _line_of(body: MaskedBody, name: str, start: int, stop: int, otherwise: int) -> int:
    at = body.code.find(f".{name}", start, stop)
    return body.line_at(at) if at >= 0 else otherwise


def ef_migrations(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """A MIGRATION node per migration class, SchemaChange to each table that its `Up` touches, and ForeignKey between
    tables. `Down`, which goes back, gives no edges."""
    if file.language != LANGUAGE:
        return
    for segment in classes_of(file.segments):
        if is_migration(segment):
            yield from _migration(file, segment, symbols)


def _migration(file: ParsedFile, segment: Segment, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
    key, span = migration_key(segment.symbol), segment.span
    yield GraphNode(
        key, NodeType.MIGRATION, segment.name, file.path, span.line_start, span.line_end, LANGUAGE, segment.signature
    )
    yield GraphEdge(key, Relation.MAPS_TO, type_key(segment.symbol), Confidence.RESOLVED, file.path, span.line_start)
    for found in schema_operations(segment, span.slice(file.text)):
        line = found.span.line_start
        changed = [found.table, found.target if found.name == RENAME_TABLE else ""]
        for table in changed:
            if table:
                node = table_node(table, symbols)
                yield GraphEdge(key, Relation.SCHEMA_CHANGE, node, Confidence.RESOLVED, file.path, line)
        if found.name == FOREIGN_KEY and found.target:
            source, target = table_node(found.table, symbols), table_node(found.target, symbols)
            yield GraphEdge(source, Relation.FOREIGN_KEY, target, Confidence.RESOLVED, file.path, line)
