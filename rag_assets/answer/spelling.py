"""Slips of typing: what a question means by a word, or a name, that is nowhere in an index and one slip away from one
that is there.

A word that the table of word vectors has is no slip of one that means something else, whether the index has it or not:
`shipping` does not mean `skipping`. Where several words may be meant they are only told, and so is a name whose other
part is a word itself: `OrderFaxService` may be a thing that others have, and no slip of `OrderTaxService`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

from rag_assets.answer.asked import question_model
from rag_assets.answer.context_pack import AnswerInputs
from rag_assets.answer.question_analysis import root
from rag_assets.identifiers import identifier_words, word_set
from rag_assets.index.keyword.terms import stem
from rag_assets.index.keyword.vocabulary import KeywordIndexError

if TYPE_CHECKING:
    from rag_assets.models.static_code.embedder import StaticEmbedder
    from rag_assets.search.index import Searchable

_SHORTEST = 4  # letters of a word; shorter ones are one slip away from many
_LONGEST = 30
"""Letters of a word and of a name: a word has fifty times as many slips as letters."""
_MOST_LOOKED_AT = 5  # words, and names, of a question
_SHORT = 5
"""Letters up to which only letters that changed places, or were doubled, are a slip: `boil` is no slip of `bool`."""
_CLEARLY = 5
"""How many times as many sections the likeliest word must have as the next one."""
_NEAREST = 0.6
"""How near a word of the table has to be to another to be a slip of it, unless none is nearer: `quota` has `limit`
and `allowance` before `quote`, and `paramter` nothing but `parameter` and names."""
_FEWEST = 3  # sections with a word that is not in the table
_ASKS = word_set("what which where who how when why does")
_WORD = re.compile(r"(?<![\w.`'/-])[A-Za-z]?[a-z]+(?![\w.`'/-])")


class Respelled(NamedTuple):
    """`text` is the question with what is `meant` in place of `typed`; '' where that is not clear."""

    text: str
    typed: tuple[str, ...]
    meant: tuple[str, ...]


def respelled(found: AnswerInputs, target: Searchable) -> Respelled | None:
    """None where nothing is misspelled, as far as anybody can tell."""
    text = found.search.question.typed
    meant: dict[str, tuple[str, ...]] = {}
    for name in found.unknown[:_MOST_LOOKED_AT]:
        last = name.rpartition(".")[2]
        slips = set(_slips(last.casefold()))
        near = {one.casefold(): one for one in reversed(found.near) if one.casefold() in slips}
        near |= {one.casefold(): one for one in found.near if one.casefold() in near and one[0] == last[0]}
        meant[last] = tuple(near.values())  # a type rather than a field of it that is called so too
    names = [(typed, known[0]) for typed, known in meant.items() if len(known) == 1]
    is_clear = not any(_may_be_another(typed, known, target) for typed, known in names)
    try:
        meant |= _words(found, text, target)
    except KeywordIndexError:  # which the search has said
        return None
    meant = {typed: known for typed, known in meant.items() if known}
    if not meant:
        return None
    is_clear &= all(len(known) == 1 for known in meant.values())
    for typed, known in meant.items() if is_clear else ():
        text = re.sub(rf"(?<!\w){re.escape(typed)}(?!\w)", known[0], text)
    return Respelled(text if is_clear else "", tuple(meant), tuple(one for known in meant.values() for one in known))


def _words(found: AnswerInputs, text: str, target: Searchable) -> dict[str, tuple[str, ...]]:
    """The words of a question that are in no section, each with those that may be meant."""
    unknown = {word.word for word in found.words if not word.known}
    written = (one for one in dict.fromkeys(_WORD.findall(text)) if len(one) <= _LONGEST)
    typed = [one for one in written if stem(one.lower()) in unknown][:_MOST_LOOKED_AT]
    if not typed or (model := question_model(target)) is None:
        return {}
    vocabulary = target.parts.vocabulary()
    meant: dict[str, tuple[str, ...]] = {}
    for word in typed:
        lower, counts = word.lower(), dict[str, int]()
        asks = sorted(_ASKS.intersection(_slips(lower))) if text.startswith(word) else []
        if asks or len(word) < _SHORTEST:
            meant[word] = tuple(asks[: len(asks) == 1])
            continue
        likely = {slip for slip in _likely_slips(lower) if model.knows(slip)}
        slips = {one for one in _slips(lower) if one in likely or not _is_form(one, lower)}
        if model.knows(lower) or model.knows(stem(lower)):
            slips &= {other for other in _meaning_the_same(model, lower) if root(other) != root(lower)}
        elif likely or len(word) <= _SHORT:
            slips &= likely
        for slip in slips:
            known = vocabulary.find(stem(slip)) if len(slip) >= _SHORTEST else None
            if known is not None and (model.knows(slip) or known.sections >= _FEWEST):
                counts[slip] = known.sections
        likeliest = sorted(counts, key=lambda one: (-counts[one], one))[:2]
        if len(likeliest) == 2 and counts[likeliest[0]] >= _CLEARLY * counts[likeliest[1]]:
            likeliest = likeliest[:1]
        meant[word] = tuple(one.capitalize() if word[0].isupper() else one for one in likeliest)
    return meant


def _meaning_the_same(model: StaticEmbedder, word: str) -> Iterator[str]:
    for at, (other, near) in enumerate(model.related(word)):
        if at == 0 or near >= _NEAREST:
            yield other


def _may_be_another(typed: str, known: str, target: Searchable) -> bool:
    """Whether a name that is one slip away from another may be meant as it is: with another digit, or where a part of
    it that the other does not have is a word, or so short that its slip is none of a word either."""
    parts, others = (Counter(part.lower() for part in identifier_words(name)) for name in (typed, known))
    own, other = parts - others, others - parts
    if any(part.isdecimal() for part in (*own, *other)):
        return True
    if any(len(part) <= _SHORT and other.keys().isdisjoint(_likely_slips(part)) for part in own):
        return True
    model = question_model(target)
    return model is not None and any(model.knows(part) for part in own)


def _is_form(one: str, other: str) -> bool:
    """Whether one of two words may be a form of the other: `noted` is no slip of `note`."""
    return one.startswith(other) or other.startswith(one)


def _likely_slips(word: str) -> Iterator[str]:
    """Two letters that change places, one that is doubled, or not."""
    for at in range(1, len(word)):
        before, after = word[:at], word[at:]
        yield before + after[0] + after
        if after[0] == before[-1]:
            yield before + after[1:]
        elif at > 1:
            yield before[:-1] + after[0] + before[-1] + after[1:]


def _slips(word: str) -> Iterator[str]:
    """What a word is one slip away from: a letter less, more or other, or two that change places. Hardly anybody errs
    in the first letter. Of a long word there are none."""
    for at in range(1, len(word) + 1) if len(word) <= _LONGEST else ():
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:]
        if at > 1 and after:
            yield before[:-1] + after[0] + before[-1] + after[1:]
        for letter in ascii_lowercase:
            yield before + letter + after
            if after and after[0] != letter:
                yield before + letter + after[1:]
