"""Impact of what has changed between two commits: the tests worth running, routes, tables, documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rag_assets.graph.lookup import short_name
from rag_assets.printable import abridged
from rag_assets.search.touched_nodes import ChangeImpact, TouchedNode
from rag_assets.serving.budget import joined_within
from rag_assets.serving.index_age import IndexAge

_SHORT = 7
_NAMED = 8


@dataclass(frozen=True, slots=True)
class ImpactReply:
    """What changes touch, and how old the index is."""

    found: ChangeImpact
    age: IndexAge

    @property
    def is_empty(self) -> bool:
        return not self.found.touched

    def as_object(self) -> dict[str, Any]:
        return asdict(self.found)

    def text(self, max_tokens: int) -> str:
        found = self.found
        head = [
            self.age.line(found.label),
            f"{found.base_commit[:_SHORT]} → {found.until_commit[:_SHORT]}: {len(found.files)} files changed",
            *found.notes,
        ]
        if self.is_empty:
            head.append("none of it touches what was asked for")
        body = list(self._lines())
        outside = [file.path for file in found.not_in_graph]
        foot = [f"not in the graph: {abridged(outside, _NAMED)}"] if outside else []
        return joined_within(head, body, foot, max_tokens, "… {} more lines; raise max_tokens, or narrow with only")

    def _lines(self) -> Iterator[str]:
        what = None
        for node in self.found.touched:
            if node.what is not what:
                what = node.what
                yield f"{what.value} ({self.found.totals.get(what.value, 0)})"
            yield _line(node)


def _line(node: TouchedNode) -> str:
    """`1  OrderTests.Refunds  tests/OrderTests.cs:12  because of Orders.Refund  probable`."""
    said = [f"{node.distance:>2}", ", ".join(node.tests) or short_name(node.key)]
    if node.path:
        said.append(f"{node.path}:{node.line}")
    said.append(f"because of {short_name(node.because)}" if node.steps else "changed itself")
    if node.confidence != "resolved":
        said.append(node.confidence)
    return "  ".join(said)
