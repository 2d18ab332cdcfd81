"""Tests and what they test: the class under test by `facts.test_cases`, its methods by the calls of each case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rag_assets.contracts.graph import Confidence, GraphEdge, NodeType, Relation, key_kind, symbol_key
from rag_assets.contracts.segment import Segment, SymbolText
from rag_assets.languages.csharp.declaration_ranges import LANGUAGE, type_key
from rag_assets.languages.csharp.facts.masked_body import masked_body_of
from rag_assets.languages.csharp.test_cases import (
    SubjectEvidence,
    TestedSubject,
    cases_of,
    tested_subject,
    touched_types,
)
from rag_assets.languages.label_declarations import LabelDeclarations
from rag_assets.languages.parsed_file import ParsedFile

_TESTABLE = ("class", "record", "struct")


def subjects_of_tests(file: ParsedFile, symbols: LabelDeclarations) -> Iterable[GraphEdge]:
    """`TYPE Tests TYPE`: resolved where an attribute names the subject, or the class or its namespace is named after a
    type and the class makes it; probable by the name alone, and for the only type that a class makes."""
    for segment in file.segments:
        if cases_of(segment):
            subject, confidence = _subject(file, segment, symbols)
            if subject:
                source = symbol_key(segment.language, segment.symbol, NodeType.TYPE)
                target = symbol_key(segment.language, subject, NodeType.TYPE)
                line = segment.span.line_start
                yield GraphEdge(source, Relation.TESTS, target, confidence, file.path, line)


def tested_members(file: ParsedFile, found: Sequence[GraphEdge]) -> Iterator[GraphEdge]:
    """`METHOD Tests METHOD`: the calls of each case to its subject, among all edges `found` in the file (those of
    `subjects_of_tests` too)."""
    subjects: dict[str, set[str]] = {}
    for edge in found:
        if edge.relation is Relation.TESTS:
            subjects.setdefault(_prefix(edge.source), set()).add(_prefix(edge.target))
    if not subjects:
        return
    cases = {
        f"{_prefix(type_key(segment.symbol))}{case.name}("
        for segment in file.segments
        if segment.language == LANGUAGE
        for case in cases_of(segment)
    }
    for edge in found:
        if edge.relation is not Relation.CALLS or key_kind(edge.source) is not NodeType.METHOD:
            continue
        name = edge.source.partition("(")[0] + "("
        if name in cases and _owner(edge.target) in subjects.get(_owner(edge.source), ()):
            yield GraphEdge(edge.source, Relation.TESTS, edge.target, edge.confidence, edge.path, edge.line)


def _prefix(key: str) -> str:
    """`csharp:Ns.Type|TYPE` → `csharp:Ns.Type.`, what the keys of its members begin with."""
    return key.rpartition("|")[0] + "."


def _owner(key: str) -> str:
    """`csharp:Ns.Type.Member(int)|METHOD` → `csharp:Ns.Type.`."""
    return key.partition("(")[0].rpartition(".")[0] + "."


def _subject(file: ParsedFile, segment: Segment, symbols: LabelDeclarations) -> tuple[str, Confidence]:
    """(symbol of the type under test, how sure), '' for none."""
    declared = symbols.declared_types
    body = masked_body_of(SymbolText(segment.span.slice(file.text), segment))
    found = tested_subject(body, declared, touched_types(body, declared))
    if not found.name:
        return "", Confidence.PROBABLE
    named = found.evidence is SubjectEvidence.ATTRIBUTE or (
        found.evidence is SubjectEvidence.CONSTRUCTED and any(found.name in name for name in _names(segment))
    )
    if found.symbol:
        return found.symbol, Confidence.RESOLVED if named else Confidence.PROBABLE
    return _nearest(found, segment, symbols), Confidence.PROBABLE


def _names(segment: Segment) -> tuple[str, str]:
    """What a test class may be named after its subject by: its own name, and that of its namespace."""
    return segment.name, segment.namespace.rpartition(".")[2]


def _nearest(found: TestedSubject, segment: Segment, symbols: LabelDeclarations) -> str:
    """Of several types of the name the nearest: projects of tests are named after what they test. '' where none of
    their namespaces has anything in common with that of the test."""
    from rag_assets.graph.extract.bases import nearest_type, words_in_common  # start-up budget: of few tests

    nearest = nearest_type(
        (
            entry
            for entry in symbols.declared_types.named(found.name, segment.language)
            if entry.declaration.startswith(_TESTABLE) and entry.symbol != segment.symbol
        ),
        segment.namespace,
    )
    return nearest.symbol if nearest is not None and words_in_common(nearest, segment.namespace) else ""
