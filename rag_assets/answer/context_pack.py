"""Everything that an answer is made from: hits, definitions of the names in the question, facts of the graph.

Every slice is looked up through the filtered reader of the index, so what a role may not see cannot become evidence
(D21).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rag_assets.answer.abstention import Signals, confidence, search_signals
from rag_assets.answer.graph_facts import (
    GraphFact,
    GraphFacts,
    declares,
    facts_about,
    facts_at,
    named_nodes,
    near_names,
)
from rag_assets.answer.passage_ranking import RankedPassages, ranked, signals_of
from rag_assets.answer.passages import PROSE, whole_of
from rag_assets.answer.question_analysis import (
    Intent,
    QueryIntent,
    QueryTerm,
    asks_choice,
    asks_how,
    asks_purpose,
    asks_setting,
    asks_what_happens,
    asks_who_catches,
    convention_noun,
    data_asked,
    errors_asked,
    intent_of,
    is_subject,
    listed_noun,
    roots_of,
    says_something,
    sections_of_vocabulary,
    settings_asked,
    words_as_names,
    words_asked_of,
    written_name,
)
from rag_assets.contracts.evidence import Evidence, Origin, citation_ids, short_name
from rag_assets.contracts.identity import content_hash
from rag_assets.contracts.outline import SectionMember
from rag_assets.index.keyword.vocabulary import KeywordIndexError
from rag_assets.index.vectors.filters import METADATA, SearchScope
from rag_assets.search import QuestionKind
from rag_assets.search.line_references import meant, sections_at, sections_of

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.index.generations import Manifest
    from rag_assets.models.static_code.embedder import StaticEmbedder
    from rag_assets.search import CodePlace, Hit, Question, SearchResult
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
    warnings: list[str] = []
    texts: dict[str, str] = {}
    unread: set[str] = set()
    pieces = [
        _Piece(best[identifier], payload, identifier in named)
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
    from rag_assets.errors import RagAssetsError

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


_DEFINITIONS = 6
"""Points that are read for one name of the question: the sections of a type, or of the parts of a partial one."""
_MOST_NAMES = 4
_MOST_OF_CODE = 3  # names of pasted code
_OF_ERRORS = frozenset({Intent.EXPLANATION, Intent.DEFINITION, Intent.USAGE})
_OF_CONVENTIONS = frozenset({Intent.EXPLANATION, Intent.ROUTES, Intent.TABLES})
_FEW_CATCHES = 3  # of an error that many catch none tells what becomes of this one
_GRAPH_ENTRIES = 4  # hits whose nodes a question about routes or tables starts from
_ABOVE_HITS = 1.05  # what declares a name of the question comes before what only mentions it


@dataclass(frozen=True, slots=True)
class AnswerInputs:
    """Everything that an answer is made from. `lead` is the evidence that an overview begins with. `signals` say how
    well it fits the question; `warnings` are those of the search and of reading; those that are also `lost` name files
    that were found and cannot be read. `empty`: there is nothing that the reader may see;
    `no_graph`: an index that was asked has none."""

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

    @property
    def confidence(self) -> float:
        """How likely it answers the question, 0 to 1, on the scale that the threshold of abstention is on."""
        return confidence(self.signals)


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
    *,
    described: bool = False,
) -> AnswerInputs:
    """The evidence for a question: what its search found, and where the caller did not narrow it, what declares its
    names and what the graph says of them. Never more than the scope of `target` lets be seen. `graph_of` is for
    those who keep graphs open; `described` evidence begins with descriptions."""
    asked = _asked(result, target, graph_of)
    known = _Known(asked.wish) if _narrowed(result) else _known(asked, result, target, graph_of)
    wanted = [FetchRequest(hit.point_id, hit.score, best_lines=hit.best_lines) for hit in result.hits]
    gathered = fetch_evidence(
        [*wanted, *known.wanted], target.parts, target.manifests, target.scope(), described=described
    )
    evidence, at = _with_facts(gathered.evidence, known.at)
    lead = tuple(one for one in evidence if not set(known.lead).isdisjoint(one.point_ids))
    unknown, near = _missing(asked, known, result, gathered.evidence, target)
    ranked_of = [one for one in evidence if one.origin is not Origin.GRAPH]
    question = result.question
    keys = (name for name in asked.names if "_" in name and not asked.declared[name])  # not the types of a framework
    literal = (*question.phrases, *keys)
    passages = ranked(question.text, asked.words, ranked_of, question_model(target), literal)
    wish, facts = known.wish, known.facts
    planned = bool(lead) or (wish.intent in (Intent.LIST, Intent.OVERVIEW) and bool(at))
    planned |= wish.intent is Intent.DEFINITION and (asked.of_code or wish.choice) and bool(evidence)
    planned |= not known.setting and any(fact.group for fact in at)
    planned |= any(fact.target.endswith(route) for route in wish.routes for fact in at)
    if question.phrases:
        from rag_assets.search.phrases import occurs  # start-up budget: few questions have a phrase

        planned |= any(occurs(phrase, one.text) for phrase in question.phrases for one in ranked_of)
    keyword, together = search_signals(result, sections_of_vocabulary(target.parts))
    signals = signals_of(passages, wish.names, unknown, 0 if known.setting else len(at))
    signals = replace(signals, keyword=keyword, together=together, setting=known.setting, planned=planned)
    if wish.intent is Intent.EXPLANATION and not at and not _narrowed(result):
        if asks_what_happens(result.question.text):
            facts, at, evidence = _with_errors(passages, evidence, target)
        if not at and asks_how(result.question.text):
            facts, at, evidence = _with_steps(passages, evidence, target, graph_of)
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
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question with its `words`, and its `names` with the points that declare each. `of_code`: they are those of
    pasted code, or of an error, where what nothing declares is of a library."""

    wish: QueryIntent
    words: tuple[QueryTerm, ...]
    names: tuple[str, ...]
    declared: Mapping[str, Sequence[str]]
    of_code: bool


