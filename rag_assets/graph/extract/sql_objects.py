"""SQL files: their objects as nodes, and what these and the statements between them read, write and change."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from pathlib import PurePosixPath

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, file_key, key_kind
from rag_assets.contracts.segment import LineIndex, ParseHealth
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile
from rag_assets.languages.sql.columns import columns_of, foreign_keys_of, primary_key_of
from rag_assets.languages.sql.label_objects import (
    ROUTINES,
    TABLES,
    PlacedObject,
    SqlScript,
    SqlSymbols,
    declarations_of,
    renamed_objects,
    scripts_of,
    targets_of,
)
from rag_assets.languages.sql.lexer import Token, batches_of, tokens_of
from rag_assets.languages.sql.reference_reader import ObjectReference, SqlUse, is_procedural, references_in

_ANYTHING = (*TABLES, NodeType.PROC, NodeType.FUNC, NodeType.SEQUENCE)
_DROPPED: dict[str, tuple[NodeType, ...]] = {
    "TABLE": TABLES,
    "VIEW": (NodeType.VIEW,),
    "PROC": (NodeType.PROC,),
    "PROCEDURE": (NodeType.PROC,),
    "FUNCTION": (NodeType.FUNC,),
    "TYPE": (NodeType.SQL_TYPE,),
    "SEQUENCE": (NodeType.SEQUENCE,),
    "SYNONYM": (NodeType.SYNONYM,),
    "TRIGGER": (NodeType.TRIGGER,),
}
_MEANINGS: dict[tuple[SqlUse, str], tuple[tuple[Relation, tuple[NodeType, ...]], ...]] = {
    (SqlUse.READS, ""): ((Relation.READS_FROM, TABLES),),
    (SqlUse.WRITES, ""): ((Relation.WRITES_TO, TABLES),),
    (SqlUse.EXECUTES, ""): ((Relation.EXECUTES, ROUTINES),),
    (SqlUse.USES, ""): ((Relation.USES_TYPE, (NodeType.SQL_TYPE,)), (Relation.REFERENCES, (NodeType.SEQUENCE,))),
    (SqlUse.REFERENCES, ""): ((Relation.FOREIGN_KEY, (NodeType.TABLE,)),),
    (SqlUse.ON, ""): ((Relation.ON, TABLES),),
    (SqlUse.SYNONYM_FOR, ""): ((Relation.SYNONYM_FOR, _ANYTHING),),
    (SqlUse.ALTERS, "TABLE"): ((Relation.SCHEMA_CHANGE, TABLES),),
    **{(SqlUse.DROPS, word): ((Relation.SCHEMA_CHANGE, kinds),) for word, kinds in _DROPPED.items()},
}
"""Use and word after ALTER or DROP → the relations that a reference makes and the kinds of nodes they lead to. ALTER of
anything but a table defines the object again: that is no change of another one."""

_MAY_LOOP = frozenset({Relation.FOREIGN_KEY, Relation.USES_TYPE, Relation.REFERENCES})
"""Relations that may lead from a node to itself."""


def edges_of(
    found: ObjectReference, source: str, symbols: SqlSymbols, path: str, line: int, own: SqlSymbols | None = None
) -> Iterator[GraphEdge]:
    """The edges from `source` that one reference makes; `own` are the objects that its file declares.

    Foreign keys come from tables only.
    """
    for relation, kinds in _MEANINGS.get((found.use, found.kind), ()):
        if relation is Relation.FOREIGN_KEY and key_kind(source) is not NodeType.TABLE:
            continue
        for target in targets_of(found.name.parts, kinds, symbols, own):
            if target.key != source or relation in _MAY_LOOP:
                yield GraphEdge(source, relation, target.key, target.confidence, path, line)


def edges_of_program(
    found: ObjectReference, source: str, symbols: SqlSymbols, path: str, line: int, *, only_declared: bool
) -> Iterator[GraphEdge]:
    """The edges of a reference in a string of code: what a program creates is its change of the schema; none to what
    nothing declares where `only_declared`."""
    if found.use is SqlUse.CREATES:
        found = found._replace(use=SqlUse.ALTERS)
    for edge in edges_of(found, source, symbols, path, line):
        if not (only_declared and edge.target.endswith(NodeType.TABLE_OR_VIEW)):
            yield edge


def first_references(references: Iterable[ObjectReference]) -> Iterable[ObjectReference]:
    """Of equal references, in text order, only the first: the others would make the same edges at later lines."""
    kept: dict[tuple[SqlUse, str, tuple[str, ...]], ObjectReference] = {}
    for found in references:
        kept.setdefault((found.use, found.kind, found.name.parts), found)
    return kept.values()


_ORDER = {Confidence.RESOLVED: 0, Confidence.PROBABLE: 1, Confidence.NAME_ONLY: 2}


def once(edges: Iterable[GraphEdge]) -> Iterator[GraphEdge]:
    """Each edge of one file once, at its first line, with the best of its confidences; in the order of the first."""
    kept: dict[tuple[str, Relation, str], GraphEdge] = {}
    for edge in edges:
        same = (edge.source, edge.relation, edge.target)
        known = kept.get(same)
        if known is None:
            kept[same] = edge
        elif (edge.line, _ORDER[edge.confidence]) != (known.line, _ORDER[known.confidence]):
            best = min(edge.confidence, known.confidence, key=_ORDER.__getitem__)
            kept[same] = GraphEdge(*same, best, edge.path, min(edge.line, known.line))
    yield from kept.values()


_MAX_SIGNATURE_CHARS = 1_000
"""As of declared heads: what comes first tells what the table is."""

_ALTERED_IN_PART = frozenset({NodeType.TABLE, NodeType.SQL_TYPE, NodeType.SEQUENCE})
"""ALTER changes a part of these; of the others it writes the whole definition again."""


def sql_objects(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """The extractor of SQL files; see `objects_of`."""
    return objects_of(file, symbols.sql)


def objects_of(file: ParsedFile, symbols: SqlSymbols) -> Iterator[GraphNode | GraphEdge]:
    """Nodes and edges of an SQL file of any dialect; nothing of other files.

    Nodes: the file, each declared object, those that literal dynamic SQL creates too; none for
    `EXEC('CREATE PROCEDURE a AS')` before an ALTER of it, which is its definition. Edges: Contains (file → object),
    ReadsFrom, WritesTo, Executes, UsesType, References (sequences), ForeignKey (table → table), On (trigger → table;
    file → table for an index), SynonymFor, SchemaChange (file → what it alters or drops, unless it creates it too).
    Statements outside of objects belong to the file. Never raises.
    """
    scripts = list(scripts_of(file))
    if not scripts:
        return
    whole = scripts[0]
    lines = LineIndex(file.text)
    yield GraphNode(
        key=file_key(file.path),
        kind=NodeType.FILE,
        name=PurePosixPath(file.path).name,
        path=file.path,
        line_start=1,
        line_end=lines.line_of(max(0, len(file.text) - 1)),
        language=file.language,
    )
    objects = [list(_without_namesakes(script.objects())) for script in scripts]
    defined = {found.key for found in objects[0] if found.kind not in _ALTERED_IN_PART}
    objects[1:] = [[found for found in declared if found.key not in defined] for declared in objects[1:]]
    own = SqlSymbols([declarations_of(chain.from_iterable(objects))])
    created: set[str] = set()
    edges: list[GraphEdge] = []
    for script, declared in zip(scripts, objects, strict=True):
        owner = _owner(objects[0], script.start) if script is not whole else ""
        for found in _of_script(script, declared, owner or file_key(file.path), file, symbols, own):
            if isinstance(found, GraphNode):
                yield found
                continue
            if found.relation is Relation.CONTAINS:
                created.add(found.target)
            edges.append(found)
    edges += _renames(whole.text, lines, file.path, symbols)
    kept = (edge for edge in edges if edge.relation is not Relation.SCHEMA_CHANGE or edge.target not in created)
    yield from once(kept)


def _without_namesakes(objects: Iterable[PlacedObject]) -> Iterator[PlacedObject]:
    """Without the tables that only ALTER TABLE makes of what the script creates as something else: as PostgreSQL dumps
    it, `ALTER TABLE order_seq OWNER TO shop` is of a sequence."""
    known = list(objects)
    others = {_name_of(found) for found in known if found.kind is not NodeType.TABLE}
    for found in known:
        if not (found.kind is NodeType.TABLE and _alters(found) and _name_of(found) in others):
            yield found


def _name_of(found: PlacedObject) -> str:
    return found.key.rpartition("|")[0].casefold()


def _owner(objects: Sequence[PlacedObject], offset: int) -> str:
    """The key of the object that holds an offset of the file, '' outside; `objects` are in text order."""
    index = bisect_right(objects, offset, key=lambda found: found.segment.span.char_start) - 1
    inside = index >= 0 and offset < objects[index].segment.span.char_end
    return objects[index].key if inside else ""


def _of_script(
    script: SqlScript,
    objects: Sequence[PlacedObject],
    owner: str,
    file: ParsedFile,
    symbols: SqlSymbols,
    own: SqlSymbols,
) -> Iterator[GraphNode | GraphEdge]:
    """Of one script; `owner` is the node that executes what stands outside of its objects."""
    lines = LineIndex(script.text)
    whole_file = file_key(file.path)
    assigns_into = is_procedural(script.text)
    is_partial = any(segment.health is ParseHealth.PARTIAL for segment in script.segments)

    def between(start: int, end: int) -> Iterator[GraphEdge]:
        """Of what stands outside of objects. A string that never ends does not reach beyond its batch."""
        run = script.text[start:end]
        batches = batches_of(run) if is_partial else [(0, len(run))]
        for begin, stop in batches:
            yield from edges(tokens_of(run[begin:stop]), start + begin, owner, start + stop)

    def edges(tokens: Sequence[Token], start: int, source: str, end: int) -> Iterator[GraphEdge]:
        read = references_in(tokens, assigns_into=assigns_into)
        first, last = (bisect_left(script.named, at, key=attrgetter("start")) for at in (start, end))
        read += [one._replace(start=one.start - start) for one in script.named[first:last]]
        for found in first_references(read):
            line = lines.line_of(start + found.start) + script.line_offset
            changes = found.use in (SqlUse.ALTERS, SqlUse.DROPS)
            yield from edges_of(found, whole_file if changes else source, symbols, file.path, line, own)

    position = 0
    for made in objects:
        span = made.segment.span
        yield from between(position, span.char_start)
        position = max(position, span.char_end)
        tokens = tokens_of(script.text[span.char_start : span.char_end])
        node = _node(made, tokens, file)
        yield node
        if not (_alters(made) and made.kind in _ALTERED_IN_PART):
            yield GraphEdge(whole_file, Relation.CONTAINS, made.key, path=file.path, line=node.line_start)
        yield from edges(tokens, span.char_start, made.key, span.char_end)
    yield from between(position, len(script.text))


def _renames(text: str, lines: LineIndex, path: str, symbols: SqlSymbols) -> Iterator[GraphEdge]:
    """SchemaChange from the file to each declared table that is renamed, or whose column or index is."""
    kinds = tuple(kind.value for kind in TABLES)
    for name, start in renamed_objects(text):
        for parts in (name.parts, name.parts[:-1]):
            known = symbols.named(parts[-1], ".".join(parts[:-1]), kinds) if parts else ()
            if len(known) == 1:
                line = lines.line_of(start)
                yield GraphEdge(file_key(path), Relation.SCHEMA_CHANGE, known[0].key, Confidence.PROBABLE, path, line)
                break


def _node(found: PlacedObject, tokens: Sequence[Token], file: ParsedFile) -> GraphNode:
    span = found.segment.span
    return GraphNode(
        key=found.key,
        kind=found.kind,
        name=found.segment.name,
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
