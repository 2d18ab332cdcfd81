"""Which members of a section answer a question, and on which lines: chosen after ranking, by words and meaning.

A section is what is ranked; on C# it spans 100 lines at the median. A reader wants the method, so each hit gets the
members that its section covers, the best first. A member scores by how much of the question its name, its signature
and its text say; rare words count more, and how near the
model of the index finds it. Names and signatures are in the payload of the point
(`SectionMember`), the text is the document as it was indexed, so lines never are those of another version.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from rag_assets.contracts.identity import plain_symbol
from rag_assets.contracts.outline import SectionMember
from rag_assets.index.keyword.terms import FUNCTION_WORDS, runs, word_terms
from rag_assets.index.keyword.vocabulary import KeywordIndexError, question_terms
from rag_assets.search import CodePlace, Hit, MemberHit, Question
from rag_assets.search.retrieve import SearchResources

MOST_READ = 20
"""Hits whose documents are read; those after them have their members by names and signatures."""

MOST_LISTED = 8
"""Members of a hit."""

LONGEST_LINES = 30
"""Of `Hit.best_lines`: a screen, and what a citation may name. Of a longer member the lines that say the most."""

_NAME, _SIGNATURE, _TEXT = 3.0, 2.0, 1.0
_WHOLE = _NAME + _SIGNATURE + _TEXT
_EXACT = 0.2
"""Added where the question has the name as it is written: of two names with the same words the one that is meant."""
_MEANING = 0.4
"""Of the cosine of name and signature with the question, where the model of the index answers at once: a millisecond
for a page. Members among the first 500 and 1,000 tokens of 180 questions (`eval tokens`), five listed: without it .66
.77, with .2 .68 .79, .4 .69 .80."""
_TRACED = 1.0
"""Added where a trace names a line: no sum of words gets there."""
_FORM = 0.7
"""Of a word with another ending, beside the word itself."""
_CARRIAGE_RETURN = re.compile(r"\r\n?")
_REST_OF_RUN = re.compile(r"\w+")
_MOST_LINE = 400
"""Characters of a line of `Hit.source`."""
_MOST_TEXT = 200_000
"""Characters of a section that are looked through: a minified file on one line is none that has members to tell."""


@dataclass(frozen=True, slots=True)
class AskedWords:
    """What a question asks of members. `weights` are the rarities of its words as shares of them all; `said` leads from
    a term to the word it says and how well, and each of these terms has one of `beginnings` in it; `names` are
    identifiers as they are written, in lower case; `places` the lines of a trace."""

    weights: Mapping[str, float]
    said: Mapping[str, tuple[str, float]]
    beginnings: tuple[str, ...] = ()
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
        low = text.lower()
        if not any(beginning in low for beginning in self.beginnings):  # most names have none of the words
            return found
        for run in runs(text):
            for word, well in self.of_run(run):
                if well > found.get(word, 0.0):
                    found[word] = well
        return found


def _beginnings(said: Iterable[str]) -> tuple[str, ...]:
    """What every word that says something of the question has in it, in lower case; none contains another."""
    kept: list[str] = []
    for start in sorted({_before_plural(term) for term in said}, key=len):
        if not any(short in start for short in kept):
            kept.append(start)
    return tuple(kept)


def _before_plural(term: str) -> str:
    """`quer` of `query` and `queries`; `y` is a word of its own, and nothing is in every text."""
    return term.removesuffix("y") if len(term) > len("y") + 1 else term


def asked_words(question: Question, parts: SearchResources) -> AskedWords:
    """The words of a question for its members; of a question that is only a filter, the names it filters by."""
    text = question.text or " ".join(name.strip("*") for name in question.wanted.symbols)
    forms: Mapping[str, str] = {}
    rarity: Mapping[str, float]
    own = {term for run in runs(text) for term in word_terms(run)}
    telling = sorted(own - FUNCTION_WORDS or own)
    try:
        vocabulary = parts.vocabulary()
        forms = question_terms(text, vocabulary).forms if text else {}
        rarity = {word: vocabulary.rarity(word) for word in telling}
    except KeywordIndexError:  # the search said so where it needed it
        rarity = dict.fromkeys(telling, 1.0)
    total = sum(rarity.values()) or 1.0
    said = {form: (word, _FORM) for form, word in forms.items() if word in rarity}
    said |= {word: (word, 1.0) for word in telling}
    written = [*runs(text), *(symbol.rpartition(".")[2] for symbol in question.symbols)]
    names = frozenset(name.lower() for name in written if name.lower() not in FUNCTION_WORDS)
    places = tuple(place for place in question.places if place.line)
    weights = {word: value / total for word, value in rarity.items()}
    return AskedWords(weights, said, _beginnings(said), names, places)


def with_members(
    hits: Sequence[Hit],
    payloads: Mapping[str, Mapping[str, Any]],
    question: Question,
    parts: SearchResources,
    *,
    read: Collection[str],
    by_meaning: bool,
) -> tuple[Hit, ...]:
    """The hits, best first, with their members and best lines; `payloads` are theirs by point id. `read` are the ids of
    those whose documents are read. `by_meaning`: the search has loaded the model of the index."""
    if not hits:
        return ()
    asked = asked_words(question, parts)
    listed = [[SectionMember.decoded(text) for text in payloads[hit.point_id].get("Members", ())] for hit in hits]
    near: Mapping[SectionMember, float] = {}
    if by_meaning and question.text:
        of_read = (members for hit, members in zip(hits, listed, strict=True) if hit.point_id in read)
        near = _closeness(list(dict.fromkeys(chain.from_iterable(of_read))), question.text, parts)
    made = []
    for hit, members in zip(hits, listed, strict=True):
        is_read = hit.point_id in read
        source = _source(payloads[hit.point_id], asked, parts) if is_read else SectionText(hit.start_line)
        made.append(_outlined(hit, members, source, asked, near))
    return tuple(made)


def _closeness(members: Sequence[SectionMember], text: str, parts: SearchResources) -> dict[SectionMember, float]:
    """The cosines of members with a question; none where the model takes longer than a table to answer."""
    embedder = parts.embedder().result()
    if not getattr(embedder, "is_instant", False) or not members:
        return {}
    question, *vectors = embedder.embed([text, *(f"{_last(one.name)} {one.signature}" for one in members)])
    return {one: max(0.0, float(vector @ question)) for one, vector in zip(members, vectors, strict=True)}


@dataclass(frozen=True, slots=True)
class SectionText:
    """The source of a section from its first line on, with the words of the question that stand there: (line, word,
    how well), in order of lines."""

    first_line: int
    lines: Sequence[str] = ()
    found: Sequence[tuple[int, str, float]] = ()

    def source(self, start: int, end: int) -> str:
        """The text of some lines."""
        kept = self.lines[max(start - self.first_line, 0) : max(end - self.first_line + 1, 0)]
        return "\n".join(line if len(line) <= _MOST_LINE else f"{line[:_MOST_LINE]}…" for line in kept)

    def words(self, start: int, end: int) -> dict[str, float]:
        """The words on some lines."""
        return _best_of(self.found[bisect_left(self.found, (start,)) : bisect_left(self.found, (end + 1,))])


def read_section(text: str, payload: Mapping[str, Any], asked: AskedWords) -> SectionText:
    """What the text of a document says of the question on the lines of a section."""
    start, end = payload.get("CharStart", 0), payload.get("CharEnd", 0)
    first = payload.get("StartLine", 1)
    start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1  # the indentation of its first line
    content = text[start : min(end, start + _MOST_TEXT)]
    if "\r" in content:
        content = _CARRIAGE_RETURN.sub("\n", content)
    lowered = content.lower()
    if len(lowered) != len(content):  # a few letters have two in lower case
        lowered = content
    places: dict[int, tuple[tuple[str, float], ...]] = {}  # where a run begins → what it says
    for beginning in asked.beginnings:
        at = lowered.find(beginning)
        while at >= 0:
            begin, stop = _run_around(content, at, len(beginning))
            if begin not in places:
                places[begin] = asked.of_run(content[begin:stop])
            if places[begin]:  # once a line is enough
                stop = lowered.find("\n", stop)
                if stop < 0:
                    break
            at = lowered.find(beginning, max(stop, at + 1))
    found, line, seen = [], first, 0
    for at in sorted(at for at, said in places.items() if said):
        line += content.count("\n", seen, at)
        seen = at
        found += [(line, word, well) for word, well in places[at]]
    return SectionText(first, content.split("\n"), found)


def _run_around(text: str, at: int, length: int) -> tuple[int, int]:
    """The unbroken run of letters, digits and `_` that a place lies in."""
    begin = at
    while begin > 0 and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
        begin -= 1
    rest = _REST_OF_RUN.match(text, at + length)
    return begin, rest.end() if rest else at + length


def _outlined(
    hit: Hit,
    listed: Sequence[SectionMember],
    source: SectionText,
    asked: AskedWords,
    near: Mapping[SectionMember, float],
) -> Hit:
    scored = [_scored(one, source, asked, hit.path, _MEANING * near.get(one, 0.0)) for one in listed]
    best = sorted((one for one in scored if one.score > 0.0), key=lambda one: (-one.score, one.start_line))
    best = best[:MOST_LISTED]
    if not best:
        best = [_scored(_whole(hit, source, asked), source, asked, hit.path)]
    lines = best_lines(best[0], source, asked)
    return replace(hit, members=tuple(best), member_count=len(listed), best_lines=lines, source=source.source(*lines))


def _whole(hit: Hit, source: SectionText, asked: AskedWords) -> SectionMember:
    """A section without members that fit: of a text, which has no name, by the line that says the most."""
    if hit.symbol != hit.path:
        return SectionMember(_last(plain_symbol(hit.symbol)), "", hit.start_line, hit.end_line)
    on_line: dict[int, list[tuple[int, str, float]]] = {hit.start_line: []}
    for found in source.found:
        on_line.setdefault(found[0], []).append(found)
    line = max(on_line, key=lambda number: asked.share(_best_of(on_line[number])))
    said = " ".join(source.source(line, line).split())[:_MOST_OF_A_LINE]
    return SectionMember(hit.path.rpartition("/")[2], said, hit.start_line, hit.end_line)


_MOST_OF_A_LINE = 80


def _source(payload: Mapping[str, Any], asked: AskedWords, parts: SearchResources) -> SectionText:
    """The text of a section; without words where its document cannot be read: the members are those of its outline,
    and who asks for the source is told what is wrong."""
    from rag_assets.index.blobs import BlobError

    address = payload.get("BlobVersionId", "")
    if address:
        try:
            return read_section(parts.document(address), payload, asked)
        except BlobError:
            pass
    return SectionText(payload.get("StartLine", 1))


def _scored(
    member: SectionMember, source: SectionText, asked: AskedWords, path: str, meaning: float = 0.0
) -> MemberHit:
    start, end = member.start_line, member.end_line
    score = (
        meaning
        + (
            _NAME * asked.share(asked.of_text(member.name))
            + _SIGNATURE * asked.share(asked.of_text(member.signature))
            + _TEXT * asked.share(source.words(start, end))
        )
        / _WHOLE
    )
    if _last(member.name).lower() in asked.names:
        score += _EXACT
    for number, place in enumerate(asked.places):
        if start <= place.line <= end and path.casefold().endswith(place.path.casefold().rpartition("/")[2]):
            score += _TRACED / (number + 1)
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


def _last(name: str) -> str:
    """`Cache.Purge` → `Purge`."""
    return name.rpartition(".")[2]
