"""Citations of an answer: how they are written and read, and whether the source supports them (E19–E21, R26).
Pure.

A quote is compared character by character with the source, blanks aside, and never with another model's opinion. So the
check never calls a false quote supported. For claims without a quote it says whether their words and identifiers are in
the cited text. That is necessary for support, not sufficient.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cached_property
from itertools import accumulate

from rag_assets.answer.question_analysis import roots_of
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.identity import content_hash
from rag_assets.contracts.protocol_markers import defused
from rag_assets.contracts.time_codes import TRANSCRIPTS, spoken
from rag_assets.index.keyword.terms import FUNCTION_WORDS

FENCE = re.compile(r"^[ \t]*(```+|~~~+)")
_QUOTED_LINE = re.compile(r"^[ \t]*>")
_END = re.compile(
    r"(?<=[.!?])[\"”')*_`]*(?P<cites>(?:\s*\[chunk:[^\]\n]*\])*)(?P<gap>\s+)"
    r"(?=[\"'“`(*_]*[A-Z0-9À-Þ\"“`\[])"
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig|incl)|/\d+)\.$", re.IGNORECASE)
"""A full stop that ends no sentence: also that of `schema/10. Add a column.sql`."""
_QUOTED = re.compile(r"“[^”]*”|\"[^\"\n]*\"|``[^\n]+?``|`[^`\n]*`")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"^\s*#{1,6}\s|^\s*\*\*[^*]+\*\*:?\s*$|^\s*(?:---+|\*\*\*+)\s*$")
_CITES_ONLY = re.compile(r"(?:\s*\[chunk:[^\]\n]*\][.;,]?)+\s*")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A claim of an answer, `text[start:end]` of it, with the code blocks that belong to it. `is_heading` claims
    nothing."""

    text: str
    start: int
    end: int
    is_heading: bool = False


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of an answer in their order. A code block or block quote belongs to the sentence before it, and so
    does a line of nothing but citations."""
    found: list[Sentence] = []
    for start, end, joins in _pieces(text):
        piece = text[start:end]
        if not piece.strip():
            continue
        if joins and found and not found[-1].is_heading:
            last = found[-1]
            found[-1] = Sentence(text[last.start : end].strip(), last.start, end)
        else:
            found.append(Sentence(piece.strip(), start, end, _HEADING.match(piece) is not None))
    return tuple(found)


def _pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, whether it joins what is before) of code blocks, quoted lines and the sentences between them."""
    at, paragraph = 0, 0
    fence = ""
    fence_at = 0
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                yield fence_at, at + len(line), True
                fence, paragraph = "", at + len(line)
        elif mark:
            yield from _split(text, paragraph, at)
            fence, fence_at = mark[1], at
        elif _QUOTED_LINE.match(line):
            yield from _split(text, paragraph, at)
            yield at, at + len(line), True
            paragraph = at + len(line)
        elif not line.strip() or _BULLET.match(line) or _HEADING.match(line):
            yield from _split(text, paragraph, at)
            paragraph = at
            if _HEADING.match(line):
                yield at, at + len(line), False
                paragraph = at + len(line)
        at += len(line)
    if fence:
        yield fence_at, at, True
    else:
        yield from _split(text, paragraph, at)


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    at = start
    quoted = [found.span() for found in _QUOTED.finditer(text, start, end)]
    for found in _END.finditer(text, start, end):
        inside = any(begin < found.start("gap") < stop for begin, stop in quoted)
        if inside or _ABBREVIATION.search(text[at : found.start()]):
            continue
        stop = found.end("cites")
        yield at, stop, _CITES_ONLY.fullmatch(text[at:stop]) is not None
        at = found.end()
    if at < end:
        yield at, end, _CITES_ONLY.fullmatch(text[at:end]) is not None


CITATION = re.compile(r"\[chunk:\s*(?P<ids>[0-9A-Za-z][0-9A-Za-z-]*(?:\s*[,;]\s*(?:chunk:\s*)?[0-9A-Za-z-]+)*)\s*\]")
"""`[chunk: 1a2b3c4d]`; models also write several ids into one pair of brackets."""

