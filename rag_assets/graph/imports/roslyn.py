"""Artifacts of RoslynIndexer (domain reference §5) as a graph in our keys.

It writes a bundle per solution. `chunks.json` and `dependencies.json` have the members of C# types and which of them
call which, found by the compiler. `nodes.csv`, `edges.csv` and `sql_bodies.jsonl` have database objects, EF sets and
entities, migrations and inline SQL. Its C# keys are simple or have no parameters, its SQL keys imply `dbo`. None of the
files has lines of edges: these come from the built-in edges that say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import msgspec

from rag_assets.contracts.graph import (
    Confidence,
    GraphEdge,
    NodeType,
    Relation,
    key_kind,
    method_key,
    sql_key,
    symbol_key,
)
from rag_assets.graph.imports.artifact_files import (
    ArtifactFile,
    Artifacts,
    csv_rows,
    json_entries,
    json_lines,
    json_members,
    json_of,
)
from rag_assets.graph.imports.imported_graph import MISSING, Coverage, ImportBuilder, ImportedGraph, Problems
from rag_assets.graph.imports.key_parser import LabelSymbols, displayed_member, key_parts, overload
from rag_assets.graph.relations import UnknownRelation, named_relation

NODES, EDGES, BODIES = "nodes.csv", "edges.csv", "sql_bodies.jsonl"
CHUNKS, DEPENDENCIES, META = "chunks.json", "dependencies.json", "repo_meta.json"

_NODE_COLUMNS = {"key": ("key", "id"), "kind": ("kind",), "name": ("name",), "file": ("file",)}
_EDGE_COLUMNS = {
    "from": ("from", "from_id"),
    "to": ("to", "to_id"),
    "relation": ("relation", "edge_type"),
    "to_kind": ("to_kind",),
    "file": ("file",),
}


# --- words: what producers call kinds and relations -------------------------------------------------------------------

_ROUTINES = frozenset({NodeType.PROC, NodeType.FUNC, NodeType.TRIGGER})
_STORED_ROWS = frozenset({NodeType.TABLE, NodeType.VIEW, NodeType.TABLE_OR_VIEW, NodeType.SYNONYM})
_DATABASE_KINDS = _ROUTINES | _STORED_ROWS | {NodeType.SEQUENCE, NodeType.SQL_TYPE}
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


def _plain(word: str) -> str:
    return "".join(filter(str.isalnum, word.lower()))


_KINDS = {_plain(kind.value): kind for kind in NodeType} | {
    "procedure": NodeType.PROC,
    "storedprocedure": NodeType.PROC,
    "function": NodeType.FUNC,
    "tabletype": NodeType.SQL_TYPE,
    "inlinesql": NodeType.METHOD,  # of sql_bodies.jsonl: the method that holds the statement
    "constructor": NodeType.METHOD,
    "operator": NodeType.METHOD,
    **dict.fromkeys(("class", "interface", "struct", "record", "enum"), NodeType.TYPE),
}
_DEPENDENCY = "cs_dep"
"""The word for an entry of `dependencies.json` where such graphs are stored."""

_BY_TARGET = frozenset({"calls", "uses", "dependson", _plain(_DEPENDENCY)})
"""Words that say no more than that one thing needs another; between database objects its kind says how."""

_CACHED_WORDS = 256  # a file has a few; of one that is damaged each may be another


def _kind_of(word: str) -> NodeType | None:
    """`Procedure`, `PROC`, `stored_procedure` → PROC; None for a word that names no kind."""
    return _KINDS.get(_plain(word))


def _relation_of(word: str, target: NodeType) -> tuple[Relation, bool] | None:
    """Our relation, and whether the word reads it backwards (`CalledBy`); None for a word that means none (R27).

    The general words of the producers (`calls`, `uses`, `cs_dep`) become what one can do with `target`: a table is
    read, a procedure executed, a type used, a method called.
    """
    return (_use_of(target), False) if _plain(word) in _BY_TARGET else _named(word)


@lru_cache(maxsize=_CACHED_WORDS)
def _named(word: str) -> tuple[Relation, bool] | None:
    try:
        return named_relation(word)
    except UnknownRelation:
        return None


def _use_of(target: NodeType) -> Relation:
    if target in _STORED_ROWS or target in (NodeType.DBSET, NodeType.ENTITY):
        return Relation.READS_FROM
    if target in _ROUTINES or target is NodeType.SEQUENCE:
        return Relation.EXECUTES
    if target is NodeType.TYPE:
        return Relation.USES_TYPE
    return Relation.CALLS if target is NodeType.METHOD else Relation.REFERENCES


# --- keys -------------------------------------------------------------------------------------------------------------

CSHARP = "csharp"
_CSHARP_PREFIX, _SQL_PREFIX = "csharp:", "sql:"
_UNKNOWN = "unknown"
"""How a reference is marked whose target no script declares (`SYNONYM … FOR`, `TRIGGER … ON`)."""


class _Body(msgspec.Struct, frozen=True, rename="camel"):
    """A line of `sql_bodies.jsonl`: what it adds to a key of `nodes.csv`."""

    key: Annotated[str, msgspec.Meta(min_length=1)]
    kind: str | None = None
    name: str | None = None
    type_full_name: str | None = None
    relative_path: str | None = None
    file: str | None = None
    line_number: int | None = None

    @property
    def graph_key(self) -> str:
        """The key in the graph: inline SQL has the bare name of its method here, `csharp:…|METHOD` there."""
        is_bare = (self.kind or "").lower() == "inlinesql" and not _suffix(self.key)
        return symbol_key(CSHARP, self.key, NodeType.METHOD) if is_bare else self.key


@dataclass(frozen=True, slots=True)
class _Declared:
    """A declared node: the file and line that say so, the word for its kind, its name and file as written."""

    source: str
    line: int | None
    kind: str = ""
    name: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class _Translated:
    """`is_sure`: the key is that of a declaration, ours or the import's. `kind` is the one that `key` ends with."""

    key: str
    kind: NodeType
    is_sure: bool


