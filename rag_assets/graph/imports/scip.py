"""A SCIP index (scip-dotnet, scip-typescript, scip-python, scip-java …) as a graph in our keys.

SCIP says where each symbol is defined and where it is used. What uses it is the innermost definition around the place:
by the enclosing ranges of the index, or, of tools that write none (scip-dotnet), by the declarations of the label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation, file_key, key_kind
from rag_assets.graph.imports.artifact_files import Artifacts
from rag_assets.graph.imports.builder import ImportBuilder, new_node
from rag_assets.graph.imports.imported_graph import Coverage, ImportedGraph, Problems, UnusableImport
from rag_assets.graph.imports.label_symbols import LabelSymbols
from rag_assets.graph.imports.scip_definitions import Definition, Definitions, Position, is_definition, span
from rag_assets.graph.imports.scip_messages import (
    DEFINITION,
    DOCUMENT,
    FORWARD_DEFINITION,
    IMPORT,
    METADATA,
    Damage,
    index_parts,
)

_COVERED = frozenset({Relation.CALLS, Relation.USES_TYPE, Relation.INHERITS, Relation.IMPLEMENTS, Relation.OVERRIDES})
"""What an index states completely. Not References, which are messages and resource keys in our graph too."""

_NO_USE = DEFINITION | FORWARD_DEFINITION | IMPORT
"""Roles of occurrences that name a symbol without doing anything with it."""

_INTERVALS = tuple[tuple[Position, Position, str], ...]


def scip_graph(artifacts: Artifacts, known: LabelSymbols | None = None) -> ImportedGraph:
    """The graph of one or several indexes, matched against what the label declares.

    A symbol gets the key of the declaration at its place; else of that name and parameters; else the documented form
    (`scip_symbols.documented_key`). Uses of methods are Calls (of constructors Constructs, of the type too), of types
    UsesType, of fields and properties References; implementations are Implements, Inherits or Overrides. Imports, local
    symbols and symbols of other projects give no edges. *Resolved*, or *probable* where an overload had to be guessed.
    Raises UnusableImport when nothing is left.
    """
    problems, gathered = Problems(artifacts.problems), ImportBuilder(known or LabelSymbols())
    definitions = Definitions(gathered.known)
    for document, path in _documents(artifacts, gathered.known, problems):
        gathered.counts["documents"] += 1
        definitions.add_document(document, path)
    if definitions.malformed:
        problems.add(artifacts.location, f"{definitions.malformed:,} definitions with a symbol that cannot be read")
    if not definitions.found:
        told = "; ".join(problems.texts()[:3]) or "it has no document with definitions"
        raise UnusableImport(f"{artifacts.location}: nothing of it can be used: {told}")
    for node in definitions.nodes.values():
        gathered.add_node(node)
    paths = set()
    for document, path in _documents(artifacts, gathered.known, Problems()):
        paths.add(path)
        for edge in _uses(document, path, definitions, gathered):
            gathered.add_edge(edge)
    for edge in _implementations(definitions):
        gathered.add_edge(edge)
    covered = Coverage(gathered.relations() & _COVERED, frozenset(paths))
    return gathered.graph(artifacts.location, problems, (covered,) if covered.relations else (), "")


def _documents(artifacts: Artifacts, known: LabelSymbols, problems: Problems) -> Iterator[tuple[Any, str]]:
    """(document, repository path); a file that several projects compile counts once."""
    seen: set[str] = set()
    for file in artifacts.files:
        root = ""
        for part in index_parts(file.data):
            if isinstance(part, Damage):
                reason = "cut or damaged, what comes after is lost" if part.is_end else "an unreadable part"
                problems.add(file.name, reason, detail=f"byte {part.offset:,}: {part.reason}")
                continue
            number, message = part
            if number == METADATA:
                root = message.project_root
            if number != DOCUMENT:
                continue
            path = known.path_of(message.relative_path, root)
            if path is None and root and not message.relative_path.startswith("/"):
                path = known.path_of(f"{root}/{message.relative_path}", root)
            if path is None:
                problems.add(file.name, "a file that the label does not have", detail=message.relative_path)
            elif path not in seen:
                seen.add(path)
                yield message, path


def _uses(document: Any, path: str, definitions: Definitions, gathered: ImportBuilder) -> Iterator[GraphEdge]:
    references = []
    for occurrence in document.occurrences:
        target = definitions.found.get(occurrence.symbol)
        place = span(occurrence.range)
        if target is not None and place is not None and not occurrence.symbol_roles & _NO_USE:
            references.append((place[0], occurrence.symbol, target))
    references.sort(key=lambda each: (each[0], each[1]))
    around = _enclosing((start for start, _, _ in references), _intervals(document, path, definitions))
    for (start, text, target), source in zip(references, around, strict=True):
        gathered.counts["references"] += 1
        if not source:
            source = file_key(path)
            gathered.add_node(new_node(source, path.rpartition("/")[2], path))
        for relation, key in _meant(text, target, definitions):
            if key != source or relation is Relation.CALLS:  # a method that calls itself
                confidence = Confidence.RESOLVED if target.is_sure else Confidence.PROBABLE
                yield GraphEdge(source, relation, key, confidence, path, start[0] + 1)


def _meant(text: str, target: Definition, definitions: Definitions) -> Iterator[tuple[Relation, str]]:
    kind = key_kind(target.key)
    if target.symbol.is_constructor:
        yield Relation.CONSTRUCTS, target.key
        owner = definitions.found.get(text[: text.rfind("#") + 1])
        if owner is not None:
            yield Relation.CONSTRUCTS, owner.key
    elif kind is NodeType.METHOD:
        yield Relation.CALLS, target.key
    elif kind is NodeType.TYPE:
        yield Relation.USES_TYPE, target.key
    else:
        yield Relation.REFERENCES, target.key


def _intervals(document: Any, path: str, definitions: Definitions) -> _INTERVALS:
    """(start, end, key) of the definitions of a document, as the index says or else as the label does."""
    said = []
    for occurrence in document.occurrences:
        definition = definitions.found.get(occurrence.symbol) if is_definition(occurrence.symbol_roles) else None
        around = span(occurrence.enclosing_range)
        if definition is not None and around is not None:
            said.append((*around, definition.key))
    if said:
        return tuple(sorted(said, key=_outer_first))
    declared = definitions.known.in_file(path)
    ours = [((each.node.line_start - 1, 0), (each.node.line_end, 0), each.node.key) for each in declared]
    return tuple(sorted(ours, key=_outer_first))


def _outer_first(interval: tuple[Position, Position, str]) -> tuple[Position, Position, str]:
    start, end, key = interval
    return start, (-end[0], -end[1]), key


def _enclosing(positions: Iterable[Position], intervals: _INTERVALS) -> Iterator[str]:
    """For each of the ascending positions the key of the innermost interval around it, '' outside of all."""
    stack: list[tuple[Position, str]] = []
    at = 0
    for position in positions:
        while at < len(intervals) and intervals[at][0] <= position:
            start, end, key = intervals[at]
            while stack and stack[-1][0] <= start:
                stack.pop()
            stack.append((end, key))
            at += 1
        while stack and stack[-1][0] <= position:
            stack.pop()
        yield stack[-1][1] if stack else ""


def _implementations(definitions: Definitions) -> Iterator[GraphEdge]:
    for text, own in definitions.found.items():
        for base_text in definitions.direct_bases(text):
            base = definitions.found.get(base_text)
            if base is None or base.key == own.key or key_kind(base.key) is not key_kind(own.key):
                continue
            confidence = Confidence.RESOLVED if own.is_sure and base.is_sure else Confidence.PROBABLE
            yield GraphEdge(
                own.key, _derivation(text, base_text, definitions), base.key, confidence, own.path, own.line
            )


def _derivation(text: str, base_text: str, definitions: Definitions) -> Relation:
    """Types inherit, or implement an interface; members override, or implement that of an interface."""
    own, base = definitions.found[text], definitions.found[base_text]
    if key_kind(base.key) is NodeType.TYPE:
        return Relation.IMPLEMENTS if base.is_interface and not own.is_interface else Relation.INHERITS
    owner = definitions.found.get(base_text[: base_text.rfind("#") + 1])
    return Relation.IMPLEMENTS if owner is not None and owner.is_interface else Relation.OVERRIDES
