"""The parts of a graph, found file by file, as one graph: merged, without repetitions, numbered in the order of keys.

Texts become numbers first (`graph.column_encoding`), one table after the other: a hundred thousand nodes with a
million edges are then sorted and joined by numpy, in a second and a hundred megabytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation
from rag_assets.graph.column_encoding import (
    Codes,
    Numbers,
    Rows,
    StringColumn,
    StringDictionary,
    list_rows,
    sorted_rows,
    stacked,
    text_rows,
    within,
)
from rag_assets.graph.csr_graph import CONFIDENCES, KINDS, RELATIONS, Arrays, GraphCounts, Hub
from rag_assets.graph.lookup import node_words, simple_name
from rag_assets.index.parquet_parts import arrow_table, empty_batch, to_numpy

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
"""The fields of GraphNode, and what the node is looked up by (`graph.lookup.node_words`)."""

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
    """A whole graph as the arrays of `graph.csr_graph`, and its counts."""

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
    return arrow_table(node_columns(nodes), NODES)


def edges_table(edges: Iterable[GraphEdge]) -> pa.Table:
    """Edges as the table `graph_edges` keeps them."""
    return arrow_table(edge_columns(edges), EDGES)


def assemble(nodes: Iterable[GraphNode], edges: Iterable[GraphEdge]) -> Assembled:
    """`assemble_tables` of objects."""
    return assemble_tables([nodes_table(nodes)], [edges_table(edges)])


def assemble_tables(nodes: Iterable[pa.Table], edges: Iterable[pa.Table]) -> Assembled:
    """`GraphAssembly` of all tables."""
    graph = GraphAssembly()
    graph.add(nodes, edges)
    return graph.assembled()


class GraphAssembly:
    """One graph of all parts (domain reference §5), the same for every order of the rows. One table is in memory at a
    time.

    The parts of a node become one with several places; its name, kind, language and signature are those of the first
    part by path and line. Equal edges become one, at the lowest path and line, with the best confidence. An edge whose
    end the label does not declare makes a node of `UNDECLARED_KINDS`, else it is left out and counted. Texts may be
    dictionaries (`REPEATED_IN_EDGES` …). Raises ValueError for a kind, relation or confidence outside the closed sets.
    """

    def __init__(self) -> None:
        self._known = _Known()
        self._nodes = [self._known.nodes(empty_batch(NODES))]  # columns without rows have their types too
        self._edges = [self._known.edges(empty_batch(EDGES))]

    def add(self, nodes: Iterable[pa.Table], edges: Iterable[pa.Table]) -> None:
        self._edges.extend(self._known.edges(part) for table in edges for part in table.to_batches())
        self._nodes.extend(self._known.nodes(part) for table in nodes for part in table.to_batches())

    def assembled(self) -> Assembled:
        """The graph of what was added, of which nothing is left."""
        known, self._known = self._known, _Known()
        edge = stacked(self._edges)
        self._nodes.extend(map(known.nodes, known.referred(self._nodes, edge).to_batches()))
        node = stacked(self._nodes)
        keys, places = known.keys.ascending(node["key"])  # a node's number is its place among the keys, as bytes
        known.place_requests(edge["target"], keys, places)
        for rows, name in ((node, "key"), (edge, "source"), (edge, "target")):
            rows[name] = places[rows[name]]
        paths, places = known.paths.ascending(np.concatenate((node["path"], edge["path"])))
        for rows in (node, edge):
            rows["path"] = places[rows["path"]]
        undeclared = _left_out(edge)
        arrays = {
            **_texts("key", keys),
            **_texts("path", paths),
            **_node_arrays(node, known.languages, 0 if paths[:1] == [b""] else -1, len(keys)),
            **_word_arrays(node, known.words),
        }
        del node
        arrays |= _edge_arrays(_without_repetitions(edge), len(keys))
        return Assembled(arrays, _counts(arrays, keys, undeclared))


class _Known:
    """The texts of all tables, and their rows as numbers of these."""

    def __init__(self) -> None:
        self.keys, self.paths, self.languages, self.words = (
            StringDictionary(),
            StringDictionary(),
            StringDictionary(),
            StringDictionary(),
        )

    def nodes(self, batch: pa.RecordBatch) -> Rows:
        return {
            "key": self.keys.coded(batch["key"]),
            "kind": within(batch["kind"], KINDS, "kind"),
            "path": self.paths.coded(batch["path"]),
            "line_start": to_numpy(batch["line_start"]).copy(),
            "line_end": to_numpy(batch["line_end"]).copy(),
            "language": self.languages.coded(batch["language"]),
            **text_rows("name", batch["name"]),
            **text_rows("signature", batch["signature"]),
            **list_rows("words", batch["words"], self.words.coded),
        }

    def edges(self, batch: pa.RecordBatch) -> Rows:
        return {
            "source": self.keys.coded(batch["source"]),
            "target": self.keys.coded(batch["target"]),
            "relation": within(batch["relation"], RELATIONS, "relation"),
            "confidence": within(batch["confidence"], CONFIDENCES, "confidence"),
            "path": self.paths.coded(batch["path"]),
            "line": np.maximum(to_numpy(batch["line"]), 0),
        }

    def referred(self, nodes: Iterable[Rows], edges: Rows) -> pa.Table:
        """The nodes of what edges refer to and the label does not declare."""
        wanted = tuple(f"|{kind.value}".encode() for kind in UNDECLARED_KINDS)
        declared = self.keys.among(*(rows["key"] for rows in nodes))
        missing = (self.keys.among(edges["source"], edges["target"]) & ~declared).tolist()
        keys = sorted(key.decode() for key in compress(self.keys, missing) if key.endswith(wanted))
        return nodes_table(GraphNode(key, NodeType(key.rpartition("|")[2]), simple_name(key)) for key in keys)

    def place_requests(self, targets: Codes, keys: Sequence[bytes], places: Codes) -> None:
        """Gives the key of an endpoint that nothing declares, as code asks for it, the place of the declared one among
        the `keys` that it means."""
        missing = self.keys.among(targets[places[targets] < 0]).tolist()
        asked = {key.decode(): number for number, key in enumerate(self.keys) if missing[number] and _is_endpoint(key)}
        if not asked:
            return
        from rag_assets.graph.requested_endpoints import meant_endpoints  # start-up budget: of few labels

        declared = {
            keys[at].decode(): at for at in range(bisect_left(keys, _HTTP), len(keys)) if _is_endpoint(keys[at])
        }
        for key, meant in meant_endpoints(asked, declared).items():
            places[asked[key]] = declared[meant]


_HTTP = b"http:"


def _is_endpoint(key: bytes) -> bool:
    return key.startswith(_HTTP) and key.endswith(b"|ENDPOINT")


def _columns(parts: Sequence[GraphNode] | Sequence[GraphEdge], names: Iterable[str]) -> dict[str, list[Any]]:
    return {name: [getattr(part, name) for part in parts] for name in names}


def _left_out(edges: Rows) -> dict[str, int]:
    """Takes out the edges to or from what is no node; how many of each relation there were."""
    inside = (edges["source"] >= 0) & (edges["target"] >= 0)
    outside = np.bincount(edges["relation"][~inside], minlength=len(RELATIONS))
    for name in edges:
        edges[name] = edges[name][inside]
    return {RELATIONS[code]: int(count) for code, count in enumerate(outside) if count}


def _without_repetitions(edges: Rows) -> Rows:
    """One edge of each source, relation and target, in this order: the lowest path and line, the best confidence."""
    order = sorted_rows(*(edges[name] for name in ("source", "relation", "target", "path", "line")))
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


def _node_arrays(parts: Rows, known: StringDictionary, nowhere: int, nodes: int) -> Arrays:
    """`known` are the languages, `nowhere` is the number of the empty path."""
    name, signature = (StringColumn.of(parts[text], parts[f"{text}_sizes"]) for text in ("name", "signature"))
    kind, language = parts["kind"], parts["language"]
    names = list(known)
    places = tuple(parts[column] for column in ("key", "path", "line_start", "line_end"))
    order = sorted_rows(*places)
    node, path, start, end = (values[order] for values in places)
    new = _changes(node, path, start, end)
    _settle(order, new, lambda row: (KINDS[kind[row]], name[row], names[language[row]], signature[row]))
    heads = order[_changes(node)]
    languages, of_language = known.ascending(language[heads])
    placed = new & (path != nowhere)  # parts in one place differ in a signature only
    return {
        **_texts("language", languages),
        **_packed("name", name.rows(heads)),
        **_packed("signature", signature.rows(heads)),
        "node_kind": kind[heads],
        "node_language": of_language[language[heads]].astype(np.uint8),
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


def _packed(name: str, rows: StringColumn) -> Arrays:
    return {f"{name}_bytes": rows.content, f"{name}_ends": rows.ends}


def _ends(groups: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Where each group begins in ascending group numbers, and the end of the last."""
    return np.concatenate(([0], np.cumsum(np.bincount(groups, minlength=count)))).astype(np.int64)


def _edge_arrays(edges: Rows, nodes: int) -> Arrays:
    """Both directions in runs of one node and relation. In a run the most telling edges come first: the most certain,
    then those to the node with the fewest like them, for what everything uses explains nothing."""
    source, relation, target, confidence = (edges[name] for name in ("source", "relation", "target", "confidence"))
    used = relation != RELATIONS.index(Relation.CONTAINS)  # a large type is not a common one
    outwards = np.bincount(source[used], minlength=nodes)
    inwards = np.bincount(target[used], minlength=nodes)
    order = sorted_rows(source, relation, confidence, inwards[target], target)
    source, relation, target, confidence = (values[order] for values in (source, relation, target, confidence))
    by_target = sorted_rows(target, relation, confidence, outwards[source], source)
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


def _word_arrays(parts: Rows, known: StringDictionary) -> Arrays:
    """The nodes of every word that somebody may type for them, words in the order of their bytes."""
    words, places = known.ascending(parts["words"])
    word, owner = places[parts["words"]], np.repeat(parts["key"], parts["words_sizes"])
    order = sorted_rows(word, owner)
    word, owner = word[order], owner[order]
    kept = _changes(word, owner)
    return {
        **_texts("word", words),
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