class _Keys:
    """Translates the keys of the database graph; each once."""

    def __init__(self, known: LabelSymbols, bodies: Mapping[str, _Body], declared: Mapping[str, _Declared]) -> None:
        self._known = known
        self._bodies = bodies
        self.declared = declared
        self._kinds: dict[str, NodeType] = {}  # database objects that the import declares, by name in small letters
        for key, row in declared.items():
            kind = _kind_of(row.kind)
            if kind in _DATABASE_KINDS and kind is not NodeType.TABLE_OR_VIEW:
                self._kinds.setdefault(_bare(key).lower(), kind)
        self._done: dict[tuple[str, str], _Translated | None] = {}

    def translate(self, written: str, kind_word: str = "") -> _Translated | None:
        """None for a key whose kind nothing tells, or that is empty but for its kind."""
        if (written, kind_word) not in self._done:
            self._done[written, kind_word] = self._translate(written, kind_word)
        return self._done[written, kind_word]

    def _translate(self, written: str, kind_word: str) -> _Translated | None:
        body = self._bodies.get(written, _Body(""))
        declared = self.declared[written].kind if written in self.declared else ""
        word = _suffix(written) or kind_word or declared or body.kind or ""
        bare, kind = _bare(written), _kind_of(word)
        if not bare.strip(". "):
            return None
        if self._known.places(written) and kind is not None:
            return _Translated(written, kind, True)
        if written.startswith(_CSHARP_PREFIX) or (kind is NodeType.METHOD and body.kind):
            return self._program(bare, kind, body) if kind is not None else None
        return self._database(written, bare, kind) if kind is not None or word.lower() == _UNKNOWN else None

    def _program(self, bare: str, kind: NodeType, body: _Body) -> _Translated:
        """The declaration at the place of the body, else the only one of that name, else the key as it is written."""
        qualified = (body.type_full_name if kind is NodeType.ENTITY else "") or bare
        owner, _, name = qualified.rpartition(".")
        path, line = body.relative_path, body.line_number or 0
        placed = self._known.at(path, line, name, kind) if path and kind is NodeType.METHOD else None
        found = None if placed else overload(self._known.symbols(kind, name), None, owner)
        return _Translated(placed or (found[0] if found else symbol_key(CSHARP, qualified, kind)), kind, True)

    def _database(self, written: str, bare: str, kind: NodeType | None) -> _Translated | None:
        if kind is None or kind is NodeType.TABLE_OR_VIEW:
            kind = self._kinds.get(bare.lower(), kind)
        if kind is not None and kind not in _DATABASE_KINDS:
            return None
        schema, _, name = bare.rpartition(".")
        key = self._known.database_object(schema, name, kind)
        if key is not None:
            return _Translated(key, key_kind(key), True)
        kind = kind or NodeType.TABLE_OR_VIEW
        is_sure = written in self.declared and kind is not NodeType.TABLE_OR_VIEW
        return _Translated(sql_key(schema, name, kind), kind, is_sure)


