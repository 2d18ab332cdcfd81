"""Who may do something to a thing, as classes of policies say it that are called as that thing: of Pundit
(`class PostPolicy … def destroy?`) and Laravel (`PostPolicy::delete`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rag_assets.answer.plans.code_lines import lines_of
from rag_assets.answer.plans.listing import bases_of, nodes_listed
from rag_assets.answer.question_analysis import root
from rag_assets.identifiers import identifier_words
from rag_assets.search import CodePlace
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.search.index import LabelIndex

_ASKED = re.compile(
    r"^\W*who (?:(?:is|are) (?:allowed|permitted) to|can|may) (?P<does>\w+)"
    r" (?:(?:all|an?|any|new|our|the) )*(?P<thing>[\w -]+?)\W*$",
    re.IGNORECASE,
)
_ACTIONS = (
    frozenset({"create", "new", "store", "add", "make"}),
    frozenset({"update", "edit", "change", "modify"}),
    frozenset({"destroy", "delete", "remove"}),
    frozenset({"show", "view", "see", "read"}),
    frozenset({"index", "list", "view_any", "viewany", "browse"}),
)
"""What a question calls an action, and a policy."""
_CALLED = re.compile(r"(?<![\w:@.])(?::|\$this->)?(?P<name>\w+\?|\w+(?=\())")
_MOST_OF_RULE, _MOST_BASES = 12, 4
_MOST_PLACES = 4


def policy_places(index: LabelIndex, graph: Graph, question: str) -> list[CodePlace]:
    """Where the policy of the thing that a question names, or what that derives from, says who may do to it what is
    asked, and what this is decided by."""
    asked = _ASKED.match(question.strip())
    if asked is None:
        return []
    thing, does = [root(word.lower()) for word in identifier_words(asked["thing"])], asked["does"].lower()
    policies = [one for one in nodes_listed(graph, "policy") if non_product_code(one.path) is None]
    named = {one.name.rpartition(".")[2]: one for one in policies}
    words = {name: [root(word.lower()) for word in identifier_words(name)][:-1] for name in named}
    known = [name for name in named if words[name] == thing]
    known = known or [name for name in named if words[name][-len(thing) :] == thing]
    if len(known) != 1:
        return []
    wanted = next((action for action in _ACTIONS if does in action), frozenset({does}))
    line = [named[known[0]]]
    while len(line) < _MOST_BASES and (node := graph.find(line[-1].key)) is not None:
        base = next((named[name] for name in named if name in re.findall(r"\w+", bases_of(graph, node))), None)
        if base is None or base in line:
            break
        line.append(base)
    text = lines_of(index, {one.path for one in line})
    found: list[CodePlace] = []
    names = {*wanted, *(f"{name}?" for name in wanted)}
    for _ in range(2):  # the rule, and what it asks
        places = [place for one in line for place in _defined(text.get(one.path, {}), one.path, names)]
        first = [place for place in places if place.path == places[0].path]
        found += [place for place in first if place not in found]
        names = {name for place in first for name in _asked_by(text[place.path], place.line)} - names
        if not names:
            break
    return found[:_MOST_PLACES]


def _defined(lines: Mapping[int, str], path: str, names: set[str]) -> list[CodePlace]:
    said = "|".join(re.escape(name) for name in sorted(names))
    defines = re.compile(
        rf"\bdef (?:{said})(?![\w?])|\balias_method :(?:{said}),|\bfunction (?:{said})\(", re.IGNORECASE
    )
    return [CodePlace(path, at) for at, text in sorted(lines.items()) if defines.search(text)] if names else []


def _asked_by(lines: Mapping[int, str], begin: int) -> set[str]:
    """The names that a rule asks, on its own lines."""
    own = [lines[begin].partition(",")[2] if "alias_method" in lines[begin] else ""]
    if not own[0]:
        indent = len(lines[begin]) - len(lines[begin].lstrip())
        for at in range(begin + 1, begin + _MOST_OF_RULE):
            text = lines.get(at, "")
            if text.strip() and len(text) - len(text.lstrip()) <= indent and text.strip() != "{":
                break
            own.append(text)
    return {found["name"] for text in own for found in _CALLED.finditer(text)}
