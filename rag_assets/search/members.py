"""Which members of a section answer a question, and on which lines: chosen after ranking, by words.

A section is what is ranked; on C# it spans 100 lines at the median. A reader wants the method, so each hit gets the
members that its section covers, the best first. A member scores by how much of the question its name, its signature
and its text say; rare words count more (`SCORED`). Names and signatures are in the payload of the point
(`SectionMember`), the text is the document as it was indexed, so lines never are those of another version.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rag_assets.contracts.identity import plain_symbol
from rag_assets.contracts.outline import SectionMember
from rag_assets.contracts.segment import LineIndex
from rag_assets.index.keyword.terms import FUNCTION_WORDS, runs, word_terms
from rag_assets.index.keyword.vocabulary import KeywordIndexError, question_terms
from rag_assets.search import CodePlace, Hit, MemberHit, Question

if TYPE_CHECKING:
    from rag_assets.search.retrieve import SearchResources

MOST_READ = 20
"""Hits whose documents are read; those after them have their members by names and signatures."""

MOST_LISTED = 8
"""Members of a hit."""

LONGEST_LINES = 30
"""Of `Hit.best_lines`: a screen, and what a citation may name. Of a longer member the lines that say the most."""

_NAME, _SIGNATURE, _TEXT = 3.0, 2.0, 1.0
_WHOLE = _NAME + _SIGNATURE + _TEXT
_EXACT = 1.0
"""Added where the question says the name as it is written, or a trace names the line: no sum of words gets there."""
_FORM = 0.7
"""Of a word with another ending, beside the word itself."""
_MOST_TEXT = 200_000
"""Characters of a section that are looked through: a minified file on one line is none that has members to tell."""


@dataclass(frozen=True, slots=True)
class AskedWords:
    """What a question asks of members. `weights` are the rarities of its words as shares of them all; `said` leads from
    a term to the word it says and how well; `names` are identifiers as they are written, in lower case; `places` the
    lines of a trace."""

    weights: Mapping[str, float]
    said: Mapping[str, tuple[str, float]]
    names: frozenset[str] = frozenset()
    places: tuple[CodePlace, ...] = ()
    _known: dict[str, tuple[tuple[str, float], ...]] = field(default_factory=dict)

    def of_run(self, run: str) -> tuple[tuple[str, float], ...]:
        """The words that a run of letters says."""
        found = self._known.get(run)
        if found is None:
            said = self.said
            found = self._known[run] = tuple(said[term] for term in word_terms(run) if term in said)
        return found

    def share(self, found: Mapping[str, float]) -> float:
        """How much of the question some words are, 0 to 1."""
        return sum(self.weights[word] * well for word, well in found.items())

    def of_text(self, text: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for run in runs(text):
            for word, well in self.of_run(run):
                if well > found.get(word, 0.0):
                    found[word] = well
        return found

    def beginnings(self) -> list[str]:
        """What every word that says something of the question has in it, in lower case; none contains another."""
        starts = sorted({term.removesuffix("y") for term in self.said}, key=len)
        kept: list[str] = []
        for start in starts:
            if not any(short in start for short in kept):
                kept.append(start)
        return kept


def asked_words(question: Question, parts: SearchResources) -> AskedWords:
    """The words of a question for its members; of a question that is only a filter, the names it filters by."""
    text = question.text or " ".join(name.strip("*") for name in question.wanted.symbols)
    forms: Mapping[str, str] = {}
    rarity: Mapping[str, float]
    own = {term for run in runs(text) for term in word_terms(run)}
    telling = own - FUNCTION_WORDS or own
    try:
        vocabulary = parts.vocabulary()
        forms = question_terms(text, vocabulary).forms if text else {}
        rarity = {word: vocabulary.rarity(word) for word in telling}
    except KeywordIndexError:  # the search said so where it needed it
        rarity = dict.fromkeys(telling, 1.0)
    total = sum(rarity.values()) or 1.0
    said = {form: (word, _FORM) for form, word in forms.items() if word in telling}
    said |= {word: (word, 1.0) for word in telling}
    written = [*runs(text), *(symbol.rpartition(".")[2] for symbol in question.symbols)]
    names = frozenset(name.lower() for name in written if name.lower() not in FUNCTION_WORDS)
    places = tuple(place for place in question.places if place.line)
    return AskedWords({word: value / total for word, value in rarity.items()}, said, names, places)


def with_members(
    hits: Sequence[Hit], payloads: Mapping[str, Mapping[str, Any]], question: Question, parts: SearchResources
) -> tuple[Hit, ...]:
    """The hits, best first, with their members and best lines; `payloads` are theirs by point id."""
    if not hits:
        return ()
    asked = asked_words(question, parts)
    return tuple(_outlined(hit, payloads[hit.point_id], asked, parts, at < MOST_READ) for at, hit in enumerate(hits))


@dataclass(frozen=True, slots=True)
class SectionText:
    """The source of a section, with the words of the question that stand on its lines: (line, word, how well), in
    order of lines."""

    first_line: int
    last_line: int
    found: Sequence[tuple[int, str, float]] = ()

    def words(self, start: int, end: int) -> dict[str, float]:
        """The words on some lines."""
        made: dict[str, float] = {}
        for at in range(bisect_left(self.found, (start,)), bisect_left(self.found, (end + 1,))):
            _, word, well = self.found[at]
            if well > made.get(word, 0.0):
                made[word] = well
        return made


def read_section(text: str, payload: Mapping[str, Any], asked: AskedWords) -> SectionText:
    """What the text of a document says of the question on the lines of a section."""
    start, end = payload.get("CharStart", 0), payload.get("CharEnd", 0)
    first, last = payload.get("StartLine", 1), payload.get("EndLine", 1)
    content = text[start : min(end, start + _MOST_TEXT)]
    lowered = content.lower()
    if len(lowered) != len(content):  # a few letters have two in lower case
        lowered = content
    places: dict[int, tuple[tuple[str, float], ...]] = {}  # where a run begins → what it says
    for beginning in asked.beginnings():
        at = lowered.find(beginning)
        while at >= 0:
            begin, stop = _run_around(content, at, len(beginning))
            if begin not in places:
                places[begin] = asked.of_run(content[begin:stop])
            at = lowered.find(beginning, max(stop, at + 1))
    if not any(places.values()):
        return SectionText(first, last)
    lines = LineIndex(content)
    found = [(first + lines.line_of(at) - 1, word, well) for at in sorted(places) for word, well in places[at]]
    return SectionText(first, last, found)


def _run_around(text: str, at: int, length: int) -> tuple[int, int]:
    """The unbroken run of letters, digits and `_` that a place lies in."""
    begin, end, size = at, at + length, len(text)
    while begin > 0 and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
        begin -= 1
    while end < size and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return begin, end


def _outlined(hit: Hit, payload: Mapping[str, Any], asked: AskedWords, parts: SearchResources, is_read: bool) -> Hit:
    listed = [SectionMember.decoded(text) for text in payload.get("Members", ())]
    source = _source(payload, asked, parts) if is_read else SectionText(hit.start_line, hit.end_line)
    whole = SectionMember(_simple(hit.symbol), "", hit.start_line, hit.end_line)
    scored = sorted(
        (_scored(member, source, asked, hit.path) for member in listed), key=lambda one: (-one.score, one.start_line)
    )
    best = [one for one in scored if one.score > 0.0][:MOST_LISTED]
    if not best:
        best = [_scored(whole, source, asked, hit.path)]
    return replace(hit, members=tuple(best), member_count=len(listed), best_lines=best_lines(best[0], source, asked))


def _source(payload: Mapping[str, Any], asked: AskedWords, parts: SearchResources) -> SectionText:
    """The text of a section; without words where its document cannot be read: the members are those of its outline,
    and who asks for the source is told what is wrong."""
    from rag_assets.index.blobs import BlobError

    address = payload.get("BlobVersionId", "")
    if address and asked.weights:
        try:
            return read_section(parts.document(address), payload, asked)
        except BlobError:
            pass
    return SectionText(payload.get("StartLine", 1), payload.get("EndLine", 1))


def _scored(member: SectionMember, source: SectionText, asked: AskedWords, path: str) -> MemberHit:
    start, end = member.start_line, member.end_line
    score = (
        _NAME * asked.share(asked.of_text(member.name))
        + _SIGNATURE * asked.share(asked.of_text(member.signature))
        + _TEXT * asked.share(source.words(start, end))
    ) / _WHOLE
    if member.name.rpartition(".")[2].lower() in asked.names:
        score += _EXACT
    for number, place in enumerate(asked.places):
        if start <= place.line <= end and path.casefold().endswith(place.path.casefold().rpartition("/")[2]):
            score += 2 * _EXACT / (number + 1)
            break
    return MemberHit(member.name, member.signature, start, end, round(score, 6))


def best_lines(member: MemberHit, source: SectionText, asked: AskedWords) -> tuple[int, int]:
    """The lines of a member; of one with more than `LONGEST_LINES`, as many of it as say the most, where there are
    several the first."""
    start, end = member.start_line, member.end_line
    if end - start < LONGEST_LINES:
        return start, end
    named = [place.line for place in asked.places if start <= place.line <= end]
    if named:
        begin = min(max(start, named[0] - LONGEST_LINES // 2), end - LONGEST_LINES + 1)
        return begin, begin + LONGEST_LINES - 1
    candidates = sorted({start, *(line for line, _, _ in source.found if start <= line <= end)})
    lines = [line for line, _, _ in source.found]
    most, begin = -1.0, start
    for line in candidates:
        window = source.found[bisect_left(lines, line) : bisect_right(lines, line + LONGEST_LINES - 1)]
        worth = asked.share(_best_of(window)) + 1e-3 * len(window) / (len(window) + 1)
        if worth > most:
            most, begin = worth, line
    begin = min(max(start, begin - 2), end - LONGEST_LINES + 1)
    return begin, begin + LONGEST_LINES - 1


def _best_of(found: Iterable[tuple[int, str, float]]) -> dict[str, float]:
    made: dict[str, float] = {}
    for _, word, well in found:
        if well > made.get(word, 0.0):
            made[word] = well
    return made


def _simple(symbol: str) -> str:
    return plain_symbol(symbol).rpartition(".")[2]
