"""The parts of a graph, found file by file, as one graph: merged, without repetitions, numbered in the order of keys.

Texts become numbers first (`graph.coded`): a hundred thousand nodes with a million edges are then sorted and joined by
numpy, in a second and a few hundred megabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation
from rag_assets.graph.adjacency import CONFIDENCES, KINDS, RELATIONS, Arrays
from rag_assets.graph.coded import Coded, Numbers, ascending, flattened, numbered, rows_of_numbers, rows_of_texts
from rag_assets.graph.names import node_words, simple_name
from rag_assets.graph.summary import GraphCounts, Hub
from rag_assets.stores.columns import table

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
        ("words", pa.list_(pa.string())),
    ]
)
"""The fields of GraphNode, and what the node is looked up by (`graph.names.node_words`)."""

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

REPEATED_IN_NODES = ("kind", "path", "language", "words.list.element")
REPEATED_IN_EDGES = ("source", "relation", "target", "confidence", "path")
"""Columns whose texts repeat, as Parquet names them: read as the dictionaries that they are stored as, they need not be
compared row by row."""

UNDECLARED_KINDS = (NodeType.TABLE_OR_VIEW, NodeType.PACKAGE)
"""Kinds that a label refers to without declaring them: its edges to them are kept, and make the node."""

_TOP_HUBS = 20


@dataclass(frozen=True)
class Assembled:
    """A whole graph as the arrays of `graph.adjacency`, and its counts."""

    arrays: Arrays
    counts: GraphCounts


def node_columns(nodes: Iterable[GraphNode]) -> dict[str, list[Any]]:
    """The columns of `NODES`."""
    listed = list(nodes)
    words = [list(node_words(node.key, node.name)) for node in listed]
    return {**_columns(listed, NODES.names[:-1]), "words": words}


def edge_columns(edges: Iterable[GraphEdge]) -> dict[str, list[Any]]:
    """The columns of `EDGES`."""
    return _columns(list(edges), EDGES.names)


def nodes_table(nodes: Iterable[GraphNode]) -> pa.Table:
    """Nodes as the table `graph_nodes` keeps them."""
    return table(node_columns(nodes), NODES)


def edges_table(edges: Iterable[GraphEdge]) -> pa.Table:
    """Edges as the table `graph_edges` keeps them."""
    return table(edge_columns(edges), EDGES)


def assemble(nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> Assembled:
    """`assemble_tables` of objects."""
    return assemble_tables(nodes_table(nodes), edges_table(edges))


def assemble_tables(nodes: pa.Table, edges: pa.Table) -> Assembled:
    """One graph of all parts (domain reference §5), the same for every order of the rows.

    The parts of a node become one with several places; its name, kind, language and signature are those of the first
    part by path and line. Equal edges become one, at the lowest path and line, with the best confidence. An edge whose
    end the label does not declare makes a node of `UNDECLARED_KINDS`, else it is left out and counted. Texts may be
    dictionaries (`REPEATED_IN_EDGES` …). Raises ValueError for a kind, relation or confidence outside the closed sets.
    """
    shared: dict[bytes, bytes] = {}
    ends = {name: Coded.of(edges[name].chunks, shared) for name in ("source", "target", "path")}
    declared = Coded.of(nodes["key"].chunks, shared)
    made = _referred(declared, ends["source"], ends["target"])
    parts = {name: [*nodes[name].chunks, *made[name].chunks] for name in NODES.names}
    own, path = declared + Coded.of(made["key"].chunks, shared), Coded.of(parts["path"], shared)
    del shared
    keys = numbered(sorted({*own.occurring()}))  # as bytes: a node's number is its place here
    paths = numbered(sorted({*path.occurring(), *ends["path"].occurring()}))
    node = own.numbers(keys)
    kept, undeclared = _numbered(edges, ends, keys, paths)
    arrays = {
        **_texts("key", list(keys)),
        **_texts("path", list(paths)),
        **_node_arrays(parts, node, path.numbers(paths), paths.get(b"", -1), len(keys)),
        **_edge_arrays(_without_repetitions(kept), len(keys)),
        **_word_arrays(parts["words"], node),
    }
    return Assembled(arrays, _counts(arrays, list(keys), undeclared))


def _columns(parts: Sequence[GraphNode] | Sequence[GraphEdge], names: Iterable[str]) -> dict[str, list[Any]]:
    return {name: [getattr(part, name) for part in parts] for name in names}


def _referred(declared: Coded, *ends: Coded) -> pa.Table:
    """The nodes of what edges refer to and the label does not declare."""
    wanted = tuple(f"|{kind.value}".encode() for kind in UNDECLARED_KINDS)
    found = {key for end in ends for key in end.occurring() if key.endswith(wanted)}
    keys = sorted(key.decode() for key in found.difference(declared.occurring()))
    return nodes_table(GraphNode(key, NodeType(key.rpartition("|")[2]), simple_name(key)) for key in keys)


def _numbered(
    edges: pa.Table, ends: dict[str, Coded], keys: dict[bytes, int], paths: dict[bytes, int]
) -> tuple[dict[str, Numbers], dict[str, int]]:
    """Edges between nodes as numbers, and how many of each relation lead to what the label does not declare."""
    numbers = {
        "source": ends["source"].numbers(keys),
        "target": ends["target"].numbers(keys),
        "relation": Coded.of(edges["relation"].chunks).within(RELATIONS, "relation"),
        "confidence": Coded.of(edges["confidence"].chunks).within(CONFIDENCES, "confidence"),
        "path": ends["path"].numbers(paths),
        "line": np.maximum(rows_of_numbers(edges["line"].chunks), 0),
    }
    inside = (numbers["source"] >= 0) & (numbers["target"] >= 0)
    outside = np.bincount(numbers["relation"][~inside], minlength=len(RELATIONS))
    undeclared = {RELATIONS[code]: int(count) for code, count in enumerate(outside) if count}
    return {name: values[inside] for name, values in numbers.items()}, undeclared


def _without_repetitions(edges: dict[str, Numbers]) -> dict[str, Numbers]:
    """One edge of each source, relation and target, in this order: the lowest path and line, the best confidence."""
    order = ascending(*(edges[name] for name in ("source", "relation", "target", "path", "line")))
    ordered = {name: values[order] for name, values in edges.items()}
    starts = np.flatnonzero(_changes(ordered["source"], ordered["relation"], ordered["target"]))
    kept = {name: values[starts] for name, values in ordered.items()}
    if len(starts):
        kept["confidence"] = np.minimum.reduceat(ordered["confidence"], starts)
    return kept


def _changes(*columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether a row differs from the one before it; the first does."""
    found = np.ones(len(columns[0]), bool)
    found[1:] = False
    for column in columns:
        found[1:] |= column[1:] != column[:-1]
    return found


