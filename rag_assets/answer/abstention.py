"""Decides whether the evidence is enough to answer: signals of one search, their weights, two thresholds (E20, E22).

The weights are those of a logistic regression over questions as people ask them, with and without an answer
(`benchmarks/people_questions.py --fit`). The thresholds are those that were calibrated on the questions of the
generation, where it has some.
"""

from __future__ import annotations

import hashlib
import math
from base64 import b85decode
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from rag_assets.index.answer_results import read_calibration

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.index.generations import Generation
    from rag_assets.search import SearchResult


SENTENCE = "I don’t see enough information in this brain to answer that yet."
"""The one sentence of every refusal (E20)."""
SEE_ALSO = "**See also:**"
"""What stands in an answer before what only fits beside it."""

_UNDECIDED = 1.0
"""What a search without keywords counts as, in words that a single section has. Of questions with an answer the middle
one has 1.25, of those without .9."""
_FEWEST_SECTIONS = 100
"""In an index of a few sections each word is rare, and proves little."""
_MOSTLY, _UNPROVEN = 0.45, 0.25
"""A question about a name of which no passage says so much is not sure at best. Of real names that are asked for what
they do not do ("How does OrderPolicy train its neural network?") a tenth is answered with this rule, half without."""
_MOST_NAMES = 3  # that are unsaid: more make it no less likely
_MOST_WORDS = 8  # that are said: long questions say everything
_FEW_WORDS = 7
"""Of a question: what is beyond them, as a logarithm, is its `length`. Of a long one much is said everywhere."""


@dataclass(frozen=True, slots=True)
class Signals:
    """What a search says about its own success. All but the counts and `unsaid_things` lie between 0 and 1, `keyword`
    near it.

    `said` is the share of the question's telling words, by weight, that the first passage to quote says; a word that
    means about the same counts in part. `meaning` is its cosine with the question. `keyword` is the best keyword score
    of a hit, beside the weight of a word that a single section has, as a logarithm: more words, and rarer ones, prove
    more. `named` is the share of the pairs of neighbouring words that the name, the heading or the file of one passage
    has together. `document` is 1 where that passage is of a document, which mentions much that it does not answer.
    `unsaid` is the share of the words that no passage says, and `unsaid_names` counts those with a capital letter among
    them. `setting` is the share that the name of a setting says, where one is asked for. `words_said` counts the words
    that the first passage says: half of six are more than half of two. `unsaid_things`, about -.5 to .5, is how
    much of what it leaves unsaid are things, which a text about them names ("voucher", "encryption"), rather than words
    that code says in other ways ("decided", "look"). A word that neither the index nor the table has is a thing;
    one that the table has only in pieces, which mean something else, is neither.

    `names` counts identifiers in the question, `unknown_names` are those that nothing declares or mentions.
    `facts` counts what the graph says of the names in answer to the question, with a place to quote. `planned`: the
    index itself answers this kind of question, as it does for lists, overviews and routes. `absent`: it has looked for
    what is asked, and it is nowhere. `records`: the first passage is of data, as a database is first filled with, or
    of a style sheet. `hidden`: it is what nobody outside can call, where somebody wants to do something.
    """

    said: float = 0.0
    meaning: float = 0.0
    keyword: float = 0.0
    named: float = 0.0
    document: float = 0.0
    unsaid: float = 0.0
    unsaid_names: int = 0
    setting: float = 0.0
    words_said: int = 0
    unsaid_things: float = 0.0
    names: int = 0
    unknown_names: tuple[str, ...] = ()
    words: int = 0
    facts: int = 0
    planned: bool = False
    absent: bool = False
    records: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class AbstentionWeights:
    """Of a logistic regression: `bias` and one weight a signal."""

    bias: float
    said: float
    meaning: float
    keyword: float
    named: float
    document: float
    unsaid_names: float
    setting: float
    words_said: float
    length: float
    unsaid_things: float


WEIGHTS = AbstentionWeights(-4.8, 2.4, 3.9, 1.9, 3.3, -0.4, -0.9, 0.8, 0.14, -1.7, -4.0)
"""Fitted by `benchmarks/people_questions.py --fit`, rounded."""

THINGS = (
    "*bag63^4^E5fBOv=nxkI5e4%9?;GDj{RsOb{T2lo1n}zm@A3@>1_tf?+5_|Q1?vX$>=Oa?6yy#E<@)mh_5KPP0Rr><{sZs$0|fp6_x}gm2>uQS4g"
    "d)W{~!AN0t)l^2m=iC2krpx1_TD|01p2H{tpNX3I5*u`2Y_N3<w4Z00s#S3<&=E1_b>6^a1<;0{!$2`1t|=3jq5B>j(?>3j6@``2zv={Qdt25&HT"
    "O1qt)}`TYV0^aK+2_Xh+1`1<_#{`UR_|Na972MYNA`3eLL{s#R2`|}e0{{IaH|NRX80QLw0{rmm&{QUg+@dOM4`3(LI2=)p8"
)
"""The direction of `Signals.unsaid_things` in the space of the package's table: one byte a dimension, from -127 to 127,
as base 85. Fitted with the weights."""

