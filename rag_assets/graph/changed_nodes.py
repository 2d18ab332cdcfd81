"""From changed lines to nodes: by the places of the graph for the text that is indexed, by the declarations of the text
for any other version of a file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rag_assets.contracts.graph import NodeType, Relation, declaration_key, file_key, key_kind, member_keys
from rag_assets.contracts.segment import Segment, leaves_of
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.edge_weights import permitted
from rag_assets.graph.extract.documents import sections_of
from rag_assets.graph.lookup import KeyName, name_of, with_word
from rag_assets.graph.relations import Direction, WalkStep
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE as CSHARP
from rag_assets.languages.csharp.declaration_ranges import DeclarationRanges, own_symbol, types_of
from rag_assets.languages.detection import SourceType, source_type

_SILENT = re.compile(
    rb"\s*(?:$|//|/\*|\*|[{}()\[\];,]+\s*$|#(?!include)|\[assembly\s*:|namespace\b"
    rb"|(?:global\s+)?using\s+(?:static\s+)?[\w.=<>, ]+;|import\b|from\s+\S+\s+import\b|package\b|extern\s+alias\b)"
)
"""Lines of code that do nothing: blank, comments, brackets, directives, names of other files."""
_SILENT_SQL = re.compile(rb"\s*(?:$|--|/\*|\*|[();,]+\s*$|GO\s*;?\s*$)", re.IGNORECASE)
_RARE = 3
"""So many declarations of a name at most: more of them have nothing but the name in common."""
_RELATED = permitted(
    tuple(
        WalkStep(relation, direction)
        for relation in (Relation.INHERITS, Relation.IMPLEMENTS)
        for direction in (Direction.IN, Direction.OUT)
    )
)
_BEHIND = permitted(tuple(WalkStep(r, Direction.OUT) for r in (Relation.IMPLEMENTS, Relation.OVERRIDES)))
_OVERRIDES = re.compile(r"\boverride\b")


@dataclass(frozen=True, slots=True)
class DeclaredSpan:
    """The lines of a declaration, with its comment and attributes, 1-based and inclusive, and its node."""

    key: str
    line_start: int
    line_end: int


def matters(line: bytes, language: str) -> bool:
    """Whether a changed line may change what a program does, or what a document says."""
    if language == "sql":
        return _SILENT_SQL.match(line) is None
    if source_type(language) is SourceType.CODE:
        return _SILENT.match(line) is None
    return bool(line.strip())


def declared_spans(segments: Sequence[Segment], path: str) -> Iterator[DeclaredSpan]:
    """What a file declares, by the keys that the graph has for it; what is around before what is inside."""
    if any(segment.language == CSHARP for segment in segments):
        for segment in types_of(segments):
            own = declaration_key(CSHARP, own_symbol(segment), segment.kind, path)
            yield DeclaredSpan(own, segment.span.line_start, segment.span.line_end)
        for place in DeclarationRanges(path, segments):
            if place.member is not None:
                yield DeclaredSpan(place.key, place.member.span.line_start, place.member.span.line_end)
        return
    for segment in segments:
        own = declaration_key(segment.language, segment.symbol, segment.kind, path)
        yield DeclaredSpan(own, segment.span.line_start, segment.span.line_end)
        for leaf in leaves_of(segment.members):
            member, span = leaf.member, leaf.member.span
            owner = leaf.owner_in(segment.symbol)
            keys = member_keys(segment.language, owner, member)
            yield from (DeclaredSpan(key, span.line_start, span.line_end) for key in keys)
        for member, key in sections_of(segment, path):
            yield DeclaredSpan(key, member.span.line_start, member.span.line_end)


def keys_at(spans: Sequence[DeclaredSpan], lines: Sequence[int], path: str) -> dict[str, int]:
    """Key → the first of the lines that it is changed at: the smallest declaration around each line, else the file."""
    if not lines:
        return {}
    at_lines: dict[tuple[int, int], list[str]] = {}
    for span in spans:
        at_lines.setdefault((span.line_start, span.line_end), []).append(span.key)
    places = sorted(at_lines, key=lambda place: place[0] - place[1])  # what is inside is painted over what is around
    smallest = np.zeros(max(lines) + 1, np.int64)
    for number, (start, end) in enumerate(places, 1):
        smallest[start : end + 1] = number
    found: dict[str, int] = {}
    for line in lines:
        number = smallest[line]
        for key in at_lines[places[number - 1]] if number else [file_key(path)]:
            found.setdefault(key, line)
    return found


def spans_of(graph: Graph, paths: Collection[str]) -> dict[str, list[DeclaredSpan]]:
    """Path → what the graph says is declared in it, the file itself not included."""
    numbers = {number: path for path in paths if (number := graph.paths.find(path)) >= 0}
    arrays = graph.arrays
    at = np.flatnonzero(np.isin(arrays["place_path"], np.array(sorted(numbers), np.int64)))
    nodes = np.searchsorted(arrays["node_places"], at, side="right") - 1
    found: dict[str, list[DeclaredSpan]] = {path: [] for path in numbers.values()}
    columns = (arrays[name][at].tolist() for name in ("place_path", "place_start", "place_end"))
    for node, path, start, end in zip(nodes.tolist(), *columns, strict=True):
        if graph.kind(node) is not NodeType.FILE:
            found[numbers[path]].append(DeclaredSpan(graph.keys[node], start, end))
    return found


def successors(graph: Graph, removed: str) -> list[int]:
    """The nodes that callers of a removed declaration may mean now: of a member what has its name in the type, in a
    type of the same name, or in a base or derived type; of a type one of the same name; else of a name that is rare
    whatever has it. Equal names are all that is known, so who calls them is affected by name only."""
    wanted, kind = name_of(removed), key_kind(removed)
    if not wanted.segments or kind in (NodeType.FILE, NodeType.SECTION, NodeType.PACKAGE):
        return []
    alike = [node for node in _called(graph, wanted) if graph.kind(node) is kind]
    owner = wanted.segments[-2:-1]
    if kind not in (NodeType.METHOD, NodeType.PROPERTY):
        return alike if len(alike) <= _RARE else []
    kin = {owner} | {name_of(graph.keys[node]).segments[-1:] for node in _family(graph, wanted)}
    near = [node for node in alike if name_of(graph.keys[node]).segments[-2:-1] in kin]
    return near or (alike if len(alike) <= _RARE else [])


def _called(graph: Graph, wanted: KeyName) -> list[int]:
    names = ((node, name_of(graph.keys[node])) for node in with_word(graph, wanted.word))
    return [node for node, name in names if name.prefix == wanted.prefix and name.segments[-1:] == wanted.segments[-1:]]


def _family(graph: Graph, member: KeyName) -> list[int]:
    """The types next to the one of a member: bases, interfaces, derived ones."""
    around = member.symbol.rpartition(".")[0]
    owner = graph.find(f"{member.prefix}:{around}|{NodeType.TYPE}")
    if owner is None:
        return []
    reach, _ = graph.reach(np.array([owner], np.int64), _RELATED)
    nodes: list[int] = reach.node.tolist()
    return nodes


def is_called_by_name(graph: Graph, node: int) -> bool:
    """Whether nobody can run a member without naming it: it is no constructor, and takes no place of another member."""
    if graph.kind(node) not in (NodeType.METHOD, NodeType.PROPERTY) or _OVERRIDES.search(graph.signature(node)):
        return False
    segments = name_of(graph.keys[node]).segments
    if segments[-1:] == segments[-2:-1]:
        return False
    reach, _ = graph.reach(np.array([node], np.int64), _BEHIND)
    return not len(reach.node)
