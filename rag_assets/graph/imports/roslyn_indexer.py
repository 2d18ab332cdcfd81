"""Artifacts of RoslynIndexer (domain reference §5) as a graph in our keys.

It writes a bundle per solution. `chunks.json` and `dependencies.json` have the members of C# types and which of them
call which, found by the compiler. `nodes.csv`, `edges.csv` and `sql_bodies.jsonl` have database objects, EF sets and
entities, migrations and inline SQL. None of them has lines of edges: these come from the built-in edges that say the
same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation, key_kind
from rag_assets.graph.imports.artifact_files import (
    UNREADABLE,
    ArtifactFile,
    Artifacts,
    csv_rows,
    json_lines,
    json_members,
    text_of,
)
from rag_assets.graph.imports.imported_graph import (
    MISSING,
    Coverage,
    ImportBuilder,
    ImportedGraph,
    Problems,
    UnusableImport,
    new_node,
)
from rag_assets.graph.imports.key_parser import LabelSymbols, key_parts
from rag_assets.graph.imports.roslyn_keys import (
    DATABASE_KINDS,
    DEPENDENCY,
    ChunkNode,
    Hint,
    Keys,
    base_types,
    chunk_nodes,
    inline_sql_key,
    relation_of,
)
from rag_assets.serialization import from_json

NODES, EDGES, BODIES = "nodes.csv", "edges.csv", "sql_bodies.jsonl"

_NODE_COLUMNS = {"key": ("key", "id"), "kind": ("kind",), "name": ("name",), "file": ("file",)}
_EDGE_COLUMNS = {
    "from": ("from", "from_id"),
    "to": ("to", "to_id"),
    "relation": ("relation", "edge_type"),
    "to_kind": ("to_kind",),
    "file": ("file",),
}
_SQL_RELATIONS = frozenset(
    {
        Relation.READS_FROM,
        Relation.WRITES_TO,
        Relation.EXECUTES,
        Relation.FOREIGN_KEY,
        Relation.ON,
        Relation.SYNONYM_FOR,
    }
)
"""What RoslynIndexer finds in every script it parses. What it says of C# (EF, inline SQL) is a part only."""


@dataclass(frozen=True, slots=True)
class Row:
    """A declared node: where it was said, the word for its kind, its name and file as written."""

    line: int
    kind: str = ""
    name: str = ""
    file: str = ""


def read_database_graph(
    files: Mapping[str, ArtifactFile], root: str, gathered: ImportBuilder, problems: Problems
) -> tuple[Keys, tuple[Coverage, ...]]:
    """Adds nodes and edges; gives the translator of keys, and the scripts that the import speaks for."""
    hints = dict(_hints(files, root, gathered, problems))
    rows = dict(_rows(files, hints, gathered, problems))
    keys = Keys(gathered.known, hints, {key: row.kind for key, row in rows.items()})
    source = files.get(NODES, files.get(BODIES))
    for key, row in rows.items():
        translated = keys.translate(key)
        if translated is None and source is not None:
            problems.add(source.name, "a node of unknown kind", row=row.line, detail=f"{key} {row.kind}")
        elif translated is not None:
            gathered.add_node(new_node(translated.key, row.name or key, _path(row.file, root, gathered)))
    if EDGES not in files:
        problems.add(EDGES, MISSING)
        return keys, ()
    reader = _EdgeReader(files[EDGES].name, root, gathered, problems, keys, frozenset(rows))
    for line, values in csv_rows(files[EDGES], _EDGE_COLUMNS, frozenset({"from", "to", "relation"}), problems):
        reader.add(line, values)
    sources, paths = gathered.paths_of(DATABASE_KINDS)
    sources = frozenset(key for key in sources if (parts := key_parts(key)) is not None and parts.language == "")
    is_said = bool(sources) and bool(gathered.relations() & _SQL_RELATIONS)
    return keys, (Coverage(_SQL_RELATIONS, paths, sources),) if is_said else ()


