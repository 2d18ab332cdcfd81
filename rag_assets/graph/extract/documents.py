"""Sections of documents with the symbols that they name; texts of resource files with the code that uses them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rag_assets.contracts.graph import (
    Confidence,
    GraphEdge,
    GraphNode,
    NodeType,
    Relation,
    endpoint_key,
    file_key,
    node_and_edge,
    section_key,
    symbol_key,
)
from rag_assets.contracts.identity import DEFAULT_SECTION
from rag_assets.contracts.segment import LineIndex, Member, MemberKind, Segment
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE as CSHARP
from rag_assets.languages.csharp.declaration_ranges import type_key
from rag_assets.languages.csharp.web.route_templates import absolute, shape
from rag_assets.sections.documents import section_keys

if TYPE_CHECKING:
    from rag_assets.languages.label_declarations import LabelDeclarations
    from rag_assets.languages.parsed_file import ParsedFile


MAX_CANDIDATES = 3
"""Declarations that a name may mean and still be told; with more of them a mention says nothing."""

_DOCUMENT = "document"
_PREAMBLE = "preamble"
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\r\n]{2,120})\1(?!`)")
_CAMEL = re.compile(r"(?<![\w/\\@#.`-])(?:I[A-Z][a-z]\w*|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*)(?:\.[A-Z]\w*)?(?![\w/\\@-])")
_PLAIN = re.compile(r"[A-Z][a-z0-9]*")
"""One word: between backticks it is a name, but often one of something else than code."""
_DOTTED = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*")
_ROUTE = re.compile(r"\b(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)\s+(~?/[\w./{}:*?=\[\]-]*)")
_ARGUMENTS = re.compile(r"\s*(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>)?\s*(\(.*)?\Z")
_DATABASE = frozenset({NodeType.TABLE, NodeType.VIEW, NodeType.PROC, NodeType.FUNC})


def documents(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphNode | GraphEdge]:
    """A SECTION node per heading with `FILE Contains` it, and `SECTION Mentions` each symbol that it names.

    A name counts between backticks or in mixed case, and when the label declares it: once (resolved between backticks,
    probable in running text or as a single word), or at most three times (name-only). Plain words of the text never do.
    """
    for segment in file.segments:
        if segment.kind == _DOCUMENT:
            yield from _document(file, segment, symbols)


def sections_of(segment: Segment, path: str) -> list[tuple[Member, str]]:
    """The sections of a document with their nodes, in text order."""
    headed = [member for member in segment.members if member.kind is MemberKind.SECTION]
    headings = ["" if member.type == _PREAMBLE else member.signature for member in headed]
    keys = section_keys(headings, DEFAULT_SECTION)
    return [(member, section_key(path, key)) for member, key in zip(headed, keys, strict=True)]


def _document(file: ParsedFile, segment: Segment, symbols: LabelDeclarations) -> Iterator[GraphNode | GraphEdge]:
    headed = sections_of(segment, file.path)
    if not headed:
        yield from _mentions(file, file_key(file.path), 0, len(file.text), LineIndex(file.text), symbols)
        return
    lines = LineIndex(file.text)
    for member, node in headed:
        yield from node_and_edge(node, member, file.path, file.language, holder=file_key(file.path))
        yield from _mentions(file, node, member.span.char_start, member.span.char_end, lines, symbols)


def _mentions(
    file: ParsedFile, source: str, start: int, stop: int, lines: LineIndex, symbols: LabelDeclarations
) -> Iterator[GraphEdge]:
    """One edge per symbol, at its first mention."""
    seen: set[str] = set()
    for at, targets, confidence in _named(file.text, start, stop, symbols):
        for target in targets:
            if target not in seen:
                seen.add(target)
                yield GraphEdge(source, Relation.MENTIONS, target, confidence, file.path, lines.line_of(at))


def _named(
    text: str, start: int, stop: int, symbols: LabelDeclarations
) -> Iterator[tuple[int, tuple[str, ...], Confidence]]:
    """(offset, nodes, confidence) of every name that the label declares; what stands in backticks first."""
    known: dict[str, tuple[str, ...]] = {}
    for found in _ROUTE.finditer(text, start, stop):
        route = shape(absolute(found[2].rstrip(".-:")))
        yield found.start(), (endpoint_key(found[1], route),), Confidence.PROBABLE
    for found in _CODE.finditer(text, start, stop):
        name = found[2].strip()
        if name not in known:
            known[name] = _declared(name, symbols)
        if known[name]:
            alone = Confidence.PROBABLE if _PLAIN.fullmatch(name) else Confidence.RESOLVED
            yield found.start(), known[name], _certainty(known[name], alone)
    plain: dict[str, tuple[str, ...]] = {}
    for found in _CAMEL.finditer(text, start, stop):
        name = found[0]
        if name not in plain:
            plain[name] = _types(name, symbols) or _type_members(name, symbols)
        if plain[name]:
            yield found.start(), plain[name], _certainty(plain[name], Confidence.PROBABLE)


def _certainty(targets: tuple[str, ...], alone: Confidence) -> Confidence:
    return alone if len(targets) == 1 else Confidence.NAME_ONLY


def _declared(written: str, symbols: LabelDeclarations) -> tuple[str, ...]:
    """The nodes that a text between backticks names: `Order`, `Order.Ship()`, `IRepo<Order>`, `dbo.Orders`."""
    match = _DOTTED.match(written)
    if match is None or not _ARGUMENTS.match(written, match.end()):
        return ()
    name, called = match[0], "(" in written[match.end() :]
    if called:
        return _type_members(name, symbols) or _only_method(name, symbols)
    if not name.rpartition(".")[2][:1].isupper() and "." not in name:
        return ()  # a plain word, a variable, a command
    return _types(name, symbols) or _type_members(name, symbols) or _database(name, symbols)


def _types(name: str, symbols: LabelDeclarations) -> tuple[str, ...]:
    """The types of a simple or qualified name, () for more than can be told."""
    found = symbols.declared_types.named(name.rpartition(".")[2])
    meant = (entry.symbol for entry in found if f".{entry.symbol}".endswith(_end(name, entry.symbol)))
    keys = dict.fromkeys(_type_key(symbol, symbols) for symbol in meant)
    return tuple(keys) if len(keys) <= MAX_CANDIDATES else ()


def _type_key(symbol: str, symbols: LabelDeclarations) -> str:
    declared = symbols.csharp.declared(symbol)
    return declared.key if declared is not None else type_key(symbol)


def _end(name: str, symbol: str) -> str:
    """`.Order`, with the arity that the symbol has."""
    _, tick, arity = symbol.rpartition("`")
    return f".{name}{tick}{arity}" if tick and arity.isdigit() else f".{name}"


def _type_members(name: str, symbols: LabelDeclarations) -> tuple[str, ...]:
    """`Order.Ship`: the members of the only type of that name."""
    owner, _, member = name.rpartition(".")
    if not owner:
        return ()
    types = {entry.symbol for entry in symbols.declared_types.named(owner.rpartition(".")[2])}
    if len(types) != 1:
        return ()
    declared = symbols.csharp.declared(min(types))
    if declared is None:
        return ()
    keys = dict.fromkeys(found.key for found in symbols.csharp.members(declared.id, member) if found.key)
    return tuple(keys) if len(keys) <= MAX_CANDIDATES else ()


def _only_method(name: str, symbols: LabelDeclarations) -> tuple[str, ...]:
    """`ShipAsync()`: the method of the label with that name, where only one type has any."""
    if "." in name or not name[:1].isupper():
        return ()
    found = symbols.csharp.only_member(name)
    return (found.key,) if found is not None and found.key else ()


def _database(name: str, symbols: LabelDeclarations) -> tuple[str, ...]:
    schema, _, simple = name.rpartition(".")
    keys = dict.fromkeys(found.key for found in symbols.sql.named(simple, schema) if found.kind in _DATABASE)
    return tuple(keys) if len(keys) <= MAX_CANDIDATES else ()


_LANGUAGE = "resx"
_MARKUP = "razor"
_MAX_NAME_CHARS = 200
"""The signature of a node holds so much of a text; some texts are whole letters."""

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
