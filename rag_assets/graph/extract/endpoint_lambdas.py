"""What the lambda behind a route does, as edges of its endpoint: a lambda has no node that could have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rag_assets.contracts.graph import GraphEdge, GraphNode, NodeType, Relation
from rag_assets.contracts.segment import MemberKind

if TYPE_CHECKING:
    from rag_assets.languages.parsed_file import ParsedFile

_EFFECTS = frozenset(
    {
        Relation.CALLS,
        Relation.CONSTRUCTS,
        Relation.READS_FROM,
        Relation.WRITES_TO,
        Relation.EXECUTES,
        Relation.REFERENCES,
    }
)
"""What running code does; the types it names are of no use to a chain."""


def effects_of_lambdas(file: ParsedFile, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> Iterator[GraphEdge]:
    """The edges found in the statements that map lambdas, again as those of their endpoints.

    `nodes` and `edges` are all that was found in the file. An endpoint whose lines are those of a whole member is
    answered by that member, which has edges of its own.
    """
    mapped = [node for node in nodes if node.kind is NodeType.ENDPOINT]
    if not mapped:
        return
    members = [place for place in file.places if place.member is not None]
    spans = {(place.member.span.line_start, place.member.span.line_end) for place in members if place.member}
    code = [
        (place.key, place.member.span.line_start, place.member.span.line_end)
        for place in members
        if place.member is not None
        and place.member.kind in (MemberKind.METHOD, MemberKind.FUNCTION, MemberKind.STATEMENTS)
    ]
    by_source: dict[str, list[GraphEdge]] = {}
    for edge in edges:
        if edge.relation in _EFFECTS:
            by_source.setdefault(edge.source, []).append(edge)
    for node in mapped:
        if (node.line_start, node.line_end) in spans:
            continue
        around = {key for key, start, stop in code if start <= node.line_start and node.line_end <= stop}
        for source in sorted(around):
            for edge in by_source.get(source, ()):
                if node.line_start <= edge.line <= node.line_end:
                    yield replace(edge, source=node.key)
