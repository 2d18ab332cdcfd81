"""An artifact without a model: every section put together from quotes that fit it, or the honest sentence (E17, E19).

Nothing is in it that the check of citations does not support: what it would flag is left out. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.materials import QuotedStatement, StatementSources, statements
from rag_assets.answer.artifact.structure import Section
from rag_assets.answer.artifact.templates import NOTHING_FOUND, Material, SectionTemplate, Template
from rag_assets.answer.citation_check import check
from rag_assets.answer.graph_facts import GraphFact, fact_of
from rag_assets.answer.terms import QueryTerm
from rag_assets.contracts.evidence import Evidence
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.contracts.graph import GraphEdge
    from rag_assets.graph.neighbourhood import Neighbourhood

MOST_BLOCKS = 2
"""Quoted paragraphs of one section: a screen."""

MOST_ITEMS = 8
"""Items of one list, as `ask` shows facts: what one reads without scrolling."""

_RELATIONS: Mapping[Material, str] = {
    Material.STRUCTURE: "Injects Implements Inherits Constructs UsesType",
    Material.CALLS: "Calls Executes",
    Material.ROUTES: "Handles Exposes",
    Material.DATA: "ReadsFrom WritesTo MapsTo ForeignKey",
}
"""By name, for whoever only quotes documents needs no graph; the most telling first."""

_MATERIAL_OF = {name: material for material, names in _RELATIONS.items() for name in names.split()}
_PLACES = {name: at for names in _RELATIONS.values() for at, name in enumerate(names.split())}

_MOST_OF_A_FILE = 3  # items in a list from one file: a large file is not the whole subject


@dataclass(frozen=True, slots=True)
class Quoted:
    """`sections` in the order of the template; `evidence` is what they cite, with what the graph says of it (`via`)."""

    sections: tuple[Section, ...]
    evidence: tuple[Evidence, ...]

    @property
    def is_empty(self) -> bool:
        return all(section.says_nothing for section in self.sections)


def quoted(
    template: Template,
    evidence: Sequence[Evidence],
    found_for: Mapping[str, Sequence[str]],
    around: Neighbourhood | None,
    subject: tuple[QueryTerm, ...],
    cues: Mapping[str, tuple[QueryTerm, ...]],
) -> Quoted:
    """The artifact of a template. `found_for` and `cues` are by heading: the ids of the evidence that was searched for
    a section, and the words it was searched with. Without words of a `subject` it is about everything."""
    facts, known = _facts_by_material(around, evidence)
    told: set[str] = set()
    made = []
    for heading, section in zip(template.headings, template.sections, strict=True):
        own = set(found_for.get(heading, ()))
        pieces = sorted(known, key=lambda piece: own.isdisjoint(piece.ids))  # stable: by score within both
        own_cues = cues.get(heading, ())
        others = {word.root for other, words in cues.items() if other != heading for word in words}
        unlike = frozenset(others - {word.root for word in (*own_cues, *subject)})
        ground = StatementSources(tuple(pieces), subject, own_cues, unlike, facts)
        body = _body(section, ground, told)
        made.append(Section(heading, body or NOTHING_FOUND))
    return Quoted(tuple(made), known)


def _body(section: SectionTemplate, ground: StatementSources, told: set[str]) -> str:
    blocks: list[str] = []
    items: list[str] = []
    by_file: dict[str, int] = {}
    for material in section.materials:
        for statement in statements(material, ground):
            if len(blocks) >= MOST_BLOCKS if statement.is_block else len(items) >= MOST_ITEMS:
                break
            path = statement.evidence.path
            if statement.place in told or (not statement.is_block and by_file.get(path, 0) >= _MOST_OF_A_FILE):
                continue
            if not _is_supported(statement):
                continue
            told.add(statement.place)
            by_file[path] = by_file.get(path, 0) + 1
            (blocks if statement.is_block else items).append(statement.text)
    return "\n\n".join([*blocks, *(["\n".join(items)] if items else [])])


def _is_supported(statement: QuotedStatement) -> bool:
    return check(statement.text, (statement.evidence,)).is_supported


def _facts_by_material(
    around: Neighbourhood | None, evidence: Sequence[Evidence]
) -> tuple[dict[Material, list[tuple[GraphFact, Evidence]]], tuple[Evidence, ...]]:
    """(the edges whose line is in the evidence, by material; the evidence with what they say of it)."""
    if around is None:
        return {}, tuple(evidence)
    order = {node.key: at for at, node in enumerate(around.nodes)}
    shown_names = {node.key: node.name for node in around.nodes}
    found: dict[Material, list[tuple[GraphFact, int]]] = {}
    shown: dict[int, list[str]] = {}
    for edge in sorted(around.edges, key=lambda edge: _rank(edge, order)):
        at = _piece_with(edge, evidence)
        material = _MATERIAL_OF.get(edge.relation.value)
        if material is None or at is None:
            continue
        fact = fact_of(edge, shown_names)
        if not fact.source or not fact.target or fact.source == fact.target:
            continue
        found.setdefault(material, []).append((fact, at))
        shown.setdefault(at, []).append(f"{fact.source} {fact.verb} {fact.target}")
    known = tuple(
        replace(piece, via="; ".join(filter(None, [piece.via, *dict.fromkeys(shown[at])]))) if at in shown else piece
        for at, piece in enumerate(evidence)
    )
    facts = {material: [(fact, known[at]) for fact, at in pairs] for material, pairs in found.items()}
    return facts, known


def _rank(edge: GraphEdge, order: Mapping[str, int]) -> tuple[bool, int, int, int, GraphEdge]:
    """The product before its tests, the most telling relations and the most relevant ends first; the calls of one
    caller in the order in which it makes them."""
    ends = order.get(edge.source, len(order)), order.get(edge.target, len(order))
    nearest = (
        (ends[0], edge.line) if _MATERIAL_OF.get(edge.relation.value) is Material.CALLS else (max(ends), min(ends))
    )
    return non_product_code(edge.path) is not None, _PLACES.get(edge.relation.value, 0), *nearest, edge


def _piece_with(edge: GraphEdge, evidence: Sequence[Evidence]) -> int | None:
    """The smallest piece that has the line of an edge."""
    around = [
        (piece.line_end - piece.line_start, at)
        for at, piece in enumerate(evidence)
        if edge.path and piece.path == edge.path and piece.line_start <= edge.line <= piece.line_end
    ]
    return min(around)[1] if around else None
