"""The parts of a graph, found file by file, as one graph: merged, without repetitions, numbered in the order of keys.

Columns throughout: a hundred thousand nodes with a million edges are sorted and joined by Arrow and numpy, in seconds
and a few hundred megabytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation
from rag_assets.graph.adjacency import CONFIDENCES, KINDS, RELATIONS, Arrays
from rag_assets.graph.names import node_words, simple_name
from rag_assets.graph.summary import GraphCounts, Hub

NODES = pa.schema(
    [
        ("key", pa.string()),
        ("kind", pa.string()),
        ("name", pa.string()),
        ("path", pa.string()),
        ("line_start", pa.int32()),
        ("line_end", pa.int32()),
        ("language", pa.string()),
        ("signature", pa.string()),
    ]
)
EDGES = pa.schema(
    [
        ("source", pa.string()),
        ("relation", pa.string()),
        ("target", pa.string()),
        ("confidence", pa.string()),
        ("path", pa.string()),
        ("line", pa.int32()),
    ]
)

UNDECLARED_KINDS = (NodeType.TABLE_OR_VIEW, NodeType.PACKAGE)
"""Kinds that a label refers to without declaring them: its edges to them are kept, and make the node."""

_TOP_HUBS = 20


@dataclass(frozen=True)
class Assembled:
    """A whole graph as the arrays of `graph.adjacency`, and its counts."""

    arrays: Arrays
    counts: GraphCounts


def nodes_table(nodes: Iterable[GraphNode]) -> pa.Table:
    """Nodes as the table `graph_nodes` keeps them."""
    return _table(NODES, nodes)


def edges_table(edges: Iterable[GraphEdge]) -> pa.Table:
    """Edges as the table `graph_edges` keeps them."""
    return _table(EDGES, edges)


def assemble(nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> Assembled:
    """`assemble_tables` of objects."""
    return assemble_tables(nodes_table(nodes), edges_table(edges))


def assemble_tables(nodes: pa.Table, edges: pa.Table) -> Assembled:
    """One graph of all parts (domain reference §5), the same for every order of the rows.

    The parts of a node become one with several places; its name, kind, language and signature are those of the first
    part by path and line. Equal edges become one, at the lowest path and line, with the best confidence. An edge whose
    end the label does not declare makes a node of `UNDECLARED_KINDS`, else it is left out and counted. Raises
    ValueError for a kind, relation or confidence outside the closed sets.
    """
    nodes = _one_chunk(nodes.cast(NODES))
    edges = _one_chunk(edges.cast(EDGES))
    keys = _keys(nodes, edges)
    parts = _merged(nodes, keys)
    paths = _sorted_unique(nodes["path"], edges["path"])
    kept, undeclared = _numbered(edges, keys, paths)
    kept = _without_repetitions(kept, len(keys))
    arrays = _node_arrays(keys, parts, paths) | _edge_arrays(kept, len(keys))
    arrays |= _word_arrays(keys, parts.filter(parts["first"])["name"].to_pylist())
    return Assembled(arrays, _counts(arrays, keys, undeclared))


def _table(schema: pa.Schema, rows: Iterable[Any]) -> pa.Table:
    names = schema.names
    listed = [tuple(getattr(row, name) for name in names) for row in rows]
    columns = zip(*listed, strict=True) if listed else ((),) * len(names)
    return pa.table(
        {name: pa.array(column, field.type) for name, column, field in zip(names, columns, schema, strict=True)}
    )


def _one_chunk(table: pa.Table) -> pa.Table:
    """Arrays instead of chunked ones; large offsets, for the keys of a million edges pass 2 GB."""
    columns = []
    for column in table.columns:
        column = column.cast(pa.large_string()) if pa.types.is_string(column.type) else column
        columns.append(pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type))
    return pa.table(columns, names=table.column_names)


def _sorted_unique(*columns: pa.ChunkedArray) -> pa.Array:
    found = pc.unique(pa.chunked_array([chunk for column in columns for chunk in column.chunks], pa.large_string()))
    return found.take(pc.sort_indices(found))


def _keys(nodes: pa.Table, edges: pa.Table) -> pa.Array:
    """All keys of the graph in the order of their bytes: a node's number is its place here."""
    ends = pc.unique(pa.chunked_array([*edges["source"].chunks, *edges["target"].chunks], pa.large_string()))
    endings = [pc.ends_with(ends, f"|{kind.value}") for kind in UNDECLARED_KINDS]
    referred = ends.filter(reduce(pc.or_, endings))
    return _sorted_unique(nodes["key"], pa.chunked_array([referred], pa.large_string()))


