"""An artifact without a model: every section consists of what the index as a whole says for it and of quotes that fit
it, or is left out (E17, E19). Pure.

Statements are words of the source between a name and a place that the index knows, so the check of citations can verify
them. What it would flag is left out. Lines that mark a defect, a task or a requirement by their form are quoted as they
are: a misread line does no harm beyond itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.templates import Material, Section, SectionTemplate, Template
from rag_assets.answer.citations import check, marker
from rag_assets.answer.extractive import about, prose_told
from rag_assets.answer.fact_lines import fact_told
from rag_assets.answer.graph_facts import GraphFact, fact_of
from rag_assets.answer.passage_ranking import ranked
from rag_assets.answer.passages import BRACES, PROSE, Passage
from rag_assets.answer.question_analysis import QueryTerm, covered, roots_of
from rag_assets.contracts.evidence import Evidence, lines_of
from rag_assets.contracts.protocol_markers import defused
from rag_assets.search.ranking.penalties import is_readme, non_product_code

if TYPE_CHECKING:
    from rag_assets.answer.artifact.findings import Surveyed
    from rag_assets.contracts.graph import GraphEdge
    from rag_assets.graph.neighbourhood import Neighbourhood


LONGEST_LINE = 160
"""Characters of a line that are quoted: what fits two lines of a terminal."""


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """`text` is the line of `evidence` at `line` (of the file), blanks around it dropped; `says` what it is."""

    evidence: Evidence
    line: int
    text: str
    says: str


_OF: Mapping[Material, tuple[tuple[str, re.Pattern[str]], ...]] = {
    Material.DEFECTS: (
        ("Obsolete", re.compile(r"^\s*\[(?:\w+\.)*Obsolete\b|@Deprecated\b|@deprecated\b|\bDeprecationWarning\b")),
        ("Not implemented", re.compile(r"\bNotImplemented(?:Exception|Error)\b|\bUnsupportedOperationException\b")),
        (
            "Catches everything",
            re.compile(
                r"\bcatch\s*(?:\(\s*(?:System\.)?(?:Exception|Throwable)\b[^)]*\)\s*)?(?:\{|$)|^\s*except\s*:"
                r"|^\s*except\s+(?:Base)?Exception\b"
            ),
        ),
    ),
    Material.TASKS: (
        ("To do", re.compile(r"\bTODO\b|^\s*[-*]\s+\[ \]\s")),
        ("Marked as wrong", re.compile(r"\b(?:FIXME|HACK|XXX|BUG|KLUDGE)\b(?=\s*[:(!-]|\s+\w)")),
    ),
    Material.FAILURES: (
        ("Throws", re.compile(r"\bthrow\s+new\s+\w+|^\s*raise\s+\w+|\bpanic\(")),
        ("Catches", re.compile(r"\bcatch\s*(?:\(|\{|$)|^\s*except\b")),
        ("Retries", re.compile(r"\b\w*(?:Retry|CircuitBreaker|Fallback)\w*\(|\bretry\(", re.ASCII)),
    ),
    Material.SETTINGS: (
        ("Package", re.compile(r"<Package(?:Reference|Version)\s+(?:Include|Update)=", re.IGNORECASE)),
        ("Framework", re.compile(r"<TargetFrameworks?>|\brequires-python\b|\"node\"\s*:|^go \d|\"sdk\"\s*:")),
        ("Image", re.compile(r"^\s*FROM\s+\S+|^\s*image:\s*\S+")),
        ("Connection", re.compile(r"\"ConnectionStrings?\"|\w+Connection\"\s*:|_URL=|\"Endpoint\"\s*:")),
    ),
}


_ONLY_IN: Mapping[str, Collection[str]] = {"Image": ("dockerfile", "yaml")}
"""The languages of lines that mean something else in others."""


def marked_lines(known: Evidence, material: Material) -> Iterator[MarkedLine]:
    """The lines of a piece that say something of this kind, in their order, each once."""
    for at, line in enumerate(known.text.split("\n")):
        text = " ".join(line.split())
        if len(text) < 3:
            continue
        for says, pattern in _OF[material]:
            if pattern.search(line) and known.language in _ONLY_IN.get(says, (known.language,)):
                yield MarkedLine(known, known.line_start + at, text[:LONGEST_LINE].rstrip(), says)
                break


_LEAST_SHARED = 0.34
"""Of the subject's words, by rarity, that what is quoted must have: one of two, or the rarer of three."""

_CUES_IN_TEXT = 2
"""One cue is a common word; two of them, or one in the heading, are what a paragraph is about."""

