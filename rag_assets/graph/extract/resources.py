"""Texts of resource files as nodes, and the code that uses them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import Confidence, GraphEdge, GraphNode, NodeType, Relation, file_key, symbol_key
from rag_assets.contracts.segment import MemberKind
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE as CSHARP

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile

_LANGUAGE = "resx"
_MARKUP = "razor"
_EXTENSION = ".resx"
_MAX_NAME_CHARS = 200
"""Of a value in the signature of a node; texts may be whole letters."""

_NO_IDENTIFIER = re.compile(r"\W")
_LOOKUP = re.compile(r"ocali[sz]er|GetString|GetLocalizedString|GetText|\b_?[LT]\s*\[")
"""What stands in a line that looks a text up by a string."""


def resource_key(path: str, key: str) -> str:
    """`resx:Resources/Orders.resx.Title|PROPERTY`: the node that the point of a text carries."""
    return symbol_key(_LANGUAGE, f"{path}.{key}", NodeType.PROPERTY)


def resources(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """A PROPERTY node per text with `FILE Contains` it; `METHOD References` each text that code uses; a localized text
    References the neutral one."""
    if file.language == _LANGUAGE:
        yield from _texts(file, symbols)
    elif file.language in (CSHARP, _MARKUP):
        yield from _usages(file, symbols)


def _texts(file: ParsedFile, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
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


def _usages(file: ParsedFile, symbols: LabelDeclarations) -> Iterator[GraphEdge]:
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