def _index(values: pa.ChunkedArray, among: pa.Array) -> NDArray[np.int64]:
    """Places of values in a sorted array, -1 for one that is not there."""
    found = pc.index_in(values, value_set=among)
    return np.asarray(pc.fill_null(found.combine_chunks(), -1)).astype(np.int64)


def _codes(values: pa.ChunkedArray, names: tuple[str, ...], what: str) -> NDArray[np.int64]:
    codes = _index(values, pa.array(names, pa.large_string()))
    if (codes < 0).any():
        raise ValueError(f"unknown {what} in the graph: {values[int(np.argmin(codes))].as_py()!r}")
    return codes


def _merged(nodes: pa.Table, keys: pa.Array) -> pa.Table:
    """All parts in the order of key, path and lines, equal ones once, the nodes without a part included.

    Columns: node (its number), first (of its node), place (has one), and those of NODES.
    """
    declared = pc.is_in(keys, value_set=nodes["key"])
    missing = keys.filter(pc.invert(declared)).to_pylist()
    made = [GraphNode(key, NodeType(key.rpartition("|")[2]), simple_name(key)) for key in missing]
    parts = _one_chunk(pa.concat_tables([nodes.cast(NODES), nodes_table(made)]))
    order = [
        (name, "ascending")
        for name in ("key", "path", "line_start", "line_end", "kind", "name", "language", "signature")
    ]
    parts = _one_chunk(parts.take(pc.sort_indices(parts, sort_keys=order)))
    number = _index(parts["key"], keys)
    first = np.ones(len(number), bool)
    first[1:] = number[1:] != number[:-1]
    return parts.append_column("node", pa.array(number)).append_column("first", pa.array(first))


def _numbered(edges: pa.Table, keys: pa.Array, paths: pa.Array) -> tuple[dict[str, NDArray[np.int64]], dict[str, int]]:
    """Edges between nodes as numbers, and how many of each relation lead to what the label does not declare."""
    numbers = {
        "source": _index(edges["source"], keys),
        "target": _index(edges["target"], keys),
        "relation": _codes(edges["relation"], RELATIONS, "relation"),
        "confidence": _codes(edges["confidence"], CONFIDENCES, "confidence"),
        "path": _index(edges["path"], paths),
        "line": np.maximum(np.asarray(edges["line"].combine_chunks()), 0).astype(np.int64),
    }
    inside = (numbers["source"] >= 0) & (numbers["target"] >= 0)
    outside = np.bincount(numbers["relation"][~inside], minlength=len(RELATIONS))
    undeclared = {RELATIONS[code]: int(count) for code, count in enumerate(outside) if count}
    return {name: values[inside] for name, values in numbers.items()}, undeclared


def _without_repetitions(edges: dict[str, NDArray[np.int64]], nodes: int) -> dict[str, NDArray[np.int64]]:
    """One edge of each source, relation and target: the lowest path and line, the best confidence."""
    identity = (edges["source"] * len(RELATIONS) + edges["relation"]) * max(nodes, 1) + edges["target"]
    order = np.lexsort((edges["line"], edges["path"], identity))
    identity = identity[order]
    starts = np.flatnonzero(np.concatenate(([True], identity[1:] != identity[:-1]))) if len(order) else order
    kept = {name: values[order][starts] for name, values in edges.items()}
    if len(starts):
        kept["confidence"] = np.minimum.reduceat(edges["confidence"][order], starts)
    return kept


def _node_arrays(keys: pa.Array, parts: pa.Table, paths: pa.Array) -> Arrays:
    node, first = np.asarray(parts["node"].combine_chunks()), np.asarray(parts["first"].combine_chunks())
    heads = parts.filter(pa.array(first))
    languages = _sorted_unique(heads["language"])
    path = _index(parts["path"], paths)
    start = np.asarray(parts["line_start"].combine_chunks())
    end = np.asarray(parts["line_end"].combine_chunks())
    placed = np.asarray(pc.not_equal(parts["path"], "").combine_chunks())
    again = np.zeros(len(node), bool)  # parts that differ in a signature only
    again[1:] = (node[1:] == node[:-1]) & (path[1:] == path[:-1]) & (start[1:] == start[:-1]) & (end[1:] == end[:-1])
    placed &= ~again
    return {
        **_texts("key", keys),
        **_texts("path", paths),
        **_texts("language", languages),
        **_texts("name", heads["name"].combine_chunks()),
        **_texts("signature", heads["signature"].combine_chunks()),
        "node_kind": _codes(heads["kind"], KINDS, "kind").astype(np.uint8),
        "node_language": _index(heads["language"], languages).astype(np.uint8),
        "node_places": _ends(node[placed], len(keys)),
        "place_path": path[placed].astype(np.uint32),
        "place_start": start[placed].astype(np.uint32),
        "place_end": end[placed].astype(np.uint32),
    }


