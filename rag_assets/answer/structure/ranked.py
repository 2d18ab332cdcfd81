"""Which declarations have the most of something, or too much of it: lines, members, parameters, columns, users."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import MIGRATION, part_counted
from rag_assets.answer.plans.endpoints import handlers_of
from rag_assets.answer.structure.measures import different, needed_types
from rag_assets.answer.structure.shapes import is_called_a, parameter_count
from rag_assets.contracts.graph import NodeType, Relation
from rag_assets.graph.csr_graph import IN, OUT
from rag_assets.graph.lookup import find
from rag_assets.identifiers import plural, singular
from rag_assets.languages.sql.columns import column_definitions
from rag_assets.languages.sql.statements import read_script

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_MOST = 12
_METHODS = ("method", "function", "constructor")
_ENDS = "controller|service|repository|handler|component|entity|model|validator|provider|factory|manager"
"""Types by how their names end."""
_NOUN = (
    r"(?P<noun>class(?:es)?|types?|interfaces?|enums?|structs?|records?|methods?|functions?|constructors?|endpoints?"
    rf"|routes?|tables?|(?:{_ENDS})s?|repositories|entities|factories)"
)
_MEASURE = (
    r"(?P<measure>lines(?: of code)?|code|methods|functions|properties|fields|members|parameters|arguments|columns"
    r"|(?:foreign keys|references to (?:others|other tables))|callers|uses|usages|users|implementations|implementers"
    r"|sub-?classes|derived (?:classes|types)|dependencies)"
)
_MANY = (
    r"(?P<many>(?:the )?(?:most|highest number of|largest number of|biggest number of|fewest|least|lowest number of)"
    r"|too (?:many|much)|very many|a lot of|lots of)"
)
_LEAD = r"^\W*(?:(?:what|which|list|show|find|give|are|is|me|the|all|our|top|\d+|of|there|any) )*"
_SIZE = (
    r"(?P<size>(?:the )?(?:biggest|largest|longest|most (?:complex|complicated)|smallest|shortest)"
    r"|(?:(?:far )?too |very |really )(?:big|large|long|complex|complicated|small|short))"
)
_HERE = r"(?: (?:here|there|are there|exist|in (?:it|(?:this|the|our) (?:code(?: ?base)?|project|repo\w*|app\w*))))*"
_THAT = r"(?: (?:that|which))?"
_FORMS = [
    re.compile(f"{_LEAD}{form}{_HERE}\\W*$", re.IGNORECASE)
    for form in (
        rf"{_NOUN}{_THAT} (?:has|have|contains?|takes?|needs?|with) {_MANY} {_MEASURE}",
        rf"{_NOUN}{_THAT} (?:has|have|with) (?:the )?(?:highest|tightest|strongest) (?P<coupling>coupling)",
        rf"{_NOUN}{_THAT} (?:is|are) {_SIZE}(?: ones?)?",
        rf"{_SIZE} {_NOUN}",
        rf"{_NOUN}{_THAT} (?:is|are) (?P<by>implemented|extended|inherited|subclassed) (?:the )?most(?: often)?",
        rf"most (?:often )?(?P<by>implemented|extended|inherited|subclassed) {_NOUN}",
        r"(?P<noun>methods?|functions?|members?) (?:of|in|on) (?:the )?`?(?P<of>[A-Z][\w.]*\w)`?(?: class| interface)?"
        r" (?:is|are|gets?) (?:called|used|the most (?:called|used))(?: (?:the )?most)?(?: often| frequently)?",
        r"most (?:often |frequently )?(?:called|used) (?P<noun>methods?|functions?|members?) (?:of|in|on) (?:the )?"
        r"`?(?P<of>[A-Z][\w.]*\w)`?",
    )
]
_USES = (
    Relation.CALLS,
    Relation.CONSTRUCTS,
    Relation.INJECTS,
    Relation.USES_TYPE,
    Relation.READS_FROM,
    Relation.WRITES_TO,
)
_FEW = re.compile(r"fewest|least|lowest|small|short", re.IGNORECASE)
_SAME = {
    "code": "line",
    "function": "method",
    "field": "property",
    "argument": "parameter",
    "usage": "user",
    "use": "user",
    "caller": "user",
    "implementer": "implementation",
    "subclass": "implementation",
    "sub-class": "implementation",
    "derived class": "implementation",
    "derived type": "implementation",
    "line of code": "line",
}


@dataclass(frozen=True, slots=True)
class RankingAsked:
    """Declarations of a `noun`, in the singular, that a question wants by how many of a `measure` they have; `is_few`:
    those first that have the fewest; of an `owner` its own."""

    noun: str
    measure: str
    is_few: bool
    owner: str = ""


def ranking_asked(question: str) -> RankingAsked | None:
    """What a question wants ranked; None for another question."""
    for form in _FORMS:
        if (found := form.match(question)) is None:
            continue
        said = found.groupdict()
        noun = singular(found["noun"].lower())
        of_size = "column" if noun == "table" else "line"
        measures = (("by", "implementation"), ("size", of_size), ("coupling", "dependency"), ("of", "user"))
        measure = next((one for group, one in measures if said.get(group)), "") or _one(said["measure"].lower())
        is_few = _FEW.search(f"{said.get('many') or ''} {said.get('size') or ''}") is not None
        noun = {"route": "endpoint", "function": "method", "member": "method"}.get(noun, noun)
        return RankingAsked(noun, measure, is_few, said.get("of") or "")
    return None


def _one(measure: str) -> str:
    """What is counted, in the singular and by one of its names."""
    if measure.startswith(("foreign", "references")):
        return "foreign key"
    one = measure.replace("lines of", "line of") if measure.startswith("lines") else singular(measure)
    return _SAME.get(one, one)


def ranking_facts(index: LabelIndex, graph: Graph, wanted: RankingAsked) -> Facts:
    """Those of the product that have the most, or the fewest, each with its number; nothing where none has any."""
    columns = GraphColumns(index, graph, None)
    count = _COUNTS[wanted.measure](columns)
    nodes = _nodes(columns, wanted.noun)
    if wanted.owner:
        meant = find(graph, wanted.owner)  # types of one name in several projects are meant all
        owned = {one for at in meant.nodes or meant.candidates for one in columns.contained(at)}
        nodes = [node for node in nodes if node in owned]
    counts = {node: number for node in nodes if (number := count(node)) > 0}
    ranked = sorted(counts, key=lambda node: (counts[node] if wanted.is_few else -counts[node], graph.keys[node]))
    facts = []
    for node in ranked[: 2 * _MOST]:
        place, number = columns.place(node), counts[node]
        if place is not None and (wanted.noun == "table" or not MIGRATION.search(place.path)):  # tools make these
            said = f"{number:,} {wanted.measure if number == 1 else plural(wanted.measure)}"
            facts.append(GraphFact(columns.called(node), "has", said, place.path, place.line_start, True))
    at = facts_at(facts[:_MOST], index)
    most = "Fewest" if wanted.is_few else "Most"
    of = f" of {wanted.owner}" if wanted.owner else ""
    heading = part_counted(f"{most} {plural(wanted.measure)} of {plural(wanted.noun)}{of}", len(counts), len(at))
    return GraphFacts(tuple(at), len(at), f"**{heading}:**"), at


def _nodes(columns: GraphColumns, noun: str) -> Iterable[int]:
    """The declarations of the product that a noun means: the handlers of endpoints."""
    graph = columns.graph
    if noun in _METHODS:
        return [node for node in columns.nodes(NodeType.METHOD).tolist() if is_called_a(noun, columns, node)]
    if noun == "endpoint":
        handlers = handlers_of(graph, columns.nodes(NodeType.ENDPOINT).tolist())
        return [node for node in handlers if graph.kind(node) is NodeType.METHOD]
    if noun == "table":
        return [int(node) for node in columns.nodes(NodeType.TABLE)]
    types = columns.nodes(NodeType.TYPE).tolist()
    if re.fullmatch(_ENDS, noun):
        return [node for node in types if graph.names[node].casefold().endswith(noun)]
    return [node for node in types if noun == "type" or is_called_a(noun, columns, node)]


_Count = Callable[[int], int]


def _members(*kinds: NodeType) -> Callable[[GraphColumns], _Count]:
    def count(columns: GraphColumns) -> _Count:
        return lambda node: sum(columns.graph.kind(one) in kinds for one in columns.contained(node))

    return count


def _ends(direction: int, *relations: Relation) -> Callable[[GraphColumns], _Count]:
    """How many others of the product have such edges to a node, or it to them."""

    def count(columns: GraphColumns) -> _Count:
        edges = columns.of(*relations) & columns.product[columns.source] & columns.is_seen
        own, others = (columns.source, columns.target) if direction == OUT else (columns.target, columns.source)
        found = different(own[edges], others[edges])
        return lambda node: found.get(node, 0)

    return count


def _columns(columns: GraphColumns, node: int) -> int:
    """How many columns the script that creates a table gives it; others may alter it."""
    texts = ("\n".join(columns.lines_at(place)) for place in columns.places(node))
    created = ((text, made) for text in texts for made in read_script(text).objects[:1])
    return max((sum(1 for _ in column_definitions(text, made)) for text, made in created), default=0)


def _parameters(columns: GraphColumns) -> _Count:
    return lambda node: parameter_count(columns.graph.signature(node))


def _needed(columns: GraphColumns) -> _Count:
    found = needed_types(columns)
    return lambda node: found.get(node, 0)


_COUNTS: Mapping[str, Callable[[GraphColumns], _Count]] = {
    "line": lambda columns: columns.length,
    "method": _members(NodeType.METHOD),
    "property": _members(NodeType.PROPERTY),
    "member": _members(NodeType.METHOD, NodeType.PROPERTY),
    "column": lambda columns: lambda node: _columns(columns, node),
    "parameter": _parameters,
    "foreign key": _ends(OUT, Relation.FOREIGN_KEY),
    "user": _ends(IN, *_USES),
    "implementation": _ends(IN, Relation.IMPLEMENTS, Relation.INHERITS),
    "dependency": _needed,
}
