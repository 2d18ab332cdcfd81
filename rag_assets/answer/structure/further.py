"""What the best quote leaves to others: what catches the failure that a question is about, the member that the quote
calls by the name of what is asked, and the code that shows a text. All stand a step further than where a search of
words leads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.answer.graph_facts import GraphFact, facts_at
from rag_assets.answer.passage_ranking import RankedPassages, name_scores
from rag_assets.answer.passages import CONFIGURATION, MOST_LINES, PROSE, Passage, indent_of, passages_of
from rag_assets.answer.plans.code_lines import MOST_READ, code_of, facts_naming, points_naming, points_with, product_of
from rag_assets.answer.question_analysis import root_set
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.graph import Confidence, Relation
from rag_assets.graph.csr_graph import OUT, Graph
from rag_assets.graph.lookup import short_name
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.line_references import member_at, qualified_name, section_members
from rag_assets.search.ranking.penalties import has_shown_texts, non_product_code

if TYPE_CHECKING:
    from collections.abc import Sequence

_FAILS = (
    r"(?:can(?:not|['’]t| not)|could(?: not|n['’]t)|corrupt\w*|crash\w*|errors?|exceptions?|fail\w*|invalid"
    r"|th(?:rows?|rown)|time(?:s|d)? out|unavailable|unreachable)"
)
_ASKED = re.compile(
    r"^\W*(?:what (?:exactly |else )?(?:becomes|happens|if|is done)\b"
    r"|what (?:do|does|is|will) .{1,60}?\b(?:do|get|return|returned|see|show|shown) (?:if|when)\b"
    r"|how (?:do|does) .{1,60}?\breact\b|how (?:are|is) (?=.*\bhandled\b))"
    rf".*\b{_FAILS}\b",
    re.IGNORECASE | re.DOTALL,
)
"""A question for what is done about a failure, which code says where it catches that."""
_OF_FAILURE = root_set(
    "can cannot catch caught corrupt corrupted could crash error exception fail failed failure handle handled happen",
    "invalid not threw throw thrown time timed unavailable unreachable",
)
_CATCHING = "catch except rescue"
_CATCHES = re.compile(r"[ \t]*(?:\}[ \t]*)?(?:catch|except|rescue)\b")
_TRIES = re.compile(r"[ \t]*(?:try|begin)\b")
_SAYS_NOTHING = re.compile(
    r"\b(?:e|ex|exc|err|error|\w*[eE]xception)\b(?:\.\w+)?|\b[cC]onsole\.\w+|\b\w*[lL]og(?:ger|\w+)?\b"
)
"""What every such block says: `logger.LogError(exception, exception.Message)` is of no message, and of no log."""
_LEAST_CAUGHT, _SURELY_MORE = 0.7, 0.2
_FEWEST_LEADING = 2  # words: one alone is said in many blocks
_LEAST_NAMED = 0.3
"""Of a question, what the name of a member says that does what is asked for: names are short."""
_FEWEST_LINES = 3
_KEY = re.compile(r"(?:\bx:Key|\bname|\bid)=\"([\w.-]{4,})\"|^[ \t]*[\"']?([A-Za-z][\w.-]{3,})[\"']?[ \t]*[:=]")
"""What code calls a text by, in files of texts."""
_LEAST_SHOWN, _MOST_KEYS = 0.4, 3
_MARKUP = frozenset({"xaml", "xml", "html", "razor"})


@dataclass(frozen=True, slots=True)
class LeftToOthers:
    """Where something is that the first quote leaves to others, the point that shows it, and the lines of it, of a
    whole member none; whether it goes before that quote."""

    fact: GraphFact
    point: str
    lines: tuple[int, int] = (0, 0)
    leads: bool = False


def caught_in(question: str, passages: RankedPassages, target: Searchable) -> LeftToOthers | None:
    """The block of the product that catches what fails in a question, by the names around it, what is tried and what
    it says. None for another question, and where no block says enough of it, or the first passage has it."""
    words = [word for word in passages.words if word.root not in _OF_FAILURE]
    if not words or _ASKED.match(question) is None:
        return None
    payloads = product_of(points_with(f"{_CATCHING} {question}", target, MOST_READ), target)
    found: list[LeftToOthers] = []
    texts: list[str] = []
    for point, payload in sorted(payloads.items()):
        for name, first, lines, catching in _blocks(code_of(payload, target).split("\n"), payload):
            fact = GraphFact(name, "", "", payload.get("Path", ""), first + catching, certain=True)
            last = first + len(lines) - 1
            found.append(LeftToOthers(fact, point, (max(first, last - MOST_LINES + 1), last)))
            texts.append(_SAYS_NOTHING.sub(" ", "\n".join([name, *lines[:MOST_LINES], *lines[catching:]])))
    if not texts:
        return None
    scores, said = name_scores(question, words, texts, passages.model)
    best = max(range(len(texts)), key=lambda at: (round(float(said[at]), 2), float(scores[at]), -at))
    quoted = passages.chosen(1)
    block = found[best]
    if said[best] < _LEAST_CAUGHT or not quoted or _is_inside(block.fact, passages.passages[quoted[0]]):
        return None
    first_says = float(passages.of_words(words).said[quoted[0]])
    leads = len(words) >= _FEWEST_LEADING and float(said[best]) >= first_says + _SURELY_MORE
    return replace(block, leads=leads)


def _blocks(code: Sequence[str], payload: Mapping[str, Any]) -> Iterator[tuple[str, int, list[str], int]]:
    """What catches something in the lines of a section: the name around it, its first line, which is where it is tried,
    its lines, and the number of the one that catches."""
    members, begin = section_members(payload), int(payload.get("StartLine", 1))
    for at, line in enumerate(code):
        if _CATCHES.match(line) is None:
            continue
        indent = indent_of(line)
        tried = (
            one
            for one in range(at - 1, -1, -1)
            if _TRIES.match(code[one]) is not None and indent_of(code[one]) <= indent
        )
        start = next(tried, at)
        end = at + 1
        while end < len(code) and (not code[end].strip() or indent_of(code[end]) > indent or code[end].strip() == "{"):
            end += 1
        end += end < len(code) and code[end].strip() == "}"
        around = member_at(begin + at, members)
        yield qualified_name(around, payload) or "", begin + start, list(code[start:end]), at - start


def _is_inside(fact: GraphFact, passage: Passage) -> bool:
    return fact.path == passage.evidence.path and passage.line_start <= fact.line <= passage.line_end


def called_so(passages: RankedPassages, index: LabelIndex, graph: Graph) -> LeftToOthers | None:
    """The member of the same file that the first passage calls, and whose name says the most of the question; None
    where no name says enough of it."""
    quoted = [passages.passages[at] for at in passages.chosen(1)]
    first = next((one for one in quoted if not (one.is_prose or one.is_type)), None)
    if first is None or non_product_code(first.evidence.path) is not None:
        return None
    nodes = [node for key in first.evidence.node_keys if (node := graph.find(key)) is not None]
    called: dict[int, GraphFact] = {}
    for edge in (edge for node in nodes for edge in graph.edges_of(node, OUT, Relation.CALLS)):
        target = graph.find(edge.target)
        is_here = edge.path == first.evidence.path and first.line_start <= edge.line <= first.line_end
        if target is None or not is_here or edge.confidence is Confidence.NAME_ONLY:
            continue
        for place in list(graph.places(target))[:1]:
            fact = GraphFact(short_name(edge.target), "", "", place.path, place.line_start, certain=True)
            is_long = place.line_end - place.line_start >= _FEWEST_LINES
            if place.path == edge.path and is_long and not _is_inside(fact, first):
                called.setdefault(target, fact)
    said = passages.said_by([fact.source.rpartition(".")[2] for fact in called.values()]) if called else []
    most = max(said, default=0.0)
    facts = [fact for fact, share in zip(called.values(), said, strict=True) if share == most]
    points = facts_at(facts[:1], index) if most >= _LEAST_NAMED else {}
    return next((LeftToOthers(fact, point) for fact, point in points.items()), None)


def shown_by(passages: RankedPassages, target: Searchable) -> LeftToOthers | None:
    """The code of the product that shows the text that says the most of the question, where the first passage is of a
    file of texts: what that says is decided where it is shown. None where no code names its key."""
    quoted = [passages.passages[at] for at in passages.chosen(1)]
    first = next((one for one in quoted if not one.is_prose and has_shown_texts(one.evidence.path)), None)
    lines = first.code.split("\n") if first is not None else []
    keyed = [(key[0] or key[1], line) for line in lines for key in _KEY.findall(line)[:1]]
    values = passages.said_by([line for _, line in keyed]) if keyed else []
    best = sorted(range(len(keyed)), key=lambda at: (-values[at], at))[:_MOST_KEYS]
    for key in (keyed[at][0] for at in best if values[at] >= _LEAST_SHOWN):
        payloads = product_of(points_naming(key, target).ids, target)
        payloads = {point: one for point, one in payloads.items() if not has_shown_texts(one.get("Path", ""))}
        written = re.compile(rf"(?<!\w){re.escape(key)}(?!\w)")
        found = facts_naming(written, payloads, target, ("names", key, True), PROSE | CONFIGURATION | _MARKUP)
        for fact in sorted(found, key=lambda one: (one.path, one.line)):
            half = MOST_LINES // 2
            return LeftToOthers(fact, found[fact], (fact.line - half, fact.line + half - 1), leads=True)
    return None


def passage_of(left: LeftToOthers, piece: Evidence) -> Passage | None:
    """What was left to others as a passage of the piece that shows it; None where that does not have it."""
    around = [one for one in passages_of(piece) if one.line_start <= left.fact.line <= one.line_end]
    around = [one for one in around if not one.is_type]
    member = min(around, key=lambda one: one.line_end - one.line_start, default=None)
    if member is None or left.lines == (0, 0):
        return member
    code_start = member.line_end - member.code.count("\n")
    start, end = max(left.lines[0], code_start), min(left.lines[1], member.line_end)
    code = "\n".join(piece.text.split("\n")[start - piece.line_start : end - piece.line_start + 1])
    return replace(
        member,
        text=code,
        code=code,
        doc="",
        line_start=start,
        line_end=end,
        goes_before=start > code_start,
        goes_on=end < member.line_end,
    )