def _asked(result: SearchResult, target: Searchable, graph_of: Callable[[LabelIndex], Graph | str]) -> _Asked:
    question = result.question
    wish = intent_of(question)
    if not wish.names:
        wish = _with_declared_words(wish, question, target, graph_of)
    pasted = _declared_of(question.pasted, target)
    words = words_asked_of(target.parts, " ".join((question.text, *pasted)))
    names = wish.names[:_MOST_NAMES]
    declared = {name: _declaring(name, target) for name in names} | pasted
    is_error = question.kind is QuestionKind.ERROR
    if pasted or (is_error and any(declared.values())):  # of a library, a frame or a call is no name to miss
        names = tuple(name for name in declared if declared[name])
        wish = replace(wish, names=names)
        if wish.intent is Intent.EXPLANATION and (is_error or not says_something(question.asks)):
            wish = replace(wish, intent=Intent.DEFINITION)
    return _Asked(wish, words, names, declared, is_error or bool(pasted))


def _with_declared_words(
    wish: QueryIntent, question: Question, target: Searchable, graph_of: Callable[[LabelIndex], Graph | str]
) -> QueryIntent:
    """The question with those of its words as names that the graph declares exactly so, as `Basket` may be."""
    maybe = words_as_names(question)
    if maybe is None:
        return wish
    graphs = [graph for index in target.members.values() if not isinstance(graph := graph_of(index), str)]
    of_type = maybe.intent is Intent.DEFINITION
    names = tuple(one for one in maybe.names if any(declares(graph, one, only_types=of_type) for graph in graphs))
    return replace(maybe, names=names[:1] if of_type else names) if names else wish


@dataclass(frozen=True, slots=True)
class _Known:
    """What the index itself knows for a question: facts of the graph with the points that show them, names that are
    nearly those of the question, and what to read of it: `lead` is what the answer begins with. `warnings` say why
    there is no graph."""

    wish: QueryIntent
    facts: GraphFacts = field(default_factory=GraphFacts)
    at: Mapping[GraphFact, str] = field(default_factory=dict)
    near: tuple[str, ...] = ()
    lead: tuple[str, ...] = ()
    wanted: tuple[FetchRequest, ...] = ()
    warnings: tuple[str, ...] = ()
    setting: float = 0.0