def _suffix(written: str) -> str:
    """The word for a kind that a key ends with, '' without one."""
    word = written.rpartition("|")[2] if "|" in written else ""
    return word if _kind_of(word) is not None or word.lower() == _UNKNOWN else ""


def _bare(written: str) -> str:
    """The name without prefix and kind."""
    body = written.rpartition("|")[0] if _suffix(written) else written
    prefix = next((known for known in (_CSHARP_PREFIX, _SQL_PREFIX) if body.lower().startswith(known)), "")
    return body[len(prefix) :]


# --- members of chunks.json -------------------------------------------------------------------------------------------

_NO_NAMESPACE = "NoNamespace"
"""What RoslynIndexer writes for the global namespace, and for every file-scoped one."""
_NO_CLASS = "NoClass"
"""… and for members of structs, records and interfaces."""


class _Chunk(msgspec.Struct, frozen=True, rename="pascal"):
    """The fields we read. `Text`, which repeats the code, is passed over undecoded."""

    id: int | str
    member: Annotated[str, msgspec.Meta(min_length=1)]
    file: str | None = None
    owner: str | None = msgspec.field(name="Class", default=None)
    type: str | None = None
    signature: str | None = None
    head_sha: str | None = None
    repo_relative_path: str | None = None

    @property
    def written_path(self) -> str:
        return self.repo_relative_path or self.file or ""


@dataclass(frozen=True, slots=True)
class _ChunkNode:
    """What a chunk became: its key, whether that is sure, the repository path ('' if it is none of ours)."""

    key: str
    is_sure: bool
    path: str


def _chunk_node(chunk: _Chunk, known: LabelSymbols, root: str) -> _ChunkNode:
    path = known.path_of(chunk.written_path, root) or ""
    kind = NodeType.PROPERTY if chunk.type == "Property" else NodeType.METHOD
    name = f"operator {chunk.member}" if chunk.type == "Operator" else chunk.member
    # A signature is `Namespace.Class.` with what Roslyn displays of the member.
    namespace, _, display = (chunk.signature or "").partition(f".{chunk.owner or _NO_CLASS}.")
    is_namespace = all(map(str.isidentifier, namespace.split("."))) and namespace != _NO_NAMESPACE
    displayed, parameters = displayed_member(display)
    owner = displayed or ("" if chunk.owner in (None, _NO_CLASS) else chunk.owner or "")
    symbol = ".".join(filter(None, (namespace if is_namespace else "", owner)))
    if kind is NodeType.PROPERTY:
        parameters = None
    here = known.named_in_file(path, kind, name)
    found = (
        overload(here, parameters, owner)
        or overload(here, parameters)
        or (overload(known.symbols(kind, name), parameters, symbol) if symbol else None)
    )
    if found is not None:
        return _ChunkNode(*found, path or known.places(found[0])[0].path)
    if kind is NodeType.PROPERTY:
        return _ChunkNode(symbol_key(CSHARP, f"{symbol}.{name}".lstrip("."), kind), True, path)
    types = tuple("".join(each.split()) for each in parameters or ())
    return _ChunkNode(method_key(CSHARP, symbol, name, types).replace(":.", ":", 1), True, path)