_MARK = re.compile(r"[ \t]*[\[［【]\s*chunk\s*[:：](?P<ids>[^\]］】\n]*)[\]］】]", re.IGNORECASE)
"""Everything that a reader takes for a citation, well written or not."""

_ID = re.compile(r"(?:chunk:\s*)?([0-9A-Za-z-]+)")
_CITED_BEFORE_MARK = re.compile(rf"(?:[ \t]*{CITATION.pattern})+[ \t]*(?=[.,;:!?](?:\s|$))")


def marker(identifier: str) -> str:
    """`[chunk: 1a2b3c4d]`, the canonical form."""
    return f"[chunk: {identifier}]"


def ids_in(mark: re.Match[str]) -> list[str]:
    """The ids of a match of `CITATION`."""
    return _ID.findall(mark["ids"])


def cited_ids(text: str) -> tuple[str, ...]:
    """The ids that a text cites, in order of first use."""
    found = [one for mark in CITATION.finditer(text) for one in ids_in(mark)]
    return tuple(dict.fromkeys(found))


def without_citations(text: str) -> str:
    return CITATION.sub("", _CITED_BEFORE_MARK.sub("", text)).strip()


def with_known_only(text: str, known: Container[str]) -> str:
    """`text` without what looks like a citation and names nothing that is `known`: whoever reads it would take it for a
    source. Of a mark with several ids the known ones stay."""

    def kept(mark: re.Match[str]) -> str:
        if not CITATION.fullmatch(mark.group().lstrip()):
            return ""
        ids = _ID.findall(mark["ids"])
        left = [identifier for identifier in ids if identifier in known]
        if len(left) == len(ids):
            return mark.group()
        return f" {marker(', '.join(left))}" if left else ""

    return _MARK.sub(kept, text)


def by_id(evidence: Iterable[Evidence]) -> dict[str, Evidence]:
    """Every id under which a piece of evidence may be cited, those of the sections merged into it too."""
    return {identifier: known for known in evidence for identifier in known.ids}


def is_cited(text: str, evidence: Iterable[Evidence]) -> bool:
    """Whether a text cites any of the evidence."""
    return not by_id(evidence).keys().isdisjoint(cited_ids(text))


class Support(StrEnum):
    """What became of a claim or a quote."""

    SUPPORTED = "supported"
    MISATTRIBUTED = "misattributed"  # it is in the evidence, but not where the citation says
    ALTERED_QUOTE = "altered quote"  # nearly what the source says
    FABRICATED = "fabricated"  # nothing in the evidence says so, or the citation names nothing
    UNCITED = "uncited"  # a claim without a citation


class Policy(StrEnum):
    """What is done with a sentence that is not supported."""

    FLAG = "flag"
    DROP = "drop"
    KEEP = "keep"


FLAG = "[unverified]"