def _known(
    asked: _Asked, result: SearchResult, target: Searchable, graph_of: Callable[[LabelIndex], Graph | str]
) -> _Known:
    warnings: list[str] = []
    undeclared = [name for name in asked.names if not asked.declared[name]]
    from_graphs = partial(_from_graphs, undeclared, target, result.hits, warnings, graph_of)
    facts, at = _settings_read(asked, result.question, target)
    wish, noun, subject = _as_list(asked.wish, result.question, asked.words)
    near: Mapping[str, None] = {}
    if at:
        wish = replace(asked.wish, intent=Intent.LIST)
    elif data := _data_known(result.question, target, graph_of):
        wish, (facts, at) = replace(asked.wish, intent=Intent.TABLES), data
    else:
        facts, at, near = from_graphs(wish, noun=noun, subject=subject)
    if noun and not at:
        wish = asked.wish
        facts, at, near = from_graphs(wish)
    best = max((hit.score for hit in result.hits), default=1.0)
    declaring = [point for points in asked.declared.values() for point in points]
    written = written_name(result.question.text) if wish.intent is not Intent.TABLES and not wish.places else ""
    if written:
        from rag_assets.answer.plans import writes_of

        set_in, set_at = writes_of(target, written)
        if set_at:
            wish, facts, at = replace(wish, intent=Intent.LIST), set_in, set_at
    if not at and wish.names and _asks_uses(wish, result.question):
        from rag_assets.answer.plans import NAMED_IN, mentions_of

        if wish.intent is Intent.DEFINITION:
            facts, at, _ = from_graphs(replace(wish, intent=Intent.USAGE))
        if not at:
            heading = NAMED_IN if wish.intent is Intent.DEFINITION else ""
            facts, at = mentions_of(target, wish.names, wish.intent, declaring, heading)
    setting = 0.0
    errors = errors_asked(result.question.text, wish.names) if wish.intent in _OF_ERRORS and not wish.places else ()
    if errors:
        from rag_assets.answer.error_plan import error_facts

        thrown = error_facts(target, errors, caught_first=asks_who_catches(result.question.text))
        if thrown:
            wish, facts, at = (
                replace(wish, intent=Intent.EXPLANATION),
                GraphFacts(tuple(thrown), len(thrown), leads=True),
                thrown,
            )
    noun = convention_noun(result.question.text) if not wish.names and wish.intent in _OF_CONVENTIONS else ""
    if noun:
        from rag_assets.answer.convention_plan import convention_facts

        usual = _first_known(target, graph_of, lambda index, graph: convention_facts(index, graph, noun))
        if usual[1]:
            wish, (facts, at) = replace(wish, intent=Intent.EXPLANATION), usual
    if not at and wish.intent is Intent.EXPLANATION and asks_setting(result.question.text):
        facts, at, setting = _setting_meant(asked, result, target, graph_of)
    wanted = [FetchRequest(point, best * _ABOVE_HITS, Origin.DEFINITION) for point in declaring]
    lead: list[str] = []
    if wish.places:
        lead = _points_of_places(wish.places, target)
        wanted += [FetchRequest(point, best * _ABOVE_HITS) for point in lead]
        wish = replace(wish, intent=Intent.PLACE) if lead else wish
    if wish.intent is Intent.OVERVIEW:
        from rag_assets.answer.plans import readme_points

        lead = [point for index in target.members.values() for point in readme_points(index)]
        wanted += [FetchRequest(point, best) for point in lead]
    wanted += [FetchRequest(point, 0.0, Origin.GRAPH) for point in at.values()]
    return _Known(wish, facts, at, tuple(near), tuple(lead), tuple(wanted), tuple(warnings), setting)


def _setting_meant(
    asked: _Asked, result: SearchResult, target: Searchable, graph_of: Callable[[LabelIndex], Graph | str]
) -> tuple[GraphFacts, Mapping[GraphFact, str], float]:
    """What the index whose settings are nearest to a question knows of them, with the points that show it, and how much
    of the question the nearest one says."""
    from rag_assets.answer.setting_plan import setting_facts, settings_meant

    model = question_model(target)
    found = [
        (settings[0].said, index, settings)
        for index in target.members.values()
        if not isinstance(graph := graph_of(index), str)
        and (settings := settings_meant(graph, result.question.text, asked.words, model))
    ]
    if not found:
        return GraphFacts(), {}, 0.0
    said, index, settings = max(found, key=lambda one: one[0])
    return *setting_facts(index, settings), said


def _data_known(
    question: Question, target: Searchable, graph_of: Callable[[LabelIndex], Graph | str]
) -> tuple[GraphFacts, dict[GraphFact, str]] | None:
    """Where the graph knows it, what stores, writes and reads that which a question asks it of."""
    asked = data_asked(question.text)
    if asked is None:
        return None
    from rag_assets.answer.data_plan import data_facts

    facts, at = _first_known(target, graph_of, lambda index, graph: data_facts(index, graph, asked))
    return (facts, at) if at else None


