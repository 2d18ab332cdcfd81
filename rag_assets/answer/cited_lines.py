"""Citations of an answer at the lines that say it: of a section of hundreds of lines the member, or the few lines of
it, that a sentence quotes. Pure.

The lines follow from the quotes, which `citations.check` compares with the source, so a citation never names lines that
lack them. A sentence without a quote is cited at the member that it names, or that has most of its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rag_assets.answer.citations import (
    CITATION,
    ELISION,
    FENCE,
    Sentence,
    by_id,
    ids_in,
    lines_quoted,
    quotes_of,
    sentences,
    without_citations,
)
from rag_assets.answer.passages import passages_of
from rag_assets.answer.question_analysis import roots_of
from rag_assets.contracts.evidence import Evidence, cited_place
from rag_assets.contracts.protocol_markers import defused
from rag_assets.index.keyword.terms import FUNCTION_WORDS

MOST_LINES = 40
"""Of a citation: more than a screen sends a reader searching. Only quotes that lie farther apart have more."""
_FEWEST_LINES = 5
"""Of a citation inside of a longer member: a line alone seldom says what it is about."""

_SPAN = re.compile(r"`([^`\n]+)`")
_WORD = re.compile(r"\w+")
_LINES = re.compile(r":(\d{1,7})(?:-(\d{1,7}))?")

Lines = tuple[int, int]
"""The first and the last, 1-based, of the file."""


@dataclass(frozen=True, slots=True)
class Citation:
    """What an answer cites: the id as it is written there, and the lines that say it. `symbol` is what is declared on
    these lines, '' where they hold no name. `mentions` are the numbers of the ids in the text, from 0, that this
    citation stands for: one section may be cited at several members."""

    id: str
    path: str
    line_start: int
    line_end: int
    commit_sha: str
    label: str
    symbol: str
    rendered: str  # `path:lines@commit`
    mentions: tuple[int, ...] = ()


def citations_of(text: str, evidence: Sequence[Evidence]) -> tuple[Citation, ...]:
    """What a text cites of the evidence, in order of first use; ids that are none of its are not among them."""
    known = by_id(evidence)
    mentions: dict[tuple[str, Lines], tuple[str, list[int]]] = {}  # the first sentence of each, and its numbers
    for number, (identifier, sentence) in enumerate(_mentions(text)):
        if identifier in known:
            place = identifier, _lines(sentence, known[identifier])
            mentions.setdefault(place, (sentence, []))[1].append(number)
    return tuple(
        _citation(identifier, known[identifier], lines, tuple(numbers), sentence)
        for (identifier, lines), (sentence, numbers) in mentions.items()
    )


def rendered(text: str, citations: Sequence[Citation], show: Callable[[Citation], str]) -> str:
    """`text` with every citation as `show` writes it in brackets; a mark with an id that is none of them stays."""
    by_mention = {number: one for one in citations for number in one.mentions}
    count = 0

    def replaced(mark: re.Match[str]) -> str:
        nonlocal count
        first, count = count, count + len(ids_in(mark))
        cited = [by_mention[number] for number in range(first, count) if number in by_mention]
        if len(cited) < count - first:
            return mark.group()
        return ", ".join(dict.fromkeys(f"[{show(one)}]" for one in cited))

    return CITATION.sub(replaced, text)


def line_numbers(text: str, citations: Sequence[Citation], evidence: Sequence[Evidence]) -> Mapping[int, int]:
    """Which line of its file each line of quoted code is, by its place in `text` (from 0) as `rendered` has it. A line
    that could be several of those that the citation beside the code names has none."""
    known, by_mention = by_id(evidence), {number: one for one in citations for number in one.mentions}
    lines = CITATION.sub(lambda mark: mark.group().replace("\n", " "), text).split("\n")
    blocks: list[tuple[int, list[str]]] = []
    cited: dict[int, list[Citation]] = {}
    fence, count = "", 0
    for at, line in enumerate(lines):
        mark = FENCE.match(line)
        if fence and not (mark and mark[1].startswith(fence)):
            blocks[-1][1].append(line)
        elif fence or mark:
            if mark and not fence:
                blocks.append((at + 1, []))
            fence = mark[1] if mark and not fence else ""
        for found in CITATION.finditer(line):
            first, count = count, count + len(ids_in(found))
            cited.setdefault(at, []).extend(by_mention[one] for one in range(first, count) if one in by_mention)
    made: dict[int, int] = {}
    for start, code in blocks:
        before = next((at for at in range(start - 1, -1, -1) if cited.get(at)), -1)
        behind = start + len(code) + 1  # where models cite, too
        for at, citation in [(at, cited[at][-1]) for at in (before, behind) if cited.get(at)]:
            placed = _placed(code, citation, lines[at], known[citation.id])
            if placed:
                made |= {start + at: line for at, line in placed.items()}
                break
    return made


def numbered(citations: Sequence[Citation]) -> Mapping[str, int]:
    """The place of a citation → its number in a list of sources."""
    return {place: at for at, place in enumerate(dict.fromkeys(known.rendered for known in citations), 1)}


def citation_object(numbers: Mapping[str, int], citation: Citation) -> dict[str, Any]:
    """A citation in JSON, with its number in the list of sources."""
    return {"number": numbers[citation.rendered], **asdict(citation), "mentions": list(citation.mentions)}


def _mentions(text: str) -> Iterator[tuple[str, str]]:
    """Every cited id with its sentence, in the order of the text."""
    parts = sentences(text)
    for mark in CITATION.finditer(text):
        own = next((one for one in parts if one.start <= mark.start() < one.end), Sentence("", 0, 0))
        for identifier in ids_in(mark):
            yield identifier, own.text


def _lines(sentence: str, known: Evidence) -> Lines:
    """The lines of a piece of evidence that a sentence is about. Pages and recordings are cited as a whole: a reader
    opens them at a page or a time."""
    whole = (known.line_start, known.line_end)
    if known.pages or known.seconds is not None or whole[1] - whole[0] < _FEWEST_LINES:
        return whole
    spans = [found for quote in _quoted(sentence) if (found := _quoted_lines(quote, sentence, known)) is not None]
    if spans:
        return _widened((min(span[0] for span in spans), max(span[1] for span in spans)), known)
    placed = next(_places_named(sentence, known), None)
    return _short(_named(sentence, known) or _said(sentence, known) or placed or _best(known))


def _quoted(sentence: str) -> list[str]:
    """The quotes of a sentence, and the code spans that are code and no name."""
    spans = [
        span.strip() for span in _SPAN.findall(without_citations(sentence)) if not _WORD.fullmatch(span.strip(" ()"))
    ]
    return [*quotes_of(sentence), *(span for span in spans if re.search(r"[\s(=;<]", span))]


def _quoted_lines(quote: str, sentence: str, known: Evidence) -> Lines | None:
    """The lines of a piece that hold a quote: those that the sentence names, as overloads say much the same, else the
    first ones."""
    for start, end in (*_places_named(sentence, known), (known.line_start, known.line_end)):
        found = lines_quoted(quote, "\n".join(_source(known, (start, end))))
        if found is not None:
            return start + found[0] - 1, start + found[1] - 1
    return None


def _places_named(sentence: str, known: Evidence) -> Iterator[Lines]:
    """The lines of a piece that a sentence names beside its path."""
    at = sentence.find(known.path)
    while at >= 0:
        place = _LINES.match(sentence, at + len(known.path))
        if place is not None:
            start, end = int(place[1]), int(place[2] or place[1])
            if known.line_start <= start <= end <= known.line_end:
                yield start, end
        at = sentence.find(known.path, at + 1)


def _source(known: Evidence, lines: Lines) -> list[str]:
    return known.text.split("\n")[lines[0] - known.line_start : lines[1] - known.line_start + 1]


def _placed(code: Sequence[str], citation: Citation, sentence: str, known: Evidence) -> dict[int, int]:
    """Which line of its file each line of a quote is. What stands alone between two elisions, as a brace may, is only
    placed where a single line fits."""
    if known.pages or known.seconds is not None:
        return {}
    for start, end in (*_places_named(sentence, known), (citation.line_start, citation.line_end)):
        source = defused("\n".join(_source(known, (start, end)))).split("\n")
        for mark in ("\n", ""):  # lines as they are, else those that a signature joins
            found = _aligned(defused("\n".join(code)).split("\n"), source, mark)
            if found:
                return {at: start + line for at, line in found.items()}
    return {}


def _aligned(code: Sequence[str], source: Sequence[str], mark: str) -> dict[int, int]:
    """Each line of a quote → the line of the source, from 0. Compared without blanks; every line begins with `mark`."""
    letters, lines = "", list[int]()
    for number, line in enumerate(source):
        if squeezed := "".join(line.split()):
            letters += mark + squeezed
            lines += [number] * len(mark + squeezed)
    pieces: list[tuple[str, dict[int, int]]] = [("", {})]  # letters between elisions; line of the quote → its offset
    for number, line in enumerate(code):
        for part, text in enumerate(ELISION.split(line)):
            if part:
                pieces.append(("", {}))
            if squeezed := "".join(text.split()):
                before, begins = pieces[-1]
                pieces[-1] = before + mark * (not part) + squeezed, begins | {number: len(before)}
    pieces = [one for one in pieces if one[0]]
    first, at = list[int](), 0
    for piece, _ in pieces:
        first.append(letters.find(piece, at))
        if first[-1] < 0:
            return {}
        at = first[-1] + len(piece)
    made: dict[int, int] = {}
    at = len(letters)
    for (piece, begins), earliest in zip(reversed(pieces), reversed(first), strict=True):
        at = letters.rfind(piece, 0, at)
        if at == earliest:
            made |= {number: lines[at + begin] for number, begin in begins.items()}
    for number, line in enumerate(code):
        above = made.get(number - 1, -1)
        if not line.strip() and above >= 0 and not "".join(source[above + 1 : above + 2]).strip():
            made[number] = above + 1
    return made


def _widened(lines: Lines, known: Evidence) -> Lines:
    """The member around the lines, as far as it is short; of a longer one a few lines around them."""
    around = [
        member
        for member in _members(known)
        if member[0] <= lines[0] and lines[1] <= member[1] and member[1] - member[0] < MOST_LINES
    ]
    if around:
        return min(around, key=lambda member: member[1] - member[0])
    lacking = max(0, _FEWEST_LINES - (lines[1] - lines[0] + 1))
    start = max(known.line_start, lines[0] - lacking // 2)
    return start, min(known.line_end, max(lines[1], start + _FEWEST_LINES - 1))


def _members(known: Evidence) -> list[Lines]:
    """The lines of the members of a piece of evidence, and of its passages: what no outline knows are paragraphs."""
    listed = [(member.start_line, member.end_line) for member in known.members]
    passages = [(one.line_start, one.line_end) for one in passages_of(known)]
    return [lines for lines in (*listed, *passages) if known.line_start <= lines[0] and lines[1] <= known.line_end]


def _named(sentence: str, known: Evidence) -> Lines | None:
    """The member that a sentence names in code; the first of several."""
    names = _names_in(sentence)
    listed = {
        member.name.rpartition(".")[2]: (member.start_line, member.end_line) for member in reversed(known.members)
    }
    listed |= {one.name: (one.line_start, one.line_end) for one in reversed(passages_of(known)) if one.name}
    return next((listed[name] for name in names if name in listed), None)


def _said(sentence: str, known: Evidence) -> Lines | None:
    """The passage with most of the words of a sentence; None where none has two of them."""
    words = roots_of(without_citations(sentence)) - FUNCTION_WORDS
    scored = [(len(words & roots_of(one.text)), one) for one in passages_of(known)]
    most, best = max(scored, key=lambda one: (one[0], -one[1].line_start), default=(0, None))
    return (best.line_start, best.line_end) if best is not None and most > 1 else None


def _best(known: Evidence) -> Lines:
    """What the search says to read first of a piece, else its beginning."""
    start, end = known.best_lines
    is_inside = known.line_start <= start <= end <= known.line_end
    return (start, end) if is_inside else (known.line_start, known.line_end)


def _short(lines: Lines) -> Lines:
    return lines[0], min(lines[1], lines[0] + MOST_LINES - 1)


def _names_in(sentence: str) -> list[str]:
    """The last parts of the names that a sentence writes as code."""
    return [span.removesuffix("()").rpartition(".")[2] for span in _SPAN.findall(sentence)]


def _citation(identifier: str, known: Evidence, lines: Lines, mentions: tuple[int, ...], sentence: str) -> Citation:
    return Citation(
        identifier,
        known.path,
        *lines,
        known.commit_sha,
        known.label,
        _symbol(known, lines, _names_in(sentence)),
        cited_place(known, *lines),
        mentions,
    )


def _symbol(known: Evidence, lines: Lines, named: Sequence[str]) -> str:
    """The member that the lines declare, of several the one that is `named`, or the symbol of the piece, if the lines
    say its name; else ''."""
    first = known.line_start
    words = set(_WORD.findall("\n".join(known.text.split("\n")[lines[0] - first : lines[1] - first + 1])))
    holding = sorted(
        (member for member in known.members if member.start_line <= lines[0] and lines[1] <= member.end_line),
        key=lambda member: member.end_line - member.start_line,
    )
    inside = [one for one in known.members if lines[0] <= one.start_line and one.end_line <= lines[1]]
    for member in (*holding, *(one for one in inside if one.name.rpartition(".")[2] in named)):
        name = member.name.rpartition(".")[2]
        if name and set(_WORD.findall(name)) <= words:
            is_own = name == known.name or not known.name.isidentifier()
            if name == known.name:
                return known.plain_symbol
            return member.name if is_own else f"{known.plain_symbol}.{name}"
    return known.plain_symbol if set(_WORD.findall(known.name)) <= words else ""