def _rows(
    files: Mapping[str, ArtifactFile], hints: Mapping[str, Hint], gathered: ImportBuilder, problems: Problems
) -> Iterator[tuple[str, Row]]:
    """Written key → row of `nodes.csv` or, in bundles without it, of the bodies."""
    if NODES not in files:
        problems.add(NODES, MISSING)
        for key, hint in hints.items():
            yield key, Row(hint.row, hint.kind, hint.name, hint.path)
        return
    seen: set[str] = set()
    for line, values in csv_rows(files[NODES], _NODE_COLUMNS, frozenset({"key"}), problems):
        gathered.counts["node rows"] += 1
        if values["key"] in seen:
            problems.add(files[NODES].name, "a key for the second time", row=line, detail=values["key"])
            continue
        seen.add(values["key"])
        yield values["key"], Row(line, values["kind"], values["name"], values["file"])


def _hints(
    files: Mapping[str, ArtifactFile], root: str, gathered: ImportBuilder, problems: Problems
) -> Iterator[tuple[str, Hint]]:
    if BODIES not in files:
        problems.add(BODIES, MISSING)
        return
    file = files[BODIES]
    for number, value in json_lines(file, problems):
        gathered.counts["bodies"] += 1
        key, line = value.get("key"), value.get("lineNumber")
        if not isinstance(key, str) or not key:
            problems.add(file.name, "a body without key", row=number)
            continue
        kind = _text(value.get("kind"))
        path = _path(_text(value.get("relativePath")), root, gathered) or _path(
            _text(value.get("file")), root, gathered
        )
        yield (
            inline_sql_key(key, kind),
            Hint(
                kind=kind,
                name=_text(value.get("name")),
                type_name=_text(value.get("typeFullName")),
                path=path,
                line=line if isinstance(line, int) else 0,
                row=number,
            ),
        )


@dataclass(frozen=True, slots=True)
class _EdgeReader:
    file: str
    root: str
    gathered: ImportBuilder
    problems: Problems
    keys: Keys
    declared: frozenset[str]

    def add(self, line: int, values: Mapping[str, str]) -> None:
        self.gathered.counts["edge rows"] += 1
        source, target = self.keys.translate(values["from"]), self.keys.translate(values["to"], values["to_kind"])
        if source is None or target is None:
            written = values["from"] if source is None else values["to"]
            self.problems.add(self.file, "an end of unknown kind", row=line, detail=written)
            return
        named = relation_of(values["relation"], target.kind)
        if named is None:
            self.problems.add(self.file, "an unknown relation", row=line, detail=values["relation"])
            return
        if not self._is_declared(values["from"], source.key):
            self.problems.add(self.file, "dangling, nothing declares its source", row=line, detail=source.key)
            return
        if target.kind is not NodeType.TABLE_OR_VIEW and not self._is_declared(values["to"], target.key):
            self.problems.add(self.file, "dangling, nothing declares its target", row=line, detail=target.key)
            return
        confidence = Confidence.RESOLVED if source.is_sure and target.is_sure else Confidence.PROBABLE
        path = _path(values["file"], self.root, self.gathered)
        relation, is_backwards = named
        begin, end = (target.key, source.key) if is_backwards else (source.key, target.key)
        self.gathered.add_edge(GraphEdge(begin, relation, end, confidence, path))

    def _is_declared(self, written: str, key: str) -> bool:
        return written in self.declared or key in self.gathered.nodes or bool(self.gathered.known.places(key))


def _path(written: str, root: str, gathered: ImportBuilder) -> str:
    return (gathered.known.path_of(written, root) or "") if written else ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


CHUNKS, DEPENDENCIES, META = "chunks.json", "dependencies.json", "repo_meta.json"


def roslyn_graph(artifacts: Artifacts, known: LabelSymbols | None = None) -> ImportedGraph:
    """The graph of a bundle, matched against what the label declares.

    Edges are *resolved*, except where an end was matched by a name that might mean something else, or is a table that
    neither the bundle nor the label declares (the tool takes a common table expression for a table): *probable*. Every
    file, row and entry that cannot be used is a problem; the rest is used. Raises UnusableImport when that leaves
    neither nodes nor edges.
    """
    problems, gathered = Problems(artifacts.problems), ImportBuilder(known or LabelSymbols())
    files = {file.name.rpartition("/")[2].lower(): file for file in artifacts.files}
    root, commit = _meta(files, problems)
    keys, scripts = read_database_graph(files, root, gathered, problems)
    chunks = _chunks(files, root, gathered, problems)
    members = _calls(files, chunks, keys, gathered, problems)
    if not gathered:
        told = "; ".join(problems.worst(3)) or "the files are empty"
        raise UnusableImport(f"{artifacts.location}: nothing of it can be used: {told}")
    commit = commit or next((node.chunk.head for node in chunks.values() if node.chunk.head), "")
    return gathered.graph(artifacts.location, problems, (*scripts, *members), commit)


