"""What a SCIP index defines: each symbol with its key in our form, found by place, then by name, else made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rag_assets.contracts.graph import GraphNode, NodeType, key_kind
from rag_assets.graph.imports.key_parser import displayed_parameters
from rag_assets.graph.imports.label_symbols import LabelSymbols, overload
from rag_assets.graph.imports.scip_messages import DEFINITION, FORWARD_DEFINITION, INTERFACE_KINDS
from rag_assets.graph.imports.scip_symbols import ScipSymbol, documented_key, parse_symbol
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
