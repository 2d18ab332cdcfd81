"""What an SQL procedure, function, trigger or view reads, writes and executes, and its temporary tables, by the
definition that counts: scripts of changes define one again and again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.answer.graph_facts import Facts, FactsOrAbsent, GraphFact, GraphFacts, facts_at, seen_of
from rag_assets.answer.plans.code_lines import MOST_LISTED, lines_of, list_heading
from rag_assets.answer.plans.data import in_order
from rag_assets.answer.question_analysis import QueryTerm, roots_of
from rag_assets.answer.structure.actions import MEANS
from rag_assets.contracts.graph import GraphEdge, NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import OUT, Graph, NodeLocation
from rag_assets.graph.declared_types import of_kind
from rag_assets.graph.lookup import short_name
from rag_assets.languages.sql.lexer import COMMENT, tokens_of
from rag_assets.languages.sql.reference_reader import SqlUse, is_procedural, references_in
from rag_assets.search.index import LabelIndex

_NOUN = (
    r"(?P<temporary>temp(?:orary)? tables?)|tables?(?:,? (?:and|or) views?)?|views?"
    r"|(?:stored )?proc(?:edure)?s?|functions?|(?P<of_dbt>(?:dbt )?(?:models?|sources?|snapshots?|seeds?))"
)
_OF_ONE = r"(?:procedure|proc|function|trigger|view|model|snapshot)"
_ASKED = re.compile(
    rf"^\W*(?:which|what) (?:other |database )?(?P<noun>{_NOUN}) (?:does|do|is|are|can) (?P<rest>.+?)(?<=\w)\W*$"
    rf"|^\W*what does (?P<said>(?:the )?(?:(?:dbt|sql|stored|database) )*"
    rf"(?:{_OF_ONE} [\w$#@.\[\]]+|[\w$#@.\[\]]+ {_OF_ONE}) (?P<verb>\w+)(?: (?:from|to|on|in|into))?)\W*$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[\w$#@.]+")
_VERBS = {
    Relation.EXECUTES: re.compile(r"\b(?:calls?|called|execut\w+|invok\w+|runs?)\b", re.IGNORECASE),
    Relation.WRITES_TO: re.compile(
        r"\b(?:chang\w+|clear\w*|delet\w+|fill\w*|insert\w*|modif\w+|populat\w+|remov\w+|truncat\w+|updat\w+|writ\w+)\b",
        re.IGNORECASE,
    ),
    Relation.READS_FROM: re.compile(r"\b(?:join\w*|load\w*|quer(?:y|ies|ied)|reads?|select\w*)\b", re.IGNORECASE),
}
_TITLES = {
    Relation.WRITES_TO: "Writes to",
    Relation.READS_FROM: "Reads from",
    Relation.EXECUTES: "Executes",
}
_DOES = {
    Relation.WRITES_TO: "write to a table",
    Relation.READS_FROM: "read from a table",
    Relation.EXECUTES: "execute a routine",
}
_USES = {
    SqlUse.WRITES: Relation.WRITES_TO,
    SqlUse.READS: Relation.READS_FROM,
    SqlUse.EXECUTES: Relation.EXECUTES,
}
_KINDS = (NodeType.PROC, NodeType.FUNC, NodeType.TRIGGER, NodeType.VIEW)
_MADE = re.compile(
    r"\bCREATE\s+TABLE\s+(?:tempdb\.*)?(?P<made>\#{1,2}\w+)|\bINTO\s+(?P<into>\#{1,2}\w+)", re.IGNORECASE
)

_COMMENT = re.compile(COMMENT)
_FEWEST_WORDS = 2

_CALLED = re.compile(
    r"^\W*(?:which|what)(?: is the)? (?:stored )?proc(?:edure)?s? (?!(?:does|do|is|are)\b)(?P<does>.+)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RoutineAsked:
    """`wanted` are the relations that a question wants of the routine that it names among other words."""

    words: frozenset[str]
    wanted: tuple[Relation, ...]
    only_views: bool
    temporary: bool


def routine_asked(question: str) -> RoutineAsked | None:
    """What a question wants of an SQL routine; None for another question."""
    found = _ASKED.match(question.strip())
    if found is None:
        return None
    noun, rest = (found["noun"] or "").lower(), found["rest"] or found["said"]
    verbs = tuple(relation for relation in _TITLES if _VERBS[relation].search(found["verb"] or rest))
    if found["verb"] is not None:
        if not verbs:
            return None
        wanted = verbs
    elif "proc" in noun or "function" in noun:
        wanted = (Relation.EXECUTES,)
    else:
        every = (Relation.READS_FROM,) if found["of_dbt"] else tuple(_TITLES)  # what it executes has tables too
        wanted = tuple(one for one in verbs if one is not Relation.EXECUTES) or every
    words = frozenset(
        word.rpartition(".")[2].casefold() for word in _NAME.findall(rest.replace("[", "").replace("]", ""))
    )
    return RoutineAsked(words, wanted, noun.startswith("view"), bool(found["temporary"]))


def routine_facts(index: LabelIndex, graph: Graph, asked: RoutineAsked) -> FactsOrAbsent:
    """What the one routine that a question names reads, writes, executes or makes, with the points that show it; and
    what no statement of it is known to do, where there is nothing of it."""
    named = [node for kind in _KINDS for node in of_kind(graph, kind) if graph.names[node].casefold() in asked.words]
    named = [node for node in named if graph.language(node) == "sql"]
    place = _definition(graph, named[0]) if len(named) == 1 else None
    if place is None:
        return GraphFacts(), {}, ""
    facts = seen_of(_made(index, place) if asked.temporary else _used(index, graph, named[0], place, asked), index)
    of = short_name(graph.keys[named[0]])
    at = facts_at(facts[:MOST_LISTED], index)
    does = "make a temporary table" if asked.temporary else _DOES[asked.wanted[0]]
    absent = f"no statement of {of} is known to {does}" if not (at or index.is_narrowed) else ""
    return GraphFacts(tuple(at), len(facts), f"**Of {of}:**"), at, absent


def procedures_called(index: LabelIndex, graph: Graph, question: str, words: Sequence[QueryTerm]) -> Facts:
    """The stored procedures whose names say all that a question wants done, those that say the least beside it."""
    found = _CALLED.match(question.strip())
    about = roots_of(found["does"]) if found is not None else frozenset()
    wanted = [MEANS.get(word.root, frozenset({word.root})) for word in words if word.root in about]
    beside: dict[int, int] = {}
    for node in of_kind(graph, NodeType.PROC) if len(wanted) >= _FEWEST_WORDS else ():
        said = roots_of(graph.names[node])
        if all(said & one for one in wanted):
            beside[node] = len(said) - len(wanted)
    best = [node for node, count in beside.items() if count == min(beside.values())]
    places = ((short_name(graph.keys[node]), place) for node in best if (place := _definition(graph, node)))
    facts = seen_of((GraphFact(name, "", "", place.path, place.line_start, True) for name, place in places), index)
    at = facts_at(facts[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(facts), list_heading("procedure", len(facts)), leads=True), at


def _definition(graph: Graph, node: int) -> NodeLocation | None:
    """The file that is called as the routine, else the last of those that define it."""
    places = sorted(graph.places(node), key=lambda one: in_order((one.path, one.line_start)))
    own = [
        one
        for one in places
        if one.path.rpartition("/")[2].rpartition(".")[0].casefold() == graph.names[node].casefold()
    ]
    return (own or places)[-1] if places else None


def _used(index: LabelIndex, graph: Graph, node: int, place: NodeLocation, asked: RoutineAsked) -> list[GraphFact]:
    edges = [edge for edge in graph.edges_of(node, OUT, *asked.wanted) if _is_of(place, edge)]
    elsewhere = [edge for edge in graph.edges_of(node, OUT, *asked.wanted) if not _is_of(place, edge)]
    if elsewhere:  # equal edges of several definitions are one, which says where the first of them has it
        written = _references(index, place)
        edges += [
            GraphEdge(edge.source, edge.relation, edge.target, edge.confidence, place.path, line)
            for edge in elsewhere
            if (line := written.get((edge.relation, short_name(edge.target).rpartition(".")[2].casefold())))
        ]
    told: dict[tuple[Relation, str], GraphEdge] = {}
    for edge in sorted(edges, key=lambda one: (asked.wanted.index(one.relation), one.line)):
        if not asked.only_views or key_kind(edge.target) is NodeType.VIEW:
            told.setdefault((edge.relation, edge.target), edge)
    return [
        GraphFact(short_name(edge.target), "", "", edge.path, edge.line, True, _TITLES[edge.relation], is_comment=True)
        for edge in told.values()
    ]


def _is_of(place: NodeLocation, edge: GraphEdge) -> bool:
    return edge.path == place.path and place.line_start <= edge.line <= place.line_end


def _references(index: LabelIndex, place: NodeLocation) -> dict[tuple[Relation, str], int]:
    """What the statements of a definition do with which names, in lower case, and the line where each first does."""
    text = _text_of(index, place)
    found: dict[tuple[Relation, str], int] = {}
    for one in references_in(tokens_of(text), assigns_into=is_procedural(text)):
        relation = _USES.get(one.use)
        if relation is not None:
            found.setdefault(
                (relation, one.name.parts[-1].casefold()), place.line_start + text.count("\n", 0, one.start)
            )
    return found


def _text_of(index: LabelIndex, place: NodeLocation) -> str:
    known = lines_of(index, [place.path]).get(place.path, {})
    return "\n".join(known.get(at, "") for at in range(place.line_start, place.line_end + 1))


def _made(index: LabelIndex, place: NodeLocation) -> list[GraphFact]:
    """Its temporary tables, where the first statement makes each."""
    found = dict[str, GraphFact]()
    text = _COMMENT.sub(lambda one: "\n" * one[0].count("\n"), _text_of(index, place))
    for one in _MADE.finditer(text):
        name, at = one["made"] or one["into"], text.count("\n", 0, one.end())
        fact = GraphFact(name, "", "", place.path, place.line_start + at, True, "Temporary tables", is_comment=True)
        found.setdefault(name.casefold(), fact)
    return [*found.values()]