def _node_arrays(parts: dict[str, list[pa.Array]], node: Numbers, path: Numbers, nowhere: int, nodes: int) -> Arrays:
    """`node` and `path` are the numbers of each part, `nowhere` is that of the empty path."""
    kind, language = Coded.of(parts["kind"]), Coded.of(parts["language"])
    name, signature = rows_of_texts(parts["name"]), rows_of_texts(parts["signature"])
    places = (node, path, rows_of_numbers(parts["line_start"]), rows_of_numbers(parts["line_end"]))
    order = ascending(*places)
    node, path, start, end = (values[order] for values in places)
    new = _changes(node, path, start, end)
    _settle(order, new, lambda row: (kind[row], name[row], language[row], signature[row]))
    heads = order[_changes(node)]
    languages = sorted({*language.rows(heads).occurring()})
    placed = new & (path != nowhere)  # parts in one place differ in a signature only
    return {
        **_texts("language", languages),
        **_texts("name", [name[row] for row in heads.tolist()]),
        **_texts("signature", [signature[row] for row in heads.tolist()]),
        "node_kind": kind.rows(heads).within(KINDS, "kind").astype(np.uint8),
        "node_language": language.rows(heads).numbers(numbered(languages)).astype(np.uint8),
        "node_places": _ends(node[placed], nodes),
        "place_path": path[placed].astype(np.uint32),
        "place_start": start[placed].astype(np.uint32),
        "place_end": end[placed].astype(np.uint32),
    }


def _settle(order: Numbers, new: NDArray[np.bool_], told: Callable[[int], tuple[Any, ...]]) -> None:
    """Puts rows of one place, those that are not `new`, in the order of what they tell."""
    starts = np.flatnonzero(new)
    sizes = np.diff(starts, append=len(new))
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        order[start : start + size] = sorted(order[start : start + size].tolist(), key=told)


def _texts(name: str, values: Sequence[bytes]) -> Arrays:
    """Texts as one run of bytes and where each begins."""
    ends = np.fromiter(accumulate(map(len, values), initial=0), np.int64, len(values) + 1)
    return {f"{name}_bytes": np.array(bytearray().join(values)), f"{name}_ends": ends}


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
    order = ascending(source, relation, confidence, inwards[target], target)
    source, relation, target, confidence = (values[order] for values in (source, relation, target, confidence))
    by_target = ascending(target, relation, confidence, outwards[source], source)
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
    starts = np.flatnonzero(_changes(owner, relation))
    return {
        f"{side}_runs": _ends(owner[starts], nodes),
        f"{side}_relation": relation[starts].astype(np.uint8),
        f"{side}_edges": np.append(starts, len(owner)).astype(np.int64),
    }


def _word_arrays(chunks: Sequence[pa.ListArray], node: Numbers) -> Arrays:
    """The nodes of every word that somebody may type for them, words in the order of their bytes. `node` is the number
    of each part."""
    sizes, values = flattened(chunks)
    written = Coded.of(values)
    words = numbered(sorted({*written.occurring()}))
    word, owner = written.numbers(words), np.repeat(node, sizes)
    order = ascending(word, owner)
    word, owner = word[order], owner[order]
    kept = _changes(word, owner)
    return {
        **_texts("word", list(words)),
        "word_nodes": _ends(word[kept], len(words)),
        "word_node": owner[kept].astype(np.uint32),
    }


def _counts(arrays: Arrays, keys: Sequence[bytes], undeclared: dict[str, int]) -> GraphCounts:
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
            Hub(keys[int(node)].decode(), KINDS[arrays["node_kind"][node]], int(degree[node]))
            for node in largest
            if degree[node]
        ),
    )


def _degree(arrays: Arrays, side: str) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.diff(arrays[f"{side}_edges"][arrays[f"{side}_runs"]])
    return found


def _by_name(counts: NDArray[Any], names: tuple[str, ...]) -> dict[str, int]:
    return {name: int(counts[code]) for code, name in enumerate(names) if counts[code]}
