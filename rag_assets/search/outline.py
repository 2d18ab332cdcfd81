"""What a page of hits says: the place, the lines of the best member that answer, the other members. Pure.

A reader, or an agent that pays for every token, decides from this what to read next. Each `Detail` is shorter than the
one before, so a budget of tokens is kept by falling to a shorter one, never by a cut in the middle.

The numbers below are chosen on 60 annotated questions about two C# repositories, for the tokens to the first file that
answers and to the member (180 questions made of documentation), as `eval tokens` counts them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from rag_assets.contracts.identity import plain_symbol
from rag_assets.contracts.outline import compact_signature, line_range
from rag_assets.index.keyword.terms import FUNCTION_WORDS, runs, stem_of, word_terms
from rag_assets.search import Hit, MemberHit, Question, SearchResult

_FEWEST_LINES, _MOST_LINES = 3, 8
"""Of the source in a snippet."""
_SNIPPET_CHARS = 60
"""Of these lines together, beyond the fewest: more of them where they are short."""
NARROW = 50
"""Characters of a line or signature where every one costs; a terminal is wider. With 60 and 80 the first file that
answers costs 5 and 15 tokens more."""
_SHARE = 0.5
"""Of the score of the best member, for others to be listed beside it."""
_LISTED = (7, 5, 4, 4, 4, 3)
"""Members of the first hit, of the second …, and of all after these: what comes later is read less often. Tokens to the
first file and lines within 1,000 tokens: 164 and .822; six of the first hit 157 and .817, eight 170 and .828."""
USUAL_KIND = "Other"
"""That says nothing."""
_LISTING = "listing"
_RUN = re.compile(r"\w+")
_LONG_LIST = re.compile(r"^([^(]*)\(.{40,}\)$")
"""Parameters of an action that has a name and a place anyway: 40 of them cost as much as the rest of the hit."""


class Detail(StrEnum):
    """How much is said of a hit, the most first."""

    SOURCE = "source"  # the lines to read first, whole
    SNIPPET = "snippet"  # those of them that say the most
    OUTLINE = "outline"  # members with their lines
    PLACES = "places"  # file, lines and symbol


@dataclass(frozen=True, slots=True)
class Page:
    """How much the reader wants: of a hit (None: as the form of the output has it), and of all hits in tokens."""

    detail: Detail | None = None
    max_tokens: int | None = None
    explain: bool = False
    full: bool = False
    overlay: bool = False  # the work tree was asked for, so it must be asked for to read on


@dataclass(frozen=True, slots=True)
class OutlineLine:
    """A line under a hit: its number or range of numbers in the file, and what stands there. `is_source`: as it is
    written, else a signature."""

    place: str
    text: str
    is_source: bool = False


def asked_stems(question: Question) -> frozenset[str]:
    """The words of a question without their endings, to find them wherever they stand."""
    text = question.text or " ".join(question.wanted.symbols)
    terms = {term for run in runs(text) for term in word_terms(run)}
    return frozenset(map(stem_of, terms - FUNCTION_WORDS or terms))


def stems_in(text: str, asked: frozenset[str]) -> frozenset[str]:
    """The words of a question that a text says, with whatever ending."""
    return frozenset(stem for run in runs(text) for term in word_terms(run) if (stem := stem_of(term)) in asked)


def symbol_of(name: str) -> str:
    """What the parts and the overloads of a symbol have in common."""
    return plain_symbol(name).partition("(")[0]


def one_per_symbol(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without a second one of a symbol in a file (its parts, its overloads). The first keeps its rank and its
    score, has the members of all, and points to the section with the best of them."""
    first: dict[tuple[str, str, str], Hit] = {}
    for hit in hits:
        key = _symbol_of(hit)
        known = first.get(key)
        first[key] = hit if known is None else _with_members_of(known, hit)
    return list(first.values())


def of_first_symbols(hits: Sequence[Hit], count: int) -> list[Hit]:
    """The hits that are in the first `count` of `one_per_symbol`."""
    keys = [_symbol_of(hit) for hit in hits]
    first = set(list(dict.fromkeys(keys))[:count])
    return [hit for hit, key in zip(hits, keys, strict=True) if key in first]


