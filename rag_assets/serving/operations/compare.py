"""Compare: the routes, tables and edges that came and went between two generations of a label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rag_assets.contracts.graph import GraphEdge
from rag_assets.graph.comparison import GraphComparison, GraphDifference, compare_graphs
from rag_assets.graph.lookup import short_name
from rag_assets.index.generation_refs import named_generation
from rag_assets.index.generations import GenerationError, Manifest, read_generation
from rag_assets.index.layout import IndexHome
from rag_assets.search.graph_context import graph_seen_in
from rag_assets.serving.access import Caller
from rag_assets.serving.budget import joined_within
from rag_assets.serving.index_pool import is_seen

_LISTED = 200


@dataclass(frozen=True, slots=True)
class CompareReply:
    """What differs between the graphs of two generations, as far as the caller sees them."""

    old: Manifest
    new: Manifest
    found: GraphComparison

    @property
    def is_empty(self) -> bool:
        return self.found.added.is_empty and self.found.removed.is_empty

    def as_object(self) -> dict[str, Any]:
        return {
            "label": self.new.index_label,
            "old": {"generation": self.old.generation_id, "commit": self.old.commit_sha},
            "new": {"generation": self.new.generation_id, "commit": self.new.commit_sha},
            "added": asdict(self.found.added),
            "removed": asdict(self.found.removed),
        }

    def text(self, max_tokens: int) -> str:
        head = [f"{self.new.index_label}: {self.old.generation_id} → {self.new.generation_id}"]
        if self.is_empty:
            head.append("no route, table or edge differs")
        body = [*_lines("+", self.found.added), *_lines("-", self.found.removed)]
        return joined_within(head, body, [], max_tokens, "… {} more lines; the page has them all")


def _lines(sign: str, found: GraphDifference) -> Iterator[str]:
    yield from (f"{sign} {key}" for key in found.named)
    yield from (f"{sign} {edge_line(edge)}" for edge in found.listed)


def edge_line(edge: GraphEdge) -> str:
    """`Orders.Refund Calls Invoices.Post  src/Orders.cs:12`."""
    at = f"  {edge.path}:{edge.line}" if edge.path else ""
    return f"{short_name(edge.source)} {edge.relation.value} {short_name(edge.target)}{at}"


def compare(home: IndexHome, label: str, old: str, new: str, caller: Caller) -> CompareReply:
    """Generations by id, commit, tag, `active` or `previous`. Raises GenerationError for one that is not there, and
    GraphError for one without a graph."""
    generations = [read_generation(home, label, named_generation(home, [label], word)[1]) for word in (old, new)]
    if not all(is_seen(generation.manifest, caller) for generation in generations):
        raise GenerationError(f"{label} has no generation {old!r}")
    graphs = [graph_seen_in(generation, caller.clearance) for generation in generations]
    manifests = [generation.manifest for generation in generations]
    return CompareReply(manifests[0], manifests[1], compare_graphs(graphs[0], graphs[1], limit=_LISTED))
