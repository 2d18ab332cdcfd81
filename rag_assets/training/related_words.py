"""The words that a table relates to each of its words: those that `synonyms.txt` names, and those with near vectors.

Vectors of words know forms and what stands in like places (`voucher`, `coupon`), and few words of the same sense that
stand in others: `expire` and `ttl` have a cosine of .12, `retry` and `attempt` one of .22. The list of synonyms says
what an engineer knows; a language model wrote it from the words of the table, without any question in view.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.question_analysis import root
from rag_assets.index.keyword.terms import stem
from rag_assets.models.static_code.table import RELATED, RelatedWords
from rag_assets.training.errors import TrainingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Synonyms = Mapping[str, Mapping[str, float]]
"""Root → the roots that mean about the same, with how near they are."""

_LINE = re.compile(r"(?P<word>[a-z]+):(?P<same>(?: [a-z]+)*)(?: \|(?P<topic>(?: [a-z]+)+))?")
_SAME, _TOPIC = 0.6, 0.45
"""Of a word that a text may say instead, and of one that a text about the same thing has. With .8 and .6 searches for
tasks lose .006; docs/decisions/0052-synonyms.md has the table."""
_BACK = 0.9
"""`expire | cookie`: what is said of cookies expires less surely than the other way round."""
_LEAST_COSINE = 0.4  # `voucher` and `coupon` have .42, `held` and `maintained` .37
_ROUNDED = 1e-4  # more than rounding changes a cosine
_SHORTEST = 3  # letters of a word that is near others: shorter ones are near by chance
_SHORTEST_SYNONYM = 2  # `db`, `id`
_NEARNESS = 255  # of a cosine of 1, as it is stored
_BLOCK = 512  # rows that are compared with all others at a time: 100 MB


def package_synonyms() -> Synonyms:
    """Those of `synonyms.txt`."""
    return synonyms_of(resources.files(__package__).joinpath("synonyms.txt").read_text("ascii").splitlines())


def synonyms_of(lines: Iterable[str]) -> Synonyms:
    """Of lines `word: said instead | of the same topic`, in both directions. Raises TrainingError for another one."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise TrainingError(f"synonyms, line {number}: {line!r} is no `word: said instead | of the same topic`")
        one = _root(match["word"])
        for words, nearness in ((match["same"], _SAME), (match["topic"] or "", _TOPIC)):
            for other in map(_root, words.split()):
                found[one][other] = max(nearness, found[one].get(other, 0.0))
                found[other][one] = max(nearness * _BACK, found[other].get(one, 0.0))
    return found


def related_words(vocabulary: Sequence[str], rows: NDArray[np.int8], synonyms: Synonyms) -> RelatedWords:
    """Of the rows of a table: the nearest first, each root once and by its most used word, and never the word's own:
    other forms of a word are found anyway. Products of int8 rows are whole numbers below 2**24, so any order of
    additions gives the same bytes."""
    families: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(vocabulary):
        if word.isalpha() and len(word) >= _SHORTEST_SYNONYM:
            families[_root(word)].append(at)
    most_used = np.arange(len(vocabulary))
    for members in families.values():
        most_used[members] = members[0]
    alike, named = _near(vocabulary, rows), _named(families, synonyms)
    left, right = np.r_[alike[0], named[0]], most_used[np.r_[alike[1], named[1]]]
    near = np.r_[alike[2], named[2]]
    order = np.lexsort((right, -near, left))
    order = order[right[order] != most_used[left[order]]]
    _, first = np.unique(left[order] * len(vocabulary) + right[order], return_index=True)
    order = order[np.sort(first)]
    left, right, near = left[order], right[order], near[order]
    rank = np.arange(len(left)) - np.searchsorted(left, left)
    kept = rank < RELATED
    related = np.zeros((len(vocabulary), RELATED), "<u2")
    nearness = np.zeros((len(vocabulary), RELATED), "|u1")
    related[left[kept], rank[kept]] = right[kept]
    nearness[left[kept], rank[kept]] = np.rint(np.minimum(near[kept], 1.0) * _NEARNESS)
    return related, nearness


_Pairs = tuple["NDArray[np.intp]", "NDArray[np.intp]", "NDArray[np.float32]"]
"""Entries, entries that are related to them, and how near these are."""


def _near(vocabulary: Sequence[str], rows: NDArray[np.int8]) -> _Pairs:
    """Whole words by the cosine of their rows, in both directions."""
    whole = [at for at, word in enumerate(vocabulary) if len(word) >= _SHORTEST and word.isalpha()]
    words = np.array(whole, np.intp)
    own = rows[words].astype(np.float32)
    lengths = np.maximum(np.linalg.norm(own, axis=1), np.float32(1.0))
    pairs: list[_Pairs] = []
    for start in range(0, len(words), _BLOCK):
        products = own[start : start + _BLOCK] @ own[start:].T  # each pair of words once
        least = (_LEAST_COSINE - _ROUNDED) * lengths[start : start + _BLOCK, None] * lengths[start:]
        first, second = np.nonzero(products >= least)
        apart = second > first
        first, second = first[apart], second[apart]
        pairs.append((first + start, second + start, products[first, second]))
    left, right = (np.concatenate([np.zeros(0, np.intp), *(pair[side] for pair in pairs)]) for side in (0, 1))
    products = np.concatenate([np.zeros(0, np.float32), *(pair[2] for pair in pairs)])
    cosines = products / lengths[left] / lengths[right]
    near = cosines >= _LEAST_COSINE
    left, right, cosines = left[near], right[near], cosines[near]
    return words[np.r_[left, right]], words[np.r_[right, left]], np.r_[cosines, cosines]


def _named(families: Mapping[str, Sequence[int]], synonyms: Synonyms) -> _Pairs:
    """Each word of a root with the roots that are its synonyms, of those that the table has."""
    made = [*_named_pairs(families, synonyms)]
    left, right = (np.array([pair[side] for pair in made], np.intp) for side in (0, 1))
    return left, right, np.array([pair[2] for pair in made], np.float32)


def _named_pairs(families: Mapping[str, Sequence[int]], synonyms: Synonyms) -> Iterator[tuple[int, int, float]]:
    for one, others in synonyms.items():
        for other, nearness in others.items():
            if other in families:
                yield from ((member, families[other][0], nearness) for member in families.get(one, ()))


def _root(word: str) -> str:
    return root(stem(word))
