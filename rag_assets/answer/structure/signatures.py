"""Declarations of the product by what their signatures say: the types that they take and give, the members of a name
or a type, what they extend and override, and how long they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.passages import CONFIGURATION, PROSE
from rag_assets.answer.plans.code_lines import MIGRATION, MOST_LISTED, facts_naming, points_naming, product_of
from rag_assets.answer.structure.declaration_questions import SignatureAsked, SignatureOf
from rag_assets.answer.structure.shapes import is_called_a
from rag_assets.contracts.evidence import owner_name
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.contracts.outline import SectionMember
from rag_assets.graph.csr_graph import OUT
from rag_assets.languages.detection import detect_language
from rag_assets.search.line_references import sections_of

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_CALLABLE = re.compile(r"\w\s*(?:<[^()]*>)?\(")
_VALUES = frozenset({"property", "field", "column", "attribute", "variable"})
_CONSTANT = re.compile(r"\b(?:const|final)\b|\bstatic readonly\b")
_OVERRIDES = re.compile(r"\boverride\b")
_MARKED = re.compile(r"\s*@Override\b")
_NO_TYPES = (PROSE | CONFIGURATION) - {"razor"}
_RECEIVER = re.compile(r"^func\s*\([^()]*\)")
"""What a method of Go is of, which it does not return."""


def signature_facts(index: LabelIndex, graph: Graph, wanted: SignatureAsked) -> Facts:
    """The declarations whose signatures say what is wanted, by path and line."""
    columns = GraphColumns(index, graph, None)
    found = list(_FOUND[wanted.of](index, columns, wanted))
    if wanted.of is not SignatureOf.LENGTH:
        found.sort(key=_place)
    facts = list({(fact.path, fact.line): fact for fact in found}.values())
    at = facts_at(facts[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(facts), f"**{wanted.heading} ({len(facts):,}):**"), at


def _methods(columns: GraphColumns, fits: Callable[[int, str, str], bool]) -> Iterator[GraphFact]:
    """The methods of the product that fit, by their node, their name and their signature."""
    graph = columns.graph
    for node in columns.nodes(NodeType.METHOD).tolist():
        if fits(node, graph.names[node], graph.signature(node)) and (place := columns.place(node)) is not None:
            yield GraphFact(columns.called(node), "", "", place.path, place.line_start, True)


def _taking(index: LabelIndex, columns: GraphColumns, wanted: SignatureAsked) -> Iterator[GraphFact]:
    named = _word(wanted.name)
    return _methods(columns, lambda _, name, text: named.search(split_signature(text, name)[1]) is not None)


_HANDLES = re.compile(r"(?:Handler|Consumer)(?:`\d+)?\.(?:handle|consume|execute|process)\w*$", re.IGNORECASE)
"""The methods of a handler that take what it handles."""


def _not_taking(index: LabelIndex, columns: GraphColumns, wanted: SignatureAsked) -> Iterator[GraphFact]:
    """The methods without a parameter, of the languages of those that have it; of asynchronous ones also those that
    only return a task."""
    languages = {detect_language(fact.path) for fact in _taking(index, columns, wanted)}
    named = _word(wanted.name)
    said = re.compile(
        r"\basync\b|\b(?:Value)?Task\b|\bIAsyncEnumerable\b" if wanted.noun == "async" else rf"\b{wanted.noun}\b"
    )

    def lacks(node: int, name: str, text: str) -> bool:
        before, parameters, _after = split_signature(text, name)
        if wanted.noun == "handler":
            return _HANDLES.search(columns.called(node)) is not None and named.search(parameters) is None
        return said.search(before) is not None and named.search(parameters) is None

    return (fact for fact in _methods(columns, lacks) if detect_language(fact.path) in languages)


def parameter_facts(index: LabelIndex, graph: Graph, name: str, method: str) -> Facts:
    """What comments say of a parameter, of those of one method if it is named, and the methods that have it."""
    columns, word = GraphColumns(index, graph, None), re.escape(name)
    taking = [
        fact
        for fact in _taking(index, columns, SignatureAsked(SignatureOf.TAKES, name))
        if not method or f".{fact.source}".endswith(f".{method}")
    ]
    if not taking:
        return GraphFacts(), {}
    documented = re.compile(
        rf"(?:///?|\*|#|--)[ \t]*(?:<param name=\"{word}\"(?!></param>)|@param\s+(?:\{{[^}}\n]*\}}\s*)?\$?{word}\b)",
        re.MULTILINE,
    )
    paths = {fact.path for fact in taking}
    payloads = sections_of(paths, index.parts.shard(), index.scope())
    said = facts_naming(documented, payloads, index, ("", "", True), each_line=True)
    told = [replace(fact, is_comment=True) for fact in said if not method or f".{fact.source}".endswith(f".{method}")]
    facts = [*sorted(told, key=_place), *sorted(taking, key=_place)]
    at = facts_at(facts[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(at), f"**The parameter {name} ({len(taking):,} methods):**"), at


def _place(fact: GraphFact) -> tuple[str, int]:
    return fact.path, fact.line


def _giving(index: LabelIndex, columns: GraphColumns, wanted: SignatureAsked) -> Iterator[GraphFact]:
    named = _word(wanted.name)

    def gives(_: int, name: str, text: str) -> bool:
        before, _parameters, after = split_signature(_RECEIVER.sub("", text), name)
        return named.search(f"{before} {after.partition('where ')[0]}") is not None

    return _methods(columns, gives)


def _extending(index: LabelIndex, columns: GraphColumns, wanted: SignatureAsked) -> Iterator[GraphFact]:
    name = re.escape(wanted.name)
    written = re.compile(
        rf"\(\s*(?:\[\w+\]\s*)?this\s+(?:in |ref )?{name}\b|\bfun\s+(?:<[^>]*>\s*)?{name}(?:<[^>]*>)?\??\.\w"
    )
    return _methods(columns, lambda _, __, text: written.search(text) is not None)


def _overriding(index: LabelIndex, columns: GraphColumns, wanted: SignatureAsked) -> Iterator[GraphFact]:
    owner, _, last = wanted.name.rpartition(".")
    graph = columns.graph

    def overrides(node: int, name: str, text: str) -> bool:
        if name != last:
            return False
        edges = graph.edges_of(node, OUT, Relation.OVERRIDES)
        if owner:
            return any(f".{owner}.{last}" in f".{edge.target.partition('(')[0].partition('|')[0]}" for edge in edges)
        return bool(edges) or _OVERRIDES.search(text) is not None or _is_marked(columns, node)

    return _methods(columns, overrides)


def _is_marked(columns: GraphColumns, node: int) -> bool:
    place = columns.place(node)
    return place is not None and any(map(_MARKED.match, columns.lines_at(place)))


def _holding(index: LabelIndex, columns: GraphColumns, wanted: SignatureAsked) -> Iterator[GraphFact]:
    """The members of a name, or of a type, that sections of the product have."""
    named = _word(wanted.name)
    for source, member, path in members_of(index):
        is_callable = _CALLABLE.search(member.signature.partition("=")[0].partition("{")[0]) is not None
        if (is_callable and wanted.noun in _VALUES) or (not is_callable and wanted.noun in ("method", "function")):
            continue
        last = member.name.rpartition(".")[2]
        before, _, after = split_signature(member.signature, last)
        typed = f"{before} {after.partition('=')[0].partition('`')[0]}"
        called = last.casefold() if wanted.name.islower() else last
        is_so = named.search(typed) if wanted.is_type else called == wanted.name
        if is_so and source.rpartition(".")[2] == last and "." in source:
            yield GraphFact(source, "", "", path, member.start_line, True)
    if wanted.is_type or wanted.noun in ("method", "function"):
        return
    for node in columns.nodes(NodeType.PROPERTY).tolist():  # as columns of Django, which are in no outline
        if columns.graph.names[node] == wanted.name and (place := columns.place(node)) is not None:
            yield GraphFact(columns.called(node), "", "", place.path, place.line_start, True)


def _of_type(index: LabelIndex, columns: GraphColumns, wanted: SignatureAsked) -> Iterator[GraphFact]:
    """The members of a type that are of the sort of a noun."""
    for source, member, path in members_of(index):
        owner, _, last = source.rpartition(".")
        head = member.signature.partition("=")[0].partition("{")[0]
        is_callable = _CALLABLE.search(head) is not None
        if owner.rpartition(".")[2] != wanted.name or is_callable is not (wanted.noun in ("method", "function")):
            continue
        if wanted.noun != "constant" or _CONSTANT.search(head) or last.isupper():
            yield GraphFact(source, "", "", path, member.start_line, True)


def members_of(index: LabelIndex) -> Iterator[tuple[str, SectionMember, str]]:
    """(its name with its type, the member, the path) of the members of sections of the product."""
    for payload in product_of(index.parts.shard().ids(index.scope()), index).values():
        if payload.get("CodeLanguage", "") in _NO_TYPES:
            continue
        path = payload.get("Path", "")
        symbol = owner_name(str(payload.get("Symbol", "")).partition("~")[0])
        for text in payload.get("Members", ()):
            member = SectionMember.decoded(text)
            yield ".".join(dict.fromkeys((symbol, *member.name.split(".")))), member, path


def _named(index: LabelIndex, columns: GraphColumns, wanted: SignatureAsked) -> Iterator[GraphFact]:
    kind = NodeType.METHOD if wanted.noun in ("method", "function") else NodeType.TYPE
    for node in columns.nodes(kind).tolist():
        fits = wanted.fits is not None and wanted.fits(columns.graph.names[node].casefold())
        if fits and is_called_a(wanted.noun, columns, node) and (place := columns.place(node)) is not None:
            yield GraphFact(columns.called(node), "", "", place.path, place.line_start, True)


def _long(index: LabelIndex, columns: GraphColumns, wanted: SignatureAsked) -> Iterator[GraphFact]:
    kind = NodeType.METHOD if wanted.noun in ("method", "function") else NodeType.TYPE
    counted = _counted(columns, wanted.counted)
    counts = {node: counted(node) for node in columns.nodes(kind).tolist()}
    for node, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        place = columns.place(node) if wanted.fits is not None and wanted.fits(count) else None
        if place is not None and not MIGRATION.search(place.path):  # tools make these
            said = f"{count:,} {wanted.counted}"
            yield GraphFact(columns.called(node), "has", said, place.path, place.line_start, True)


def _counted(columns: GraphColumns, counted: str) -> Callable[[int], int]:
    if counted == "lines":
        return columns.length
    kind = {"methods": NodeType.METHOD, "functions": NodeType.METHOD, "properties": NodeType.PROPERTY}.get(counted)
    return lambda node: sum(kind is None or columns.graph.kind(one) is kind for one in columns.contained(node))


def split_signature(signature: str, name: str) -> tuple[str, str, str]:
    """(what stands before its name, its parameters, what stands behind them) of a signature."""
    name = name.rpartition(".")[2]  # Go names a method with its type
    found = re.search(rf"\b{re.escape(name)}\b\s*(?:<[^()]*>)?\s*\(", signature)
    if found is None:
        before, named, after = signature.partition(f" {name}")
        return (before, "", after) if named else ("", "", signature)
    depth = 1
    for at in range(found.end(), len(signature)):
        depth += (signature[at] == "(") - (signature[at] == ")")
        if not depth:
            return signature[: found.start()], signature[found.end() : at], signature[at + 1 :]
    return signature[: found.start()], signature[found.end() :], ""


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)|\.{re.escape(name)}(?!\w)")


_FOUND: Mapping[SignatureOf, Callable[[LabelIndex, GraphColumns, SignatureAsked], Iterable[GraphFact]]] = {
    SignatureOf.TAKES: _taking,
    SignatureOf.LACKS: _not_taking,
    SignatureOf.RETURNS: _giving,
    SignatureOf.HOLDS: _holding,
    SignatureOf.EXTENDS: _extending,
    SignatureOf.OVERRIDES: _overriding,
    SignatureOf.MEMBERS: _of_type,
    SignatureOf.NAMED: _named,
    SignatureOf.LENGTH: _long,
}


def bases_closed(index: LabelIndex, name: str, argument: str) -> Facts:
    """The types of the product that derive from a base with a type argument, `IHandle<OrderPaid>`, by the lines of
    their heads that say so."""
    closed = rf"{re.escape(name)}<[^<>\n]{{0,200}}\b{re.escape(argument)}\b[^\n]{{0,200}}?>"
    written = re.compile(
        rf"(?:^[ \t]*|[:,]\s*|\b(?:extends|implements)\s+){closed}\s*(?:[,{{;(]|$|where\b|//)", re.MULTILINE
    )
    code = product_of(points_naming(argument, index).ids, index)
    naming = facts_naming(written, code, index, ("implements", name, True))  # other arguments may stand beside it
    found = {replace(fact, target=f"{name}<{argument}>"): point for fact, point in naming.items()}
    facts = sorted(found, key=_place)
    at = {fact: found[fact] for fact in facts[:MOST_LISTED]}
    return GraphFacts(tuple(at), len(facts)), at