THRESHOLD = 0.12
"""Below it a question is refused: of those that have an answer one in fifty."""

SURE = 0.4
"""From it on quotes are an answer; between the two they are what is closest. Of questions without an answer one in
twenty is above it, of those with one seven in ten."""


SCALE = hashlib.sha256(repr((WEIGHTS, THINGS)).encode()).hexdigest()[:12]
"""What confidences mean: a threshold that was calibrated with other weights says nothing about these."""


def values_of(signals: Signals) -> tuple[float, ...]:
    """The signals as numbers, in the order of the fields of `AbstentionWeights` after `bias`."""
    return (
        signals.said,
        signals.meaning,
        signals.keyword,
        signals.named,
        signals.document,
        float(min(signals.unsaid_names, _MOST_NAMES)),
        signals.setting,
        float(min(signals.words_said, _MOST_WORDS)),
        math.log(max(signals.words, _FEW_WORDS) / _FEW_WORDS),
        signals.unsaid_things,
    )


def confidence(signals: Signals, weights: AbstentionWeights = WEIGHTS) -> float:
    """How likely the evidence answers the question, 0 to 1."""
    known = known_confidence(signals)
    if known is not None:
        return known[0]
    return min(likelihood(signals, weights), ceiling_of(signals))


def likelihood(signals: Signals, weights: AbstentionWeights = WEIGHTS) -> float:
    """What the signals add up to, 0 to 1, before any rule."""
    return 1 / (1 + math.exp(-weights.bias - sum(parts_of(signals, weights).values())))


def ceiling_of(signals: Signals) -> float:
    """What the confidence is at most: the name in a question says much, and nothing of whether what is asked about it
    is so; records tell of people and things, and not of the program; and what nobody can call is no way to do it."""
    if signals.absent or signals.records or signals.hidden:
        return _UNPROVEN
    return _UNPROVEN if signals.unsaid >= _MOSTLY and (signals.named or signals.names) else 1.0


def known_confidence(signals: Signals) -> tuple[float, str] | None:
    """The confidence that is no matter of degree, and why: an identifier that is nowhere, or a fact of the graph about
    one that is there."""
    if signals.unknown_names:
        return 0.0, "a name of the question is nowhere"
    if signals.planned:
        return 1.0, "the index itself answers this kind of question"
    if not signals.said:
        return 0.0, "no passage has a word of the question"
    if signals.names and signals.facts:
        return 1.0, "the graph has facts about a name of the question"
    return None


def parts_of(signals: Signals, weights: AbstentionWeights = WEIGHTS) -> dict[str, float]:
    """What makes the confidence beside the bias: each signal, by its weight."""
    names = [field.name for field in fields(AbstentionWeights)][1:]
    return {name: getattr(weights, name) * value for name, value in zip(names, values_of(signals), strict=True)}


@cache
def things() -> NDArray[np.float32]:
    """`THINGS` as (dimension,), from -1 to 1."""
    import numpy as np

    return np.frombuffer(b85decode(THINGS), np.int8).astype(np.float32) / np.float32(127)


def keyword_signal(search: SearchResult, sections: int) -> float:
    """`keyword` of a search in an index of so many `sections`."""
    from rag_assets.contracts.retrieval import Mode  # start-up budget: indexing asks for thresholds alone
    from rag_assets.index.keyword.vocabulary import inverse_document_frequency

    if search.mode not in (Mode.HYBRID, Mode.BM25):
        return math.log1p(_UNDECIDED)
    best = max((hit.scores.get("bm25", 0.0) for hit in search.hits), default=0.0)
    return math.log1p(best / inverse_document_frequency(max(sections, _FEWEST_SECTIONS), 1))


def is_refusal(text: str) -> bool:
    """Whether a model says that it cannot answer, with any apostrophe and with nothing but that sentence."""
    return _plain(text) == _plain(SENTENCE)


def _plain(text: str) -> str:
    return " ".join(text.replace("’", "'").split()).strip(" .\"'").casefold()


class Thresholds(NamedTuple):
    """Of confidence, by the names of the settings of a pipeline."""

    weak_below: float
    sure_from: float


def calibrated_thresholds(generations: Sequence[Generation], mode: str) -> Thresholds | None:
    """Those that hold where nobody says others: of the one generation, searched in `mode`. None where it was not
    calibrated for that, or for confidences that mean something else, and for several generations, which one calibration
    cannot hold for."""
    if len(generations) != 1:
        return None
    found = read_calibration(generations[0].directory)
    if found is None or (found.mode, found.scale) != (mode, SCALE):
        return None
    return Thresholds(found.threshold, found.sure)
