"""What code takes where nothing else is given, of a default that no setting has: `lifetime ?? Lifetime.Transient`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts
from rag_assets.answer.plans.code_lines import facts_naming, lines_of, points_with, product_of
from rag_assets.answer.question_analysis import QueryTerm, name_roots, root_set, roots_of
from rag_assets.answer.question_kinds import is_subject

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_MOST_READ, _MOST_TOLD = 60, 3
_FALLS_BACK = re.compile(
    r"\?\?=?\s*(?!throw\b|null\b|new\s+(?:Collection|Dictionary|HashSet|List)<|\"\")"
    r"(?:new\s+[A-Z][\w.<>]*|[A-Z][\w.]*(?![\w.<(])|\d[\w.]*|\"[^\"\n]*\"|true\b|false\b)[^;,\n]*"
)
"""A value that is known when it is read: a constant, a literal, or what is made anew and not empty."""
_MOST_BEFORE = 80  # characters of what may not be given
_GIVEN = re.compile(r"(?:[\w.? ]|=(?!>)|\([^()]*\)|<[^<>]*>)*$")
_NAME = re.compile(r"[A-Za-z]\w*")
_OF_DEFAULTS = root_set("default value used")


def fallback_facts(index: LabelIndex, words: Sequence[QueryTerm]) -> Facts:
    """The lines of the product where what some words call is not given and is a value of that kind then."""
    wanted = {word.root: word.word for word in words if is_subject(word) and word.root not in _OF_DEFAULTS}
    if not wanted:
        return GraphFacts(), {}
    likely = product_of(points_with(" ".join(wanted.values()), index, _MOST_READ), index)
    known = facts_naming(_FALLS_BACK, likely, index, ("", "", True), each_line=True)
    lines = lines_of(index, {fact.path for fact in known})
    found: dict[GraphFact, str] = {}
    for fact in sorted(known, key=lambda one: (one.path, one.line)):
        line = lines.get(fact.path, {}).get(fact.line, "")
        told = _FALLS_BACK.search(line)
        given = _GIVEN.search(line[max(0, told.start() - _MOST_BEFORE) : told.start()]) if told is not None else None
        said = f"{given[0]} {told[0]}" if told is not None and given is not None else ""
        ends = {name_roots(name)[-1] for name in _NAME.findall(said)}
        if wanted.keys() <= roots_of(said) and not ends.isdisjoint(wanted):
            found[replace(fact, group="Default", is_comment=True)] = known[fact]
    shown = dict(list(found.items())[:_MOST_TOLD])
    return GraphFacts(tuple(shown), len(found), leads=True), shown
