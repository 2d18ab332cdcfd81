"""Everything that an answer is made from: hits, definitions of the names in the question, facts of the graph.

Every slice is looked up through the filtered reader of the index, so what a role may not see cannot become evidence
(D21).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.answer.abstention import Signals, confidence, keyword_signal, known_confidence
from rag_assets.answer.asked import Asked, Planned, asked_of, declaring
from rag_assets.answer.graph_facts import GraphFact, GraphFacts, facts_at
from rag_assets.answer.passage_ranking import (
    RankedPassages,
    bodies_of_case,
    is_hidden,
    lacks_compound,
    lacks_default,
    lacks_thing,
    lacks_time,
    ranked,
    signals_of,
)
from rag_assets.answer.passages import CONFIGURATION, PROSE, Passage, whole_of
from rag_assets.answer.planner import planned
from rag_assets.answer.question_analysis import (
    Intent,
    QueryIntent,
    QueryTerm,
    asking_roots,
    asks_about_broken_rule,
    asks_about_failure,
    asks_how,
    asks_use,
    asks_what_happens,
    roots_of,
    sections_of_vocabulary,
)
from rag_assets.answer.question_kinds import asks_checks, asks_setting, asks_what_lacks, bare_list_noun, list_asked
from rag_assets.contracts.evidence import Evidence, Origin, citation_ids
from rag_assets.contracts.identity import content_hash
from rag_assets.contracts.outline import SectionMember
from rag_assets.errors import RagAssetsError
from rag_assets.identifiers import singular
from rag_assets.index.keyword.vocabulary import KeywordIndexError
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters, SearchScope
from rag_assets.search import CodePlace, QuestionKind, SearchResult
from rag_assets.search.line_references import meant, sections_of
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.index.generations import Manifest
    from rag_assets.search.index import LabelIndex, Searchable
    from rag_assets.search.retrieve import SearchResources


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A point to read, how much it matters, and why."""

    point_id: str
    score: float
    origin: Origin = Origin.HIT
    via: str = ""
    best_lines: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class FetchedEvidence:
    """Evidence by score, best first; `warnings` say what could not be read."""

    evidence: tuple[Evidence, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    wanted: FetchRequest
    payload: Mapping[str, Any]
    is_named: bool = False

    @property
    def file(self) -> tuple[str, str, str]:
        """Copies of a file are one, but for those that a fact of the graph names."""
        path = self.payload.get("Path", "") if self.is_named else ""
        return self.payload["IndexLabel"], self.payload["BlobVersionId"], path

    @property
    def has_own_place(self) -> bool:
        """Whether a citation names its page or its time: joined pieces would only say where the first begins."""
        return "PdfPages" in self.payload or "MediaStart" in self.payload

    @property
    def span(self) -> tuple[int, int]:
        return self.payload.get("CharStart", 0), self.payload["CharEnd"]


def fetch_evidence(
    wanted: Iterable[FetchRequest],
    parts: SearchResources,
    manifests: Mapping[str, Manifest],
    scope: SearchScope,
    *,
    described: bool = False,
) -> FetchedEvidence:
    """The texts of points with their descriptions, in short unless `described`; what overlaps in one file becomes one
    piece. A point outside of `scope` is as good as none.

    A slice that is not what was indexed is left out with a warning: nobody could check a quote of it.
    """
    best: dict[str, FetchRequest] = {}
    named: set[str] = set()
    for one in wanted:
        if one.origin is Origin.GRAPH:
            named.add(one.point_id)
        if one.point_id not in best or one.score > best[one.point_id].score:
            best[one.point_id] = one
    payloads = parts.shard().retrieve(list(best), scope)
    paths = {payloads[point].get("Path", "") for point in named if point in payloads}
    warnings: list[str] = []
    texts: dict[str, str] = {}
    unread: set[str] = set()
    pieces = [
        _Piece(best[identifier], payload, payload.get("Path", "") in paths)
        for identifier, payload in payloads.items()
        if _is_sound(payload, parts, texts, unread, warnings)
    ]
    ids = citation_ids(payloads)
    merged = [_merged(group, texts, manifests, ids) for group in _joined(pieces, texts)]
    merged = _described(merged, payloads, parts, warnings) if described else _in_short(merged, payloads)
    ordered = sorted(merged, key=lambda known: (-known.score, known.label, known.path, known.line_start))
    return FetchedEvidence(tuple(ordered), tuple(warnings))


def _in_short(pieces: Sequence[Evidence], payloads: Mapping[str, Mapping[str, Any]]) -> list[Evidence]:
    """The pieces with the finder snippets of their points, which have the facts of the descriptions and are in the
    index record itself (IDX-070 §4): the tables of the descriptions cost a cold `ask` three quarters of its time."""

    def start(point: str) -> int:
        return int(payloads[point].get("CharStart", 0))

    return [
        piece
        if piece.language in PROSE
        else replace(
            piece,
            description=description_of(
                [payloads[point].get("FinderSnippet", "") for point in sorted(piece.point_ids, key=start)], piece.text
            ),
        )
        for piece in pieces
    ]


def _described(
    pieces: Sequence[Evidence], payloads: Mapping[str, Mapping[str, Any]], parts: SearchResources, warnings: list[str]
) -> list[Evidence]:
    """The pieces with the descriptions of their points (IDX-070 §5.3). The payloads are those that the reader may see,
    and each description was written with what its level may know. Without descriptions an answer is still one."""
    addresses = {point: payload.get("DescriptionBlobUri", "") for point, payload in payloads.items()}
    wanted = [addresses[point] for piece in pieces for point in piece.point_ids if addresses[point]]
    try:
        found = parts.descriptions(wanted)
    except (RagAssetsError, OSError) as error:
        warnings.append(f"no descriptions: {error}")
        return list(pieces)

    def place(point: str) -> tuple[int, str]:
        return payloads[point].get("CharStart", 0), addresses[point]

    return [
        replace(
            piece,
            description=description_of(
                [found.get(addresses[point], "") for point in sorted(piece.point_ids, key=place)], piece.text
            ),
        )
        for piece in pieces
    ]


def description_of(descriptions: Iterable[str], source: str) -> str:
    """Several descriptions as one: what they have in common is said once, and nothing of what is word for word in the
    `source`, as the texts of documents are."""
    said = dict.fromkeys(block.strip("\n") for block in source.split("\n\n"))
    made: list[str] = []
    for block in "\n\n".join(descriptions).split("\n\n"):
        lines = [line for line in block.split("\n") if not (line.startswith("- ") and line in said)]
        told = "\n".join(lines).strip("\n")
        if told.strip() and told not in said:
            made.append(told)
            said |= dict.fromkeys((told, *lines))
    return "\n\n".join(made)


def _is_sound(
    payload: Mapping[str, Any], parts: SearchResources, texts: dict[str, str], unread: set[str], warnings: list[str]
) -> bool:
    """Whether the slice of a point is there and what its hash says (E19, E21); reads its document into `texts`, or adds
    it to the `unread`, of which one warning is enough."""
    from rag_assets.index.blobs import BlobError

    address, place = payload.get("BlobVersionId", ""), payload.get("Path", "")
    if not address or "CharEnd" not in payload:
        warnings.append(f"{place} is no evidence: its payload names no source; run: rag-assets index --force")
        return False
    if address in unread:
        return False
    if address not in texts:
        try:
            texts[address] = parts.document(address)
        except BlobError as error:
            warnings.append(f"{place} is no evidence: {error}")
            unread.add(address)
            return False
    text = texts[address][payload.get("CharStart", 0) : payload["CharEnd"]]
    if content_hash(text) != payload.get("SourceSha256"):
        warnings.append(f"{place} is no evidence: its source is not what was indexed; run: rag-assets index --force")
        return False
    return True


def _joined(pieces: Sequence[_Piece], texts: Mapping[str, str]) -> list[list[_Piece]]:
    """Pieces of one file whose ranges share a character, and sections of one symbol with nothing between them, in
    groups; each group in the order of its ranges."""
    groups: list[list[_Piece]] = []
    reach = -1
    for piece in sorted(pieces, key=lambda known: (known.file, known.span, known.wanted.point_id)):
        start, end = piece.span
        before = groups[-1][-1] if groups and groups[-1][0].file == piece.file and not piece.has_own_place else None
        if before and (start < reach or (_is_next(before, piece) and not texts[piece.file[1]][reach:start].strip())):
            groups[-1].append(piece)
            reach = max(reach, end)
        else:
            groups.append([piece])
            reach = end
    return groups


def _is_next(one: _Piece, other: _Piece) -> bool:
    symbol = one.payload.get("Symbol", "")
    return bool(symbol) and symbol == other.payload.get("Symbol", "")


def _merged(
    group: Sequence[_Piece], texts: Mapping[str, str], manifests: Mapping[str, Manifest], ids: Mapping[str, str]
) -> Evidence:
    ranked = sorted(group, key=lambda piece: (-piece.wanted.score, piece.wanted.point_id))
    best = ranked[0]
    payload, label = best.payload, best.payload["IndexLabel"]
    start, end = min(piece.span[0] for piece in group), max(piece.span[1] for piece in group)
    text = texts[payload["BlobVersionId"]][start:end]
    return Evidence(
        point_ids=tuple(piece.wanted.point_id for piece in ranked),
        ids=tuple(ids[piece.wanted.point_id] for piece in ranked),
        label=label,
        commit_sha=manifests[label].commit_sha,
        path=payload.get("Path", ""),
        line_start=min(piece.payload.get("StartLine", 0) for piece in group),
        line_end=max(piece.payload.get("EndLine", 0) for piece in group),
        symbol=payload.get("Symbol", ""),
        kind=payload.get("Kind", ""),
        language=payload.get("CodeLanguage", ""),
        text=text,
        sha256=content_hash(text),
        score=best.wanted.score,
        origin=best.wanted.origin,
        node_keys=tuple(dict.fromkeys(key for piece in ranked for key in piece.payload.get("GraphNodeKeys", ()))),
        via=best.wanted.via,
        title=payload.get("SourceTitle", ""),
        pages=tuple(sorted({page for piece in group for page in piece.payload.get("PdfPages", ())})),
        members=_members(group),
        best_lines=best.wanted.best_lines,
        seconds=min((at for piece in group if (at := piece.payload.get("MediaStart")) is not None), default=None),
    )


def _members(group: Sequence[_Piece]) -> tuple[SectionMember, ...]:
    """The outlines of the sections as one, in text order."""
    listed = dict.fromkeys(text for piece in group for text in piece.payload.get("Members", ()))
    return tuple(sorted(map(SectionMember.decoded, listed), key=lambda one: (one.start_line, -one.end_line)))


_FEW_CATCHES = 3  # of an error that many catch none tells what becomes of this one
_MOST_FILES_BESIDE, _MOST_BESIDE = 2, 12  # and sections of these
_OF_BEHAVIOUR = re.compile(
    r"\b(?:how|when|where|which|why|what (?:are|becomes|do|does|happens|if|is|will))\b", re.IGNORECASE
)
_ABOVE_HITS = 1.05  # what declares a name of the question comes before what only mentions it


@dataclass(frozen=True, slots=True)
class AnswerInputs:
    """Everything that an answer is made from. `lead` is the evidence that an overview begins with. `signals` say how
    well it fits the question; `warnings` are those of the search and of reading; those that are also `lost` name files
    that were found and cannot be read. `empty`: there is nothing that the reader may see;
    `no_graph`: an index that was asked has none. `absent` says what was looked for and is nowhere, `unmentioned` what
    is asked for and no passage to quote mentions, `meant` are words that may be meant by one that is in no section.
    `outside` counts the facts that filters leave out."""

    search: SearchResult
    wish: QueryIntent
    words: tuple[QueryTerm, ...]
    evidence: tuple[Evidence, ...]
    passages: RankedPassages
    facts: GraphFacts
    at: Mapping[GraphFact, Evidence]
    lead: tuple[Evidence, ...]
    unknown: tuple[str, ...]
    near: tuple[str, ...]
    warnings: tuple[str, ...]
    signals: Signals
    lost: tuple[str, ...] = ()
    empty: bool = False
    no_graph: bool = False
    absent: str = ""
    unmentioned: str = ""
    meant: tuple[str, ...] = ()
    outside: int = 0

    @property
    def confidence(self) -> float:
        """How likely it answers the question, 0 to 1, on the scale that the threshold of abstention is on."""
        return confidence(self.signals)


def _lacks_all(question: str, passages: RankedPassages) -> bool:
    """Whether no passage can say all that a question wants: a time, what many lack, a list of all of a sort, which only
    what is called so may hold."""
    if lacks_time(question, passages) or asks_what_lacks(question):
        return True
    listing = list_asked(question, plainly=True) or question
    wanted, best = roots_of(bare_list_noun(listing)), passages.passages[:1]
    return bool(wanted) and not any(wanted <= roots_of(f"{one.name} {one.heading} {one.evidence.path}") for one in best)


def graph_or_reason(index: LabelIndex) -> Graph | str:
    """The graph of an index, or why it has none."""
    from rag_assets.graph.artifact import GraphError
    from rag_assets.search.graph_context import graph_of

    try:
        return graph_of(index)
    except GraphError as error:
        return str(error)


def read(
    result: SearchResult,
    target: Searchable,
    graph_of: Callable[[LabelIndex], Graph | str] = graph_or_reason,
    filters: SearchFilters = NO_FILTERS,
    *,
    described: bool = False,
) -> AnswerInputs:
    """The evidence for a question: what its search found, what declares its names and what the index itself knows.
    Never more than the scope of `target` lets be seen, nor than `filters`, with which it was searched, and those of the
    question let through. `graph_of` is for those who keep graphs open; `described` evidence begins with
    descriptions."""
    question = result.question
    asked = asked_of(question, result.hits, target, graph_of)
    narrowed = any((filters, question.wanted, question.excluded))
    within = target.narrowed((filters, question.wanted), question.excluded) if narrowed else target
    known = planned(asked, within if narrowed else None)
    wish, facts = known.wish, known.facts
    wanted = [FetchRequest(hit.point_id, hit.score, best_lines=hit.best_lines) for hit in result.hits]
    wanted += _also_wanted(asked, known)
    gathered = fetch_evidence(wanted, target.parts, target.manifests, within.scope(), described=described)
    evidence, at = _with_facts(gathered.evidence, known.at)
    lead = tuple(one for one in evidence if not set(known.lead).isdisjoint(one.point_ids))
    unknown, near = _unknown(asked, gathered.evidence), known.near
    if known.decides and (at or lead):
        unknown = tuple(name for name in unknown if name in wish.names)  # `gRPC` is no name where it is understood
    is_of_places = bool(wish.places) and question.kind is not QuestionKind.ERROR
    if is_of_places and not (known.lead or known.at or narrowed):
        missing = _lines_missing(wish.places, target)
        known = replace(known, absent=known.absent or missing)
        unknown = () if missing else tuple(dict.fromkeys(place.path for place in wish.places))
        near = tuple(_near_paths(unknown, target))
    ranked_of = [one for one in evidence if one.origin is not Origin.GRAPH]
    written = [name for name in asked.undeclared if not {"_", "-", ":"}.isdisjoint(name)]  # not types of a framework
    keys = dict.fromkeys(part for name in written for part in (name, name.rpartition(":")[2]))  # below its section
    passages = ranked(question.text, asked.words, ranked_of, asked.model, (*question.phrases, *keys))
    if not (known.decides or known.absent or asked.of_code):
        known = replace(known, absent=_unsaid(question.asking, passages, at, within))
    is_valued = any(fact.group.partition(",")[0] in ("Default", "Set in") for fact in at)
    proves_nothing = _lacks_all(question.text, passages) or lacks_thing(question.asking, passages)
    proves_nothing |= lacks_compound(question.asking, passages)
    proves_nothing |= not (is_valued or known.decides) and lacks_default(question.asking, passages)
    signals = replace(
        signals_of(passages, wish.names, unknown, 0 if known.setting or known.absent else len(at)),
        keyword=keyword_signal(result, sections_of_vocabulary(target.parts)),
        setting=known.setting,
        absent=bool(known.absent) or proves_nothing,
        planned=not known.absent and _is_decided(asked, known, lead, at, ranked_of),
    )
    unmentioned = "" if signals.absent else _unmentioned(question.asking, passages, signals)
    signals = replace(signals, absent=signals.absent or bool(unmentioned))
    if wish.case and wish.names:
        passages = passages.led_by(bodies_of_case(wish.names, passages))
    if wish.intent is Intent.EXPLANATION:
        passages, evidence = _with_what_is_left(passages, evidence, replace(asked, target=within))
    if wish.intent is Intent.EXPLANATION and not at:
        if asks_checks(question.text):
            facts, at = _with_checks(passages)
        if not at and asks_what_happens(question.text) and not asks_use(question.text):
            of_failure = asks_about_failure(question.text) or asks_about_broken_rule(question.text)
            facts, at, evidence = _with_errors(passages, evidence, within, of_failure=of_failure)
        if not at and (asks_how(question.text) or asks_use(question.text)):
            facts, at, evidence = _with_steps(passages, evidence, replace(asked, target=within))
    is_grouped = (
        wish.intent in (Intent.EXPLANATION, Intent.PLACE) and not known.setting and all(fact.group for fact in at)
    )
    is_form = known.decides and known.facts.leads and bool(at)  # of one without facts the quote comes first
    if is_grouped and not is_form and asks_setting(question.text):
        values, valued, evidence = _with_values(passages, evidence, replace(asked, target=within))
        facts = replace(facts, facts=(*values.facts, *facts.facts), total=values.total + facts.total)
        at = {**valued, **at}
    lost = tuple(dict.fromkeys(gathered.warnings))
    return AnswerInputs(
        result,
        wish,
        asked.words,
        evidence,
        passages,
        facts,
        at,
        lead,
        unknown,
        near,
        (*result.warnings, *known.warnings, *lost),
        signals,
        lost,
        empty=not evidence and not target.parts.shard().count(target.scope()),
        no_graph=bool(known.warnings),
        absent=known.absent,
        unmentioned=unmentioned,
        outside=known.outside,
    )


def _unmentioned(question: str, passages: RankedPassages, signals: Signals) -> str:
    """What a question is for and nothing to quote mentions, where nothing else decides how sure the answer is."""
    if known_confidence(signals) is not None or not _TELLS.search(question):
        return ""
    from rag_assets.answer.structure.premises import unmentioned  # start-up budget

    return unmentioned(question, passages)


_STATES = re.compile(r"^\W*(?:why|how come|for what|what(?:'s| is) the reason)\b|\b(?:for|in|of|on|to|with)\b", re.I)
_TELLS = re.compile(r"\b(?:an?|are|at|by|for|from|how|in|is|of|on|the|to|with)\b", re.IGNORECASE)
"""Without any of these too little is said of what a question is for."""


def _unsaid(question: str, passages: RankedPassages, at: Mapping[GraphFact, Evidence], target: Searchable) -> str:
    """What a question takes for granted and nothing that answers it says; '' where there is nothing of that."""
    if not _STATES.search(question):
        return ""
    from rag_assets.answer.structure.premises import premise_unsaid, takes_for_granted  # start-up budget

    if not takes_for_granted(question):
        return ""
    told = [f"{fact.path}\n{_line_of(fact, piece)}" for fact, piece in at.items()]
    return premise_unsaid(question, passages, told, target.parts.shard().values("Path", target.scope()))


def _line_of(fact: GraphFact, piece: Evidence) -> str:
    lines = piece.text.split("\n")
    return lines[fact.line - piece.line_start] if 0 <= fact.line - piece.line_start < len(lines) else ""


def _also_wanted(asked: Asked, known: Planned) -> list[FetchRequest]:
    """What declares the names of a question, and what the index itself knows for it."""
    best = max((hit.score for hit in asked.hits), default=1.0)
    above = best * _ABOVE_HITS
    wanted = [FetchRequest(point, above, Origin.DEFINITION) for point in asked.declaring]
    wanted += [FetchRequest(point, above if known.wish.places else best) for point in known.lead]
    if known.wish.case:
        wanted += [FetchRequest(point, 0.0) for point in _beside(asked.declaring, asked.target)]
    return wanted + [FetchRequest(point, 0.0, Origin.GRAPH) for point in known.at.values()]


def _beside(declaring: Sequence[str], target: Searchable) -> list[str]:
    """The sections of the first files of the product that declare something, the nearest first: what it comes to may be
    decided there by what it calls."""
    shard, scope = target.parts.shard(), target.scope()
    payloads = shard.retrieve(sorted(declaring), scope)
    lines: dict[str, int] = {}
    for payload in (payloads[point] for point in declaring if point in payloads):
        if non_product_code(payload.get("Path", "")) is None:
            lines.setdefault(payload["Path"], payload.get("StartLine", 0))
    paths = list(lines)[:_MOST_FILES_BESIDE]
    found = sections_of(paths, shard, scope) if paths else {}

    def distance(point: str) -> tuple[int, str]:
        return abs(found[point].get("StartLine", 0) - lines[found[point]["Path"]]), point

    return sorted(found, key=distance)[:_MOST_BESIDE]


def _is_decided(
    asked: Asked,
    known: Planned,
    lead: Sequence[Evidence],
    at: Mapping[GraphFact, Evidence],
    ranked_of: Sequence[Evidence],
) -> bool:
    """Whether the index itself answers, however well the search fits: by a plan, the place or route of the question,
    code that was pasted, or a text that is quoted."""
    wish, phrases = known.wish, asked.question.phrases
    if lead or (known.decides and at):
        return True
    is_there = asked.of_code or wish.choice or (wish.declared and not asked.undeclared)
    if wish.intent is Intent.DEFINITION and is_there and (ranked_of or at):
        return True
    if any(fact.target.endswith(route) for route in wish.routes for fact in at):
        return True
    if not phrases:
        return False
    from rag_assets.search.phrases import occurs  # start-up budget: few questions have a phrase

    return any(occurs(phrase, one.text) for phrase in phrases for one in ranked_of)


def _unknown(asked: Asked, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """The names that nothing declares or mentions, `DbSets` as `DbSet`; of a story those of what it asks, as what it
    tells (`it fails with invalid_scope`) may come from elsewhere."""
    asking = asking_roots(asked.question.text)
    names = [name for name in asked.undeclared if not asking or roots_of(name) <= asking]
    return tuple(
        name
        for name in names
        if not _is_mentioned(name, evidence, asked.target)
        and not (name[:1].isupper() and _is_mentioned(singular(name), evidence, asked.target))
    )


def _with_facts(
    pieces: Sequence[Evidence], at_points: Mapping[GraphFact, str]
) -> tuple[tuple[Evidence, ...], dict[GraphFact, Evidence]]:
    """The evidence, each piece with what the graph knows of it, and the piece that shows each fact."""
    number_of = {point: number for number, piece in enumerate(pieces) for point in piece.point_ids}
    at = {fact: number_of[point] for fact, point in at_points.items() if point in number_of}
    said: dict[int, list[str]] = {}
    for fact, number in at.items():
        said.setdefault(number, []).append(f"{fact.source} {fact.verb} {fact.target}")
    made = tuple(
        replace(piece, via="; ".join(said[number])) if number in said else piece for number, piece in enumerate(pieces)
    )
    return made, {fact: made[number] for fact, number in at.items()}


def _lines_missing(places: Sequence[CodePlace], target: Searchable) -> str:
    """That files which are there have no such lines; '' where none of them is there."""
    paths = target.parts.shard().values("Path", target.scope())
    of_files = {path: place.line for place in places if place.line for path in meant(place.path, paths)}
    return "; ".join(f"no section of {path} has line {line}" for path, line in of_files.items())


def _near_paths(unknown: Sequence[str], target: Searchable) -> dict[str, None]:
    """The files whose names are most like those that no file has."""
    known = {path.rpartition("/")[2].casefold(): path for path in target.parts.shard().values("Path", target.scope())}
    names = (path.rpartition("/")[2].casefold() for path in unknown)
    return {known[near]: None for name in names for near in difflib.get_close_matches(name, known, 3, 0.75)}


def _with_what_is_left(
    passages: RankedPassages, evidence: tuple[Evidence, ...], asked: Asked
) -> tuple[RankedPassages, tuple[Evidence, ...]]:
    """The passages with what the first of them leaves to others, and the evidence with where that is; of a question
    for what something does."""
    if _OF_BEHAVIOUR.search(asked.question.asking) is None:
        return passages, evidence
    from rag_assets.answer.structure.further import called_so, caught_in, passage_of, shown_by  # start-up budget

    left = caught_in(asked.question.asking, passages, asked.target) or shown_by(passages, asked.target)
    found = _first_with_graph(passages, asked) if left is None else None
    left = left or (called_so(passages, *found[1:]) if found is not None else None)
    if left is None:
        return passages, evidence
    at, more = _with_points({left.fact: left.point}, evidence, asked.target)
    one = passage_of(left, at[left.fact]) if left.fact in at else None
    return (passages, evidence) if one is None else (replace(passages, also=((0 if left.leads else 1, one),)), more)


def _with_steps(
    passages: RankedPassages,
    evidence: tuple[Evidence, ...],
    asked: Asked,
) -> tuple[GraphFacts, dict[GraphFact, Evidence], tuple[Evidence, ...]]:
    """The calls of the first passage in their order, where each is, and the evidence with what is called; for who wants
    to use it where code does."""
    from rag_assets.answer.plans.code_lines import steps_of, uses_of

    found = _first_with_graph(passages, asked)
    if found is None:
        return GraphFacts(), {}, evidence
    first, index, graph = found
    keys, lines = first.evidence.node_keys, (first.line_start, first.line_end)
    wants_use = asks_use(asked.question.text) and not is_hidden(first)
    facts = uses_of(graph, keys, lines) if wants_use else GraphFacts()
    if not facts.facts and asks_how(asked.question.text):
        facts = steps_of(graph, keys, lines)
    return facts, *_with_points(facts_at(facts.facts, index), evidence, asked.target)


def _with_checks(passages: RankedPassages) -> tuple[GraphFacts, dict[GraphFact, Evidence]]:
    """What the first passage as a whole checks, in that order, and the piece that shows it."""
    from rag_assets.answer.plans.validation import checks_of

    first = next((whole_of(passages.passages[at]) for at in passages.chosen(1)), None)
    facts = checks_of(first) if first is not None and not first.is_prose else GraphFacts()
    return facts, dict.fromkeys(facts.facts, first.evidence) if first is not None else {}


def _with_values(
    passages: RankedPassages, evidence: tuple[Evidence, ...], asked: Asked
) -> tuple[GraphFacts, dict[GraphFact, Evidence], tuple[Evidence, ...]]:
    """Where the settings and constants of the first passage that a question asks for have their values, and the
    evidence with these places."""
    from rag_assets.answer.plans.settings import settings_used

    found = _first_with_graph(passages, asked)
    if found is None or found[0].evidence.language in PROSE | CONFIGURATION:
        return GraphFacts(), {}, evidence
    first, index, graph = found
    own = set(first.evidence.node_keys)
    parts = [one for one in passages.passages if one is first or not own.isdisjoint(one.evidence.node_keys)]
    code = [first.code, *(one.code for one in parts)]  # a long member has several sections
    shown = first.evidence.path, first.line_start, first.line_end
    facts, points = settings_used(index, graph, asked.question.text, code, shown)
    return facts, *_with_points(points, evidence, asked.target)


def _first_with_graph(passages: RankedPassages, asked: Asked) -> tuple[Passage, LabelIndex, Graph] | None:
    """The first passage as a whole, with the index and the graph that it is of."""
    first = next((whole_of(passages.passages[at]) for at in passages.chosen(1)), None)
    found = next((one for one in asked.graphs if first and one[0].label == first.evidence.label), None)
    return None if first is None or found is None else (first, *found)


def _with_errors(
    passages: RankedPassages, evidence: tuple[Evidence, ...], target: Searchable, *, of_failure: bool
) -> tuple[GraphFacts, dict[GraphFact, Evidence], tuple[Evidence, ...]]:
    """The errors that the best passages throw, who catches those of the repository itself, and the evidence with these
    places."""
    from rag_assets.answer.plans.errors import error_facts, errors_thrown

    thrown = errors_thrown(passages, of_failure=of_failure)
    own = [name for name in dict.fromkeys(fact.target for fact in thrown) if declaring(name, target)]
    caught = error_facts(target, own, caught_first=True, caught_alone=True)
    caught = caught if len(caught) <= _FEW_CATCHES else {}
    at, evidence = _with_points(caught, evidence, target)
    return GraphFacts((*thrown, *caught), len(thrown) + len(caught)), {**thrown, **at}, evidence


def _with_points(
    points: Mapping[GraphFact, str], evidence: tuple[Evidence, ...], target: Searchable
) -> tuple[dict[GraphFact, Evidence], tuple[Evidence, ...]]:
    """The evidence with what shows some facts, and which piece shows each."""
    known = {point: piece for piece in evidence for point in piece.point_ids}
    missing = [FetchRequest(point, 0.0, Origin.GRAPH) for point in points.values() if point not in known]
    fetched = fetch_evidence(missing, target.parts, target.manifests, target.scope()).evidence if missing else ()
    known |= {point: piece for piece in fetched for point in piece.point_ids}
    return {fact: known[point] for fact, point in points.items() if point in known}, (*evidence, *fetched)


def _is_mentioned(name: str, evidence: Sequence[Evidence], target: Searchable) -> bool:
    """Whether an identifier that nothing declares is at least written in the evidence, as library names are, is the
    folder of some, as of a project, or begins a longer name of the index."""
    last = name.rpartition(":")[2].rpartition(".")[2].casefold()
    if any(last in known.text.casefold() or name.casefold() in known.path.casefold().split("/") for known in evidence):
        return True
    if "-" in name or "/" in name:
        return _is_written(name.replace("/", "-"), target)
    try:
        if "." not in name and last.isalnum() and any(target.parts.vocabulary().starting(last)):
            return True
    except KeywordIndexError:
        return False
    return "." not in name and ":" not in name and _is_written(name, target)  # the vocabulary has its words apart


def _is_written(name: str, target: Searchable) -> bool:
    """Whether a name with hyphens is anywhere, also as code spells it: `dry-run`, `dry_run`, `dryRun`, `HTTP/2`."""
    from rag_assets.index.blobs import BlobError
    from rag_assets.search.phrases import payloads_of, points_saying
    from rag_assets.search.section_source import section_source

    ends = r"(?!\w)" if name[-1].isdigit() or "-" not in name else ""  # `HTTP/3` is no `HTTP 3xx`
    begins = "" if "-" in name else r"(?<!\w)"
    spelled = re.compile(begins + r"[-_ /]?".join(map(re.escape, name.split("-"))) + ends, re.IGNORECASE)
    try:
        points = sorted(points_saying(name, target.parts, target.scope()).ids)
        payloads = payloads_of(points, target.parts, target.scope())
        return any(spelled.search(section_source(payload, target.parts.document)) for _, payload in payloads)
    except (KeywordIndexError, BlobError):  # what is damaged is told of the evidence
        return True
