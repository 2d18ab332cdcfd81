"""The graph of an open index: from hits to what is around them, and from node keys to text (D19–D21).

A graph belongs to one generation of one label, so nothing of another label can be reached by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.identity import document_uri
from rag_assets.graph.artifact import HEADER, GraphError, open_graph, read_counts
from rag_assets.graph.csr_graph import Graph, GraphCounts, NodeLocation
from rag_assets.index.generations import Generation
from rag_assets.search import Hit
from rag_assets.search.index import LabelIndex

if TYPE_CHECKING:
    from rag_assets.graph.build import Assembled


@dataclass(frozen=True, slots=True)
class NodeBody:
    """The text of one place of a node; several for a partial type."""

    key: str
    place: NodeLocation
    text: str


def graph_of(index: LabelIndex) -> Graph:
    """The graph of the generation that `index` reads, as far as its clearance reaches. Raises GraphError where there is
    none or a damaged one."""
    return index.kept_graph(lambda: graph_seen_in(index.generation, index.clearance))


def graph_seen_in(generation: Generation, clearance: Confidentiality) -> Graph:
    """The graph of a generation, as far as a clearance reaches. Raises GraphError as `graph_of`."""
    directory = _directory(generation, clearance)
    return open_graph(directory) if directory is not None else Graph(_nothing().arrays)


def counts_of(index: LabelIndex) -> GraphCounts:
    """What that graph consists of. Raises GraphError as `graph_of`."""
    directory = _directory(index.generation, index.clearance)
    return read_counts(directory) if directory is not None else _nothing().counts


def entries_of(index: LabelIndex, hits: Iterable[Hit]) -> dict[str, float]:
    """The graph nodes behind hits, each with the score of its best hit: the entries of a neighbourhood (D19). The keys
    are read from the payloads, so a hit whose section shows no node has none."""
    entries: dict[str, float] = {}
    for hit in hits:
        for key in index.get(hit.point_id).get("GraphNodeKeys", ()):
            entries[key] = max(hit.score, entries.get(key, 0.0))
    return {key: score for key, score in entries.items() if score > 0}


def bodies(index: LabelIndex, graph: Graph, keys: Sequence[str]) -> tuple[NodeBody, ...]:
    """The texts of nodes by key, in the order of the keys and of their places (D21). A key that the graph does not
    have, or that is declared nowhere, has none, nor has a place that the clearance does not reach. Raises ArtifactError
    where a text is not there any more."""
    documents: dict[str, list[str]] = {}
    found = []
    for key in dict.fromkeys(keys):
        node = graph.find(key)
        for place in graph.places(node) if node is not None else ():
            if not index.may_read(place.path):
                continue
            if place.path not in documents:
                documents[place.path] = index.resolve(document_uri(index.label, place.path)).split("\n")
            lines = documents[place.path][max(place.line_start - 1, 0) : place.line_end]
            found.append(NodeBody(key, place, "\n".join(lines)))
    return tuple(found)


def _directory(generation: Generation, clearance: Confidentiality) -> Path | None:
    """Where the graph of a generation for a reader lies; None for one who sees no file."""
    directory = generation.seen_by(clearance, generation.graph)
    if directory is not None and not (directory / HEADER).is_file():
        label = generation.manifest.index_label
        raise GraphError(
            f"the index of {label} has no graph (generation {generation.manifest.generation_id}); "
            f"run: rag-assets index {label} --force"
        )
    return directory


def _nothing() -> Assembled:
    from rag_assets.graph.build import assemble  # start-up budget: loads Arrow, which a stored graph does not need

    return assemble((), ())
