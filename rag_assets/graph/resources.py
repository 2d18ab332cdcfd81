"""Texts of resource files as nodes, and the code that uses them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, file_key, symbol_key
from rag_assets.contracts.segment import MemberKind
from rag_assets.descriptions.questions import question
from rag_assets.descriptions.resource_dictionary import StaticResourceDictionary, family_of, resource_class_of
from rag_assets.descriptions.resource_usages import UsageScanner
from rag_assets.graph.code_places import LANGUAGE as CSHARP

if TYPE_CHECKING:
    from rag_assets.graph.extraction import GraphFile
    from rag_assets.graph.symbols import Symbols

_LANGUAGE = "resx"
_MARKUP = "razor"
_EXTENSION = ".resx"
_MAX_NAME_CHARS = 200
"""Of a value in the signature of a node; texts may be whole letters."""

_NO_IDENTIFIER = re.compile(r"\W")
_LOOKUP = re.compile(r"ocali[sz]er|GetString|GetLocalizedString|GetText|\b_?[LT]\s*\[")
"""What stands in a line that looks a text up by a string."""


class ResourceSymbols:
    """Answers which texts of the label's resource files some lines of code use. Picklable."""

    def __init__(self, resources: StaticResourceDictionary) -> None:
        self._resources = resources
        self._scanner: UsageScanner | None = None

    def __getstate__(self) -> StaticResourceDictionary:
        return self._resources

    def __setstate__(self, state: StaticResourceDictionary) -> None:
        self._resources = state
        self._scanner = None

    @question("resources.classes")
    def classes(self) -> tuple[str, ...]:
        """The simple names of all resource classes, sorted."""
        return tuple(sorted(self._resources.families))

    @question("resources.used")
    def used(self, path: str, lines: tuple[str, ...]) -> tuple[tuple[int, str, str], ...]:
        """(index of the line, path of the resource file, key) of every text that `lines` of a file use, sorted."""
        if self._scanner is None:
            self._scanner = UsageScanner(self._resources)
        found = self._scanner.scan(path, "\n".join(lines))
        return tuple(sorted((usage.line - 1, self._file_of(usage.family), usage.key) for usage in found))

    @question("resources.neutral")
    def neutral(self, path: str) -> str:
        """The path of the neutral file beside a localized one, '' for none and for the neutral file itself."""
        family = family_of(path)
        is_localized = bool(resource_class_of(path)[1]) and "" in self._resources.cultures_of(family)
        return f"{family}{_EXTENSION}" if is_localized else ""

    @question("resources.neutral_keys")
    def neutral_keys(self, path: str) -> frozenset[str]:
        """The keys of the neutral file of a family."""
        return self._resources.keys_of(family_of(path), "")

    def _file_of(self, family: str) -> str:
        """The neutral file of a family, else that of its first culture."""
        culture = next(iter(self._resources.cultures_of(family)), "")
        return f"{family}.{culture}{_EXTENSION}" if culture else f"{family}{_EXTENSION}"


def resource_key(path: str, key: str) -> str:
    """`resx:Resources/Orders.resx.Title|PROPERTY`: the node that the point of a text carries."""
    return symbol_key(_LANGUAGE, f"{path}.{key}", NodeType.PROPERTY)


def resources(file: GraphFile, symbols: Symbols) -> Iterable[GraphNode | GraphEdge]:
    """A PROPERTY node per text with `FILE Contains` it; `METHOD References` each text that code uses; a localized text
    References the neutral one."""
    if file.language == _LANGUAGE:
        yield from _texts(file, symbols)
    elif file.language in (CSHARP, _MARKUP):
        yield from _usages(file, symbols)


def _texts(file: GraphFile, symbols: Symbols) -> Iterator[GraphNode | GraphEdge]:
    neutral = symbols.resource_texts.neutral(file.path)
    for segment in file.segments:
        for member in segment.members:
            if member.kind is not MemberKind.PROPERTY or not member.name:
                continue
            key, line = resource_key(file.path, member.name), member.span.line_start
            signature = member.signature[:_MAX_NAME_CHARS]
            yield GraphNode(
                key, NodeType.PROPERTY, member.name, file.path, line, member.span.line_end, _LANGUAGE, signature
            )
            yield GraphEdge(file_key(file.path), Relation.CONTAINS, key, Confidence.RESOLVED, file.path, line)
            if neutral and member.name in symbols.resource_texts.neutral_keys(file.path):
                target = resource_key(neutral, member.name)
                yield GraphEdge(key, Relation.REFERENCES, target, Confidence.RESOLVED, file.path, line)


def _usages(file: GraphFile, symbols: Symbols) -> Iterator[GraphEdge]:
    classes = symbols.resource_texts.classes()
    text = file.text
    if not classes or not (_LOOKUP.search(text) or any(name in text for name in classes)):
        return
    kept: list[tuple[int, int, str]] = []  # (line, offset, text)
    offset = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if _LOOKUP.search(line) or any(name in line for name in classes):
            kept.append((number, offset, line.rstrip("\r")))
        offset += len(line) + 1
    if not kept:
        return
    places = file.places if file.language == CSHARP else None
    for index, path, key in symbols.resource_texts.used(file.path, tuple(line for _, _, line in kept)):
        number, start, line = kept[index]
        at = start + max(line.find(key), line.find(_NO_IDENTIFIER.sub("_", key)), 0)
        source = places.key_at(at) if places is not None else file_key(file.path)
        yield GraphEdge(source, Relation.REFERENCES, resource_key(path, key), Confidence.RESOLVED, file.path, number)