def _texts(name: str, values: pa.Array) -> Arrays:
    """Texts as one run of bytes and where each begins."""
    values = values.cast(pa.large_binary()) if len(values) else pa.array([], pa.large_binary())
    if values.offset or values.null_count:
        values = pa.concat_arrays([values])
    _, offsets, data = values.buffers()
    if not len(values):
        return {f"{name}_bytes": np.zeros(0, np.uint8), f"{name}_ends": np.zeros(1, np.int64)}
    ends = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
    content = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return {f"{name}_bytes": content[ends[0] : ends[-1]].copy(), f"{name}_ends": ends - ends[0]}


def _ends(groups: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Where each group begins in ascending group numbers, and the end of the last."""
    return np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count)))).astype(np.int64)


def _edge_arrays(edges: dict[str, NDArray[np.int64]], nodes: int) -> Arrays:
    """Both directions in runs of one node and relation. In a run the most telling edges come first: the most certain,
    then those to the node with the fewest like them, for what everything uses explains nothing."""
    source, relation, target, confidence = (edges[name] for name in ("source", "relation", "target", "confidence"))
    used = relation != RELATIONS.index(Relation.CONTAINS)  # a large type is not a common one
    outwards = np.bincount(source[used], minlength=nodes)
    inwards = np.bincount(target[used], minlength=nodes)
    order = np.lexsort((target, inwards[target], confidence, relation, source))
    source, relation, target, confidence = (values[order] for values in (source, relation, target, confidence))
    by_target = np.lexsort((source, outwards[source], confidence, relation, target))
    return {
        "node_out": outwards.astype(np.uint32),
        "node_in": inwards.astype(np.uint32),
        "edge_target": target.astype(np.uint32),
        "edge_confidence": confidence.astype(np.uint8),
        "edge_path": edges["path"][order].astype(np.uint32),
        "edge_line": edges["line"][order].astype(np.uint32),
        **_runs("out", source, relation, nodes),
        "in_source": source[by_target].astype(np.uint32),
        "in_edge": by_target.astype(np.uint32),
        **_runs("in", target[by_target], relation[by_target], nodes),
    }


def _runs(side: str, owner: NDArray[np.int64], relation: NDArray[np.int64], nodes: int) -> Arrays:
    changes = (owner[1:] != owner[:-1]) | (relation[1:] != relation[:-1])
    starts = np.flatnonzero(np.concatenate(([True], changes))) if len(owner) else np.zeros(0, np.int64)
    return {
        f"{side}_runs": _ends(owner[starts], nodes),
        f"{side}_relation": relation[starts].astype(np.uint8),
        f"{side}_edges": np.append(starts, len(owner)).astype(np.int64),
    }


def _word_arrays(keys: pa.Array, names: Sequence[str]) -> Arrays:
    """The nodes of every word that somebody may type for them, words in the order of their bytes."""
    nodes_of: dict[str, list[int]] = {}
    for number, (key, name) in enumerate(zip(keys.to_pylist(), names, strict=True)):
        for word in dict.fromkeys(node_words(key, name)):
            nodes_of.setdefault(word, []).append(number)
    words = sorted(nodes_of)  # by code points, which is the order of their bytes in UTF-8
    sizes = [len(nodes_of[word]) for word in words]
    return {
        **_texts("word", pa.array(words, pa.large_string())),
        "word_nodes": np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        "word_node": np.array([node for word in words for node in nodes_of[word]], np.uint32),
    }


def _counts(arrays: Arrays, keys: pa.Array, undeclared: dict[str, int]) -> GraphCounts:
    degree = _degree(arrays, "out") + _degree(arrays, "in")
    sizes = np.diff(arrays["out_edges"])
    largest = np.lexsort((np.arange(len(degree)), -degree))[:_TOP_HUBS]
    return GraphCounts(
        nodes=len(keys),
        edges=len(arrays["edge_target"]),
        kinds=_by_name(np.bincount(arrays["node_kind"], minlength=len(KINDS)), KINDS),
        relations=_by_name(np.bincount(arrays["out_relation"], sizes, len(RELATIONS)), RELATIONS),
        confidences=_by_name(np.bincount(arrays["edge_confidence"], minlength=len(CONFIDENCES)), CONFIDENCES),
        undeclared=undeclared,
        hubs=tuple(
            Hub(keys[int(node)].as_py(), KINDS[arrays["node_kind"][node]], int(degree[node]))
            for node in largest
            if degree[node]
        ),
    )


def _degree(arrays: Arrays, side: str) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.diff(arrays[f"{side}_edges"][arrays[f"{side}_runs"]])
    return found


def _by_name(counts: NDArray[Any], names: tuple[str, ...]) -> dict[str, int]:
    return {name: int(counts[code]) for code, name in enumerate(names) if counts[code]}
