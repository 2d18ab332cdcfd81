"""Expressions of everyday English, with the words that code and its documents have for them: `call again` → `retry`.

`expressions.txt` has a line for each, `expression: said instead | of the same topic`, from general knowledge of English
and of software; docs/decisions/0053-expressions.md says who wrote it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import islice

from rag_assets.index.keyword.terms import stem, stem_of

_SAME, _TOPIC = 0.8, 0.6
_BETWEEN = 2  # words that may stand inside of an expression: `throw the old ones away`
_MOST_EMBEDDED = 2
_MOST_WORDS = 64  # of a question: what a pasted text says after that, words find
_BEGINNING = 3  # letters that a word and its root share
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Expression:
    """`words` as the question has them; `instead` what a text says, with how near it is (0 to 1), the nearest first."""

    words: tuple[str, ...]
    instead: tuple[tuple[str, float], ...]

    @property
    def embedded(self) -> list[str]:
        """The words that the vector of the question is made of too."""
        return [word for word, _ in self.instead[:_MOST_EMBEDDED]]


def expressions_in(text: str) -> list[Expression]:
    """Those of a question, in its order; of several that begin at one word the longest."""
    said = [found.group() for found in islice(_WORD.finditer(text.lower()), _MOST_WORDS)]
    roots = list(map(_root, said))
    found: list[Expression] = []
    for at, first in enumerate(roots):
        for rest, instead in _beginning_with(first):
            places = _places(roots, at, rest)
            if places:
                found.append(Expression(tuple(said[place] for place in places), instead))
                break
    return found


def _places(roots: Sequence[str], at: int, rest: Sequence[str]) -> list[int]:
    """Where the words of an expression are whose first one is `at`; none without one of them."""
    places = [at]
    for wanted in rest:
        begin = places[-1] + 1
        near = roots[begin : begin + 1 + _BETWEEN]
        if wanted not in near:
            return []
        places.append(begin + near.index(wanted))
    return places


@lru_cache(maxsize=1 << 13)
def _root(word: str) -> str:
    return stem_of(stem(word))


@lru_cache(maxsize=1 << 12)
def _beginning_with(root: str) -> Sequence[tuple[tuple[str, ...], tuple[tuple[str, float], ...]]]:
    """Of each expression whose first word has this root the roots of the others, and what is said instead; the longest
    first."""
    made = []
    for line in _lines().get(root[:_BEGINNING], ()):
        expression, _, meant = line.partition(":")
        first, *rest = expression.split()
        if _root(first) == root:
            same, _, topic = meant.partition("|")
            instead = [(word, near) for words, near in ((same, _SAME), (topic, _TOPIC)) for word in words.split()]
            made.append((tuple(map(_root, rest)), tuple(instead)))
    return sorted(made, key=lambda one: -len(one[0]))


@cache
def _lines() -> Mapping[str, Sequence[str]]:
    """Those of the package by how their first word begins: a question needs a few of them."""
    made: dict[str, list[str]] = defaultdict(list)
    for line in resources.files(__package__).joinpath("expressions.txt").read_text("ascii").splitlines():
        made[line[:_BEGINNING].partition(" ")[0]].append(line)
    return made
