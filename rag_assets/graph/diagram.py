"""The outcome of a walk as a Mermaid flowchart (https://mermaid.js.org/syntax/flowchart.html), valid for every key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, key_kind
from rag_assets.graph.impact import Impact
from rag_assets.graph.lookup import short_name, simple_name
from rag_assets.graph.neighbourhood import Neighbourhood
from rag_assets.graph.paths import GraphPath

_LONGEST_LABEL = 60
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-/:+*=,@")
"""Characters that mean nothing to Mermaid inside quotes. All others are written as `#code;`."""

_SHAPES = {
    NodeType.TABLE: ("[(", ")]"),
    NodeType.VIEW: ("[(", ")]"),
    NodeType.TABLE_OR_VIEW: ("[(", ")]"),
    NodeType.ENDPOINT: ("([", "])"),
    NodeType.TYPE: ("[[", "]]"),
}


def of_neighbourhood(found: Neighbourhood) -> str:
    entries = [node.key for node in found.nodes if node.distance == 0]
    return mermaid({node.key: node.name for node in found.nodes}, entries, found.edges)


def of_paths(found: Sequence[GraphPath]) -> str:
    """All paths in one diagram."""
    names = {key: simple_name(key) for path in found for key in path.keys}
    return mermaid(names, [path.start for path in found], (step.edge for path in found for step in path.steps))


def of_impact(found: Impact) -> str:
    """What an effect reaches, with the step that it came by. What the node contains is drawn where a step begins at
    it, so every arrow has both ends."""
    reached = {node.key: node.name for node in found.reached}
    edges = [node.via for node in found.reached]
    ends = (*found.of, *(end for edge in edges for end in (edge.source, edge.target)))
    parts = {key: simple_name(key) for key in ends if key not in reached}
    return mermaid(parts | reached, parts, edges)


def mermaid(names: Mapping[str, str], entries: Iterable[str], edges: Iterable[GraphEdge]) -> str:
    """A chart of nodes, by key and name in the order they are read in, and of the edges between them. Guessed edges are
    dashed, and the nodes where the walk began have a thick line."""
    ids = {key: f"n{number}" for number, key in enumerate(names)}
    lines = ["flowchart LR"]
    for key, name in names.items():
        kind = key_kind(key)
        opening, closing = _SHAPES.get(kind, ("[", "]"))
        lines.append(f'  {ids[key]}{opening}"{_escaped(kind.value)}<br/>{_escaped(_label(key, name))}"{closing}')
    arrows = dict.fromkeys((edge.source, edge.target, edge.relation.value, edge.confidence) for edge in edges)
    for source, target, relation, confidence in arrows:
        line = "-->" if confidence is Confidence.RESOLVED else "-.->"
        lines.append(f'  {ids[source]} {line}|"{_escaped(relation)}"| {ids[target]}')
    marked = [ids[key] for key in dict.fromkeys(entries)]
    if marked:
        lines += ["  classDef entry stroke-width:3px", f"  class {','.join(marked)} entry"]
    return "\n".join(lines) + "\n"


def of_folders(names: Sequence[str], uses: Iterable[tuple[int, int, int]]) -> str:
    """Folders, and how many places of one use another: (number of the folder, of the one that it uses, places)."""
    lines = ["flowchart LR", *(f'  n{at}["{_escaped(_cut(name))}"]' for at, name in enumerate(names))]
    lines += [f'  n{source} -->|"{count}"| n{target}' for source, target, count in uses]
    return "\n".join(lines) + "\n"


def _label(key: str, name: str) -> str:
    return _cut(" ".join((name if key_kind(key) is NodeType.SECTION and name else short_name(key)).split()))


def _cut(label: str) -> str:
    return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"


def _escaped(text: str) -> str:
    return "".join(char if char in _PLAIN else f"#{ord(char)};" for char in text)