_NOT_ABOUT_IT = re.compile(
    r"licen[cs]e|copying|notice|conduct|change_?log|^changes\b|^history\b|release.?notes", re.IGNORECASE
)
"""Documents that say what one may do with the code, or what it once was."""
_FORMS = re.compile(r"(?:^|/)\.github/")
"""Where the forms of a host lie that contributors fill in."""
_CALLS_IN_TESTS = frozenset(
    {"expect", "it", "test", "describe", "func", "function", "assert", "beforeEach", "afterEach"}
)
_URL = re.compile(r"\b\w+://\S+")
_LINK_TARGET = re.compile(r"\]\([^)]*\)|<[^>]*>")
_WORD = re.compile(r"[^\W\d_]{2,}")
_NO_SENTENCE = ("#", "|", "```", "~~~", "<", ".. ", ":")
_SENTENCE_WORDS = 6
"""Of a line without a full stop: list items and cut paragraphs have them, titles and links seldom."""
_SHORT_SENTENCE_WORDS = 3
_MOST_OF_A_WORD = 20  # characters, on average
_SHOWN_SIGNATURE = 160
_DECLARING = BRACES | {"python"}


@dataclass(frozen=True)
class StatementSources:
    """What one section is quoted from: its own pieces first, then the others; the words of the subject (none: the
    artifact is about everything) and of the section, the roots of those of the other sections; facts of the graph with
    the piece that shows each."""

    pieces: tuple[Evidence, ...]
    subject: tuple[QueryTerm, ...]
    cues: tuple[QueryTerm, ...]
    other_cues: frozenset[str]
    facts: Mapping[Material, Sequence[tuple[GraphFact, Evidence]]]

    @cached_property
    def passages(self) -> list[Passage]:
        """All passages, those first that fit subject and cues best."""
        return list(ranked("", (*self.subject, *self.cues), self.pieces, None).passages)

    def is_about(self, text: str) -> bool:
        """Whether a text is about the subject."""
        return not self.subject or covered(self.subject, roots_of(text)) >= _LEAST_SHARED

    def has_cue(self, heading: str, text: str) -> bool:
        """Whether a paragraph belongs to the section. Of everything there is, some text has any two words: a heading
        must say it, where there is one."""
        cues = {word.root for word in self.cues}
        if cues & roots_of(heading):
            return True
        return bool(self.subject or not heading) and len(cues & roots_of(text)) >= _CUES_IN_TEXT


@dataclass(frozen=True, slots=True)
class QuotedStatement:
    """A piece of Markdown with its citation. No artifact has two of one `place`, the lines that are quoted. `is_block`
    is a quote of its own; the others are items of a list."""

    text: str
    evidence: Evidence
    place: str
    is_block: bool = False


