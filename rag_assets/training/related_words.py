"""The words that a table relates to each of its words: those that `synonyms.txt` names, and those with near vectors.

Vectors of words know forms and what stands in like places (`voucher`, `coupon`), and few words of the same sense that
stand in others: `expire` and `ttl` have a cosine of .12, `retry` and `attempt` one of .22. The list of synonyms says
what an engineer knows; a language model wrote it from the words of the table, without any question in view.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.question_analysis import root
from rag_assets.index.keyword.terms import stem
from rag_assets.models.static_code.table import NEARNESS, RELATED, RelatedWords
from rag_assets.training.errors import TrainingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Synonyms = Mapping[str, Mapping[str, float]]
"""Word → the words that mean about the same, with how near they are."""

_LINE = re.compile(r"(?P<word>[a-z]+):(?P<same>(?: [a-z]+)*)(?: \|(?P<topic>(?: [a-z]+)+))?")
_SAME, _TOPIC = 0.6, 0.45
"""Of a word that a text may say instead, and of one that a text about the same thing has. With .8 and .6 searches for
tasks lose .006; docs/decisions/0052-synonyms.md has the table."""
_BACK = 0.9
"""`expire | cookie`: what is said of cookies expires less surely than the other way round."""
_LEAST_COSINE = 0.4  # `voucher` and `coupon` have .42, `held` and `maintained` .37
_LEAST_OF_A_FORM = 0.3  # `find` and `found` have .51, `unit` and `united` .28, `state` and `statement` .05
_ROUNDED = 1e-4  # more than rounding changes a cosine
_SHORTEST = 3  # letters of a word that is near others: shorter ones are near by chance
_SHORTEST_SYNONYM = 2  # `db`, `id`
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
        one = match["word"]
        for words, nearness in ((match["same"], _SAME), (match["topic"] or "", _TOPIC)):
            for other in words.split():
                found[one][other] = max(nearness, found[one].get(other, 0.0))
                found[other][one] = max(nearness * _BACK, found[other].get(one, 0.0))
    return found


def related_words(vocabulary: Sequence[str], rows: NDArray[np.int8], synonyms: Synonyms) -> RelatedWords:
    """Of the rows of a table: the nearest first, the most used form of each, and none of the word's own. Products of
    int8 rows are whole numbers below 2**24, so any order of additions gives the same bytes."""
    floats = rows.astype(np.float32)
    lengths = np.maximum(np.linalg.norm(floats, axis=1), np.float32(1.0))
    forms = _forms(vocabulary, floats, lengths)
    alike, named = _near(vocabulary, floats, lengths), _named(vocabulary, forms, synonyms)
    left, right, near = (np.r_[one, other] for one, other in zip(alike, named, strict=True))
    right = forms[right]
    order = np.lexsort((right, -near, left))
    order = order[right[order] != forms[left[order]]]
    _, first = np.unique(left[order] * len(vocabulary) + right[order], return_index=True)
    order = order[np.sort(first)]
    left, right, near = left[order], right[order], near[order]
    rank = np.arange(len(left)) - np.searchsorted(left, left)
    kept = rank < RELATED
    related = np.zeros((len(vocabulary), RELATED), "<u2")
    nearness = np.zeros((len(vocabulary), RELATED), "|u1")
    related[left[kept], rank[kept]] = right[kept]
    nearness[left[kept], rank[kept]] = np.rint(np.minimum(near[kept], 1.0) * NEARNESS)
    return related, nearness


def _forms(vocabulary: Sequence[str], rows: NDArray[np.float32], lengths: NDArray[np.float32]) -> NDArray[np.intp]:
    """Of each entry the most used one that it is a form of, itself for most: one root, and near, as `state` and
    `statement` are not."""
    forms = np.arange(len(vocabulary))
    first_of: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(vocabulary):
        if word.isalpha() and len(word) >= _SHORTEST_SYNONYM:
            heads = first_of[root(stem(word))]
            least = _LEAST_OF_A_FORM * lengths[at]
            forms[at] = next((head for head in heads if rows[head] @ rows[at] >= least * lengths[head]), at)
            if forms[at] == at:
                heads.append(at)
    return forms


_Pairs = tuple["NDArray[np.intp]", "NDArray[np.intp]", "NDArray[np.float32]"]
"""Entries, entries that are related to them, and how near these are."""


def _near(vocabulary: Sequence[str], rows: NDArray[np.float32], lengths: NDArray[np.float32]) -> _Pairs:
    """Whole words by the cosine of their rows, in both directions."""
    words = np.array([at for at, word in enumerate(vocabulary) if len(word) >= _SHORTEST and word.isalpha()], np.intp)
    own, lengths = rows[words], lengths[words]
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


def _named(vocabulary: Sequence[str], forms: NDArray[np.intp], synonyms: Synonyms) -> _Pairs:
    """Each form of a word with the synonyms of the word, of those that the table has."""
    number = {word: at for at, word in enumerate(vocabulary)}
    alike: dict[int, list[int]] = defaultdict(list)
    for at, form in enumerate(forms.tolist()):
        alike[form].append(at)
    made = [
        (at, number[other], nearness)
        for one, others in synonyms.items()
        if one in number
        for other, nearness in others.items()
        if other in number
        for at in alike[int(forms[number[one]])]
    ]
    left, right = (np.array([pair[side] for pair in made], np.intp) for side in (0, 1))
    return left, right, np.array([pair[2] for pair in made], np.float32)
