"""Answers without a model: the best quotes of the evidence, each cited, and nothing else (E19). Pure.

Every statement is a place and a name, which the index knows, and words of the source or of its description, which
`check` can find there; what is from a description is called so (F02).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from math import fsum

from rag_assets.answer.abstention import SEE_ALSO
from rag_assets.answer.citations import FENCE, by_id, cited_ids, marker
from rag_assets.answer.graph_facts import GraphFact, GraphFacts
from rag_assets.answer.passage_ranking import (
    MOST_QUOTED,
    RankedPassages,
    bodies_of_case,
    handed_on,
    is_done,
    same_place,
)
from rag_assets.answer.passages import (
    CONFIGURATION,
    LINK_TARGETS,
    MOST_LINE_CHARS,
    MOST_LINES,
    OF_C,
    PROSE,
    SAYS_NOTHING,
    Passage,
    excerpts_of,
    fields_below,
    headings_in,
    indent_of,
    members_of,
    only_stores,
    open_brackets,
    passages_of,
    whole_of,
)
from rag_assets.answer.question_analysis import Intent, QueryIntent, QueryTerm, role_of, roots_of
from rag_assets.answer.whole_project import is_of_whole
from rag_assets.contracts.evidence import Evidence, Origin, clock, lines_of
from rag_assets.contracts.protocol_markers import defused
from rag_assets.contracts.time_codes import PAGE_BREAK, TRANSCRIPTS, begins_at, spoken
from rag_assets.search import CodePlace
from rag_assets.search.line_references import meant
from rag_assets.search.ranking.penalties import has_shown_texts, non_product_code

_BESIDE_FACTS = 2

_MOST_DESCRIBED = 2  # pieces
_MOST_FACTS = 4  # of one description

_MOST_WHOLE = 3  # quotes
_MOST_ALSO = MOST_QUOTED - _MOST_WHOLE
_MOST_SHORT_LINES = 10  # of these
NOT_SURE = "**Not sure. The closest is:**"
_STARTING = roots_of("run install start usage setup build quickstart deploy")
_FEWEST_CHARS = 8  # of a line that is shown alone
_FEW_LINES = 6
_DECIDING = 0.1
"""Beside the share of the question that a line says, for one that does or decides something."""
_DECIDES = re.compile(
    r"\b(?:return|throw|raise|panic|yield|catch|except|if|while|switch|case|match)\b|=>|[^=!<>]=[^=]|:=|\w\("
)
_SQL_BODY = re.compile(r"^[ \t]*AS\b", re.IGNORECASE | re.MULTILINE)
_CITED_LINES = 40  # that a quote is from: as many as a citation names (`cited_lines`)
_MOST_SIGNATURE_CHARS = 320
"""Some frameworks document each parameter in the signature, over a hundred lines."""
_MOST_OUTLINES = 3  # of one type
_MOST_OF_A_FILE = 3
_MOST_MEMBERS, _MOST_WANTED = 12, 60  # of a type, and of one whose members are asked for
_FIELDS_IN_HEAD = frozenset({"go", "python"})
"""Languages where no mark ends a field: they are part of the head of their type."""
_ADDS = re.compile(r"\s*(?:\w+ )?(?:impl|extension)\b")
"""Of Rust and Swift: what a type does, apart from what it holds."""
_ENUMERATION = re.compile(r"\benum\b|\((?:.*[\s.,])?\w*(?:Enum|Choices)\b")
_BESIDE_VALUES = re.compile(r"\s*(?:\[[^\]]*\]\s*|[@/*#].*|[{}]\s*)?$")
"""Lines of an enumeration that hold no value."""
_FEWEST_BODY_LINES, _MOST_BODIES = 3, 6  # of a type that one member tells the most of
_MOST_DOC_CHARS = 420
_MOST_PROSE_CHARS = 1_200
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"(])")
_PICTURE = re.compile(r"\[?!\[|<")
_QUOTE_MARKS = str.maketrans("“”", '""')


def answer_of(
    wish: QueryIntent,
    words: Sequence[QueryTerm],
    evidence: Sequence[Evidence],
    passages: RankedPassages,
    facts: GraphFacts,
    at: Mapping[GraphFact, Evidence],
    lead: Sequence[Evidence] = (),
) -> str:
    """The answer as Markdown with `[chunk: id]` citations; '' where no passage has a word of the question. `passages`
    may be of more than the `evidence`, which alone is quoted. `lead` is what an overview begins with, or what is at the
    places of a question. `at` is where the source line of a fact is; a fact without a place that can be cited is not
    told."""
    pieces: list[str] = []
    within = frozenset(evidence)
    if wish.intent is Intent.DEFINITION:
        most = _MOST_WANTED if wish.declared else _MOST_MEMBERS
        deciding = bodies_of_case(wish.names, passages) if wish.case else []
        deciding = [one for one in deciding if one.evidence in within]
        pieces += [_code_told(_grown(one, passages)) for one in deciding]
        pieces += _told_of_all(wish.names, words, passages, within) if wish.compared else []
        pieces += _definitions(wish.names, evidence, most, deciding, does=wish.does, choice=wish.choice)
    told = _facts_told(facts, at)
    said = "\n".join([facts.heading, *told] if facts.heading else told) if told else ""
    if facts.leads and facts.heading and len(facts.facts) == len(told) == 1:  # what has to be implemented
        shown = _definitions([facts.facts[0].source], evidence, _MOST_MEMBERS, (), does=False, choice=False)
        said = "\n\n".join([said, *shown[:1]])
    if wish.intent is Intent.PLACE:
        pieces += _at_places(wish.places, lead)
        pieces += [said] if facts.leads else []
    elif wish.intent is Intent.STEPS:
        from rag_assets.answer.plans.steps import is_called_as, is_of_action, readme_first  # start-up budget

        lead = sorted(lead, key=lambda known: (readme_first(known.path), known.line_start))
        headed = _headed(
            lead,
            lambda heading: is_of_action(heading, wish.action),
            words,
            of_file=lambda path: is_called_as(path, wish.action),
        )
        headed.sort(key=lambda one: "`" not in one)  # a heading may only have the word
        commands = sum("`" in one for one in headed)
        pieces += [*headed[:commands], said, *headed[commands:]]
        pieces += [] if any(pieces) else _explanations(words, passages, within, _MOST_WHOLE)
    elif wish.intent is Intent.RELEASE:
        pieces += _of_release(wish.action, lead)
    elif wish.intent is Intent.OVERVIEW:
        about_it = any(role_of(word) != "manner" and not is_of_whole(word.word) for word in words)
        from rag_assets.answer.plans.overview import introduction  # start-up budget: few questions are of a whole

        pieces += [prose_told(one, ()) for one in introduction(lead)]
        if about_it:
            pieces += _explanations(words, passages, within, _BESIDE_FACTS)
        else:
            wanted = _headings_of(words)
            pieces += _headed(lead, lambda heading: not wanted.isdisjoint(roots_of(heading)), words)
        pieces.append(said)
    elif wish.intent is Intent.EXPLANATION:
        first, *others = _explanations(words, passages, within, _MOST_WHOLE, names=wish.names) or [""]
        leads = facts.leads and not (facts.heading and any(passages.passages[at].is_prose for at in passages.chosen(1)))
        pieces += [said, first, *others] if said and leads else [first, said, *others]  # a document before a list
    else:
        if wish.intent is Intent.DEFINITION and said and not pieces:  # nothing declares a setting that texts tell of
            pieces += _explanations(words, passages, within, 1, 0)
        pieces.append(said)
        if not any(pieces) or wish.intent in (Intent.ROUTES, Intent.TABLES):
            pieces += _explanations(words, passages, within, _BESIDE_FACTS if told else _MOST_WHOLE)
    pieces = [piece for piece in pieces if piece]
    quoted = pieces[: pieces.index(SEE_ALSO)] if SEE_ALSO in pieces else pieces
    pieces += _descriptions(wish, words, evidence, "\n\n".join(quoted))
    return "\n\n".join(dict.fromkeys(pieces))


def _facts_told(facts: GraphFacts, at: Mapping[GraphFact, Evidence]) -> list[str]:
    if not facts.facts:
        return []
    from rag_assets.answer.fact_lines import facts_told  # start-up budget: many questions have none

    return list(facts_told(facts, at))


def _at_places(places: Sequence[CodePlace], lead: Sequence[Evidence]) -> list[str]:
    """What is at the places of a question: around a line the smallest member, of a file its types or its beginning."""
    made: list[str] = []
    paths = {known.path for known in lead}
    for place in places:
        wanted = meant(place.path, paths)
        parts_of = excerpts_of if place.line else passages_of
        found = [one for known in lead if known.path in wanted for one in parts_of(known)]
        if place.line:
            around = [one for one in found if one.line_start <= place.line <= one.line_end]
            found = [_until_closed(one) for one in sorted(around, key=lambda one: one.line_end - one.line_start)[:1]]
        else:
            found.sort(key=lambda one: (one.evidence.path.count("/"), one.evidence.path, one.line_start))
            found = ([one for one in found if one.is_type] or found)[:_MOST_OF_A_FILE]
        made += [prose_told(one, ()) if one.is_prose else _code_told(one) for one in found]
    return made


_TABLE = re.compile(r"[^=()]*=\s*[^()=]*\(?[\[({]")
"""The first line of a constant that holds several."""


def _is_table(passage: Passage) -> bool:
    is_code = not (passage.is_prose or passage.is_type or passage.goes_before)
    return is_code and _TABLE.fullmatch(passage.code.partition("\n")[0].rstrip()) is not None


def _until_closed(passage: Passage) -> Passage:
    """A declaration that blank lines part, or a long table, up to where its brackets are closed; of a table as far as
    a quote can name its lines."""
    is_table = _is_table(passage)
    if passage.is_prose or passage.is_type or (passage.goes_on and not is_table):
        return passage
    still_open, lines = open_brackets(passage.code), passage.evidence.text.split("\n")
    first = passage.line_end - passage.code.count("\n") - passage.evidence.line_start
    end = passage.line_end - passage.evidence.line_start + 1
    if still_open <= 0:
        return passage
    while still_open > 0 and end < min(len(lines), first + (_CITED_LINES if is_table else MOST_LINES)):
        still_open += open_brackets(lines[end])
        end += 1
    code = "\n".join(lines[first:end])
    line_end = passage.evidence.line_start + end - 1
    return replace(passage, text=code, code=code, line_end=line_end, goes_on=still_open > 0)


def closest(
    words: Sequence[QueryTerm],
    evidence: Sequence[Evidence],
    passages: RankedPassages,
    facts: GraphFacts,
    at: Mapping[GraphFact, Evidence],
) -> str:
    """What may answer, called so: one quote, the settings that may be meant, and more places."""
    made = _explanations(words, passages, frozenset(evidence), 1)
    if facts.leads or (made and any(fact.group for fact in facts.facts)):
        told = _facts_told(facts, at)
        first = 0 if facts.leads else 1
        made[first:first] = (
            ["\n".join([facts.heading, *told] if facts.heading and facts.leads else told)] if told else []
        )
    return "\n\n".join([NOT_SURE, *made]) if made else ""


def _descriptions(
    wish: QueryIntent, words: Sequence[QueryTerm], evidence: Sequence[Evidence], told: str
) -> Iterator[str]:
    """What the descriptions say of the first pieces that are quoted, or else found, and their sources do not (F02): of
    what the question asks for everything, of others what has a word of the question that is not told yet."""
    known = by_id(evidence)
    shown = [known[one] for one in cited_ids(told) if one in known] or [
        one for one in evidence if one.origin is not Origin.GRAPH
    ]
    wanted = {word.root for word in words} - roots_of(told)
    names = {name.rpartition(".")[2].casefold() for name in wish.names if wish.intent is Intent.DEFINITION}
    described = 0
    for piece in dict.fromkeys(shown):
        if piece.language in PROSE or described == _MOST_DESCRIBED:
            continue
        new = [
            one for one in piece.facts if (said := one.partition(": ")[2]) not in told and not _only_names(said, piece)
        ]
        facts = [one for one in new if piece.name.casefold() in names or wanted & roots_of(one)][:_MOST_FACTS]
        if facts:
            described += 1
            wanted -= roots_of(" ".join(facts))
            quote, name = defused(" … ".join(facts)), piece.name.partition("(")[0]
            where = lines_of(piece.path, *_declaring_lines(piece, name))
            yield f"Description of `{name}` in {where} {marker(piece.id)}\n\n> {quote}"


def _only_names(said: str, piece: Evidence) -> bool:
    """Whether a fact is the name of what is described: `SqlObject: dbo.Orders (table)`."""
    return said.partition(" (")[0].rpartition(".")[2].casefold() == piece.name.partition("(")[0].casefold()


def _declaring_lines(piece: Evidence, name: str) -> tuple[int, int]:
    """The lines of a piece that declare its name, else its first ones."""
    head = next((one for one in passages_of(piece) if one.name == name), None)
    start, end = (head.line_start, head.line_end) if head is not None else (piece.line_start, piece.line_end)
    return start, min(end, start + _CITED_LINES - 1)


def _definitions(
    names: Iterable[str],
    evidence: Sequence[Evidence],
    most: int,
    told: Sequence[Passage],
    *,
    does: bool,
    choice: bool,
) -> list[str]:
    """What declares the names: types with their first members, members as they are, one with a body among them; of a
    type the member that does the most of what it `does`, and where values to choose from are asked for the enumerations
    that are called so alone. Nothing that is `told`."""
    made = []
    for name in names:
        last = name.rpartition(".")[2].casefold()
        found = [
            passage
            for known in sorted(
                evidence,
                key=lambda one: (
                    one.origin is not Origin.DEFINITION,
                    non_product_code(one.path) is not None,
                    one.language == "sql" and _stem(one.path) != last,  # scripts of changes have older ones
                ),
            )
            for passage in passages_of(known)
            if passage.own_name.casefold() == last and not passage.is_prose
        ]
        found.sort(key=lambda one: one.evidence.language in OF_C and "{" not in one.code)  # prototypes last
        types = sorted((one for one in found if one.is_type), key=lambda one: _least_first(one, last))
        enumerations = [one for one in types if choice and _ENUMERATION.search(one.head)]
        found = enumerations or types or found
        qualified = [one for one in found if _is_qualified(one, name)]
        found = qualified if "." in name and qualified else found
        found = [one for one in found if one.is_type or not any(same_place(one, other) for other in told)]
        done = next(
            (one for one in found[2:] if not any(is_done(known) for known in found[:2]) and is_done(one)),
            None,
        )
        for passage in (*found[:1], done) if done is not None else found[:2]:
            doing = _doing(passage) if does and not told and passage.is_type and not _is_short(passage) else None
            shown = most if not enumerations else _MOST_WANTED if _has_members_alone(passage) else 0
            purpose = _purpose_inside(passage) if passage.evidence.language == "sql" else None
            made += [_member_told(purpose)] if purpose is not None else []
            made += [_code_told(passage, shown), *([_code_told(doing)] if doing else [])]
    return made


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0].casefold()


def _purpose_inside(head: Passage) -> Passage | None:
    """The comment that the body of a routine of SQL begins with, which says what it is for, where a quote that begins
    with all of its parameters would not show it."""
    from rag_assets.languages.sql.segments import comment_inside  # start-up budget: of SQL alone

    body = _SQL_BODY.search(head.code)
    start, end = comment_inside(head.code, body.end(), len(head.code)) if body is not None else (0, 0)
    before = head.code.count("\n", 0, start)
    if start == end or before < MOST_LINES // 2:
        return None
    first = head.line_end - head.code.count("\n") + before
    lines = head.code[start:end].rstrip().split("\n")
    code = "\n".join(lines[: MOST_LINES // 2])
    return replace(
        head,
        text=code,
        code=code,
        line_start=first,
        line_end=first + code.count("\n"),
        goes_before=True,
        goes_on=len(lines) > MOST_LINES // 2,
    )


def _is_qualified(passage: Passage, name: str) -> bool:
    symbol = passage.evidence.plain_symbol
    called = passage.name.replace("::", ".")
    return any(one.casefold().endswith(f".{name.casefold()}") for one in (symbol, f"{symbol}.{called}"))


def _told_of_all(
    names: Iterable[str], words: Sequence[QueryTerm], passages: RankedPassages, within: Container[Evidence]
) -> list[str]:
    """The best paragraph of a document, and of no page of an application, that tells of all names."""
    written = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) for name in names]
    prose = (one for one in passages.passages if one.is_prose and one.evidence.language != "html")
    of_all = (one for one in prose if all(name.search(one.text) for name in written))
    found = next((one for one in of_all if one.evidence in within), None)
    return [prose_told(found, words)] if found is not None else []


def _has_members_alone(head: Passage) -> bool:
    """Whether a type holds nothing but members: then the values of an enumeration are such, as in Rust and Swift."""
    return head.line_end == head.declaration[1]


def _doing(head: Passage) -> Passage | None:
    """The longest member of a type of few: what a handler, a filter or a command does stands there. None for a type
    that does many things, and for one that does none."""
    bodies = [one for one in members_of(head) if one.line_end - one.line_start >= _FEWEST_BODY_LINES]
    bodies = [one for one in bodies if not one.is_type and not only_stores(one)]
    if len(bodies) > _MOST_BODIES:
        return None
    return max(bodies, key=lambda one: one.code.count("\n"), default=None)


def _least_first(head: Passage, name: str) -> tuple[bool, bool, bool, int]:
    """The product before tests and samples, what is a symbol of its own before what is nested, what declares a type
    before what adds to it, of a partial type the part with most members."""
    known = head.evidence
    is_beside, is_nested = non_product_code(known.path) is not None, known.name.casefold() != name
    return is_beside, is_nested, _ADDS.match(head.head) is not None, -len(members_of(head))


def _type_told(head: Passage, most: int) -> str:
    """A type: its doc comment, and its declarations without bodies; those that lie far from the head as quotes of their
    own, so that each is cited where it is."""
    members = members_of(head)
    shown = members[:most]
    if not shown:
        is_longer = head.code.count("\n") >= _CITED_LINES and _ENUMERATION.search(head.head)
        return _values_told(head) if is_longer else _member_told(_telling_lines(head, (), _CITED_LINES))
    if _is_short(head):
        return _member_told(_with_body(head))
    made: list[str] = []
    below = fields_below(head)
    has_fields = head.evidence.language in _FIELDS_IN_HEAD or _ENUMERATION.search(head.head) is not None
    has_fields = has_fields and ("\n" in head.code.strip() or bool(below))
    if has_fields:
        made += [_member_told(_telling_lines(part, (), _CITED_LINES)) for part in (head, *below)]
    elif head.declaration[1] - head.line_start >= _CITED_LINES:  # a comment of pages: what it says first, by itself
        made.append(about(replace(head, line_end=head.line_start + _CITED_LINES - 1)))
        head = replace(head, doc="", line_start=head.declaration[0])
    outlines: list[list[Passage]] = [[]]
    start = shown[0].line_start if has_fields else head.line_start
    for part in shown:
        _, first, last = _signature_told(part)
        if last - start >= _CITED_LINES:
            outlines.append([])
            start = first
        outlines[-1].append(part)
    told = outlines[:_MOST_OUTLINES]
    is_more = len(members) > sum(map(len, told))
    for number, parts in enumerate(told):
        is_first = number == 0 and not has_fields
        signatures = [_signature_told(head)[0]] if is_first else []
        signatures += [f"    {_signature_told(part)[0]}" for part in parts]
        code = " …\n".join(defused(line) for line in dict.fromkeys(signatures) if line.strip())
        code += " …" * (is_more and number == len(told) - 1)
        made.append(f"{about(head) if is_first else _outline_of(head, parts)}\n\n{_fenced(code, head.evidence)}")
    return "\n\n".join(made)


def _values_told(head: Passage) -> str:
    """A long enumeration without its attributes, comments and blank lines."""
    first = head.line_end - head.code.count("\n")
    lines = {first + at: line for at, line in enumerate(head.code.split("\n")) if not _BESIDE_VALUES.match(line)}
    shown = list(lines)[: _MOST_WANTED + 1]
    told = [f"{'' if at == shown[0] else '    '}{lines[at].strip()}{'' if at + 1 in shown else ' …'}" for at in shown]
    code = "\n".join(told) if len(shown) < len(lines) else "\n".join(told).removesuffix(" …")
    head = replace(head, line_start=shown[0], line_end=shown[-1])
    return f"{about(head)}\n\n{_fenced(defused(code), head.evidence)}"


def _is_short(head: Passage) -> bool:
    """Whether a quote has room for a type as a whole."""
    members = members_of(head)
    return bool(members) and members[-1].line_end - head.declaration[0] < MOST_LINES


def _with_body(head: Passage) -> Passage:
    """A type with its members, and with what closes it."""
    lines = head.evidence.text.split("\n")
    end = members_of(head)[-1].line_end - head.evidence.line_start + 1
    end += end < len(lines) and lines[end].strip() == "}"
    code = "\n".join(lines[head.declaration[0] - head.evidence.line_start : end])
    return replace(head, text=code, code=code, line_end=head.evidence.line_start + end - 1, goes_on=False)


def _outline_of(head: Passage, parts: Sequence[Passage]) -> str:
    where = lines_of(head.evidence.path, _signature_told(parts[0])[1], _signature_told(parts[-1])[2])
    return f"Members of `{head.name}` in {where} {marker(head.evidence.id)}"


def _signature_told(part: Passage) -> tuple[str, int, int]:
    """A signature, as much of it as one is read for, and its lines."""
    first, last = part.declaration
    if len(part.head) <= _MOST_SIGNATURE_CHARS:
        return part.head, first, last
    told, room = part.head[:_MOST_SIGNATURE_CHARS].rpartition(" ")[0], _MOST_SIGNATURE_CHARS
    for number, line in enumerate(part.code.split("\n")):
        room -= len(" ".join(line.split())) + 1
        if room <= 0:
            return told, first, min(last, first + number)
    return told, first, last


def _explanations(
    words: Sequence[QueryTerm],
    passages: RankedPassages,
    within: Container[Evidence],
    most: int,
    most_also: int = _MOST_ALSO,
    names: Iterable[str] = (),
) -> list[str]:
    """The best passages, among them what a name of the question does, and of the next ones the lines that say the
    most."""
    quoted = [*dict.fromkeys(_below(passages.passages[one]) for one in passages.chosen(most + most_also, within))]
    lasts = {name.rpartition(".")[2].casefold() for name in names}
    if lasts and not any(one.name.casefold() in lasts and is_done(one) for one in quoted[:most]):
        named = (one for one in passages.passages if one.name.casefold() in lasts and is_done(one))
        quoted = _put_in(quoted, most - 1, next((one for one in named if one.evidence in within), None))
    handed = ((at, handed_on(one, passages)) for at, one in enumerate(quoted[:most]))
    at, other = next(((at, one) for at, one in handed if one is not None and one.evidence in within), (0, None))
    if other is not None and not any(other is one for one in quoted[: at + 2]):
        quoted = _put_in(quoted, at + 1, other)
    for at, one in passages.also:
        if one.evidence in within and not any(same_place(one, other) for other in quoted[:at]):
            quoted = [*quoted[:at], one, *(other for other in quoted[at:] if not same_place(one, other))]
    quoted[:most] = sorted(quoted[:most], key=_is_shown)
    quoted = _each_once(quoted, most, passages)
    lines = [one.code.split("\n") for one in quoted[most:]]
    values = iter(_values_of([line for part in lines if len(part) > _MOST_SHORT_LINES for line in part], passages))
    shorter = [
        _telling_lines(one, list(islice(values, len(part))) if len(part) > _MOST_SHORT_LINES else (), _MOST_SHORT_LINES)
        for one, part in zip(quoted[most:], lines, strict=True)
    ]
    shown = [*quoted[:most], *shorter]
    for at, one in enumerate(shown):
        others = [other for other in (*shown[:at], *shown[at + 1 :]) if other.evidence.path == one.evidence.path]
        room = MOST_LINES if at < most else _MOST_SHORT_LINES
        shown[at] = _in_context(one, room, others) if one.is_prose else _with_neighbours(one, room, others)
    made = [prose_told(one, words) if one.is_prose else _code_told(one) for one in shown[:most]]
    also = [prose_told(one, words) if one.is_prose else _member_told(one) for one in shown[most:]]
    return [*made, SEE_ALSO, *also] if also else made


def _below(passage: Passage) -> Passage:
    """The passage after a heading that has nothing else below it than another one: the heading alone tells nothing."""
    title = passage.text.strip() if passage.is_prose else ""
    if not title.startswith("#") or "\n" in title:
        return passage
    return next((one for one in passages_of(passage.evidence) if one.line_start > passage.line_end), passage)


def _each_once(quoted: Sequence[Passage], most: int, passages: RankedPassages) -> list[Passage]:
    """The first passages with the lines around them; those of one member that then overlap as one."""
    kept, others = list[Passage](), list(quoted)
    while others and len(kept) < most:
        one = _grown(others.pop(0), passages)
        at, joined = next(((at, both) for at, known in enumerate(kept) if (both := _joined(known, one))), (0, None))
        if joined is None:
            kept.append(one)
        else:
            kept[at] = joined
    return [*kept, *others]


def _joined(one: Passage, other: Passage) -> Passage | None:
    """Two overlapping excerpts of a member as one."""
    start, end = min(one.line_start, other.line_start), max(one.line_end, other.line_end)
    is_apart = one.line_end < other.line_start or other.line_end < one.line_start or end - start >= 2 * MOST_LINES
    if one.is_prose or is_apart or not same_place(whole_of(one), whole_of(other)):
        return None
    first, last = (one, other) if one.line_start <= other.line_start else (other, one)
    last = last if last.line_end == end else first
    begin = first.line_end - first.code.count("\n")
    lines = first.evidence.text.split("\n")[begin - first.evidence.line_start : end - first.evidence.line_start + 1]
    code = "\n".join(lines)
    return replace(first, text=code, code=code, line_end=end, goes_on=last.goes_on)


def _grown(excerpt: Passage, passages: RankedPassages) -> Passage:
    """An excerpt of a longer member with as many lines around it as a quote has room for, where they say more; of an
    enumeration all: its values are one list."""
    whole = whole_of(excerpt)
    if excerpt.is_type and _ENUMERATION.search(excerpt.head):
        return whole
    lines = whole.code.split("\n")
    first = whole.line_end - len(lines) + 1
    begin, end = max(0, excerpt.line_end - excerpt.code.count("\n") - first), excerpt.line_end - first + 1
    if excerpt.is_prose or end - begin >= min(MOST_LINES, len(lines)):
        return excerpt
    values = _values_of(lines, passages)
    starts = range(max(0, end - MOST_LINES), min(begin, max(0, len(lines) - MOST_LINES)) + 1)
    start = max(starts, key=lambda at: (round(sum(values[at : at + MOST_LINES]), 6), at))
    code = "\n".join(lines[start : start + MOST_LINES])
    return replace(
        excerpt,
        text=code,
        code=code,
        doc=whole.doc,
        line_start=first + start if start else whole.line_start,
        line_end=first + start + code.count("\n"),
        goes_before=start > 0,
        goes_on=start + MOST_LINES < len(lines),
    )


def _is_shown(passage: Passage) -> bool:
    """Whether a passage is of texts that users see, which name everything and decide nothing: it is quoted after what
    does."""
    return not passage.is_prose and has_shown_texts(passage.evidence.path)


def _put_in(quoted: Sequence[Passage], at: int, passage: Passage | None) -> list[Passage]:
    others = [one for one in quoted if one is not passage]
    return [*others[:at], *filter(None, [passage]), *others[at:]]


def _headings_of(words: Sequence[QueryTerm]) -> frozenset[str]:
    wanted = frozenset(word.root for word in words)
    return wanted | _STARTING if wanted & _STARTING else wanted


def _headed(
    lead: Sequence[Evidence],
    is_wanted: Callable[[str], bool],
    words: Sequence[QueryTerm],
    *,
    of_file: Callable[[str], bool] | None = None,
) -> list[str]:
    """Of documents what is below the first headings that say what is asked: `Features`, `Technology stack`, `Usage`; of
    an action, which the name `of_file` may say too, nothing of the next section."""
    found: dict[str, Passage] = {}
    for known in lead:
        for passage in passages_of(known):
            is_told = of_file is not None and of_file(known.path)
            if passage.is_prose and (is_told or is_wanted(passage.heading)):
                found.setdefault(passage.heading, passage)
    told = list(found.values())[:_BESIDE_FACTS]
    return [prose_told(_in_context(one, from_start=True, alone=of_file is not None), words) for one in told]


def _of_release(version: str, lead: Sequence[Evidence]) -> list[str]:
    """What changelogs say below the heading of a version, up to the next heading that is no part of it."""
    from rag_assets.answer.plans.documents import (  # start-up budget: few questions are of a release
        is_of_release,
        versions_in,
    )

    made: list[str] = []
    path, level = "", 0
    for known in sorted(lead, key=lambda one: (one.path, one.line_start)):
        headings = [(known.text.count("\n", 0, one.start), one) for one in versions_in(known.text, known.language)]
        start, own = next(((at, one) for at, one in headings if is_of_release(one.title, version)), (0, None))
        if own is None and (not level or known.path != path):  # what goes on there is another version's
            continue
        path, level = known.path, own.level if own is not None else level
        lines = known.text.split("\n")
        ends = (at for at, one in headings if at >= start and one is not own and one.level <= level)
        end = next(ends, len(lines))
        level = level if end == len(lines) else 0
        shown = "\n".join(lines[start : min(end, start + _CITED_LINES)]).rstrip().split("\n")
        goes_on = ["…"] if end - start > _CITED_LINES else []
        where = lines_of(known.path, known.line_start + start, known.line_start + start + len(shown) - 1)
        quoted = "\n".join(f"> {defused(line)}".rstrip() for line in (*shown, *goes_on))
        made.append(f"{where} {marker(known.id)}\n\n{quoted}")
    return made


def telling_line(passage: Passage, passages: RankedPassages) -> tuple[int, str]:
    """The line of a passage that says the most of the question, and its number; '' where no line can be shown."""
    known = passage.evidence
    if known.pages or known.seconds is not None:
        return 0, ""
    first = passage.line_end - passage.code.count("\n")
    lines = [(first + at, line.strip()) for at, line in enumerate(passage.code.split("\n"))]
    shown = [(number, line) for number, line in lines if not SAYS_NOTHING.match(line) and "`" not in line]
    shown = [(number, line) for number, line in shown if _FEWEST_CHARS <= len(line) <= MOST_LINE_CHARS]
    if not shown:
        return 0, ""
    values = passages.said_by([line for _, line in shown])
    return shown[max(range(len(shown)), key=lambda at: (values[at] + _decides(shown[at][1]), -at))]


def _with_neighbours(passage: Passage, most: int, others: Sequence[Passage]) -> Passage:
    """A short member with those next to it as far as a quote has room and no other quote of the file shows them: what
    it says is often decided beside it. One that a comment explains begins with that."""
    known = passage.evidence
    if passage.is_type:
        return passage
    if known.language in CONFIGURATION:  # the next key is of something else
        most = min(most, _MOST_SHORT_LINES)

    def fits(one: Passage) -> bool:
        return not one.is_type and one.depth == passage.depth and not any(same_place(one, other) for other in others)

    before = [one for one in passages_of(known) if one.line_end < passage.line_start and not passage.doc]
    after = [one for one in passages_of(known) if one.line_start > passage.line_end]
    start, end = passage.line_start, passage.line_end
    for one in (*takewhile(fits, after), *takewhile(fits, reversed(before))):
        first, last = min(start, one.line_start), max(end, one.line_end)
        if last - first < most:
            start, end = first, last
    if (start, end) == (passage.line_start, passage.line_end):
        return passage
    first = start if start < passage.line_start else passage.line_end - passage.code.count("\n")
    code = "\n".join(known.text.split("\n")[first - known.line_start : end - known.line_start + 1])
    doc = passage.doc if start == passage.line_start else ""
    return replace(
        passage,
        text=code,
        code=code,
        doc=doc,
        line_start=start,
        line_end=end,
        goes_before=passage.goes_before and start == passage.line_start,
        goes_on=passage.goes_on and end == passage.line_end,
    )


def _code_told(passage: Passage, most: int = _MOST_MEMBERS) -> str:
    if passage.is_type:
        return _type_told(passage, most)
    is_chosen = passage.goes_before or passage.goes_on or passage.code.count("\n") < _CITED_LINES
    most_lines = 2 * MOST_LINES if is_chosen else _CITED_LINES if _is_table(passage) else MOST_LINES
    return _member_told(_telling_lines(passage, (), most_lines))


def _to_its_end(excerpt: Passage) -> Passage:
    """With the few last lines of its member: they often say what comes of it."""
    is_long = excerpt.line_end - excerpt.line_start >= 2 * _FEW_LINES  # and none of those below
    may_end = is_long and excerpt.goes_on and not excerpt.is_prose
    rest = whole_of(excerpt).line_end - excerpt.line_end if may_end else 0
    if not 0 < rest <= _FEW_LINES:
        return excerpt
    begin = excerpt.line_end - excerpt.evidence.line_start + 1
    code = "\n".join((excerpt.code, *excerpt.evidence.text.split("\n")[begin : begin + rest]))
    return replace(excerpt, text=code, code=code, line_end=excerpt.line_end + rest, goes_on=False)


def _member_told(passage: Passage) -> str:
    passage = _to_its_end(passage)
    if passage.line_end - passage.line_start >= _CITED_LINES:  # a comment of pages
        passage = replace(passage, doc="", line_start=passage.line_end - passage.code.count("\n"))
    code = defused("\n".join(_dedented(passage.code)))
    before, after = "…\n" * passage.goes_before, "\n…" * passage.goes_on
    return f"{about(passage)}\n\n{_fenced(f'{before}{code}{after}', passage.evidence)}"


def _telling_lines(passage: Passage, values: Sequence[float], most: int) -> Passage:
    """The lines in a row, `most` at most, that answer the most by the values of all; without any, or where those are as
    good, the first ones."""
    lines = passage.code.split("\n")
    if len(lines) <= most:
        return passage

    def value(start: int) -> float:
        shown = values[start : start + most]
        return round(sum(shown) + max(shown), 6)

    start = max(range(len(lines) - most + 1), key=lambda at: (value(at), -at)) if values else 0
    code, first = "\n".join(lines[start : start + most]), passage.line_end - len(lines) + 1 + start
    return replace(
        passage,
        text=code,
        code=code,
        line_start=first if start else passage.line_start,
        line_end=first + most - 1,
        goes_before=passage.goes_before or start > 0,
        goes_on=passage.goes_on or start + most < len(lines),
    )


def _values_of(lines: Sequence[str], asked: RankedPassages) -> list[float]:
    """How much each line answers: what it says of the question, and more where it does or decides something."""
    said = asked.said_by(lines)
    return [value + _decides(line) if value else 0.0 for value, line in zip(said, lines, strict=True)]


def _decides(line: str) -> float:
    return _DECIDING if _DECIDES.search(line) else 0.0


def about(passage: Passage) -> str:
    """The sentence before a quote: what it is, where, and what its author says of it."""
    known, owner = passage.evidence, passage.owner
    is_whole = passage.name in ("", owner) or passage.is_type or not owner.isidentifier() or known.language == "sql"
    is_whole = is_whole or " " in passage.name  # F# has names of any text
    name = passage.name if is_whole else f"{owner}.{passage.name}"
    symbol, bracket, _ = known.plain_symbol.partition("(")
    if bracket and name and symbol.endswith(f".{name}"):  # an action has a section of its own; `Get` is many
        name = ".".join(symbol.split(".")[-2:])
    where = lines_of(known.path, passage.line_start, passage.line_end)
    doc = "" if passage.goes_before else _cut(passage.doc, _MOST_DOC_CHARS)
    doc = "" if doc.translate(_QUOTE_MARKS) != doc else doc
    said = f": “{defused(doc)}”" if len(doc) > 12 else ""
    return f"`{name or owner}` in {where}{said} {marker(known.id)}"


def prose_told(passage: Passage, words: Sequence[QueryTerm]) -> str:
    """A paragraph of a document, or what is said in a recording, as a block quote; of a long one the sentences that say
    most."""
    known = passage.evidence
    where = _opened_at(passage)
    heading = _PICTURE.split(passage.heading)[0].rstrip()
    is_plain = heading.translate(_QUOTE_MARKS) == heading  # in other quotation marks it would be no quote any more
    title = f"“{defused(heading)}” in " if len(heading) >= 12 and is_plain else ""
    read = spoken(passage.text) if known.language in TRANSCRIPTS else passage.text.replace(PAGE_BREAK, "\n")
    text = _telling(read, words)
    quoted = "\n".join(f"> {defused(line)}".rstrip() for line in text.split("\n"))
    return f"{title}{where} {marker(known.id)}\n\n{quoted}"


def _in_context(
    passage: Passage,
    most: int = MOST_LINES,
    others: Sequence[Passage] = (),
    *,
    from_start: bool = False,
    alone: bool = False,
) -> Passage:
    """A paragraph with those around it, or only those after it, as far as a quote has room and no other quote of the
    file shows them: what it says is often explained by the next one, or by the table before it. Not of pages or
    recordings, whose quotes are found by where they begin."""
    known = passage.evidence
    if known.pages or known.seconds is not None:
        return passage
    lines = known.text.split("\n")
    start, end = passage.line_start - known.line_start, passage.line_end - known.line_start + 1
    stop = _next_section(known, passage.line_start) if alone else len(lines)
    stop = min([stop, *(one.line_start - known.line_start for one in others if one.line_start > passage.line_end)])
    least = _own_section(known, passage.line_start)
    least = max([least, *(one.line_end - known.line_start + 1 for one in others if one.line_end < passage.line_start)])
    while end - start < most:
        grown = max(least, start - (not from_start)), min(stop, end + 1)
        if grown == (start, end) or sum(map(len, lines[grown[0] : grown[1]])) > _MOST_PROSE_CHARS:
            break
        start, end = grown
    own_start, own_end = passage.line_start - known.line_start, passage.line_end - known.line_start + 1
    inside = _inside_fences(lines)
    while not lines[start].strip() or (
        start < end - 1
        and (_is_closing(lines, inside, start) or (start < own_start and _BESIDE_TEXT.match(lines[start])))
    ):
        start += 1
    while end - 1 > start and (
        not lines[end - 1].strip()
        or LINK_TARGETS.fullmatch(lines[end - 1])
        or (end > own_end and _introduces(lines[end - 1], is_code=inside[end - 1]))
    ):
        end -= 1
    text = "\n".join(lines[start:end])
    first = known.line_start + start
    return replace(passage, text=text, code=text, line_start=first, line_end=first + end - start - 1)


_BESIDE_TEXT = re.compile(r"[ \t]*<!--.*-->[ \t]*$")
_HEADS = re.compile(r"#{1,6} |[ \t]*(?:```|~~~|<!--)")
_REMARKS = re.compile(r"[ \t]*(?://|#|--)")


def _inside_fences(lines: Sequence[str]) -> list[bool]:
    """Whether each line of a text of Markdown is of fenced code, or closes it; a text with one fence too many begins
    inside of such."""
    fences = [FENCE.match(line) is not None for line in lines]
    is_inside = sum(fences) % 2 == 1
    made = []
    for is_fence in fences:
        made.append(is_inside)
        is_inside = is_inside != is_fence
    return made


def _is_closing(lines: Sequence[str], inside: Sequence[bool], at: int) -> bool:
    return inside[at] and FENCE.match(lines[at]) is not None


def _introduces(line: str, *, is_code: bool) -> bool:
    """Whether a line says nothing without those after it: a heading, the beginning of code, a remark before code."""
    return (_REMARKS if is_code else _HEADS).match(line) is not None


def _own_section(known: Evidence, line: int) -> int:
    """How many lines of a text there are before the heading that a line is below, 0 where none is above it."""
    before = (known.text.count("\n", 0, heading.start) for heading in headings_in(known.text, known.language))
    return max((at for at in before if known.line_start + at <= line), default=0)


def _next_section(known: Evidence, line: int) -> int:
    """How many lines of a text there are before the section that follows the one of a line, and is no part of it."""
    own = 0
    for heading in headings_in(known.text, known.language):
        before = known.text.count("\n", 0, heading.start)
        if known.line_start + before <= line:
            own = heading.level
        elif heading.level <= (own or heading.level):
            return before
    return known.text.count("\n") + 1


def _opened_at(passage: Passage) -> str:
    """Where a reader finds a passage: lines of a text, a page of a document, the time in a recording (E19)."""
    known = passage.evidence
    at = max(known.text.find(passage.text), 0)
    if known.pages:
        return f"{known.path}, page {known.pages[0] + known.text.count(PAGE_BREAK, 0, at)}"
    if known.seconds is not None:
        return f"{known.path}, t={clock(begins_at(known.text, at, known.seconds))}"
    return lines_of(known.path, passage.line_start, passage.line_end)


def _telling(text: str, words: Sequence[QueryTerm]) -> str:
    """A text as it is where it is short; else from its most telling line on."""
    text = text.replace("\r\n", "\n").strip("\n")
    if len(text) <= _MOST_PROSE_CHARS:
        return text
    lines = text.split("\n")
    weights = {word.root: word.weight for word in words}
    values = [fsum(weights.get(one, 0.0) for one in roots_of(line)) for line in lines]  # in whatever order a set is
    best = max(range(len(lines)), key=lambda at: (values[at], -at))
    end, size = best, 0
    while end < len(lines) and size + len(lines[end]) < _MOST_PROSE_CHARS:
        size += len(lines[end]) + 1
        end += 1
    kept = "\n".join(lines[best : max(end, best + 1)])
    before = "…\n" if best else ""
    return f"{before}{_cut(kept, _MOST_PROSE_CHARS)}{' …' if end < len(lines) else ''}"


_BRACKETS = frozenset("{})]")


def _dedented(code: str) -> list[str]:
    """The lines without the indentation that all have; the first one of a passage that begins within its line may have
    lost its own, which is that of its brackets, or of what an attribute stands before."""
    lines = code.strip("\r\n").split("\n")
    others = [line for line in lines[1:] if line.strip() and not line.startswith("#")]
    least = min(others, key=indent_of, default="")
    if not lines[0][:1].isspace() and (least.lstrip()[:1] in _BRACKETS or lines[0][:1] in ("[", "@", "/")):
        lines[0] = least[: indent_of(least)] + lines[0]
    cut = min(map(indent_of, [line for line in lines if line.strip() and not line.startswith("#")]), default=0)
    return [line.rstrip() if line.startswith("#") else line[cut:].rstrip() for line in lines]


_LONGER = "`" * 12  # than what code has that writes fences of both kinds


def _fenced(code: str, known: Evidence) -> str:
    mark = next((one for one in ("```", "~~~") if one not in code), _LONGER)
    language = known.language if known.language.isalnum() else ""
    return f"{mark}{language}\n{code}\n{mark}"


def _cut(text: str, most: int) -> str:
    """Whole sentences up to a length; of one long sentence its beginning, with `…`."""
    if len(text) <= most:
        return text
    kept = ""
    for sentence in _SENTENCE.split(text):
        if len(kept) + len(sentence) > most:
            break
        kept = f"{kept} {sentence}".strip()
    return kept or f"{text[:most].rpartition(' ')[0]} …"