def _first_known(
    target: Searchable,
    graph_of: Callable[[LabelIndex], Graph | str],
    facts_of: Callable[[LabelIndex, Graph], tuple[GraphFacts, dict[GraphFact, str]]],
) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The facts of the first index whose graph knows some, with the points that show them."""
    for index in target.members.values():
        graph = graph_of(index)
        facts, at = (GraphFacts(), {}) if isinstance(graph, str) else facts_of(index, graph)
        if at:
            return facts, at
    return GraphFacts(), {}


def _asks_uses(wish: QueryIntent, question: Question) -> bool:
    """Whether a question is answered by where its names are used, if nothing else knows who uses them."""
    return wish.intent in (Intent.USAGE, Intent.TESTS) or (
        wish.intent is Intent.DEFINITION and asks_purpose(question.text)
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


def _missing(
    asked: _Asked, known: _Known, result: SearchResult, evidence: Sequence[Evidence], target: Searchable
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(the names, or the files, that there are none of; those that are nearly called so)."""
    wish = known.wish
    if result.question.kind is QuestionKind.PATH and wish.places and not known.lead and not _narrowed(result):
        paths = tuple(dict.fromkeys(place.path for place in wish.places))
        return paths, tuple(_near_paths(paths, target))
    unknown = (name for name in asked.names if not asked.declared[name])
    return tuple(name for name in unknown if not _is_mentioned(name, evidence, target)), known.near


def _declared_of(pasted: Sequence[str], target: Searchable) -> dict[str, list[str]]:
    """Of the names of pasted code the first few that the index declares, each with the points that do."""
    found: dict[str, list[str]] = {}
    for name in pasted:
        points = _declaring(name, target)
        if points:
            found[name] = points
        if len(found) == _MOST_OF_CODE:
            break
    return found


def _points_of_places(places: Sequence[CodePlace], target: Searchable) -> list[str]:
    """The points at the lines, or of the files, that a question is."""
    shard, scope = target.parts.shard(), target.scope()
    found = list(sections_at(places, shard, scope))
    known = shard.values("Path", scope)
    for path in dict.fromkeys(path for place in places if not place.line for path in meant(place.path, known)):
        payloads = sections_of([path], shard, scope)
        found += sorted(payloads, key=lambda one: (payloads[one].get("StartLine", 0), one))[:_DEFINITIONS]
    return found


def _near_paths(unknown: Sequence[str], target: Searchable) -> dict[str, None]:
    """The files whose names are most like those that no file has."""
    import difflib  # start-up budget: of refusals

    known = {path.rpartition("/")[2].casefold(): path for path in target.parts.shard().values("Path", target.scope())}
    names = (path.rpartition("/")[2].casefold() for path in unknown)
    return {known[near]: None for name in names for near in difflib.get_close_matches(name, known, 3, 0.75)}


def _as_list(
    wish: QueryIntent, question: Question, words: Sequence[QueryTerm]
) -> tuple[QueryIntent, str, tuple[QueryTerm, ...]]:
    """The question as one for a list: of what, and about which subject; with '' where it wants none."""
    if wish.names or wish.intent not in (Intent.EXPLANATION, Intent.ROUTES, Intent.TABLES, Intent.DEFINITION):
        return wish, "", ()
    noun, rest = listed_noun(question.text)
    if noun and asks_choice(rest):
        from rag_assets.answer.plans import LISTED_KINDS

        noun = noun if noun in LISTED_KINDS else ""
    if not noun:
        return wish, "", ()
    about = roots_of(rest)
    return replace(wish, intent=Intent.LIST), noun, tuple(w for w in words if w.root in about and is_subject(w))


def _settings_read(asked: _Asked, question: Question, target: Searchable) -> tuple[GraphFacts, Mapping[GraphFact, str]]:
    """The settings that what the question names reads, where it asks for them, with the points that show it."""
    noun, reader = settings_asked(question.text)
    if not noun:
        return GraphFacts(), {}
    from rag_assets.answer.plans import settings_of

    about = roots_of(reader)
    subject = [word for word in asked.words if word.root in about and is_subject(word)]
    return settings_of(target, noun, subject, [point for points in asked.declared.values() for point in points])


def _with_steps(
    passages: RankedPassages,
    evidence: tuple[Evidence, ...],
    target: Searchable,
    graph_of: Callable[[LabelIndex], Graph | str],
) -> tuple[GraphFacts, dict[GraphFact, Evidence], tuple[Evidence, ...]]:
    """The calls of the first passage in their order, where each is, and the evidence with what is called."""
    from rag_assets.answer.plans import steps_of

    first = next((whole_of(passages.passages[at]) for at in passages.chosen(1)), None)
    index = target.members.get(first.evidence.label) if first is not None else None
    graph = graph_of(index) if index is not None else ""
    if first is None or index is None or isinstance(graph, str):
        return GraphFacts(), {}, evidence
    facts = steps_of(graph, first.evidence.node_keys, (first.line_start, first.line_end))
    return facts, *_with_points(facts_at(facts.facts, index), evidence, target)


