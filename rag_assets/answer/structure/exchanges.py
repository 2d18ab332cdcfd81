"""What an endpoint takes and what it answers with: the types of its handler's parameters, and those that its handler
is declared to give, names in its attributes or returns from what it calls, each with its fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at, named_nodes
from rag_assets.answer.plans.code_lines import MOST_LISTED
from rag_assets.answer.plans.endpoints import handlers_of
from rag_assets.answer.structure.questions import name_in
from rag_assets.answer.structure.signatures import split_signature
from rag_assets.contracts.graph import NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import OUT
from rag_assets.graph.declared_types import bases_above
from rag_assets.graph.lookup import route_segments
from rag_assets.search import CodePlace

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_ROUTE = (
    r"(?:the )?(?:endpoint |route )?`?((?:(?:GET|POST|PUT|PATCH|DELETE|HEAD) )?/[^\s?`]*)`?"
    r"(?: (?:endpoint|route|request|call))?"
)
_BODY = (
    r"(?: (?:json|body|payload|data|input|fields?|properties|parameters?|arguments?|headers?|values?|model|type|dto"
    r"|object))*"
)
_OF_REQUEST = r"(?: (?:request|query|route|url|form))*"
_WHAT = r"(?:what|which)(?: are| is)?(?: the)?"
_FORMS = {
    True: (
        rf"{_WHAT}{_BODY}(?: (?:of|in))?(?: the)? (?:response|answer|reply|result){_BODY}(?: (?:of|from|for|to))?"
        rf" {_ROUTE}",
        rf"(?:what|which){_BODY} (?:does|do) {_ROUTE} (?:(?:return|give|send)(?: back)?|(?:respond|answer)(?: with)?)",
        rf"(?:what|which){_BODY} (?:is|are) returned (?:by|from) {_ROUTE}",
    ),
    False: (
        rf"(?:what|which){_OF_REQUEST}{_BODY} (?:does|do|can|must|should) {_ROUTE}"
        r" (?:take|expect|accept|need|require|get|receive|want|have)",
        rf"{_WHAT}{_OF_REQUEST}{_BODY} (?:of|for|to|in) {_ROUTE}",
        rf"what (?:do|must|should) (?:i|we|you) (?:(?:have|need) to )?(?:send|pass|post|put) (?:to|with|in) {_ROUTE}",
    ),
}
"""How questions ask for what is given back, and for what is taken."""
_ASKED = [(name_in(rf"^\W*{form}\W*$", re.I), given) for given, forms in _FORMS.items() for form in forms]
_GIVES = re.compile(
    r"\b(?:Produces(?:ResponseType)?|SwaggerResponse|ApiResponse|ApiOkResponse|ApiCreatedResponse|response_model|Schema)\b"
)
_RETURNS = re.compile(r"(?:^|[\s{;])return\b|=>|\b(?:Ok|Created\w*|Json|Accepted\w*)\(")
_IS_GIVEN_BY_SERVER = re.compile(
    r"\[From(?:Keyed)?Services|@(?:Inject|Req|Res|Next)\b|\bCancellationToken\b|\bHttp(?:Context|Request|Response)\b"
    r"|\bILogger\b|\bClaimsPrincipal\b|\bDepends\("
)
_IS_SERVICE = re.compile(
    r"^I[A-Z]|(?:Repository|Service|Manager|Mediator|Sender|Context|Factory|Client|Logger|Store|Options|Handler|Session)$"
)
"""What a container gives a handler."""
_BETWEEN_PARAMETERS = re.compile(r",(?![^<(\[]*[>)\]])")
_SAYS = re.compile(r"(?!(?:api|v\d+)$)[A-Za-z]")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ExchangeAsked:
    """The route of which a question asks what it takes, or what it answers with: `is_given`."""

    route: str
    is_given: bool


def exchange_asked(question: str) -> ExchangeAsked | None:
    """What a question asks of one endpoint; None for another question."""
    found = ((route_in(question), is_given) for route_in, is_given in _ASKED)
    return next((ExchangeAsked(route, is_given) for route, is_given in found if route), None)


def methods_of(graph: Graph, route: str) -> list[int]:
    """The methods that handle a route."""
    said = _literals(route)
    keys = (key for key in named_nodes(graph, [route]) if not said or said & _literals(key))
    endpoints = (node for key in keys if (node := graph.find(key)) is not None)
    return [node for node in handlers_of(graph, endpoints) if graph.kind(node) is NodeType.METHOD]


def _literals(route: str) -> set[str]:
    """The parts of a route that are no parameters, which any route with one there may stand for."""
    return {part for part in route_segments(route.partition("|")[0].rpartition(" ")[2]) if _SAYS.match(part)}


def places_of_handlers(graph: Graph, route: str) -> list[CodePlace]:
    return [CodePlace(at.path, at.line_start) for node in methods_of(graph, route) for at in graph.places(node)]


def exchange_facts(index: LabelIndex, graph: Graph, wanted: ExchangeAsked) -> Facts:
    """The fields of the types that the handlers of a route take or answer with, those of each type together."""
    columns, facts = GraphColumns(index, graph, None), list[GraphFact]()
    for handler in methods_of(graph, wanted.route):
        types = _given(columns, handler) if wanted.is_given else _taken(columns, handler)
        for node in dict.fromkeys(types):
            facts += _fields(columns, node, "Answers with" if wanted.is_given else "Takes")
    at = facts_at(list(dict.fromkeys(facts))[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(facts), leads=True), at


def _taken(columns: GraphColumns, handler: int) -> Iterator[int]:
    graph = columns.graph
    parameters = split_signature(graph.signature(handler), graph.names[handler])[1]
    said = " ".join(one for one in _BETWEEN_PARAMETERS.split(parameters) if not _IS_GIVEN_BY_SERVER.search(one))
    yield from _types_named(columns, handler, said)


def _given(columns: GraphColumns, handler: int) -> Iterator[int]:
    graph = columns.graph
    before, _, after = split_signature(graph.signature(handler), graph.names[handler])
    yield from _types_named(columns, handler, f"{before} {after}")
    for place in columns.places(handler):
        lines = list(enumerate(columns.lines_at(place), place.line_start))
        said = " ".join(line for _, line in lines if _GIVES.search(line))
        yield from _types_named(columns, handler, said)
        returned = {number for number, line in lines if _RETURNS.search(line)}
        for edge in graph.edges_of(handler, OUT, Relation.CALLS, Relation.CONSTRUCTS):
            if edge.path != place.path or edge.line not in returned or (node := graph.find(edge.target)) is None:
                continue
            if graph.kind(node) is NodeType.TYPE:
                yield node
            elif graph.kind(node) is NodeType.METHOD:
                before, _, after = split_signature(graph.signature(node), graph.names[node])
                yield from _types_named(columns, node, f"{before} {after}")


def _types_named(columns: GraphColumns, user: int, said: str) -> Iterator[int]:
    """The types that a text of a declaration names: of those that the declaration uses, else the only one of a name."""
    graph, words = columns.graph, dict.fromkeys(_WORD.findall(said))
    used = {edge.target for edge in graph.edges_of(user, OUT, Relation.USES_TYPE)}
    for word in words:
        keys = [key for key in named_nodes(graph, [word]) if key_kind(key) is NodeType.TYPE]
        known = [key for key in keys if key in used] or keys
        nodes = {node for key in known if (node := graph.find(key)) is not None and columns.place(node) is not None}
        if len(nodes) == 1 and word[0].isupper() and not _IS_SERVICE.search(word):
            yield from nodes


def _fields(columns: GraphColumns, node: int, group: str) -> Iterator[GraphFact]:
    """The properties of a type and of its bases, each where it is declared."""
    graph, group = columns.graph, f"{group} {columns.called(node)}"
    for owner in bases_above(graph, [node]):
        for member in sorted(columns.contained(owner), key=lambda one: _line(columns, one)):
            place = columns.place(member)
            is_field = graph.kind(member) is NodeType.PROPERTY and not graph.names[member].startswith("_")
            if is_field and place is not None:
                yield GraphFact(columns.called(member), "", "", place.path, place.line_start, True, group)


def _line(columns: GraphColumns, node: int) -> int:
    place = columns.place(node)
    return place.line_start if place is not None else 0
