"""A SCIP index (scip-dotnet, scip-typescript, scip-python, scip-java …) as a graph in our keys.

SCIP says where each symbol is defined and where it is used. A definition gets its key by place, then by name, else a
new one. What uses a symbol is the innermost definition around the place: by the enclosing ranges of the index, or, of
tools that write none (scip-dotnet), by the declarations of the label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, file_key, key_kind
from rag_assets.graph.imports.artifact_files import Artifacts
from rag_assets.graph.imports.imported_graph import (
    Coverage,
    ImportBuilder,
    ImportedGraph,
    Problems,
    UnusableImport,
    new_node,
)
from rag_assets.graph.imports.key_parser import LabelSymbols, displayed_parameters, overload
from rag_assets.graph.imports.scip_symbols import (
    DEFINITION,
    DOCUMENT,
    FORWARD_DEFINITION,
    IMPORT,
    INTERFACE_KINDS,
    METADATA,
    Damage,
    ScipSymbol,
    documented_key,
    index_parts,
    parse_symbol,
)
from rag_assets.languages.detection import detect_language

Position = tuple[int, int]
"""(line, character), both from 0 as SCIP counts them."""

_FENCE = re.compile(r"\A```\w*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_INTERFACE = re.compile(r"\b(?:interface|trait|protocol)\b")
_ENUM = re.compile(r"\benum\b")
_SIGNED = frozenset({"csharp", "java"})
"""Languages whose keys have parameter types, which the displayed signature tells."""


@dataclass(frozen=True, slots=True)
class Definition:
    """`is_sure`: found by its place or by name and parameters, not picked among several."""

    key: str
    symbol: ScipSymbol
    path: str
    line: int
    is_sure: bool
    is_interface: bool


@dataclass(slots=True)
class Definitions:
    """Symbol string → definition, and which symbols each implements."""

    known: LabelSymbols
    found: dict[str, Definition] = field(default_factory=dict)
    implemented: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: dict[str, GraphNode] = field(default_factory=dict)
    malformed: int = 0

    def add_document(self, document: Any, path: str) -> None:
        """The definitions of one document at a repository path. A symbol of several places counts at the first."""
        language = detect_language(path)
        about = {info.symbol: info for info in document.symbols}
        for occurrence in document.occurrences:
            if not is_definition(occurrence.symbol_roles) or occurrence.symbol in self.found:
                continue
            place = span(occurrence.range)
            symbol = parse_symbol(occurrence.symbol)
            if symbol is None or place is None:
                self.malformed += bool(occurrence.symbol) and not occurrence.symbol.startswith("local ")
                continue
            info = about.get(occurrence.symbol)
            self._add(occurrence.symbol, symbol, path, language, place, span(occurrence.enclosing_range), info)
        for text, info in about.items():
            targets = tuple(each.symbol for each in info.relationships if each.is_implementation)
            if targets:
                self.implemented[text] = tuple(dict.fromkeys((*self.implemented.get(text, ()), *targets)))

    def direct_bases(self, symbol: str) -> Iterator[str]:
        """The symbols that it implements, without those that another of them implements: scip-dotnet lists all."""
        all_ = self.implemented.get(symbol, ())
        inherited = {base for each in all_ if each != symbol for base in self.implemented.get(each, ()) if base != each}
        yield from (each for each in all_ if each != symbol and each not in inherited)

    def _add(
        self,
        text: str,
        symbol: ScipSymbol,
        path: str,
        language: str,
        place: tuple[Position, Position],
        around: tuple[Position, Position] | None,
        info: Any | None,
    ) -> None:
        signature = _signature(info)
        parameters = displayed_parameters(signature) if language in _SIGNED else None
        line = place[0][0] + 1
        answer = self._key(symbol, path, language, line, parameters)
        if answer is None:
            return
        key, is_sure = answer
        first, last = (
            (around[0][0] + 1, max(around[1][0] + (around[1][1] > 0), around[0][0] + 1)) if around else (line, line)
        )
        node = GraphNode(key, key_kind(key), symbol.name(language), path, first, last, language, signature)
        self.nodes.setdefault(key, node)
        declared = " ".join(each.signature for each in self.known.places(key)) or signature
        is_interface = bool(info is not None and info.kind in INTERFACE_KINDS) or bool(_INTERFACE.search(declared))
        self.found[text] = Definition(key, symbol, path, line, is_sure, is_interface)

    def _key(
        self, symbol: ScipSymbol, path: str, language: str, line: int, parameters: tuple[str, ...] | None
    ) -> tuple[str, bool] | None:
        kind, name = symbol.node_kind, symbol.name(language)
        if kind is None:
            return None
        # scip-dotnet calls an event a type; other tools call a function that is a constant's value a term.
        for possible in (kind, NodeType.PROPERTY, NodeType.METHOD):
            placed = self.known.at(path, line, name, possible)
            if placed is not None:
                return placed, True
        value_of = self._enum_around(symbol, path, line)
        if value_of is not None:
            return value_of, True
        candidates = [each for each in self.known.symbols(kind, name) if each.parts.language == language]
        named = overload(candidates, parameters if kind is NodeType.METHOD else None, symbol.type_path())
        if named is not None:
            return named[0].node.key, named[1]
        here = sorted(
            {each.node.key: each.node for each in reversed(candidates) if each.node.path == path}.values(),
            key=lambda node: (node.line_start, node.key),
        )
        at = _overload_number(symbol.last.disambiguator)
        if kind is NodeType.METHOD and at is not None and at < len(here):
            return here[at].key, False
        made = documented_key(symbol, language, parameters)
        return None if made is None else (made, True)

    def _enum_around(self, symbol: ScipSymbol, path: str, line: int) -> str | None:
        """The enum whose value a term is: values are no nodes, using one uses the enum."""
        if symbol.node_kind is not NodeType.PROPERTY or symbol.owner is None:
            return None
        key = self.known.at(path, line, symbol.owner.last.name, NodeType.TYPE)
        is_enum = key is not None and any(_ENUM.search(place.signature) for place in self.known.places(key))
        return key if is_enum else None


def is_definition(roles: int) -> bool:
    return bool(roles & DEFINITION) and not roles & FORWARD_DEFINITION


def span(numbers: Sequence[int]) -> tuple[Position, Position] | None:
    """Start and end of a range of three or four numbers; None for one that is missing or impossible."""
    if len(numbers) == 3:
        start, end = (numbers[0], numbers[1]), (numbers[0], numbers[2])
    elif len(numbers) == 4:
        start, end = (numbers[0], numbers[1]), (numbers[2], numbers[3])
    else:
        return None
    return (start, end) if min(*start, *end) >= 0 and start <= end else None


def _signature(info: Any | None) -> str:
    """The displayed declaration on one line: the signature, or the code block that the documentation begins with."""
    if info is None:
        return ""
    text = info.signature_documentation.text if info.HasField("signature_documentation") else ""
    if not text and info.documentation:
        fenced = _FENCE.match(info.documentation[0])
        text = fenced.group(1) if fenced else ""
    return " ".join(text.split())


def _overload_number(disambiguator: str) -> int | None:
    """'' is the first overload, `+1` the second; None for other ways to tell them apart."""
    if not disambiguator:
        return 0
    digits = disambiguator.removeprefix("+")
    return int(digits) if digits.isdecimal() and len(digits) <= 4 else None


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
