"""SQL files: their objects as nodes, and what these and the statements between them read, write and change."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation, file_key
from rag_assets.contracts.segment import LineIndex, ParseHealth, Segment
from rag_assets.descriptions.facts.sql_keys import foreign_keys_of, primary_key_of
from rag_assets.descriptions.facts.sql_mentions import is_procedural, mentions_in
from rag_assets.descriptions.facts.sql_table import columns_of
from rag_assets.descriptions.facts.sql_tokens import Token, tokens_of
from rag_assets.descriptions.facts.sql_uses import SqlUse
from rag_assets.graph.extraction import GraphFile
from rag_assets.graph.sql.batches import literal_batches
from rag_assets.graph.sql.edges import edges_of, first_mentions, once
from rag_assets.graph.sql.objects import PlacedObject, is_sql, placed
from rag_assets.graph.sql.renames import renames
from rag_assets.graph.sql.symbols import SqlSymbols, declarations_of
from rag_assets.segmentation.sql import segment_sql
from rag_assets.segmentation.sql_copied_rows import without_copied_rows
from rag_assets.segmentation.sql_scanner import batches_of

if TYPE_CHECKING:
    from rag_assets.graph.symbols import Symbols

_MAX_SIGNATURE_CHARS = 1_000
"""As of declared heads: what comes first tells what the table is."""

_ALTERED_IN_PART = frozenset({NodeType.TABLE, NodeType.SQL_TYPE, NodeType.SEQUENCE})
"""ALTER changes a part of these; of the others it writes the whole definition again."""


def sql_objects(file: GraphFile, symbols: Symbols) -> Iterable[GraphNode | GraphEdge]:
    """The extractor of SQL files; see `objects_of`."""
    return objects_of(file, symbols.sql)


def objects_of(file: GraphFile, symbols: SqlSymbols) -> Iterator[GraphNode | GraphEdge]:
    """Nodes and edges of an SQL file of any dialect; nothing of other files.

    Nodes: the file, each declared object, those that literal dynamic SQL creates too. Edges: Contains (file → object),
    ReadsFrom, WritesTo, Executes, UsesType, References (sequences), ForeignKey (table → table), On (trigger → table;
    file → table for an index), SynonymFor, SchemaChange (file → what it alters or drops, unless it creates it too).
    Statements outside of objects belong to the file. Never raises.
    """
    if not is_sql(file):
        return
    lines = LineIndex(file.text)
    text = without_copied_rows(file.text)
    scripts = [_Script(text, file.segments, 0, "")]
    objects = list(placed(file.segments, file.path))
    for batch in literal_batches(text):
        inner = segment_sql(batch.text, file.path, file.language).segments
        scripts.append(_Script(batch.text, inner, batch.line - 1, _owner(objects, batch.start)))
    yield GraphNode(
        key=file_key(file.path),
        kind=NodeType.FILE,
        name=PurePosixPath(file.path).name,
        path=file.path,
        line_start=1,
        line_end=lines.line_of(max(0, len(file.text) - 1)),
        language=file.language,
    )
    own = SqlSymbols([declarations_of(made for script in scripts for made in placed(script.segments, file.path))])
    created: set[str] = set()
    edges: list[GraphEdge] = []
    for script in scripts:
        for found in _of_script(script, file, symbols, own):
            if isinstance(found, GraphNode):
                yield found
                continue
            if found.relation is Relation.CONTAINS:
                created.add(found.target)
            edges.append(found)
    edges += renames(text, lines, file.path, symbols)
    kept = (edge for edge in edges if edge.relation is not Relation.SCHEMA_CHANGE or edge.target not in created)
    yield from once(kept)


@dataclass(frozen=True, slots=True)
class _Script:
    """A text of SQL: the file, or a literal in it after `line_offset` lines, executed by the object `owner`."""

    text: str
    segments: tuple[Segment, ...]
    line_offset: int
    owner: str


def _owner(objects: Sequence[PlacedObject], offset: int) -> str:
    """The key of the object that holds an offset of the file, '' outside; `objects` are in text order."""
    index = bisect_right(objects, offset, key=lambda found: found.segment.span.char_start) - 1
    inside = index >= 0 and offset < objects[index].segment.span.char_end
    return objects[index].key if inside else ""


def _of_script(
    script: _Script, file: GraphFile, symbols: SqlSymbols, own: SqlSymbols
) -> Iterator[GraphNode | GraphEdge]:
    lines = LineIndex(script.text)
    whole_file = file_key(file.path)
    assigns_into = is_procedural(script.text)
    is_partial = any(segment.health is ParseHealth.PARTIAL for segment in script.segments)

    def between(start: int, end: int) -> Iterator[GraphEdge]:
        """Of what stands outside of objects. A string that never ends does not reach beyond its batch."""
        run = script.text[start:end]
        batches = batches_of(run) if is_partial else [(0, len(run))]
        for begin, stop in batches:
            yield from edges(tokens_of(run[begin:stop]), start + begin, script.owner or whole_file)

    def edges(tokens: Sequence[Token], start: int, source: str) -> Iterator[GraphEdge]:
        for mention in first_mentions(mentions_in(tokens, assigns_into=assigns_into)):
            line = lines.line_of(start + mention.start) + script.line_offset
            changes = mention.use in (SqlUse.ALTERS, SqlUse.DROPS)
            yield from edges_of(mention, whole_file if changes else source, symbols, file.path, line, own)

    position = 0
    for found in placed(script.segments, file.path, script.line_offset):
        span = found.segment.span
        yield from between(position, span.char_start)
        position = max(position, span.char_end)
        tokens = tokens_of(script.text[span.char_start : span.char_end])
        node = _node(found, tokens, file)
        yield node
        if not (_alters(found) and found.kind in _ALTERED_IN_PART):
            yield GraphEdge(whole_file, Relation.CONTAINS, found.key, path=file.path, line=node.line_start)
        yield from edges(tokens, span.char_start, found.key)
    yield from between(position, len(script.text))


def _node(found: PlacedObject, tokens: Sequence[Token], file: GraphFile) -> GraphNode:
    span = found.segment.span
    return GraphNode(
        key=found.key,
        kind=found.kind,
        name=found.name,
        path=file.path,
        line_start=span.line_start + found.line_offset,
        line_end=span.line_end + found.line_offset,
        language=file.language,
        signature=_signature(found, tokens),
    )


def _alters(found: PlacedObject) -> bool:
    return found.segment.signature[:5].upper() == "ALTER"


def _signature(found: PlacedObject, tokens: Sequence[Token]) -> str:
    """The declared head; of a table with columns and keys: `CREATE TABLE a (Id int primary, BId int foreign → b)`."""
    head = found.segment.signature
    if found.kind not in (NodeType.TABLE, NodeType.SQL_TYPE) or not found.segment.members:
        return head
    foreign = foreign_keys_of(tokens)
    targets = {column.lower(): key.target for key in foreign for column in key.columns}
    shown = []
    for column in columns_of(found.segment.members, primary_key_of(tokens), foreign):
        words = [column.name, column.type, "" if column.nullable or column.key == "primary" else "not null", column.key]
        if column.name.lower() in targets:
            words.append(f"→ {targets[column.name.lower()]}")
        shown.append(" ".join(word for word in words if word))
    return f"{head} ({', '.join(shown)})"[:_MAX_SIGNATURE_CHARS]
