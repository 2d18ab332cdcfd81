"""The quotable parts of evidence: members with their doc comments, paragraphs, statements; and how well each fits a
question. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile

from rag_assets.answer.citation_check import prose_of
from rag_assets.answer.outline import BRACES, PROSE, OutlinePart, outline
from rag_assets.answer.terms import QueryTerm, roots_of
from rag_assets.contracts.evidence import Evidence
from rag_assets.contracts.time_codes import PAGE_BREAK, begins_at

_PRELUDE = re.compile(r"(?:[ \t]*(?:(?P<doc>///|--|#(?!\w)|//)[^\n]*|#\w[^\n]*)?\r?\n)*", re.MULTILINE)
"""What stands before a declaration: its comment, blank lines, directives."""
_DOC_LINE = re.compile(r"^[ \t]*(?:///|--|#(?!\w)|//)[^\n]*$", re.MULTILINE)
_PICTURE = re.compile(r"^[ \t]*```(?:mermaid|svg|plantuml)\b", re.MULTILINE)
_SUMMARY = re.compile(r"<(summary|remarks)>(.*?)</\1>", re.DOTALL)
_BRACKET = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[\[\]]")
_FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)
_CONDITIONAL = re.compile(r"^[ \t]*#\w[^\n]*\n?", re.MULTILINE)
_NOTHING = "… \t\r\n"
_DECLARED = re.compile(r"(?:(?:class|struct|interface|record|enum|def|func)\s+)?([A-Za-z_]\w*)\s*(?:<[^<>()]*>\s*)?$")
_TYPE = re.compile(r"\b(?:class|struct|interface|record|enum|delegate)\s+(?:class\s+|struct\s+)?([A-Za-z_]\w*)")
_CREATES = re.compile(r"\s*(?:CREATE|ALTER)\b", re.IGNORECASE)
"""Of SQL, where a name can be anything in brackets and a type stands before a parenthesis."""

_HEAD_END = re.compile(r"\{|=>|;|=")
_SIGNATURE_END = re.compile(r"\{|=>|;|\n\s*(?:AS|BEGIN)\b")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)

_KEYWORDS = frozenset(
    word
    for line in ("if else for foreach while do switch using lock", "try catch return throw new await var yield")
    for word in line.split()
)

_HEAD_WEIGHT = 1.5
"""A word in the name or the doc comment of a member counts half as much again as one in its body: those say what it is
for, a body mentions what else it touches."""
_FROM_EVIDENCE = 0.45
"""How much of a passage's score comes from the rank of its section; the rest is words, which tell one member of a
section from another."""
_WHOLE_PROSE = 600  # characters; a quote of ten lines
_TYPICAL_LINES = 30
_LONG_LINES = 120
"""A passage of 30 lines counts in full, one of 150 half: long ones have every word somewhere."""
_PROSE_WORTH = 0.9  # of equal passages the code comes first: it is what happens, prose may be old
_CONSTRUCTOR_WORTH = 0.6  # it names all that a type is given, which is what questions are about, and does nothing
_CONFIGURATION = frozenset({"json", "xml", "yaml", "toml", "ini", "msbuild", "html", "css", "razor", "resx", "text"})
_SAID_TOGETHER = 30  # seconds: what a listener who begins at the time of a citation hears soon
_CONFIGURATION_WORTH = 0.6  # it has words of everything and explains nothing


@dataclass(frozen=True, slots=True)
class Passage:
    """`text` is an exact range of the source of `evidence`; `name` what it declares, '' for nothing; `doc` the words of
    its doc comment; `code` what is left of `text` without that comment; `signature` its declaration on one line,
    without attributes and body. Lines are 1-based, of the file. `depth` grows with what is around it."""

    evidence: Evidence
    text: str
    code: str
    line_start: int
    line_end: int
    name: str = ""
    doc: str = ""
    heading: str = ""
    is_type: bool = False
    depth: int = 0
    signature: str = ""
    score: float = 0.0
    has: frozenset[str] = frozenset()

    @property
    def is_prose(self) -> bool:
        return self.evidence.language in PROSE


@lru_cache(maxsize=256)  # of a turn or two: what declares a name is looked at before and while passages are ranked
def passages_of(known: Evidence) -> tuple[Passage, ...]:
    """The passages of a piece of evidence in their order; pictures written as text are none."""
    parts: Sequence[OutlinePart] = _merged_bullets(known, outline(known.text, known.language))
    if known.language in PROSE:  # a section can begin inside of fenced code, which ends then with the first fence
        fences = [found.end() for found in _FENCE.finditer(known.text)]
        parts = [part for part in parts if len(fences) % 2 == 0 or part.start >= fences[0]]
    found = (_passage(known, part) for part in parts)
    return tuple(one for one in found if one.code.strip() and not (one.is_prose and _PICTURE.search(one.text)))


def members_of(head: Passage) -> list[Passage]:
    """What a type declares itself: neither what is inside of its nested types, nor what follows it."""
    after = [part for part in passages_of(head.evidence) if part.line_start > head.line_start]
    inside = list(takewhile(lambda part: part.depth > head.depth, after))
    return [part for part in inside if part.name and part.depth == inside[0].depth]


def ranked(evidence: Iterable[Evidence], words: Sequence[QueryTerm]) -> list[Passage]:
    """All passages by how well they answer a question with these words, the best first. A score lies between 0 and
    about 1.5."""
    pieces = list(evidence)
    best = max((known.score for known in pieces), default=0.0) or 1.0
    total = sum(word.weight for word in words) or 1.0
    scored = [
        _scored(passage, words, total, max(known.score, 0.0) / best)
        for known in pieces
        for passage in passages_of(known)
    ]
    return sorted(scored, key=lambda one: (-one.score, one.evidence.path, one.line_start, one.evidence.id))


def _scored(passage: Passage, words: Sequence[QueryTerm], total: float, rank: float) -> Passage:
    head = roots_of(f"{passage.name} {passage.doc} {passage.heading} {passage.signature}")
    body = roots_of(passage.text) | head
    has = frozenset(word.root for word in words if word.root in body)
    found = sum(word.weight * (_HEAD_WEIGHT if word.root in head else 1.0) for word in words if word.root in has)
    share = found / total
    if passage.evidence.language in _CONFIGURATION:
        share *= _CONFIGURATION_WORTH
    elif passage.is_prose:
        share *= _PROSE_WORTH
    if passage.name == passage.evidence.name and not passage.is_type and passage.evidence.language != "sql":
        share *= _CONSTRUCTOR_WORTH
    share /= 1 + max(0, passage.line_end - passage.line_start - _TYPICAL_LINES) / _LONG_LINES
    return replace(passage, score=(1 - _FROM_EVIDENCE) * share + _FROM_EVIDENCE * rank * (share > 0), has=has)


def _passage(known: Evidence, part: OutlinePart) -> Passage:
    text = known.text[part.start : part.end]
    first = known.line_start + known.text.count("\n", 0, part.start)
    last = first + text.count("\n")
    if known.language in PROSE:
        headings = _HEADING.findall(known.text[: part.end])
        heading, head = headings[-1] if headings else "", _on_one_line(_without_attributes(text))
        return Passage(known, text, text, first, last, heading=heading, signature=head)
    prelude = _PRELUDE.match(text)
    begin = prelude.end() if prelude else 0
    comment = "\n".join(_DOC_LINE.findall(text[:begin]))
    code = text[begin:]
    bare = _without_attributes(code)
    head = _HEAD_END.split(bare, maxsplit=1)[0]
    return Passage(
        known,
        text,
        code,
        first,
        last,
        name=_declared_name(head) if known.language != "sql" else known.name if _CREATES.match(bare) else "",
        doc=_doc_text(comment),
        is_type=_is_type(head),
        depth=part.inside if known.language in BRACES else len(code) - len(code.lstrip(" \t")),
        signature=_on_one_line(bare),
    )


def _on_one_line(bare: str) -> str:
    """A declaration without its body."""
    return " ".join(_SIGNATURE_END.split(bare, maxsplit=1)[0].split())


def _doc_text(comment: str) -> str:
    """The summary of an XML comment, then its remarks; the words of a plain one."""
    summaries: dict[str, str] = dict(reversed(_SUMMARY.findall(comment)))  # the first of each
    if summaries:
        said = [prose_of(summaries[name]) for name in ("summary", "remarks") if name in summaries]
        return " … ".join(filter(None, said))
    return "" if "<" in comment and "///" in comment else prose_of(comment)


def _is_type(head: str) -> bool:
    found = _TYPE.search(head)
    return found is not None and "(" not in head[: found.start()]


def _without_attributes(code: str) -> str:
    """A declaration without the attributes and directives before it, and with `…` for a directive in the middle of it:
    what is quoted has to say what it leaves out."""
    bare = _CONDITIONAL.sub("…\n", code).lstrip(_NOTHING)
    while bare.startswith("["):
        depth = 0
        for found in _BRACKET.finditer(bare):
            depth += {"[": 1, "]": -1}.get(found.group(), 0)
            if depth == 0:
                bare = bare[found.end() :].lstrip(_NOTHING)
                break
        else:
            return bare  # never closed: it is none
    return bare.strip(_NOTHING)


def _declared_name(head: str) -> str:
    kind = _TYPE.search(head)
    if kind is not None:
        return kind[1]
    before = head.partition("(")[0].strip()
    found = _DECLARED.search(before)
    is_call = before.startswith("await ") or "." in before.rpartition(" ")[2].partition("<")[0]
    return found[1] if found and not is_call and found[1] not in _KEYWORDS else ""


def _is_elsewhere(known: Evidence, before: OutlinePart, part: OutlinePart) -> bool:
    """Whether a part is on another page, or said much later: a passage is cited by where it begins (E19)."""
    if known.pages:
        return PAGE_BREAK in known.text[before.start : part.start]
    if known.seconds is None:
        return False
    begins = begins_at(known.text, before.start, known.seconds)
    return begins_at(known.text, part.start, known.seconds) - begins > _SAID_TOGETHER


def _merged_bullets(known: Evidence, parts: Sequence[OutlinePart]) -> list[OutlinePart]:
    """In prose a heading goes with the paragraphs after it as far as they are short, and a line that ends with a colon
    with its list: a paragraph alone seldom says what it is about."""
    if known.language not in PROSE:
        return list(parts)
    made: list[OutlinePart] = []
    for part in parts:
        if made and not known.text.startswith("#", part.start) and not _is_elsewhere(known, made[-1], part):
            before = known.text[made[-1].start : made[-1].end]
            last = before.rstrip().rpartition("\n")[2].strip()
            if last.startswith("#") or last.endswith(":") or part.end - made[-1].start <= _WHOLE_PROSE:
                made[-1] = OutlinePart(made[-1].start, part.end, part.end, part.inside)
                continue
        made.append(part)
    return made