def _symbol_of(hit: Hit) -> tuple[str, str, str]:
    return hit.label, hit.path, symbol_of(hit.symbol)


def _with_members_of(first: Hit, other: Hit) -> Hit:
    seen = {(member.start_line, member.name) for member in first.members}
    more = [one for one in other.members if one.score > 0.0 and (one.start_line, one.name) not in seen]
    shown = other if other.source and more and more[0].score > first.members[0].score else first
    members = sorted((*first.members, *more), key=lambda one: -one.score)
    count = first.member_count + other.member_count
    return replace(shown, score=first.score, scores=first.scores, members=tuple(members), member_count=count)


def named_part(symbol: str, part: int, parts: int, lines: tuple[int, int] | None = None) -> str:
    """`Dapper.SqlMapper (part 15 of 31, lines 1204–1290)`: a symbol as people know it, and which part of it a section
    is, where there are several."""
    name = plain_symbol(symbol)
    if parts < 2:
        return name
    return f"{name} (part {part} of {parts}{f', lines {lines[0]}–{lines[1]}' if lines else ''})"


def place_of(hit: Hit) -> str:
    """`src/Orders/OrderService.cs:88-121`, with the lines to read first."""
    return f"{hit.path}:{line_range(*hit.best_lines)}"


def kind_of(hit: Hit) -> str:
    """'' for the kind that says nothing."""
    return "" if hit.kind == USUAL_KIND else hit.kind


def lines_under(
    hit: Hit, rank: int, detail: Detail, asked: frozenset[str], width: int = NARROW
) -> Iterator[OutlineLine]:
    """The lines under the place of a hit: source, members in the order of the file, how many members are left out. Of
    a snippet or a signature no line is longer than `width`."""
    if detail is Detail.PLACES:
        return
    shown = [] if detail is Detail.OUTLINE else source_lines(hit, detail, asked, width)
    for number, line in shown:
        yield OutlineLine(str(number), line, is_source=True)
    listed, left = listed_members(hit, rank, without_best=bool(shown))
    for one in listed:
        yield OutlineLine(line_range(one.start_line, one.end_line), signature_of(one, width))
    if left:
        yield OutlineLine("", f"… {left} more member{'s' if left > 1 else ''}")


def listed_lines(lines: Sequence[OutlineLine]) -> Iterator[tuple[int, int]]:
    """The lines of the members that are listed under a hit."""
    for line in lines:
        if line.place and not line.is_source:
            start, _, end = line.place.partition("-")
            yield int(start), int(end or start)


def plain_text(hit: Hit, rank: int, detail: Detail, asked: frozenset[str]) -> str:
    """A hit as `search` prints it."""
    kind = kind_of(hit)
    symbol = _LONG_LIST.sub(r"\1(…)", hit.symbol)
    head = f"{rank:>2}  {place_of(hit)}  {named_part(symbol, hit.part_index, hit.part_total)}"
    found = list(lines_under(hit, rank, detail, asked))
    below = (f"    {line.place}  {line.text}" if line.place else f"    {line.text}" for line in found)
    first = "  ".join(filter(None, (head, kind, "work tree" if hit.work_tree else "")))
    return "\n".join([first, *below])


def listed_members(hit: Hit, rank: int, *, without_best: bool = False) -> tuple[list[MemberHit], int]:
    """The members that the hit of a rank (from 1) lists, in the order of the file, and how many it does not;
    `without_best`: the source of the best one is shown anyway."""
    if not hit.members:
        return [], 0
    best, *others = hit.members
    beside = [one for one in others if one.score >= _SHARE * best.score and one.score > 0.0]
    beside = beside[: _LISTED[min(rank, len(_LISTED)) - 1] - 1]
    listed = beside if without_best else [best, *beside]
    left = hit.member_count - len(beside) - (best.score > 0.0)
    return sorted(listed, key=lambda one: (one.start_line, one.end_line)), max(left, 0)


