"""Where a text that somebody saw, an error or a line of a log, is written: the strings of code whose words stand in the
question in their order, with anything for what code puts in between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from rag_assets.answer.graph_facts import GraphFact, GraphFacts
from rag_assets.answer.passages import PROSE
from rag_assets.answer.plans.code_lines import code_of, facts_naming, points_naming, points_with, product_of
from rag_assets.answer.plans.errors import THROWN, error_facts
from rag_assets.identifiers import word_set
from rag_assets.search import CodePlace
from rag_assets.search.line_references import named_at
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.search.index import Searchable

_MOST_READ = 35  # sections: the likeliest of the words of a message
_FEWEST_WORDS, _FEWEST_TELLING = 3, 2
"""Of a text, and of these such as are no `is not a`: fewer may stand in any sentence."""
_MOST_FACTS = 8  # of each sort
_MOST_HOLDERS = 3
_THE_SAME = "The same text"
_FILLED = "\0"
"""Stands for a value that code puts into a text."""
_STRING = r"""(?<!\\)(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`[^`\n]*+`)"""
"""Begins at no escaped quote: each of a line of them would be read to its end."""
_VALUE_BETWEEN = r"\s*[+.&]\s*(?:[\w$.()\[\]>-]{1,60}\s*[+.&]\s*)?[$@fr]{0,2}"
_TEXTS = re.compile(
    rf"(?P<string>{_STRING}(?:(?:{_VALUE_BETWEEN}|[ \t]*\n[ \t]*[fr]?){_STRING})*)"
    r"|>(?P<element>[^<>\n]{8,300})<"
    r"|^[ \t]*[\w.-]+[ \t]*[:=][ \t]*(?P<plain>[^\s\"'`{\[][^\n]{8,300})$",
    re.MULTILINE,
)
"""A string with those that code adds to it, what is in an element, the value of a key."""
_PIECE = re.compile(_STRING)
_VALUES = re.compile(
    rf"(?<=[\"'`]){_VALUE_BETWEEN}(?=[\"'`])"
    r"|\$?\{[^{}\n]*\}|%[-+#0-9.]*[a-zA-Z]|%\(\w+\)[a-z]|#\{[^{}\n]*\}|<[^<>\n]*>|(?<=\s):[a-z]\w*\b"
)
_WORD = re.compile(r"[^\W_]+(?:['’]\w+)?")
_COMMON = word_set(
    "a an and any are as at be been by can cannot could did do does error for from had has have i if in into is it its",
    "may must no not of on only or our please should so such than that the their then there these this to too try was",
    "we were will with you your",
)
_TOLD = re.compile(
    r"\b(?:c[ao]mes?|exceptions?|errors?|getting|gets?|got|happens?|i|logs?|means?|messages?|saw|saying|says?|sees?|seeing"
    r"|shows?|shown|users?|warnings?|what|when|where|why)\b",
    re.IGNORECASE,
)
"""How questions tell of a text; the text itself may have such a word too, and others to be found by."""
_COMMENT = re.compile(r"[ \t]*(?:///?|\*|#|/\*|<!--|--|;)")
_RAISES = re.compile(r"throw|raise|panic|reject|fail|error|exception|warn|fatal|abort|invalid|problem", re.IGNORECASE)
_HOLDS = re.compile(
    r"(?:\b(?:const|final|readonly|static|va[lr])\b[^=\n(]*?|^[ \t]*)"
    r"\b(?P<constant>[A-Z]\w{3,})\s*(?:\([^()\n]*\)\s*|\{[^{}\n]*\}\s*)?(?::[^=\n]*)?(?:=>|=(?!=))"
    r"|<(?:data|string)\s+name=\"(?P<resource>[\w.]+)\""
    r"|^[ \t]*[\"']?(?P<key>(?=\w*[A-Z._])[A-Za-z][\w.]{7,})[\"']?\s*[:=](?!=)",
    re.MULTILINE,
)
"""What a text is the value of: a constant, a property or a short function of a type, a key of a file of texts."""
_DONE = re.compile(r"[;{]|\b(?:return|throw|raise|new)\b")
_CHARS_OF_HOLDER = 200  # before a text


@dataclass(frozen=True, slots=True)
class _Written:
    """A text at a place in a section: how many of its `words` are said, whether its line `raises` something, and the
    `holder` whose value it is."""

    place: CodePlace
    point: str
    words: int
    raises: bool
    holder: str

    @property
    def order(self) -> tuple[bool, str, int]:
        return not self.raises, self.place.path, self.place.line


@dataclass(frozen=True, slots=True)
class WrittenTexts:
    """The places that tell of a text, each with the point that shows it: where it is written, and the first that uses
    what holds it. The `facts` are the others."""

    places: Mapping[CodePlace, str]
    facts: GraphFacts
    at: Mapping[GraphFact, str]


