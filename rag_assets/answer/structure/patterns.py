"""Design patterns as the names of types tell them, and a singleton as it is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.answer.artifact.graph_columns import GraphColumns
from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import MOST_LISTED, from_the_root, part_counted
from rag_assets.contracts.graph import NodeType
from rag_assets.identifiers import singular

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_ENDS: Mapping[str, str] = {
    "Abstract factory and factory": "Factory",
    "Adapter": "Adapter",
    "Builder": "Builder",
    "Chain of responsibility, as middleware or a pipeline": "Middleware|PipelineBehaviou?r",
    "Command and query (CQRS)": "Command|Query|CommandHandler|QueryHandler",
    "Composite": "Composite",
    "Data transfer object": "Dto|DTO",
    "Decorator": "Decorator",
    "Domain-driven design": "AggregateRoot|DomainEvent|DomainService|ValueObject",
    "Domain event": "DomainEvent|IntegrationEvent",
    "Event sourcing": "EventStore|EventStream|EventSourced|AggregateStore|EventSourcedAggregate",
    "Facade": "Facade",
    "Interceptor": "Interceptor",
    "Iterator": "Iterator|Enumerator",
    "Mediator": "Mediator",
    "Memento": "Memento",
    "Model, view and controller": "Controller",
    "Observer": "Observer|Listener|Subscriber",
    "Options": "Options",
    "Outbox": "Outbox|OutboxMessage|InboxMessage",
    "Proxy": "Proxy",
    "Repository": "Repository",
    "Saga": "Saga|ProcessManager",
    "Specification": "Specification|Spec",
    "State machine": "StateMachine",
    "Strategy": "Strategy",
    "Unit of work": "UnitOfWork",
    "Value object": "ValueObject",
    "View model": "ViewModel",
    "Visitor": "Visitor",
}
"""A pattern → how the names of its types end."""
_MOST_TYPES = 3  # of each, where all patterns are told
_SINGLETON = "Singleton"
_ONE_INSTANCE = re.compile(
    r"\bstatic\s+(?:readonly\s+|final\s+)*(?P<type>\w+)\??\s+_?(?:[iI]nstance|INSTANCE|[sS]hared|Default)\b"
)
_CALLED: Mapping[str, str] = {
    "cqrs": "Command and query (CQRS)",
    "chain of responsibility": "Chain of responsibility, as middleware or a pipeline",
    "command": "Command and query (CQRS)",
    "ddd": "Domain-driven design",
    "domain driven design": "Domain-driven design",
    "dto": "Data transfer object",
    "factory": "Abstract factory and factory",
    "abstract factory": "Abstract factory and factory",
    "mvc": "Model, view and controller",
    "mvvm": "View model",
    "middleware": "Chain of responsibility, as middleware or a pipeline",
    "pipeline": "Chain of responsibility, as middleware or a pipeline",
    "pub sub": "Observer",
    "state": "State machine",
    "singleton": _SINGLETON,
} | {name.lower(): name for name in _ENDS}
_ALL = re.compile(
    r"^\W*(?:(?:what|which|list|show|are|is|name|me|all|the|there|any) )*(?:software |oo |object[- ]oriented |gof )*"
    r"(?:design|architectural|architecture|coding|enterprise) patterns?"
    r"(?: (?:are|is|does|do|it|this|the|we|they|here|there|in|project|code(?: ?base)?|app\w*|repo\w*|used?|uses"
    r"|apply|applied|follow\w*|implement\w*|employed|has|have|exist\w*))*\W*$",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"^\W*(?!what is )(?:(?:which|what|where|is|are|does|do|how|list|show|me|all|the|a|an|it|this|we|code|project"
    r"|class(?:es)?|types?|places?|follow\w*|use[sd]?|using|implement\w*|appl\w+|find) )+?"
    rf"(?P<pattern>{'|'.join(sorted(map(re.escape, _CALLED), key=len, reverse=True))})[ -]?(?:design )?patterns?"
    r"(?: (?:used|implemented|applied|followed|here|anywhere|in|the|this|code(?: ?base)?|project|is|are))*\W*$",
    re.IGNORECASE,
)
_MVC = "Model, view and controller"
_OF_MVC = re.compile(r"controllers?/|controllers?\.(?:cs|java|kt|php|vb)$", re.IGNORECASE)
_KNOWN_BY_NAME = r"cqrs|ddd|domain[- ]driven design|event sourcing|mvc"
_IS_USED = re.compile(
    r"^\W*(?:is|are|does|do|has|have)(?: (?:it|this|the|there|we|they|an?|any|app\w*|code(?: ?base)?|project|system"
    r"|solution|use[sd]?|using|follow\w*|implement\w*|appl\w+))*?"
    rf" (?P<pattern>{_KNOWN_BY_NAME})(?: (?:used|implemented|applied|followed|here|in|the|this|code(?: ?base)?|project"
    r"|anywhere))*\W*$"
    rf"|^\W*(?:where|how) (?:is|are) (?P<where>{_KNOWN_BY_NAME}) (?:used|implemented|applied)\W*$",
    re.IGNORECASE,
)
"""Whether a pattern is used whose name is that of nothing else."""


def is_asked_in_passing(question: str) -> bool:
    """Whether a question is for a pattern of which documents tell too, where no type does."""
    return _IS_USED.match(question) is not None


def pattern_asked(question: str) -> str | None:
    """The pattern that a question is for, '' for all of them; None for another question."""
    if _ALL.match(question):
        return ""
    if (found := _ONE.match(question)) is None and (found := _IS_USED.match(question)) is None:
        return None
    said = next(filter(None, found.groups())).lower().replace("-", " ")
    return _CALLED.get(said) or _CALLED[singular(said)]


def _is_told(pattern: str, fact: GraphFact) -> bool:
    """Whether a name tells a pattern: other parts than those of MVC are called controllers too."""
    return pattern != _MVC or _OF_MVC.search(fact.path) is not None


def pattern_facts(index: LabelIndex, graph: Graph, wanted: str) -> Facts:
    """The types of the product whose names tell a pattern, or those of all patterns by how many tell each."""
    columns = GraphColumns(index, graph, None)
    ends = {name: re.compile(rf"\w(?:{end})(?:`\d+)?$") for name, end in _ENDS.items() if wanted in ("", name)}
    found = defaultdict[str, list[GraphFact]](list)
    for node in columns.nodes(NodeType.TYPE).tolist():
        place, name = columns.place(node), graph.names[node]
        if place is not None:
            fact = GraphFact(columns.called(node), "", "", place.path, place.line_start, True)
            for pattern in (one for one, end in ends.items() if end.search(name) and _is_told(one, fact)):
                found[pattern].append(fact)
    if wanted in ("", _SINGLETON) and (singletons := _singletons(columns)):
        found[_SINGLETON] = singletons
    if wanted:
        facts = sorted(found[wanted], key=lambda one: (one.path, one.line))
        at = facts_at(facts[:MOST_LISTED], index)
        heading = part_counted(f"{wanted}, as code names or writes it", len(facts), MOST_LISTED)
        return GraphFacts(tuple(at), len(facts), f"**{heading}:**"), at
    return _told_each(index, found)


def _told_each(index: LabelIndex, found: Mapping[str, Sequence[GraphFact]]) -> Facts:
    """Some types of each pattern, those first that most types tell."""
    facts = []
    for pattern in sorted(found, key=lambda pattern: (-len(found[pattern]), pattern)):
        types = sorted(found[pattern], key=lambda one: (*from_the_root(one.path), one.line))
        counted = "1 type" if len(types) == 1 else f"{len(types):,} types"
        facts += [replace(one, group=f"{pattern}, by {counted}") for one in types[:_MOST_TYPES]]
    at = facts_at(facts, index)
    return GraphFacts(tuple(at), len(at)), at


def _singletons(columns: GraphColumns) -> list[GraphFact]:
    """The members that hold the one object of the type that has them."""
    graph, found = columns.graph, dict[int, GraphFact]()
    for node in columns.nodes(NodeType.PROPERTY).tolist():
        held, place = _ONE_INSTANCE.search(graph.signature(node)), columns.place(node)
        owner = int(columns.type_of[node])
        if held is not None and place is not None and owner >= 0 and graph.names[owner] == held["type"]:
            found[owner] = GraphFact(columns.called(node), "", "", place.path, place.line_start, True)
    return list(found.values())
