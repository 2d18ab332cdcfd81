"""Constants of C that are defined one by one and begin alike: `DB_ERR_IO`, `DB_ERR_EOF` … are the error codes."""

from __future__ import annotations

import re

from rag_assets.answer.graph_facts import GraphFact, GraphFacts
from rag_assets.answer.plans.code_lines import MOST_READ, facts_listed, lines_of, points_with, product_of
from rag_assets.answer.question_analysis import root, root_set
from rag_assets.search.index import LabelIndex

_DEFINED = re.compile(
    r"[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Z][A-Z\d]*(?:_[A-Z\d]+)+)[ \t]++"
    r"\(?[ \t]*+-?(?:0[xX][\da-fA-F]+|\d+|'.')[uUlL]*[ \t]*+(?:<<[^/]*|\))?[ \t]*+(?:/[/*].*)?$"
)
_OF_C = (".h", ".hh", ".hpp", ".hxx", ".c", ".cc", ".cpp", ".cxx")
_FEWEST, _MOST_FAMILIES = 3, 2
_SHORTEST = 3  # letters of what stands for a word: `ERR`, `OPT`
_SORTS = root_set("code constant error flag kind level mode option sort state status type value")
_ERRORS = root_set("error")
"""What constants are, whatever they are of: their names seldom say it, but of errors."""


def family_listed(index: LabelIndex, noun: str) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The numbers of the product whose names begin with what a noun says that ends with a sort, in the order of their
    files; nothing where those of several families do."""
    words = noun.split()
    if root(words[-1]) not in _SORTS:
        return GraphFacts(), {}
    telling = [word for word in words if root(word) not in _SORTS - _ERRORS] or words
    sections = product_of(points_with("define", index, MOST_READ), index).values()
    paths = {path for one in sections if (path := one.get("Path", "")).endswith(_OF_C)}
    families: dict[tuple[str, ...], dict[str, GraphFact]] = {}
    for path, lines in sorted(lines_of(index, paths).items()):
        for line, text in sorted(lines.items()):
            if (found := _DEFINED.match(text)) and (begins := _beginning(found["name"], telling)):
                fact = GraphFact(found["name"], "", "", path, line, certain=True)
                families.setdefault((path, *begins), {}).setdefault(found["name"], fact)
    kept = [list(family.values()) for family in families.values() if len(family) >= _FEWEST]
    if not 0 < len(kept) <= _MOST_FAMILIES:
        return GraphFacts(), {}
    return facts_listed([fact for family in kept for fact in family], noun, index)


def _beginning(name: str, words: list[str]) -> tuple[str, ...]:
    """The parts of a name up to the last one that says one of some words, if it says each of them; else none."""
    parts = name.lower().split("_")
    said = [next((at for at, part in enumerate(parts[:-1]) if _says(part, word)), -1) for word in words]
    return () if -1 in said else tuple(parts[: max(said) + 1])


def _says(part: str, word: str) -> bool:
    return root(part) == root(word) or (len(part) >= _SHORTEST and word.startswith(part))