def _with_errors(
    passages: RankedPassages, evidence: tuple[Evidence, ...], target: Searchable
) -> tuple[GraphFacts, dict[GraphFact, Evidence], tuple[Evidence, ...]]:
    """The errors that the best passages throw, who catches those of the repository itself, and the evidence with these
    places."""
    from rag_assets.answer.error_plan import CAUGHT, error_facts, errors_thrown

    thrown = errors_thrown(passages)
    own = [name for name in dict.fromkeys(fact.target for fact in thrown) if _declaring(name, target)]
    known = error_facts(target, own, caught_first=True)
    caught = {fact: point for fact, point in known.items() if fact.group == CAUGHT}
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


def question_model(target: Searchable) -> StaticEmbedder | None:
    """The table of the package, whatever has made the vectors of an index: it says which words mean about the same.
    None where it is damaged, which `doctor` tells."""
    from rag_assets.errors import NoEmbedderError
    from rag_assets.models.static_code.embedder import MODEL_ID, StaticEmbedder
    from rag_assets.search.query_embedding import load_local

    home, _ = next(iter(target.members.values())).parts.configuration
    try:
        model = load_local(MODEL_ID, home.cache)
    except NoEmbedderError:
        return None
    assert isinstance(model, StaticEmbedder)
    return model


def _narrowed(result: SearchResult) -> bool:
    """Whether options of the caller narrow the search: then nothing else than its hits is evidence."""
    names = {
        "path",
        "kind",
        "lang",
        "source_type",
        "symbol",
        "since",
        "before",
        *(known.name for known in METADATA.values()),
    }
    return any(name.lstrip("-") in names for name in result.filters)


def _declaring(name: str, target: Searchable) -> list[str]:
    """The points that declare a name, those first whose symbol it is."""
    shard, scope = target.parts.shard(), replace(target.scope(), names=(name,))
    payloads = shard.retrieve(sorted(shard.ids(scope)), scope)
    last = name.rpartition(".")[2].casefold()
    sizes = Counter(known.get("Path", "") for known in payloads.values())

    def order(identifier: str) -> tuple[bool, bool, int, str, int, str]:
        known = payloads[identifier]
        own = short_name(str(known.get("Symbol", ""))).casefold() == last
        path = known.get("Path", "")
        return not own, known.get("Kind") == "Test", -sizes[path], path, known.get("StartLine", 0), identifier

    return sorted(payloads, key=order)[:_DEFINITIONS]


def _from_graphs(
    undeclared: Sequence[str],
    target: Searchable,
    hits: Sequence[Hit],
    warnings: list[str],
    graph_of: Callable[[LabelIndex], Graph | str],
    wish: QueryIntent,
    *,
    noun: str = "",
    subject: Sequence[QueryTerm] = (),
) -> tuple[GraphFacts, dict[GraphFact, str], dict[str, None]]:
    """Facts about the names of a question, or about its best hits, or the list of what a `noun` is that it wants, with
    the points that show them; and names like the `undeclared` ones."""
    from rag_assets.search.graph_context import entries_of

    if wish.intent in (Intent.EXPLANATION, Intent.DEFINITION) and not undeclared:
        return GraphFacts(), {}, {}
    found: list[GraphFact] = []
    total, heading, command = 0, "", ""
    points: dict[GraphFact, str] = {}
    near: dict[str, None] = {}
    for index in target.members.values():
        graph = graph_of(index)
        if isinstance(graph, str):
            warnings.append(graph)
            continue
        keys = named_nodes(graph, wish.names or wish.routes)
        near |= dict.fromkeys(other for name in undeclared for other in near_names(graph, name))
        if not keys and wish.intent in (Intent.ROUTES, Intent.TABLES):
            own = [hit for hit in hits if hit.label == index.label][:_GRAPH_ENTRIES]
            keys = tuple(entries_of(index, own))
        if wish.intent in (Intent.LIST, Intent.OVERVIEW):
            from rag_assets.answer.plans import list_heading, listed, main_types

            facts = listed(graph, noun, subject) if wish.intent is Intent.LIST else main_types(graph)
            command = command or facts.command
            heading = list_heading(noun, total + facts.total) if command else heading or facts.heading
        else:
            facts = facts_about(graph, keys, wish.intent)
        points |= facts_at(facts.facts, index)
        found += facts.facts
        total += facts.total
    return GraphFacts(tuple(found), total, heading, command), points, near


def _is_mentioned(name: str, evidence: Sequence[Evidence], target: Searchable) -> bool:
    """Whether an identifier that nothing declares is at least written in the evidence, as library names are, or begins
    a longer name of the index."""
    last = name.rpartition(".")[2].casefold()
    if any(last in known.text.casefold() for known in evidence):
        return True
    try:
        return "." not in name and last.isalnum() and any(target.parts.vocabulary().starting(last))
    except KeywordIndexError:
        return False
