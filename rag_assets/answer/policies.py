"""Who may do something to a thing, as classes of policies say it that are called as that thing: of Pundit
(`class PostPolicy … def destroy?`) and Laravel (`PostPolicy::delete`)."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from rag_assets.answer.plans.code_lines import lines_of
from rag_assets.answer.plans.listing import nodes_listed
from rag_assets.answer.question_analysis import name_roots
from rag_assets.graph.declared_types import bases_of
from rag_assets.search import CodePlace
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_ASKED = re.compile(
    r"^\W*who (?:(?:is|are) (?:allowed|permitted) to|can|may) (?P<does>\w+)"
    r" (?:(?:all|an?|any|new|our|the) )*+(?P<thing>[\w -]+?)\W*$",
    re.IGNORECASE,
)
_ACTIONS = ("create new store add make", "update edit change modify", "destroy delete remove", "show view see read")
"""What a question calls an action, and a policy."""
_RULE = r"\bdef (?:{0})\??(?![\w?])|\balias_method :(?:{0})\??,|\bfunction (?:{0})\("
_CALLED = re.compile(r"(?<![\w:@.])(?::|\$this->)?(?P<name>\w+(?=\?|\())")
_ENDS = ("end", "}")
_MOST_OF_RULE, _MOST_BASES, _MOST_PLACES = 12, 4, 4


def policy_places(index: LabelIndex, graph: Graph, question: str) -> list[CodePlace]:
    """Where the policy of the thing that a question names, or what that derives from, says who may do to it what is
    asked, and what this asks in turn."""
    asked = _ASKED.match(question.strip())
    if asked is None:
        return []
    thing, does = _words(asked["thing"]), asked["does"].lower()
    named = {one.name: one for one in nodes_listed(graph, "policy") if non_product_code(one.path) is None}
    known = [name for name in named if _words(name)[:-1] == thing]
    known = known or [name for name in named if _words(name)[:-1][-len(thing) :] == thing]
    if len(known) != 1:
        return []
    line = known
    while len(line) < _MOST_BASES and (node := graph.find(named[line[-1]].key)) is not None:
        bases = [name for name in re.findall(r"\w+", bases_of(graph, node)) if name in named and name not in line]
        if not bases:
            break
        line.append(bases[0])
    text = lines_of(index, {named[name].path for name in line})
    found: list[CodePlace] = []
    wanted = set(next((action.split() for action in _ACTIONS if does in action.split()), [does]))
    for _ in range(2):  # the rule, and what it asks
        rule = re.compile(_RULE.format("|".join(sorted(map(re.escape, wanted))) or "(?!)"), re.IGNORECASE)
        paths = (named[name].path for name in line)
        places = [CodePlace(path, at) for path in paths for at, said in text.get(path, {}).items() if rule.search(said)]
        places = [one for one in places if one.path == places[0].path]
        found += places
        wanted = set()
        for one in places:
            lines = text[one.path]
            below = (lines.get(at, "end") for at in range(one.line + 1, one.line + _MOST_OF_RULE))
            is_alias = "alias_method" in lines[one.line]
            own = (
                [lines[one.line].partition(",")[2]]
                if is_alias
                else takewhile(lambda it: it.strip() not in _ENDS, below)
            )
            wanted |= {call["name"] for it in own for call in _CALLED.finditer(it)}
    return list(dict.fromkeys(found))[:_MOST_PLACES]


def _words(name: str) -> list[str]:
    return name_roots(name.rpartition(".")[2])