def written_texts(
    question: str, phrases: Sequence[str], target: Searchable, *, alone: bool = False
) -> WrittenTexts | None:
    """Where the longest text is written whose words a question has, or which has those of one of its `phrases`, and
    what leads to it. None where no text of the product stands in the question, or, where the text is asked for `alone`,
    is most of it."""
    said, quoted = _words_of(question), [_words_of(phrase) for phrase in phrases]
    longest = max((phrase for phrase in phrases if " " in phrase), key=len, default="") or question
    points = points_with(_TOLD.sub(" ", longest), target, _MOST_READ)
    payloads = target.parts.shard().retrieve(points, target.scope())
    found: dict[CodePlace, _Written] = {}
    for point in (point for point in points if point in payloads):
        for one in _texts_said(point, payloads[point], code_of(payloads[point], target, PROSE), said, quoted):
            found.setdefault(one.place, one)
    told = [one for one in found.values() if non_product_code(one.place.path) is None]
    most = max((one.words for one in told), default=0)
    if not most or (alone and 2 * most < len(said)):
        return None
    best, *others = sorted((one for one in told if one.words == most), key=lambda one: one.order)
    used = _users([best, *others], named_at(best.place.line, payloads[best.point]), target)
    at: dict[GraphFact, str] = {}
    for one in others:
        path, line = one.place.path, one.place.line
        source = named_at(line, payloads[one.point]) or path.rpartition("/")[2]
        at[GraphFact(source, "", "", path, line, True, _THE_SAME, is_comment=True)] = one.point
    at = {**dict(islice(at.items(), _MOST_FACTS)), **dict(islice(used.items(), _MOST_FACTS))}
    shown = {CodePlace(fact.path, fact.line): point for fact, point in used.items()}
    places = {best.place: best.point, **dict(islice(shown.items(), 1))}
    return WrittenTexts(places, GraphFacts(tuple(at), len(others) + len(used), leads=True), at)


def _users(all_of_it: Sequence[_Written], member: str, target: Searchable) -> dict[GraphFact, str]:
    """Where code uses what holds a text, or throws the error that says it in its own code, or what the member makes
    that says it."""
    if not all_of_it[0].holder:
        owner, _, name = member.partition(".")
        makes = re.compile(rf"\bthrow\b.*(?<!\w){re.escape(owner)}\.{re.escape(name)}\(")
        payloads = product_of(points_naming(name, target).ids, target) if name else {}
        thrown = facts_naming(makes, payloads, target, ("throws", name, True))
        in_order = sorted(thrown, key=lambda one: (one.path, one.line))
        made = {replace(fact, group=THROWN): thrown[fact] for fact in in_order}
        return made or error_facts(target, [owner], caught_first=False)
    own, found = {one.place for one in all_of_it}, dict[GraphFact, str]()
    for holder in list(dict.fromkeys(one.holder for one in all_of_it if one.holder))[:_MOST_HOLDERS]:
        written = re.compile(rf"(?<!\w){re.escape(holder)}(?!\w)")
        payloads = product_of(points_naming(holder, target).ids, target)
        for fact, point in facts_naming(written, payloads, target, ("names", holder, True), declares=False).items():
            if CodePlace(fact.path, fact.line) not in own and fact.source.rpartition(".")[2] != holder:
                found[replace(fact, group=f"{holder} is used in")] = point
    return found


def _texts_said(
    point: str, payload: Mapping[str, Any], source: str, said: list[str], quoted: Sequence[list[str]]
) -> Iterator[_Written]:
    """The texts in the source of a section that were said."""
    known = frozenset(said)
    for text in _TEXTS.finditer(source):
        pieces = list(_PIECE.finditer(source, text.start(), text.end())) if text["string"] else []
        for start, end in [text.span(), *(one.span() for one in pieces if len(pieces) > 1)]:
            written = source[start:end] if text["string"] else text["element"] or text["plain"]
            parts = [part for part in map(_words_of, _VALUES.sub(_FILLED, written).split(_FILLED)) if part]
            if (
                not parts
                or known.isdisjoint(chain.from_iterable(parts))
                or not (words := _count_said(parts, said, quoted))
            ):
                continue
            begin = source.rfind("\n", 0, start) + 1
            if _COMMENT.match(source, begin):  # it tells of code, and nobody saw it
                break
            line = int(payload.get("StartLine", 1)) + source.count("\n", 0, start)
            raises = _RAISES.search(source, begin, end) is not None
            place = CodePlace(str(payload.get("Path", "")), line)
            yield _Written(place, point, words, raises, _holder(source[: text.start(text.lastgroup or 0)]))
            break


def _words_of(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _count_said(parts: Sequence[list[str]], said: list[str], quoted: Sequence[list[str]]) -> int:
    """How many words of a text were said, all of them; 0 of one that was not. Of one in quotes its beginning or its end
    may be left out."""
    words = [word for part in parts for word in part]
    if len(set(words) - _COMMON) < _FEWEST_TELLING:
        return 0
    if len(words) >= _FEWEST_WORDS and _in_order(parts, said):
        return len(words)
    for phrase in quoted:
        is_piece = len(phrase) >= _FEWEST_WORDS and any(_in_order([phrase], part) for part in parts)
        if is_piece or (2 * len(words) >= len(phrase) and _in_order(parts, phrase)):
            return min(len(words), len(phrase))
    return 0


def _in_order(parts: Iterable[list[str]], said: list[str]) -> bool:
    """Whether each part stands in what was said, one behind the other."""
    at = 0
    for part in parts:
        while said[at : at + len(part)] != part:
            if part[0] not in said[at + 1 :]:
                return False
            at = said.index(part[0], at + 1)
        at += len(part)
    return True


def _holder(before: str) -> str:
    """What has the text behind these lines as its value; '' of a text that a statement says."""
    known = list(_HOLDS.finditer(before, max(0, len(before) - _CHARS_OF_HOLDER)))
    if not known or _DONE.search(before, known[-1].end()):
        return ""
    return known[-1]["constant"] or known[-1]["resource"] or known[-1]["key"]
