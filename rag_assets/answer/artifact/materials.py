"""What an artifact without a model quotes, by material: statements with their place, each from one piece of evidence.

Every statement is words of the source between a name and a place that the index knows, so `checking` can verify it.
Pure: the same evidence, the same statements in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag_assets.answer.artifact.marked_lines import marked_lines
from rag_assets.answer.artifact.templates import Material
from rag_assets.answer.citations import marker
from rag_assets.answer.extractive import about, fact_told, prose_told
from rag_assets.answer.graph_facts import GraphFact
from rag_assets.answer.outline import BRACES
from rag_assets.answer.passages import Passage, ranked
from rag_assets.answer.prompt_sanitize import neutral
from rag_assets.answer.terms import QueryTerm, covered, roots_of
from rag_assets.contracts.evidence import Evidence, lines_of
from rag_assets.search.ranking.penalties import non_product_code

_LEAST_SHARED = 0.34
"""Of the subject's words, by rarity, that what is quoted must have: one of two, or the rarer of three."""

_CUES_IN_TEXT = 2
"""One cue is a common word; two of them, or one in the heading, are what a paragraph is about."""

_README = "readme"
_LINK_TARGET = re.compile(r"\]\([^)]*\)|<[^>]*>")
_WORD = re.compile(r"[^\W\d_]{2,}")
_NO_SENTENCE = ("#", "|", "```", "~~~")
_SENTENCE_WORDS = 6
"""Of a line without a full stop: list items and cut paragraphs have them, titles and links seldom."""
_SHORT_SENTENCE_WORDS = 3
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
        return ranked(self.pieces, (*self.subject, *self.cues))

    def is_about(self, text: str) -> bool:
        """Whether a text is about the subject."""
        return not self.subject or covered(self.subject, roots_of(text)) >= _LEAST_SHARED

    def has_cue(self, heading: str, text: str) -> bool:
        cues = {word.root for word in self.cues}
        return bool(cues & roots_of(heading)) or len(cues & roots_of(text)) >= _CUES_IN_TEXT


@dataclass(frozen=True, slots=True)
class QuotedStatement:
    """A piece of Markdown with its citation. No artifact has two of one `place`, the lines that are quoted. `is_block`
    is a quote of its own; the others are items of a list."""

    text: str
    evidence: Evidence
    place: str
    is_block: bool = False


def statements(material: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    """What there is of a material, the best first."""
    return _MAKERS[material](material, ground)


def _prose(_: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    for passage in ground.passages:
        if _is_text(passage) and ground.has_cue(passage.heading, passage.text) and _fits(passage, ground):
            yield _quoted(passage, ground)


def _opening(_: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    """What introduces the subject; of everything, the beginning of the README nearest to the root.
    What a heading gives to another section is left to it."""
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
    cues = {word.root for word in ground.cues}
    for passage in _members_by_doc(ground):
        if cues & roots_of(_head(passage)) and ground.is_about(_head(passage)):
            yield _named(passage)


def _tests(_: Material, ground: StatementSources) -> Iterator[QuotedStatement]:
    for passage in ground.passages:
        known = passage.evidence
        is_test = known.kind == "Test" or non_product_code(known.path) is not None
        is_code = passage.name and passage.evidence.language in _DECLARING
        if is_test and is_code and not passage.is_type and ground.is_about(_whole(passage)):
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
        if non_product_code(known.path) is not None or not ground.is_about(
            f"{known.symbol} {known.path}\n{known.text}"
        ):
            continue
        for found in marked_lines(known, material):
            if "`" not in found.text:
                place = f"{known.path}:{found.line}"
                text = f"- {found.says} in {place}: `{neutral(found.text)}` {marker(known.id)}"
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
    Material.SETTINGS: _lines,
}


def _quoted(passage: Passage, ground: StatementSources) -> QuotedStatement:
    known = passage.evidence
    text = prose_told(passage, (*ground.subject, *ground.cues))
    return QuotedStatement(text, known, _place(passage), is_block=True)


def _named(passage: Passage) -> QuotedStatement:
    """What something is called, where it is, and what its author says of it; without that its declaration."""
    known = passage.evidence
    text = about(passage)
    if not passage.doc and "`" not in passage.signature and len(passage.signature) <= _SHOWN_SIGNATURE:
        head, mark, rest = text.rpartition(f" {marker(known.id)}")
        text = f"{head}: `{neutral(passage.signature)}`{mark}{rest}"
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
    """Whether a passage of a document has a sentence: a heading, a table or a list of links alone says nothing."""
    return passage.is_prose and any(map(_is_sentence, passage.text.split("\n")))


def _is_sentence(line: str) -> bool:
    bare = _LINK_TARGET.sub("", line.strip())
    words = len(_WORD.findall(bare))
    least = _SHORT_SENTENCE_WORDS if bare.endswith((".", "!", "?")) else _SENTENCE_WORDS
    return words >= least and not bare.startswith(_NO_SENTENCE)


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


def _from_the_top(passage: Passage) -> tuple[bool, int, str, int]:
    path = passage.evidence.path
    is_readme = path.rpartition("/")[2].casefold().startswith(_README)
    return not is_readme, path.count("/"), path, passage.line_start