def _meta(files: Mapping[str, ArtifactFile], problems: Problems) -> tuple[str, str]:
    """(root of the checkout it was made in, commit); both '' in bundles that do not say."""
    file = files.get(META)
    text = text_of(file, problems) if file is not None else None
    if file is None or text is None:
        return "", ""
    try:
        meta = msgspec.json.decode(text)
    except UNREADABLE as error:
        problems.add(file.name, "damaged; the commit and the root of its paths are not known", detail=str(error))
        return "", ""
    said = [meta.get(name) if isinstance(meta, dict) else None for name in ("RepositoryRoot", "HeadSha")]
    root, commit = (value if isinstance(value, str) else "" for value in said)
    return root, commit


def _chunks(
    files: Mapping[str, ArtifactFile], root: str, gathered: ImportBuilder, problems: Problems
) -> Mapping[str, ChunkNode]:
    """Chunk id → node; adds the nodes, and the base types of their classes."""
    if CHUNKS not in files:
        problems.add(CHUNKS, MISSING)
        return {}
    found = chunk_nodes(files[CHUNKS], gathered.known, root, problems)
    gathered.counts["chunks"] = len(found)
    for node in found.values():
        gathered.add_node(new_node(node.key, node.chunk.member or "", node.path))
        for own, target, is_base in base_types(node, gathered.known):
            relation = Relation.INHERITS if is_base else Relation.IMPLEMENTS
            gathered.add_edge(GraphEdge(own, relation, target, Confidence.PROBABLE, node.path))
    return found


def _calls(
    files: Mapping[str, ArtifactFile],
    chunks: Mapping[str, ChunkNode],
    keys: Keys,
    gathered: ImportBuilder,
    problems: Problems,
) -> tuple[Coverage, ...]:
    """Adds the edges of `dependencies.json`; gives the members whose calls the import knows."""
    if DEPENDENCIES not in files:
        problems.add(DEPENDENCIES, MISSING)
        return ()
    file = files[DEPENDENCIES]
    for source, raw in json_members(file, problems).items():
        try:
            targets = from_json(raw, list[int | str])
        except UNREADABLE as error:
            problems.add(file.name, "not a list of chunk ids", detail=f"{source}: {error}")
            continue
        for target in map(str, targets):
            gathered.counts["dependencies"] += 1
            if not _add_call(source, target, chunks, keys, gathered):
                gathered.counts["dangling dependencies"] += 1
                # Local functions; and calls of extension and generic methods, whose constructed symbols get ids of
                # their own.
                problems.add(file.name, "dangling, an id without chunk", detail=f"{source} calls {target}")
    placed = [node for node in chunks.values() if node.path]
    if not placed or not gathered.relations() & {Relation.CALLS}:
        return ()
    paths, sources = frozenset(node.path for node in placed), frozenset(node.key for node in placed)
    return (Coverage(frozenset({Relation.CALLS}), paths, sources),)


def _add_call(source: str, target: str, chunks: Mapping[str, ChunkNode], keys: Keys, gathered: ImportBuilder) -> bool:
    """Whether both ends are something. Bundles of other producers name database objects among the called ids."""
    caller, called = chunks.get(source), chunks.get(target)
    if caller is None:
        return False
    if called is not None:
        key, is_sure = called.key, called.is_sure
    else:
        translated = keys.translate(target) if keys.declares(target) else None
        if translated is None:
            return False
        key, is_sure = translated.key, translated.is_sure
    named = relation_of(DEPENDENCY, key_kind(key))
    confidence = Confidence.RESOLVED if caller.is_sure and is_sure else Confidence.PROBABLE
    if named is not None:
        gathered.add_edge(GraphEdge(caller.key, named[0], key, confidence, caller.path))
    return named is not None