_CURLY = re.compile(r"“([^”]{12,})”")
_STRAIGHT = re.compile(r"\"([^\"\n]{12,})\"")
_FENCED = re.compile(
    r"^[ \t]*(?P<fence>(?P<mark>[`~])(?P=mark){2,})[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=fence)(?P=mark)*[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_BLOCK_QUOTE = re.compile(r"(?:^[ \t]*>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_QUOTE_MARK = re.compile(r"^[ \t]*> ?", re.MULTILINE)
_INLINE = re.compile(r"(``|`)([^\n]+?)\1")
_IDENTIFIER = re.compile(r"\b(?:[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Za-z]+_\w+|[a-z]+[A-Z]\w+|I[A-Z][a-z]\w+)\b")
ELISION = re.compile(r"\s*(?:…|\[?\.\.\.\]?)\s*")
_COMMENT_MARK = re.compile(r"^[ \t]*(?:///?|\*|--+(?:[ \t]?[|^](?=[ \t]))?|#|''')+[ \t]?", re.MULTILINE)
_MARKUP = re.compile(r"</?\w[\w.:-]*+(?:\s++[\w.:-]++\s*+=\s*+(?:\"[^\"<>]*+\"|'[^'<>]*+'))*+\s*+/?>")
"""A tag, and no comparison: `i <len(parts) … >` may be code."""
_TAG_NAME = re.compile(r"<(?:see|seealso|paramref|typeparamref)\s+\w+=\"(?:[A-Z]:)?([^\"]+)\"\s*/>")

_AS_WRITTEN = str.maketrans("∶", ":")
"""What `defused` puts in at the beginning of a line, as in `response: …`, it does not in the middle of one."""

LEAST_ALIKE = 0.75
"""Of a quote and the window of the source most like it: what is nearer was altered, what is farther invented. Dropping
or changing one word in six gives .8 to .95, sentences on one subject by two authors stay below .6."""

_LEAST_SHARED = 0.34
"""Of the words of a claim that are in the cited text: a third. A paraphrase has its own verbs and keeps the nouns; with
none in common the citation is decoration."""

_LONGEST_COMPARED = 400


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence of an answer and what the check says. `problem` names what is not supported."""

    sentence: Sentence
    support: Support
    cited: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CitationReport:
    """`text` is the answer after the policy, without citations of what was never retrieved; `sentences` are those of
    the answer before it, headings left out."""

    text: str
    sentences: tuple[CheckedSentence, ...]

    @property
    def is_supported(self) -> bool:
        return all(checked.support is Support.SUPPORTED for checked in self.sentences)

    @property
    def has_support(self) -> bool:
        """Whether anything of it is supported: a text without is no answer, whatever it cites."""
        return any(checked.support is Support.SUPPORTED for checked in self.sentences)


def check(answer: str, evidence: Sequence[Evidence], policy: Policy = Policy.FLAG) -> CitationReport:
    """Checks every sentence of an answer against the evidence that it was given. Evidence whose text is not what its
    hash says supports nothing."""
    sound = [known for known in evidence if content_hash(known.text) == known.sha256]
    slices = {known.id: _Slice(known) for known in sound}
    known = {identifier: slices[piece.id] for identifier, piece in by_id(sound).items()}
    found = [_checked(sentence, known, tuple(slices.values())) for sentence in sentences(answer)]
    text = with_known_only(_by_policy(answer, found, policy), known)
    return CitationReport(text, tuple(one for one in found if not one.sentence.is_heading))


class _Slice:
    """A slice with its description in the forms that they are compared in: as code, as the prose of comments, as words.
    Each is made when it is needed: most slices are cited by nothing."""

    def __init__(self, known: Evidence) -> None:
        self._known = known

    @cached_property
    def _text(self) -> str:
        return defused(self._known.text)

    @cached_property
    def _description(self) -> str:
        return defused(self._known.description)

    @cached_property
    def raw(self) -> str:
        known = self._known
        around = " ".join(one.name for one in known.members)  # a section may begin inside of what has the name
        return f"{self._text}\n{self._description}\n{known.symbol} {known.path} {known.kind} {known.via} {around}"

    @cached_property
    def code(self) -> str:
        return f"{_squeezed(self._text)} {_squeezed(self._description)}"

    @cached_property
    def squeezed(self) -> str:
        return _squeezed(self.raw)

    @cached_property
    def prose(self) -> str:
        # a quote may go on over several cues
        words = spoken(self._text) if self._known.language in TRANSCRIPTS else self._text
        return f"{prose_of(words)} {prose_of(self._description)}"

    @cached_property
    def roots(self) -> frozenset[str]:
        return roots_of(self.raw)

    def has(self, quote: str) -> bool:
        """Whether all pieces of a quote, split where something was left out, are here in their order."""
        said = quote.removeprefix("returns: ")  # which a comment writes as `@return`
        return _in_order(_code_pieces(quote), self.code) or _in_order(_prose_pieces(said), self.prose)


def lines_quoted(quote: str, text: str) -> tuple[int, int] | None:
    """The first lines of a text, 1-based and inclusive, that hold a quote, and no more of them; None where it is not in
    the text. Compared as `check` compares: as code, else as prose."""
    wanted, lines = defused(quote), defused(text).split("\n")
    return _lines_of_code(_code_pieces(wanted), lines) or _lines_of_prose(_prose_pieces(wanted), lines)


def _lines_of_code(pieces: Sequence[str], lines: Sequence[str]) -> tuple[int, int] | None:
    squeezed = [_squeezed(line) for line in lines]
    text, ends = "".join(squeezed), list(accumulate(map(len, squeezed)))
    if not _in_order(pieces, text):
        return None
    at = 0
    for piece in pieces:
        at = text.index(piece, at) + len(piece)
    last = bisect_right(ends, at - 1)
    at = ends[last]
    for piece in reversed(pieces):
        at = text.rindex(piece, 0, at)
    return bisect_right(ends, at) + 1, last + 1


def _lines_of_prose(pieces: Sequence[str], lines: Sequence[str]) -> tuple[int, int] | None:
    """A tag may span lines, so these are read again for every guess."""

    def holds(start: int, end: int) -> bool:
        return _in_order(pieces, prose_of("\n".join(lines[start:end])))

    if not holds(0, len(lines)):
        return None
    end = bisect_left(range(1, len(lines)), True, key=lambda end: holds(0, end)) + 1
    start = bisect_left(range(1, end), True, key=lambda start: not holds(start, end))
    return start + 1, end


def likeness(quote: str, text: str) -> float:
    """How much a quote is like the part of a text that is most like it, 0 to 1."""
    return _likeness(prose_of(defused(quote)), prose_of(defused(text)))


def prose_of(text: str) -> str:
    """The words of a text without comment marks and XML tags, blanks as one: what a quoted doc comment is compared
    with."""
    plain = _COMMENT_MARK.sub("", text.translate(_AS_WRITTEN))
    bare = _MARKUP.sub(" ", _TAG_NAME.sub(lambda tag: f" {tag[1].rpartition('.')[2]} ", plain))
    return " ".join(re.sub(r"(?<!\s)\s++([.,;:)])", r"\1", bare).split())


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _code_pieces(quote: str) -> list[str]:
    return [made for piece in ELISION.split(quote) if (made := _squeezed(piece))]


def _prose_pieces(quote: str) -> list[str]:
    return [made for piece in ELISION.split(quote) if (made := prose_of(piece))]


def _in_order(pieces: Sequence[str], text: str) -> bool:
    at = 0
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return bool(pieces)


def _checked(sentence: Sentence, known: Mapping[str, _Slice], slices: Sequence[_Slice]) -> CheckedSentence:
    ids = cited_ids(sentence.text)
    if sentence.is_heading:
        return CheckedSentence(sentence, Support.SUPPORTED, ids)
    unknown = [identifier for identifier in ids if identifier not in known]
    if unknown:
        return CheckedSentence(sentence, Support.FABRICATED, ids, f"nothing retrieved is called {', '.join(unknown)}")
    if not ids:
        return CheckedSentence(sentence, Support.UNCITED, (), "the sentence cites nothing")
    cited = [known[identifier] for identifier in ids]
    for quote in quotes_of(sentence.text):
        support = _of_quote(quote, cited, slices)
        if support is not Support.SUPPORTED:
            return CheckedSentence(sentence, support, ids, f"quote: {_shortened(quote)}")
    support, problem = _of_claim(sentence.text, cited, slices)
    return CheckedSentence(sentence, support, ids, problem)


def quotes_of(text: str) -> list[str]:
    """What a sentence gives as the words of the source: code blocks, block quotes, and quoted text of some length."""
    fenced = [found["code"] for found in _FENCED.finditer(text) if found["code"].strip()]
    rest = _FENCED.sub("", text)
    blocks = [without_citations(_QUOTE_MARK.sub("", found.group())) for found in _BLOCK_QUOTE.finditer(rest)]
    rest = without_citations(_BLOCK_QUOTE.sub("", rest))
    straight = _STRAIGHT.findall(_INLINE.sub(" ", _CURLY.sub(" ", rest)))  # strings in quoted code are no quotes
    return [*fenced, *filter(None, blocks), *_CURLY.findall(rest), *straight]


def _of_quote(quote: str, cited: Sequence[_Slice], slices: Sequence[_Slice]) -> Support:
    wanted = defused(quote)
    if any(one.has(wanted) for one in cited):
        return Support.SUPPORTED
    if any(one.has(wanted) for one in slices):
        return Support.MISATTRIBUTED
    nearest = max((_likeness(prose_of(wanted), one.prose) for one in cited), default=0.0)
    return Support.ALTERED_QUOTE if nearest >= LEAST_ALIKE else Support.FABRICATED


def _likeness(quote: str, text: str) -> float:
    """Of a quote and the part of a text that is around their longest common piece."""
    short = quote[:_LONGEST_COMPARED]
    matcher = SequenceMatcher(None, text, short, autojunk=False)
    common = matcher.find_longest_match(0, len(text), 0, len(short))
    if not common.size:
        return 0.0
    start = max(0, common.a - common.b)
    return SequenceMatcher(None, text[start : start + len(short)], short, autojunk=False).ratio()


def _of_claim(text: str, cited: Sequence[_Slice], slices: Sequence[_Slice]) -> tuple[Support, str]:
    """Of the words around the quotes: every identifier must be in a cited slice, and a third of the words."""
    claim = without_citations(_CURLY.sub(" ", _BLOCK_QUOTE.sub(" ", _FENCED.sub(" ", text))))
    inline = [found[2].strip() for found in _INLINE.finditer(claim)]
    bare = _STRAIGHT.sub(" ", _INLINE.sub(" ", claim))
    for name in dict.fromkeys((*inline, *_IDENTIFIER.findall(bare))):
        if any(_has_name(name, one) for one in cited):
            continue
        elsewhere = any(_has_name(name, one) for one in slices)
        return (Support.MISATTRIBUTED if elsewhere else Support.FABRICATED), f"the cited text has no {name}"
    words = [
        root
        for root in sorted(roots_of(f"{bare} {' '.join(inline)}"))
        if root not in FUNCTION_WORDS and not root.isdigit()
    ]
    if len(words) < 3:  # `It does.` beside a quote says nothing of its own
        return Support.SUPPORTED, ""

    def is_about(one: _Slice) -> bool:
        return sum(word in one.roots for word in words) / len(words) >= _LEAST_SHARED

    if any(map(is_about, cited)):
        return Support.SUPPORTED, ""
    elsewhere = any(map(is_about, slices))  # looked at only now: most claims are about what they cite
    return (Support.MISATTRIBUTED if elsewhere else Support.FABRICATED), "the cited text is about something else"


def _has_name(name: str, one: _Slice) -> bool:
    wanted = _squeezed(defused(name)).removesuffix("()")
    if wanted in one.code or wanted in one.squeezed:
        return True
    return "." in wanted and all(part in one.raw for part in re.findall(r"\w+", wanted))


def _by_policy(answer: str, found: Sequence[CheckedSentence], policy: Policy) -> str:
    if policy is Policy.KEEP:
        return answer
    made, at = [], 0
    for one in found:
        made.append(answer[at : one.sentence.start])
        text = answer[one.sentence.start : one.sentence.end]
        if one.support is Support.SUPPORTED:
            made.append(text)
        elif policy is Policy.FLAG:
            body = text.rstrip()
            made.append(f"{body} {FLAG}{text[len(body) :]}" if "```" not in text else f"{FLAG} {text}")
        at = one.sentence.end
    return re.sub(r"\n{3,}", "\n\n", "".join([*made, answer[at:]])).strip()


def _shortened(quote: str) -> str:
    flat = " ".join(quote.split())
    return flat if len(flat) <= 80 else f"{flat[:79]}…"
