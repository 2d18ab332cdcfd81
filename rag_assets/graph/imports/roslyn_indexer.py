"""Artifacts of RoslynIndexer (domain reference §5) as a graph in our keys.

It writes a bundle per solution: `chunks.json` and `dependencies.json` have the members of C# types and which of them
call which, found by the compiler; `nodes.csv`, `edges.csv` and `sql_bodies.jsonl` have database objects, EF sets and
entities, migrations and inline SQL. None of them has lines of edges: `merging` takes these from the built-in edges that
say the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from rag_assets.contracts.graph import Confidence, GraphEdge, Relation, key_kind
from rag_assets.graph.imports.artifact_files import ArtifactFile, Artifacts
from rag_assets.graph.imports.builder import ImportBuilder, new_node
from rag_assets.graph.imports.csv_reader import UNREADABLE, json_members, text_of
from rag_assets.graph.imports.imported_graph import MISSING, Coverage, ImportedGraph, Problems, UnusableImport
from rag_assets.graph.imports.label_symbols import LabelSymbols
from rag_assets.graph.imports.roslyn_chunks import ChunkNode, base_types, chunk_nodes
from rag_assets.graph.imports.roslyn_database import read_database_graph
from rag_assets.graph.imports.roslyn_keys import Keys
from rag_assets.graph.imports.vocabulary_map import DEPENDENCY, relation_of
from rag_assets.serialization import from_json

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