# --- the bundle -------------------------------------------------------------------------------------------------------


def roslyn_graph(artifacts: Artifacts, known: LabelSymbols | None = None) -> ImportedGraph:
    """The graph of a bundle, matched against what the label declares.

    Edges are *resolved*, except where an end was matched by a name that might mean something else, or is a table that
    neither the bundle nor the label declares (the tool takes a common table expression for a table): *probable*. Every
    file, row and entry that cannot be used is a problem; the rest is used. Raises UnusableImport when that leaves
    neither nodes nor edges.
    """
    return _Bundle(artifacts, known or LabelSymbols()).graph()


class _Bundle:
    """The reading of one bundle."""

    def __init__(self, artifacts: Artifacts, known: LabelSymbols) -> None:
        self._location = artifacts.location
        self._files = {file.name.rpartition("/")[2].lower(): file for file in artifacts.files}
        self._known = known
        self._problems = Problems(artifacts.problems)
        self._found = ImportBuilder(known, self._problems)
        meta: dict[str, Any] = {}
        if META in self._files:
            meta = json_of(self._files[META], dict[str, Any], self._problems) or {}
        self._root, self._commit = (
            value if isinstance(value := meta.get(name), str) else "" for name in ("RepositoryRoot", "HeadSha")
        )

    def graph(self) -> ImportedGraph:
        bodies = dict(self._bodies())
        keys = _Keys(self._known, bodies, dict(self._declared(bodies)))
        coverage = [*self._database_graph(keys), *self._calls(self._chunks(), keys)]
        return self._found.graph(self._location, coverage, self._commit)

    def _file(self, name: str) -> Iterator[ArtifactFile]:
        """The file of that name, if the bundle has it."""
        if name in self._files:
            yield self._files[name]
        else:
            self._problems.add(name, MISSING)

    def _path(self, written: str) -> str:
        return self._known.path_of(written, self._root) or ""

    def _bodies(self) -> Iterator[tuple[str, _Body]]:
        """Key in the graph → body, with the path of the repository."""
        for file in self._file(BODIES):
            for _, body in json_lines(file, _Body, self._problems):
                self._found.counts["bodies"] += 1
                path = self._path(body.relative_path or "") or self._path(body.file or "")
                yield body.graph_key, msgspec.structs.replace(body, relative_path=path)

    def _declared(self, bodies: Mapping[str, _Body]) -> Iterator[tuple[str, _Declared]]:
        """Written key → row of `nodes.csv` or, in bundles without it, of the bodies."""
        for file in self._file(NODES):
            for line, values in csv_rows(file, _NODE_COLUMNS, frozenset({"key"}), self._problems):
                self._found.counts["node rows"] += 1
                yield values["key"], _Declared(file.name, line, values["kind"], values["name"], values["file"])
            return
        for key, body in bodies.items():
            yield key, _Declared(BODIES, None, body.kind or "", body.name or "", body.relative_path or "")

    def _database_graph(self, keys: _Keys) -> Iterator[Coverage]:
        """Adds the declared nodes and the edges between them; gives the scripts that the import speaks for."""
        for key, row in keys.declared.items():
            translated = keys.translate(key)
            if translated is not None:
                self._found.add_new(translated.key, row.name or key, self._path(row.file))
            else:
                self._problems.add(row.source, "a node of unknown kind", row=row.line, detail=f"{key} {row.kind}")
        for file in self._file(EDGES):
            for line, values in csv_rows(file, _EDGE_COLUMNS, frozenset({"from", "to", "relation"}), self._problems):
                self._found.counts["edge rows"] += 1
                problem = self._add_edge(keys, values)
                if problem:
                    self._problems.add(file.name, problem[0], row=line, detail=problem[1])
        nodes = [node for places in self._found.nodes.values() for node in places if node.path]
        objects = [node for node in nodes if (parts := key_parts(node.key)) is not None and parts.language == ""]
        if objects and self._found.relations() & _SQL_RELATIONS:
            paths, sources = frozenset(node.path for node in objects), frozenset(node.key for node in objects)
            yield Coverage(_SQL_RELATIONS, paths, sources)

    def _add_edge(self, keys: _Keys, values: Mapping[str, str]) -> tuple[str, str] | None:
        """Why a row cannot be used, and its case; None for one that is."""
        source, target = keys.translate(values["from"]), keys.translate(values["to"], values["to_kind"])
        if source is None or target is None:
            return "an end of unknown kind", values["from"] if source is None else values["to"]
        named = _relation_of(values["relation"], target.kind)
        if named is None:
            return "an unknown relation", values["relation"]
        if not self._is_declared(source.key):
            return "dangling, nothing declares its source", source.key
        if target.kind is not NodeType.TABLE_OR_VIEW and not self._is_declared(target.key):
            return "dangling, nothing declares its target", target.key
        relation, is_backwards = named
        begin, end = (target.key, source.key) if is_backwards else (source.key, target.key)
        confidence = Confidence.RESOLVED if source.is_sure and target.is_sure else Confidence.PROBABLE
        self._found.add_edge(GraphEdge(begin, relation, end, confidence, self._path(values["file"])))
        return None

    def _is_declared(self, key: str) -> bool:
        return key in self._found.nodes or bool(self._known.places(key))

    def _chunks(self) -> Mapping[str, _ChunkNode]:
        """Chunk id → node, which is added. An id that comes again (a file of several projects) counts once."""
        chunks: dict[str, _ChunkNode] = {}
        for file in self._file(CHUNKS):
            for row, chunk in json_entries(file, _Chunk, self._problems):
                node = _chunk_node(chunk, self._known, self._root)
                self._commit = self._commit or chunk.head_sha or ""
                if chunks.setdefault(str(chunk.id), node) is node:
                    self._found.add_new(node.key, chunk.member, node.path)
                if not node.path:
                    reason = "a file that the label does not have"
                    self._problems.add(file.name, reason, row=row, detail=chunk.written_path)
        self._found.counts["chunks"] = len(chunks)
        return chunks

    def _calls(self, chunks: Mapping[str, _ChunkNode], keys: _Keys) -> Iterator[Coverage]:
        """Adds the edges of `dependencies.json`; gives the members whose calls the import knows."""
        for file in self._file(DEPENDENCIES):
            for source, targets in json_members(file, list[int | str], self._problems):
                for target in map(str, targets):
                    self._found.counts["dependencies"] += 1
                    if not self._add_call(chunks.get(source), target, chunks, keys):
                        self._found.counts["dangling dependencies"] += 1
                        detail = f"{source} calls {target}"
                        self._problems.add(file.name, "dangling, an id without chunk", detail=detail)
        placed = [node for node in chunks.values() if node.path]
        if placed and Relation.CALLS in self._found.relations():
            paths, sources = frozenset(node.path for node in placed), frozenset(node.key for node in placed)
            yield Coverage(frozenset({Relation.CALLS}), paths, sources)

    def _add_call(self, caller: _ChunkNode | None, target: str, chunks: Mapping[str, _ChunkNode], keys: _Keys) -> bool:
        """Whether both ends are known. Ids without a chunk are local functions, and extension and generic methods,
        whose constructed symbols get ids of their own. Other producers name database objects among the ids."""
        end = chunks.get(target) or (keys.translate(target) if target in keys.declared else None)
        named = _relation_of(_DEPENDENCY, key_kind(end.key)) if end is not None else None
        if caller is None or end is None or named is None:
            return False
        confidence = Confidence.RESOLVED if caller.is_sure and end.is_sure else Confidence.PROBABLE
        self._found.add_edge(GraphEdge(caller.key, named[0], end.key, confidence, caller.path))
        return True