def signature_of(member: MemberHit, width: int = NARROW) -> str:
    """On one line and without modifiers. Of one that is too long the name is kept before the type in front of it."""
    text = compact_signature(member.signature) or member.name
    if len(text) <= width:
        return text
    name = member.name.rpartition(".")[2]
    found = re.search(rf"\b{re.escape(name)}\b", text) if name else None
    if found is not None and found.end() >= width:
        room = max(min(width // 3 - 1, width - len(name) - 3), 0)
        text = f"{text[:room]}… {text[found.start() :]}"
    return text if len(text) <= width else f"{text[: width - 1]}…"


def source_lines(hit: Hit, detail: Detail, asked: frozenset[str], width: int = NARROW) -> list[tuple[int, str]]:
    """Numbered lines of the best member: all that are to be read first, or, as a snippet, those that say the most; the
    indentation that they share is taken away."""
    if not hit.source:
        return []
    lines = [(hit.best_lines[0] + at, line.rstrip()) for at, line in enumerate(hit.source.split("\n"))]
    if detail is not Detail.SNIPPET:
        return _dedented(lines)
    return [(number, _cut(line, asked, width)) for number, line in _dedented(_telling(lines, hit, asked, width))]


def _dedented(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    indent = min((len(line) - len(line.lstrip()) for _, line in lines if line.strip()), default=0)
    return [(number, line[indent:]) for number, line in lines]


def _telling(lines: Sequence[tuple[int, str]], hit: Hit, asked: frozenset[str], width: int) -> list[tuple[int, str]]:
    """The declaration and the lines that fit the question best, in order."""
    readable = [(number, line) for number, line in lines if _says_something(line)]
    name = hit.members[0].name.rpartition(".")[2] if hit.members else ""
    declared = next((number for number, line in readable if name and name in line and not _is_comment(line)), 0)

    def worth(row: tuple[int, str]) -> tuple[bool, int, int]:
        number, line = row
        return number != declared, -len(stems_in(line, asked)), number

    chosen: list[tuple[int, str]] = []
    used = 0
    for row in sorted(readable, key=worth):
        used += min(len(row[1].strip()), width)
        if len(chosen) == _MOST_LINES or (len(chosen) >= _FEWEST_LINES and used > _SNIPPET_CHARS):
            break
        chosen.append(row)
    return sorted(chosen)


def _cut(line: str, asked: frozenset[str], width: int) -> str:
    """As much of a line as fits, with a word of the question in it if it has one."""
    if len(line) <= width:
        return line
    indent = len(line) - len(line.lstrip())
    said = next((run for run in _RUN.finditer(line) if stems_in(run[0], asked)), None)
    if said is None or said.end() < width:
        return f"{line[: width - 1]}…"
    start = max(indent + 1, min(said.start(), len(line) - (width - indent) + 1))
    rest = line[start : start + width - indent - 2]
    return f"{line[:indent]}…{rest}{'…' if start + len(rest) < len(line) else ''}"


_MARKS = frozenset({"<summary>", "</summary>", "<remarks>", "</remarks>", "<para>", "</para>"})


def _says_something(line: str) -> bool:
    """Not a brace, a blank, or the mark of a comment."""
    return any(map(str.isalnum, line)) and line.strip().removeprefix("///").strip() not in _MARKS


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("//", "#", "*", "/*", "--", "<!--"))


def counts_by_folder(hits: Sequence[Hit]) -> list[tuple[str, int]]:
    """Folders with the number of hits in them, the most first."""
    counted = Counter(hit.path.rpartition("/")[0] or "." for hit in hits)
    return sorted(counted.items(), key=lambda one: (-one[1], one[0]))


def within(budget: int, hits: int, wanted: Detail, cost: Callable[[int, Detail], int]) -> list[Detail] | None:
    """How much is said of each of the first `hits` hits so that all together cost at most `budget`: the same of all,
    then more of the first. `cost` is that of a hit, by its number from 0. None where not even the places fit."""
    levels = list(Detail)
    levels = levels[levels.index(wanted) :]
    for level in levels:
        total = sum(cost(hit, level) for hit in range(hits))
        if total <= budget:
            break
    else:
        return None
    chosen = [level] * hits
    for hit in range(hits):
        for more in levels[: levels.index(level)]:
            longer = total - cost(hit, level) + cost(hit, more)
            if longer <= budget:
                chosen[hit], total = more, longer
                break
    return chosen


def done_by(result: SearchResult) -> str:
    """The mode; `listing` where there were filters and no words, which every index can answer in the same way."""
    return result.mode if result.question.text else _LISTING