def statements(material: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    """What there is of a material in the evidence, the best first; none of what only a survey of the index says."""
    return _MAKERS[material](material, ground) if material in _MAKERS else iter(())


def _prose(_: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    for passage in ground.passages:
        if _is_text(passage) and ground.has_cue(passage.heading, passage.text) and _fits(passage, ground):
            yield _quoted(passage, ground)


def _opening(_: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    """What introduces the subject; of everything, what the README nearest to the root says that it is, else its
    beginning. What a heading gives to another section is left to it."""
    if not ground.subject:
        from rag_assets.answer.plans.overview import introduction  # start-up budget: few artifacts are without a model

        readmes = [one for one in ground.pieces if one.language in PROSE and is_readme(one.path)]
        top = min(((one.path.count("/"), one.path) for one in readmes), default=())
        introducing = [*introduction([one for one in readmes if (one.path.count("/"), one.path) == top])]
        if introducing:
            whole = replace(ground, cues=())
            yield from (_quoted(passage, whole) for passage in introducing)
            return
    found = [
        passage
        for passage in ground.passages
        if _is_text(passage) and _fits(passage, ground) and ground.other_cues.isdisjoint(roots_of(passage.heading))
    ]
    if not ground.subject:
        found.sort(key=_from_the_top)
    for passage in found:
        yield _quoted(passage, ground)


def _summaries(_: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    for passage in _product(ground):
        if passage.is_type and passage.doc and ground.is_about(_head(passage)):
            yield _named(passage)


def _types(_: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    for passage in sorted(_product(ground), key=lambda passage: not passage.doc):
        if passage.is_type and ground.is_about(_head(passage)):
            yield _named(passage)


def _operations(_: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    for passage in _members_by_doc(ground):
        if ground.is_about(_head(passage)):
            yield _named(passage)


def _members(_: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    """Types and public members whose names, or whose authors, say a word of the section; not what is around them."""
    cues = {word.root for word in ground.cues}
    told = (passage for passage in _product(ground) if passage.is_type or _is_public_member(passage))
    for passage in sorted(told, key=lambda passage: not passage.doc):
        if cues & roots_of(f"{passage.name} {passage.doc}") and ground.is_about(_head(passage)):
            yield _named(passage)


def _tests(material: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    """Those that the graph knows first, one statement for each test."""
    told: set[str] = set()
    for fact, known in ground.facts.get(material, ()):
        if fact.source not in told and (text := fact_told(fact, known)):
            told.add(fact.source)
            yield QuotedStatement(text, known, f"{fact.path}:{fact.line}")
    for passage in ground.passages:
        known = passage.evidence
        is_test = known.kind == "Test" or non_product_code(known.path) is not None
        is_code = passage.name and "(" in passage.signature and passage.evidence.language in _DECLARING
        if (
            is_test
            and is_code
            and not passage.is_type
            and passage.name not in told | _CALLS_IN_TESTS
            and ground.is_about(_whole(passage))
        ):
            text = f"- `{passage.name}` in {_place(passage)} {marker(known.id)}"
            yield QuotedStatement(text, known, _place(passage))


def _facts(material: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    for fact, known in ground.facts.get(material, ()):
        text = fact_told(fact, known)
        if text:
            yield QuotedStatement(text, known, f"{fact.path}:{fact.line}")


def _lines(material: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    """Telling lines of the product, those about the subject only. A line with a backtick cannot be quoted in a line."""
    for known in ground.pieces:
        if non_product_code(known.path) is not None or _is_beside(known):
            continue
        if not ground.is_about(f"{known.symbol} {known.path}\n{known.text}"):
            continue
        for found in marked_lines(known, material):
            if "`" not in found.text:
                place = f"{known.path}:{found.line}"
                text = f"- {found.says} in {place}: `{defused(found.text)}` {marker(known.id)}"
                yield QuotedStatement(text, known, place)


_MAKERS: Mapping[Material, Callable[[Material, StatementSources], Iterator[QuotedStatement]]] = {
    Material.PROSE: _prose,
    Material.OPENING: _opening,
    Material.SUMMARIES: _summaries,
    Material.TYPES: _types,
    Material.OPERATIONS: _operations,
    Material.MEMBERS: _members,
    Material.STRUCTURE: _facts,
    Material.CALLS: _facts,
    Material.ROUTES: _facts,
    Material.DATA: _facts,
    Material.DEFECTS: _lines,
    Material.TASKS: _lines,
    Material.FAILURES: _lines,
    Material.TESTS: _tests,
    Material.PARTICIPANTS: _facts,
    Material.SETTINGS: _lines,
}


def _quoted(passage: Passage, ground: StatementSources) -> QuotedStatement:
    known = passage.evidence
    if passage.heading not in passage.text:  # it stands above the lines that are cited
        passage = replace(passage, heading="")
    text = prose_told(passage, (*ground.subject, *ground.cues))
    return QuotedStatement(text, known, _place(passage), is_block=True)


def _named(passage: Passage) -> QuotedStatement:
    """What something is called, where it is, and what its author says of it; without that its declaration."""
    known = passage.evidence
    text = about(passage)
    if not passage.doc and "`" not in passage.signature and len(passage.signature) <= _SHOWN_SIGNATURE:
        head, mark, rest = text.rpartition(f" {marker(known.id)}")
        text = f"{head}: `{defused(passage.signature)}`{mark}{rest}"
    return QuotedStatement(f"- {text}", known, _place(passage))


def _product(ground: StatementSources) -> Iterator[Passage]:
    """The declarations of code that is no test, sample or benchmark."""
    for passage in ground.passages:
        if passage.name and passage.evidence.language in _DECLARING and non_product_code(passage.evidence.path) is None:
            yield passage


def _members_by_doc(ground: StatementSources) -> list[Passage]:
    """Public members, those first of which their authors say something."""
    return sorted(filter(_is_public_member, _product(ground)), key=lambda passage: not passage.doc)


def _is_text(passage: Passage) -> bool:
    """Whether a passage of a document has a sentence: a heading, a table or a list of links alone says nothing, and a
    licence or a list of changes nothing of what the code is."""
    if not passage.is_prose or _is_beside(passage.evidence):
        return False
    return any(map(_is_sentence, passage.text.split("\n")))


def _is_beside(known: Evidence) -> bool:
    """Whether a piece is of a document that does not say what the code is."""
    name = known.path.rpartition("/")[2]
    return _FORMS.search(known.path) is not None or (known.language in PROSE and bool(_NOT_ABOUT_IT.search(name)))


def _is_sentence(line: str) -> bool:
    bare = _URL.sub("", _LINK_TARGET.sub("", line.strip()))
    words = len(_WORD.findall(bare))
    least = _SHORT_SENTENCE_WORDS if bare.endswith((".", "!", "?")) else _SENTENCE_WORDS
    is_code = len(bare) > _MOST_OF_A_WORD * (bare.count(" ") + 1)  # on one line, as in pages that tools write
    return words >= least and not is_code and not bare.startswith(_NO_SENTENCE)


def _is_public_member(passage: Passage) -> bool:
    """C# says what is public; elsewhere a leading underscore says what is not."""
    if passage.is_type or passage.evidence.name == passage.name:
        return False
    if passage.evidence.language in ("csharp", "java", "typescript"):
        return "public" in passage.signature.split()
    return not passage.name.startswith("_")


def _place(passage: Passage) -> str:
    return lines_of(passage.evidence.path, passage.line_start, passage.line_end)


def _fits(passage: Passage, ground: StatementSources) -> bool:
    return ground.is_about(_whole(passage))


def _head(passage: Passage) -> str:
    return f"{passage.evidence.symbol} {passage.name} {passage.doc} {passage.signature}"


def _whole(passage: Passage) -> str:
    return f"{passage.evidence.symbol} {passage.evidence.path} {passage.heading}\n{passage.text}"


def _from_the_top(passage: Passage) -> tuple[int, int, str, bool, int]:
    """The README nearest to the root, in the language of the others; what has whole sentences before badges."""
    path = passage.evidence.path
    rank = 0 if is_readme(path) else 1 if _stem(path).startswith("readme") else 2
    told = any(_is_sentence(line) and line.rstrip().endswith((".", "!", "?")) for line in passage.text.split("\n"))
    return rank, path.count("/"), path, not told, passage.line_start


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].casefold()


MOST_BLOCKS = 2
"""Quoted paragraphs of one section: a screen."""

MOST_ITEMS = 8
"""Items of one list, as `ask` shows facts: what one reads without scrolling."""

_RELATIONS: Mapping[Material, str] = {
    Material.STRUCTURE: "Injects Implements Inherits Constructs UsesType",
    Material.CALLS: "Calls Executes",
    Material.ROUTES: "Handles Exposes",
    Material.DATA: "ReadsFrom WritesTo MapsTo ForeignKey",
    Material.TESTS: "Tests",
    Material.PARTICIPANTS: "Handles Injects Implements",
}
"""By name, for whoever only quotes documents needs no graph; the most telling first."""

_MATERIALS_OF: dict[str, list[Material]] = {}
_PLACES: dict[str, int] = {}
for _material, _names in _RELATIONS.items():
    for _at, _name in enumerate(_names.split()):
        _MATERIALS_OF.setdefault(_name, []).append(_material)
        _PLACES.setdefault(_name, _at)

_MOST_OF_A_FILE = 3  # items in a list from one file: a large file is not the whole subject


_FROM_SOURCES = "**In the sources**"
"""The title of what is quoted by its words, below what the index says as a whole."""

_SURVEYED = frozenset({Material.ROUTES, Material.DATA})
"""What a survey of the index says completely; the evidence has some of the same in other words."""

_OF_EVIDENCE = frozenset({Material.SUMMARIES, Material.STRUCTURE, Material.OPERATIONS, Material.TYPES, Material.TESTS})
"""What is chosen by the words of a subject. Without one it would be any types and edges."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """`sections` in the order of the template, without those that nothing fills; `evidence` is what they cite, with
    what the graph says of it (`via`)."""

    sections: tuple[Section, ...]
    evidence: tuple[Evidence, ...]


def quoted(
    template: Template,
    evidence: Sequence[Evidence],
    found_for: Mapping[str, Sequence[str]],
    around: Neighbourhood | None,
    subject: tuple[QueryTerm, ...],
    cues: Mapping[str, tuple[QueryTerm, ...]],
    surveyed: Surveyed | None = None,
) -> Quoted:
    """The artifact of a template. `found_for` and `cues` are by heading: the ids of the evidence that was searched for
    a section, and the words it was searched with. Without words of a `subject` it is about everything. `surveyed` is
    what the index as a whole says; the `evidence` has its pieces."""
    facts, known = _facts_by_material(around, evidence)
    told: set[str] = set()
    made = []
    for heading, section in template.without_model.items():
        own = set(found_for.get(heading, ()))
        pieces = sorted(known, key=lambda piece: own.isdisjoint(piece.ids))  # stable: by score within both
        own_cues = cues.get(heading, ())
        others = {word.root for other, words in cues.items() if other != heading for word in words}
        unlike = frozenset(others - {word.root for word in (*own_cues, *subject)})
        ground = StatementSources(tuple(pieces), subject, own_cues, unlike, facts)
        body = _body(section, ground, told, surveyed)
        made += [Section(heading, body)] if body else []
    return Quoted(tuple(made), known)


def _body(section: SectionTemplate, ground: StatementSources, told: set[str], surveyed: Surveyed | None) -> str:
    blocks: list[str] = []
    items: list[str] = []
    by_file: dict[str, int] = {}
    groups: dict[str, list[str]] = {}
    pictures: list[str] = []
    for material in section.materials:
        said = [] if surveyed is None else surveyed.statements.get(material, ())
        for one in said:
            if check(one.text, one.evidence).is_supported:
                groups.setdefault(one.group, []).append(one.text)
                told |= {one.place} if material is Material.TESTS else set()
        if said and surveyed is not None and material is Material.FOLDERS:
            pictures += surveyed.pictures
        if (said and material in _SURVEYED) or (groups and not ground.subject and material in _OF_EVIDENCE):
            continue
        if groups and material is Material.SUMMARIES:  # the types of the subject are told already
            continue
        for statement in statements(material, ground):
            if len(blocks) >= MOST_BLOCKS if statement.is_block else len(items) >= MOST_ITEMS:
                break
            path = statement.evidence.path
            if statement.place in told or (not statement.is_block and by_file.get(path, 0) >= _MOST_OF_A_FILE):
                continue
            if not check(statement.text, (statement.evidence,)).is_supported:
                continue
            told.add(statement.place)
            by_file[path] = by_file.get(path, 0) + 1
            (blocks if statement.is_block else items).append(statement.text)
    if items:
        groups[_FROM_SOURCES if groups else ""] = items
    lists = ["\n\n".join(filter(None, [group, "\n".join(listed)])) for group, listed in groups.items()]
    return "\n\n".join([*blocks, *pictures, *lists])


def within(sections: Sequence[Section], room: int, count: Callable[[Sequence[str]], list[int]]) -> tuple[Section, ...]:
    """The sections as far as they fit into so many tokens: the longest loses its last lines first."""
    sizes = count([section.body for section in sections])
    kept = list(sections)
    while kept and sum(sizes) > room:
        at = max(range(len(kept)), key=lambda number: (sizes[number], number))
        lines = kept[at].body.split("\n")[:-1]
        while lines and (not lines[-1].strip() or lines[-1].startswith("**")):  # a title without its list
            lines.pop()
        if lines and lines[-1] == "```":
            del lines[lines.index("```mermaid") if "```mermaid" in lines else -1 :]
        kept[at] = replace(kept[at], body="\n".join(lines))
        sizes[at] = count([kept[at].body])[0]
        if not lines:
            del kept[at], sizes[at]
    return tuple(kept)


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
        materials = _MATERIALS_OF.get(edge.relation.value, ())
        if not materials or at is None:
            continue
        fact = fact_of(edge, shown_names)
        fact = replace(fact, source=_file_of(edge.source) or fact.source, target=_file_of(edge.target) or fact.target)
        if not fact.source or not fact.target or fact.source == fact.target:
            continue
        for material in materials:
            found.setdefault(material, []).append((fact, at))
        shown.setdefault(at, []).append(f"{fact.source} {fact.verb} {fact.target}")
    known = tuple(
        replace(piece, via="; ".join(filter(None, [piece.via, *dict.fromkeys(shown[at])]))) if at in shown else piece
        for at, piece in enumerate(evidence)
    )
    facts = {material: [(fact, known[at]) for fact, at in pairs] for material, pairs in found.items()}
    return facts, known


def _file_of(key: str) -> str:
    """The path of a file node, '' for others."""
    symbol, _, kind = key.rpartition("|")
    return symbol.removeprefix("file:") if kind == "FILE" else ""


def _rank(edge: GraphEdge, order: Mapping[str, int]) -> tuple[bool, int, int, int, GraphEdge]:
    """The product before its tests, the most telling relations and the most relevant ends first; the calls of one
    caller in the order in which it makes them."""
    ends = order.get(edge.source, len(order)), order.get(edge.target, len(order))
    nearest = (
        (ends[0], edge.line) if Material.CALLS in _MATERIALS_OF.get(edge.relation.value, ()) else (max(ends), min(ends))
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
