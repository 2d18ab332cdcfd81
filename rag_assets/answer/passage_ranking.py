"""How well passages answer a question: by its words, by words that mean about the same, and by what they are.

A linear model. Its weights are those of a listwise fit (Cao and others 2007) to questions as people ask them, of each
of which the lines that answer are known (`benchmarks/people_questions.py`); those of `bare` and `hidden` are set by
hand, as these questions have too few of them.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from heapq import heapify, heappop, heappush
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from rag_assets.answer.abstention import Signals, things
from rag_assets.answer.passages import (
    CONFIGURATION,
    Passage,
    excerpts_of,
    only_declares,
    only_exports,
    only_links,
    only_stores,
    whole_of,
)
from rag_assets.answer.question_analysis import (
    QueryTerm,
    asks_about_failure,
    asks_amount,
    asks_how_made,
    asks_how_to,
    asks_use,
    root,
    roots_of,
    roots_of_run,
)
from rag_assets.contracts.evidence import Evidence
from rag_assets.identifiers import identifier_words
from rag_assets.index.keyword.expressions import Expression, expressions_in
from rag_assets.index.keyword.terms import runs, stem
from rag_assets.search.ranking.penalties import UPGRADE, BesideProduct, is_tooling, non_product_code

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.models.static_code.embedder import ReadTexts, StaticEmbedder

_UNLIKE, _ALIKE = 0.45, 0.9
"""Cosines of two words: below the first they have nothing to do with each other, from the second on one is a form of
the other."""
_LIKE_CREDIT = 0.75
"""Of a word that means the same, beside the word itself."""
_FAILS = re.compile(
    r"(?<!\bthrows )\b(?:throw|raise|panic|Err[A-Z]\w*|errors?\.(?:New|Errorf|Wrapf?)|\w*Exception|status\.Errorf?"
    r"|http\.Error|(?:[bB]adRequest|[nN]otFound|[fF]orbidden|[uU]nauthorized|[cC]onflict|send(?:Status|Error)|abort)(?=\()"
    r"|SC_[A-Z_]+)\b"
)
_RECORDS = re.compile(
    r"(?:^|/)changes(?:\.|$)|(?:change|breaking)[-_ ]?(?:log|changes)|release|histor[yi]|migrat|licen[cs]e|copying"
    r"|code[-_]of[-_]conduct"
    rf"|(?:^|/)(?:lang|i18n|locales?)(?:/|\.)|(?:^|[/._-])(?:zh|ja|es|ko|fr|de)[-_/.]|{UPGRADE.pattern}",
    re.IGNORECASE,
)
"""Files that record what was, what is allowed, or say the same in other languages."""
_OF_AN_API = re.compile(r"(?:open-?api|schema|spec|swagger)[^/]*$", re.IGNORECASE)
_INSERTS = re.compile(r"^\s*INSERT\b", re.IGNORECASE | re.MULTILINE)
_GUARDS = re.compile(r"\bIF\s+(?:NOT\s+)?EXISTS\b", re.IGNORECASE)
"""Of SQL: what lets a script run twice, and says nothing of what does not exist."""
_TERMS = re.compile(
    r"Permission (?:is hereby granted|to use, copy).{0,900}?(?=TH(?:E|IS) SOFTWARE IS PROVIDED|\Z)"
    r"|TH(?:E|IS) SOFTWARE IS PROVIDED.{0,1600}?(?:DEALINGS\W+IN\W+THE\W+SOFTWARE|SUCH\W+DAMAGE|THIS\W+SOFTWARE\.)"
    r"|Licensed under the Apache License.{0,900}?limitations\W+under\W+the\W+License"
    r"|This program is free software.{0,900}?Public\W+License\W+for\W+more\W+details",
    re.DOTALL,
)
"""Of a licence that stands in code: it grants permissions and limits damages, and the code does neither."""
_LICENCE = re.compile(
    r"(?:^|/)(?:un)?(?:licen[cs]es?|copying|copyright|notices?)(?:[-_][\w-]*)?(?:\.(?:adoc|md|rst|txt))?$",
    re.IGNORECASE,
)
_SAYS_LICENCE = re.compile(
    r"licen[cs]|copy(?:ing|right|left)|warrant|liab|patent|redistribut|\bterms\b|\blegal|trademark|\bnotices\b|commercial"
    r"|open[- ]source|\b(?:agpl|apache|bsd|gpl|mit|mpl)\b",
    re.IGNORECASE,
)
_LEAST_BESIDE_TERMS = 3  # a third
_FEWEST_INSERTS = 3  # one or two are what a routine does
_MOST_OF_SETTINGS = 500
"""Lines of a file that configures something."""
_PAGE = re.compile(r"\{%|\{\{|<%|</?(?:button|div|form|input|label|span|td|tr)\b")
"""Of HTML: what lays out a page of an application, and tells nothing of how that works."""
_NUMBER = re.compile(r"(?<![\w.])(?:[2-9]|\d\d)")
"""More than 0 and 1, which are everywhere."""


MOST_QUOTED = 9
"""Passages that an answer quotes, most of them in short: a fact is among 3 for 44 of 100 questions, among 9 for 58."""

_AGAIN = 0.8
"""What another passage of a file loses beside the first one: an answer may be in the second best file."""
_WORD_FOR_WORD, _IN_CODE = 20.0, 5.0
"""More than all else: who quotes a text, or writes a key that nothing declares, wants to know where it stands; of a
text, what says it rather than what tells of it."""
_SAID = 0.4
"""Of a word's credit, from which on a passage says it."""
_UNSAID = 0.3

_FEWEST_OF_CASE = 0.34
"""Of what a question says beside a name, for the case that it tells of that."""
_MOST_DECIDING = 2
_MOST_HANDING_ON, _MOST_HOPS = 2, 2  # statements, and members one after the other
_FEWEST_MORE_LINES = 3  # of what decides, than of what hands on
_CALLED_OWN = re.compile(r"(?<![\w.])(?:(?:this|self|base|super)(?:\.|->))?(\w+)(?:<[^<>()]*>)?\(")
_EMPTY_BODY = re.compile(r"\)\s*\{\s*\}$")
_STATEMENT_END = re.compile(r";[ \t]*$", re.MULTILINE)


_HIDDEN = re.compile(r"(?:\w+\s+)*?(?:fileprivate|internal|private|protected)\b")
_SHOWN = re.compile(r"(?:\w+\s+)*?public\b")
_FOR_CONTRIBUTORS = re.compile(
    r"(?:^|/)(?:authors|code[-_ ]of[-_ ]conduct|contribut(?:e|ing|ors)|governance|issue[-_]template|maintainers"
    r"|notices?|pull[-_]request[-_]template|security|sponsor(?:s|ship)?)(?:\.(?:adoc|md|rst|txt))?$",
    re.IGNORECASE,
)
"""Files for those who work on the project, or pay for it: who uses it asks for nothing of that."""
_OF_DEVELOPMENT = re.compile(
    r"\b(?:author|branch|bug|build|commit|contribut|convention|develop|donat|format|guideline|issue|licen[cs]e|maintain"
    r"|project|pull request|releas|report|repo|secur|sourc|sponsor|style|tests?\b|vulnerab)",
    re.IGNORECASE,
)
_PAGE_OF = re.compile(r"\.html?[\w-]*$")
"""A page that says once more what is written in Markdown, where a file beside it is called so."""
_WANTS_PLACE = re.compile(r"\b(?:where|links?|references?|resources?|documentation|docs|guides?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PassageWeights:
    """Of what is known of a passage: `rank` the score of its section as a share of the best, `words` how much of the
    question it says (0 to 1, rare words more), `meaning` its cosine with the question, `file` the best `words` of its
    file, `length` the logarithm of its lines. The others are 1 or 0: what a passage is, or that it has what the
    question asks for (an amount, what fails, advice, which documents have and comments of what others may use); a
    `record` is a changelog, a migration or a translation; `hidden` is what nobody outside can call, where somebody asks
    how to do something;
    `bare` is what says nothing of how: a constructor that keeps what it is given, and what a module exports by its
    names; where it is asked how something is made, members without a body; where no place is asked for, a list of
    links."""

    rank: float
    words: float
    meaning: float
    file: float
    length: float
    prose: float
    configuration: float
    beside_product: float
    type: float
    one_line: float
    amount: float
    failure: float
    how_to: float
    record: float
    bare: float
    hidden: float


_LINE_OF_PROSE = 100  # characters
WEIGHTS = PassageWeights(2.7, 4.5, 7.5, 1.1, 0.4, -0.1, -0.5, -1.1, -0.2, -0.8, 1.8, 1.3, 0.9, -1.0, -2.0, -1.0)


@dataclass(frozen=True, slots=True, eq=False)
class RankedPassages:
    """The passages of some evidence, best first, with their scores; `credit` (passages, words) is how well each says
    each of the `words` of a question, 0 to 1, `said` the share of the question's weight that it says, `features` what
    is known of it, in the order of `PassageWeights`. `also` are others to quote, each with how many go before it."""

    passages: tuple[Passage, ...]
    scores: NDArray[np.float32] = field(repr=False)
    words: tuple[QueryTerm, ...]
    credit: NDArray[np.float32] = field(repr=False)
    said: NDArray[np.float32] = field(repr=False)
    features: NDArray[np.float32] = field(repr=False)
    model: StaticEmbedder | None = field(default=None, repr=False)
    also: tuple[tuple[int, Passage], ...] = ()

    @property
    def meaning(self) -> NDArray[np.float32]:
        """The cosine of each with the question."""
        return self.features[:, _MEANING]

    def parts_of(self, number: int) -> dict[str, float]:
        """What makes the score of a passage: each feature that it has, by its weight."""
        parts = zip(_NAMES, self.features[number].tolist(), strict=True)
        return {name: value * getattr(WEIGHTS, name) for name, value in parts if value}

    def of_words(self, words: Sequence[QueryTerm]) -> RankedPassages:
        """The same in the same order, as if the question had these of its words alone."""
        kept = [at for at, word in enumerate(self.words) if word in words]
        left, credit = tuple(self.words[at] for at in kept), self.credit[:, kept]
        return replace(self, words=left, credit=credit, said=_said(credit, left))

    def led_by(self, first: Sequence[Passage]) -> RankedPassages:
        """The same with some of the passages before all others, to be quoted whatever they say."""
        import numpy as np

        numbers = [at for one in first for at, other in enumerate(self.passages) if other is one]
        order = np.array([*numbers, *(at for at in range(len(self.passages)) if at not in numbers)], np.int64)
        scores = self.scores[order]
        credit = self.credit[order]
        credit[: len(numbers)] = np.maximum(credit[: len(numbers)], _SAID)
        scores[: len(numbers)] = scores.max(initial=0.0) + _WORD_FOR_WORD * np.arange(len(numbers), 0, -1)
        passages = tuple(self.passages[at] for at in order)
        return replace(
            self,
            passages=passages,
            scores=scores,
            credit=credit,
            said=self.said[order],
            features=self.features[order],
        )

    def said_by(self, texts: Sequence[str]) -> list[float]:
        """The share of the question's weight that each of some texts says."""
        read = _TextRuns.of(texts)
        credit = _credits(self.words, read, read.by(self.model), self.model)
        found: list[float] = _said(credit, self.words).tolist()
        return found

    def words_of(self, number: int) -> list[QueryTerm]:
        """The words that a passage says."""
        import numpy as np

        return [self.words[at] for at in np.flatnonzero(self.credit[number] >= _SAID)]

    def chosen(self, most: int = MOST_QUOTED, within: Container[Evidence] | None = None) -> list[int]:
        """The numbers of those to quote, best first: none inside of another, those of files that were not quoted yet
        rather than more of one. `within` is the evidence that may be quoted; None: all of it."""
        import numpy as np

        says = np.flatnonzero((self.credit >= _SAID).any(axis=1)).tolist()
        left = [(-float(self.scores[at]), at, 0) for at in says]  # the best first; the last is what it has lost so far
        heapify(left)
        taken: list[int] = []
        of_file: Counter[str] = Counter()
        while left and len(taken) < most:
            score, best, lost = heappop(left)
            quoted = self.passages[best]
            if lost < of_file[quoted.evidence.path]:
                heappush(left, (score + _AGAIN, best, lost + 1))
                continue
            if any(same_place(quoted, self.passages[other]) for other in taken):
                continue
            if within is None or quoted.evidence in within:
                taken.append(best)
                of_file[quoted.evidence.path] += 1
        return taken


def ranked(
    question: str,
    words: Sequence[QueryTerm],
    evidence: Sequence[Evidence],
    model: StaticEmbedder | None,
    phrases: Sequence[str] = (),
) -> RankedPassages:
    """The passages of the evidence by how well they answer, those first that have the most of the `phrases`; without a
    `model` by words alone."""
    import numpy as np

    passages, rows, credit = passage_features(question, words, evidence, model)
    scores = rows @ np.array([getattr(WEIGHTS, name) for name in _NAMES], np.float32)
    if phrases:
        from rag_assets.search.phrases import occurs  # start-up budget: few questions have a phrase

        texts = sum(" " in phrase for phrase in phrases)
        for at, one in enumerate(passages):
            having = sum(occurs(phrase, one.text) for phrase in phrases)
            scores[at] += having * _WORD_FOR_WORD + _IN_CODE * (bool(having and texts) and not one.is_prose)
    return ranked_by(scores, passages, words, rows, credit, model)


def ranked_by(
    scores: NDArray[np.floating],
    passages: Sequence[Passage],
    words: Sequence[QueryTerm],
    rows: NDArray[np.float32],
    credit: NDArray[np.float32],
    model: StaticEmbedder | None,
) -> RankedPassages:
    """What `passage_features` made, by these scores."""
    values = scores.tolist()

    def place(at: int) -> tuple[float, str, int, str]:
        one = passages[at]
        return -values[at], one.evidence.path, one.line_start, one.evidence.id

    order = sorted(range(len(passages)), key=place)
    return RankedPassages(
        tuple(passages[at] for at in order),
        scores[order],
        tuple(words),
        credit[order],
        rows[order, _WORDS],
        rows[order],
        model,
    )


def signals_of(found: RankedPassages, names: Sequence[str], unknown_names: Sequence[str], facts: int = 0) -> Signals:
    """What the passages say about how well a question can be answered from them."""
    words, quoted = found.words, found.chosen()
    about = Signals(names=len(names), unknown_names=tuple(unknown_names), words=len(words), facts=facts, unsaid=1.0)
    if not quoted or not words:
        return about
    anywhere = found.credit.max(axis=0)
    return replace(
        about,
        said=float(found.said[quoted[0]]),
        meaning=float(found.meaning[quoted[0]]),
        named=_named(words, [found.passages[at] for at in quoted]),
        document=float(found.passages[quoted[0]].is_prose),
        words_said=len(found.words_of(quoted[0])),
        unsaid=float(_shares(words)[anywhere < _UNSAID].sum()),
        unsaid_things=_unsaid_things(found, quoted[0]),
        records=_is_of_data(found.passages[quoted[0]]) or _is_beside_it(found.passages[quoted[0]], words),
        hidden=bool(found.features[quoted[0], _HIDDEN_AT]) and _offers_any(found),
        unsaid_names=sum(bool(word.is_name and well < _UNSAID) for word, well in zip(words, anywhere, strict=True)),
    )


_HOW_LONG = re.compile(
    r"\W*(?:for )?how long (?:is|are|do|does|will)\b.*\b(?:cached|good|keep|kept|last|lives?|stay|stored|valid|wait)\b",
    re.IGNORECASE | re.DOTALL,
)
_TIME = re.compile(
    r"TimeSpan|(?<!milli)second|minute|hour|days?\b|Days|week|month|year|expir|lifetime|ttl|retention|time-?out|delay"
    r"|interval|period|forever|max-?_?age|\d\s*(?:ms|[smhd])\b",
    re.IGNORECASE,
)


def lacks_time(question: str, found: RankedPassages) -> bool:
    """Whether a question is for a time, and the passages that say most of it say none."""
    said = found.said.max(initial=0.0) if _HOW_LONG.match(question) else 0.0
    best = [at for at in found.chosen() if found.said[at] >= said / 2] if said else []
    return bool(best) and not any(_TIME.search(found.passages[at].text) for at in best)


MOST_PROVING = 3
"""Passages, the first to quote, of which one has to say what a question is for."""
_OF_DEFAULT = re.compile(r"^\W*(?:what|which|is|are)\b.*(?<!\bby )\bthe default\b", re.IGNORECASE)
_HAS = re.compile(
    r"^\W*(?:do(?:es)?\b.{0,60}?(?<!\ban )(?<!\ba )(?<!\bthe )\b(?:have|offer|provide|support)|(?:is|are) there)\b"
    r"(?P<what>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_OF_NUMBER = roots_of("any custom different many more multiple other own several")
_OF_BOUND = roots_of("bound cap limit maximum minimum max min")
BOUNDS = re.compile(
    r"max|min(?:imum|[A-Z_])|limit|quota|exceed|too (?:big|few|large|long|many|short|small)|[<>]=?\s*[\w.]*\d|\bTake\(",
    re.IGNORECASE,
)
"""What keeps something within bounds, which it need not call a limit."""
_SAID_OF_WHAT = 0.3


def lacks_thing(question: str, found: RankedPassages) -> bool:
    """Whether a question is for whether something is there, and none of the passages to quote says all that it is: who
    reads of a controller that supports something, and of an API, is told nothing of the gateway API."""
    asked = _HAS.match(question)
    roots = roots_of(asked["what"]) - _OF_NUMBER if asked is not None else frozenset()
    is_bound = not roots.isdisjoint(_OF_BOUND)
    roots -= _OF_BOUND | roots_of("number") if is_bound else frozenset[str]()
    about = [at for at, word in enumerate(found.words) if word.root in roots]
    quoted = found.chosen(MOST_PROVING) if about else []
    saying = [at for at in quoted if (found.credit[at, about] >= _SAID_OF_WHAT).all()]
    saying = [at for at in saying if not is_bound or BOUNDS.search(found.passages[at].text)]
    return bool(quoted) and not saying


def lacks_default(question: str, found: RankedPassages) -> bool:
    """Whether a question is for the default of something, and the passage that is quoted first speaks of none."""
    first = found.chosen(1) if _OF_DEFAULT.search(question) else []
    return bool(first) and not any("default" in found.passages[at].text.casefold() for at in first)


_COUNTED = re.compile(r"\b(?P<count>first|multi|one|second|single|three|two|zero)-(?P<of>[a-z]{3,})\b", re.IGNORECASE)
_DIGITS = {"one": "1", "two": "2", "three": "3"}


def lacks_compound(question: str, found: RankedPassages) -> bool:
    """Whether a question is about something that a number is part of, as two-factor is, and none of the passages to
    quote names it: that they say `two`, and `factor` elsewhere, is nothing."""
    for counted in _COUNTED.finditer(question):
        count, of = counted["count"].lower(), stem(counted["of"].lower())
        short = r"|\b[2m]fa\b" if of == "factor" else ""
        named = re.compile(rf"(?:{count}|{_DIGITS.get(count, count)})[\s_-]?{of}{short}", re.IGNORECASE)
        quoted = found.chosen(MOST_PROVING)
        if quoted and not any(named.search(found.passages[at].text) for at in quoted):
            return True
    return False


def unsaid_meaning(found: RankedPassages, number: int) -> tuple[NDArray[np.float32], float] | None:
    """What a passage leaves unsaid: (dimension,), the sum of the vectors of the words that the table has as a whole,
    each by its share of the question and as far as the passage lacks it; and the share of the words that neither the
    table nor the index has. None without a model."""
    import numpy as np

    model = found.model
    if model is None:
        return None
    vectors = model.embed([word.word if model.knows(word.word) else "" for word in found.words])
    unsaid = (1 - found.credit[number]) * _shares(found.words)
    new = np.array([not (word.known or model.knows(word.word)) for word in found.words])
    return unsaid @ vectors, float(unsaid[new].sum())


def _unsaid_things(found: RankedPassages, number: int) -> float:
    unsaid = unsaid_meaning(found, number)
    return float(unsaid[0] @ things()) + unsaid[1] if unsaid is not None else 0.0


def _named(words: Sequence[QueryTerm], passages: Sequence[Passage]) -> float:
    """The share, by weight, of the pairs of words next to each other that a passage has in its name, its heading or the
    names of its section and file; of a single word whether one has it."""
    pairs = [*pairwise(words)] or [(words[0], words[0])]
    heads = [
        roots_of(f"{one.name} {one.heading} {one.evidence.name} {one.evidence.path.rpartition('/')[2]}")
        for one in passages
    ]
    weights = [one.weight * other.weight for one, other in pairs]
    said = [any(one.root in head and other.root in head for head in heads) for one, other in pairs]
    return sum(weight for weight, is_said in zip(weights, said, strict=True) if is_said) / (sum(weights) or 1.0)


def same_place(one: Passage, other: Passage) -> bool:
    inside = one.line_start <= other.line_end and other.line_start <= one.line_end
    return (one.evidence.path == other.evidence.path and inside) or one.code.split() == other.code.split()


def is_done(passage: Passage) -> bool:
    """Whether a passage is a member of the product with a body that does something, which a contract has not."""
    code = passage.code.strip()
    has_body = ("=>" in code or "\n" in code) and _EMPTY_BODY.search(code) is None
    return has_body and not (passage.is_type or passage.is_prose) and non_product_code(passage.evidence.path) is None


def bodies_of_case(names: Iterable[str], passages: RankedPassages) -> list[Passage]:
    """Of what some names declare, and of its members, the parts of bodies that say what the question says beside the
    names, best first; where none does, the best body of what is called so. With what the first hands its work to."""
    lasts = {name.rpartition(".")[2].casefold() for name in names}
    owners = {name.rpartition(".")[0].rpartition(".")[2].casefold() for name in names} - {""}
    is_owned = any(one.own_name.casefold() in lasts and one.owner.casefold() in owners for one in passages.passages)
    case = [word for word in passages.words if word.root not in roots_of(" ".join(names))]
    said = passages.of_words(case).said if case else ()
    found: list[Passage] = []
    called: list[Passage] = []
    for at, one in enumerate(passages.passages):
        is_called = one.own_name.casefold() in lasts
        if is_owned and one.own_name and (one.owner.casefold() not in owners or not is_called):
            continue
        of_named = is_called or not lasts.isdisjoint((one.evidence.name.casefold(), one.owner.casefold()))
        if not of_named or not is_done(one):
            continue
        called += [one] * (is_called and not only_stores(one))
        tells = case and said[at] >= _FEWEST_OF_CASE and not only_stores(one)
        if tells and not any(same_place(one, other) for other in found):
            found.append(one)
    found = found or called[:1]
    other = handed_on(found[0], passages) if found else None
    if other is not None:
        found = [found[0], other, *(one for one in found[1:] if one is not other)]
    return found[:_MOST_DECIDING]


def handed_on(passage: Passage, passages: RankedPassages, hops: int = _MOST_HOPS) -> Passage | None:
    """What a member of one or two statements hands its work to in its file, where that has more lines, else what that
    hands it to; the best part."""
    is_whole = not (passage.goes_before or passage.goes_on) and is_done(passage)
    if not is_whole or len(_STATEMENT_END.findall(passage.code)) > _MOST_HANDING_ON:
        return None
    called = {found[1] for found in _CALLED_OWN.finditer(passage.code)} - {passage.name}
    known = [one for one in passages.passages if one.name in called and one.evidence.path == passage.evidence.path]
    least = passage.code.count("\n") + _FEWEST_MORE_LINES
    longer = next((one for one in known if is_done(one) and whole_of(one).code.count("\n") >= least), None)
    if longer is not None or hops == 1:
        return longer
    return next(filter(None, (handed_on(one, passages, hops - 1) for one in known)), None)


def _lines(one: Passage) -> int:
    """Its lines; of prose as many as its text fills, as a paragraph is often one line."""
    lines = one.line_end - one.line_start + 1
    return max(lines, len(one.text) // _LINE_OF_PROSE) if one.is_prose else lines


_COMES_IN = re.compile(
    r"(?:(?<![^\W_])|(?<=[a-z])(?=[LS]))([Ll]og|[Ss]ign)(?:ged|ging|s|ed|ing)?[ _-]?"
    r"([Ii]n|[Oo]ut|[Oo]ff|[Oo]n|[Uu]p)(?![a-z])"
)
"""Who logs in writes no log, and who signs up no signature."""


def passage_features(
    question: str, words: Sequence[QueryTerm], evidence: Sequence[Evidence], model: StaticEmbedder | None
) -> tuple[list[Passage], NDArray[np.float32], NDArray[np.float32]]:
    """The passages of the evidence in its order; of each a row of what is known of it, in the order of
    `PassageWeights`; and of each a row of how well it says each of the words, 0 to 1."""
    import numpy as np

    if not _SAYS_LICENCE.search(question):  # else it answers what grants permissions, and where nothing does
        evidence = [known for known in evidence if not _LICENCE.search(known.path)] or evidence
    if asks_use(question) and not _OF_DEVELOPMENT.search(question):
        evidence = [known for known in evidence if not _FOR_CONTRIBUTORS.search(known.path)] or evidence
    written = {known.path.rpartition(".")[0] for known in evidence if known.path.endswith(".md")}
    evidence = [one for one in evidence if not (_PAGE_OF.search(one.path) and one.path.rpartition(".")[0] in written)]
    passages = [passage for known in evidence for passage in _read_of(known)]
    shown = [text for known in evidence for text in _texts_read(known)]
    if not {"log", "sign"}.isdisjoint(word.root for word in words) and _COMES_IN.search(question) is None:
        shown = [_COMES_IN.sub(lambda said: said[1] + said[2].lower(), text) for text in shown]
    texts = _TextRuns.of(shown)
    read = texts.by(model)
    expressions = expressions_in(question)
    credit = _credits(words, texts, read, model, expressions)
    said = _said(credit, words)
    meaning = _meanings(question, words, read, model, expressions, len(passages))
    best = max((known.score for known in evidence), default=0.0) or 1.0
    best_of_file: dict[str, float] = {}
    for one, share in zip(passages, said.tolist(), strict=True):
        best_of_file[one.evidence.path] = max(share, best_of_file.get(one.evidence.path, 0.0))
    files = {known.path: (_is_beside(known.path), _RECORDS.search(known.path)) for known in evidence}
    wants_amount, wants_failure = asks_amount(question), asks_about_failure(question)
    wants_advice, wants_work = asks_how_to(question), asks_how_made(question)
    wants_use = asks_use(question)
    hidden = [wants_use and not one.is_prose and is_hidden(one) for one in passages]
    wants_place, wants_exports = _WANTS_PLACE.search(question) is not None, "export" in question.lower()
    rows = [
        (
            max(one.evidence.score, 0.0) / best,
            said[at],
            meaning[at],
            best_of_file[one.evidence.path],
            math.log(lines := _lines(one)),
            one.is_prose,
            one.evidence.language in CONFIGURATION and (not one.is_prose or _PAGE.search(one.text) is not None),
            files[one.evidence.path][0] or _is_of_data(one) or _fills_tables(one),
            one.is_type,
            lines == 1,
            wants_amount and _NUMBER.search(one.code) is not None,
            wants_failure and not one.is_prose and _FAILS.search(one.code) is not None,
            wants_advice and (one.is_prose or (wants_use and _is_offered(one, is_seen=not hidden[at]))),
            files[one.evidence.path][1] is not None,
            only_stores(one)
            or (not wants_exports and only_exports(one))
            or (wants_work and only_declares(one))
            or (not wants_place and only_links(one)),
            hidden[at],
        )
        for at, one in enumerate(passages)
    ]
    return passages, np.array(rows, np.float32).reshape(len(passages), len(_NAMES)), credit


def is_hidden(passage: Passage) -> bool:
    """Whether nobody outside of its type or module can call a member: by its modifier, of C# by the lack of one, of
    Python by its name."""
    name, language = passage.name, passage.evidence.language
    if language == "csharp" and passage.owner and name and not passage.is_type:
        return _SHOWN.match(passage.signature) is None and not only_declares(passage)
    if language == "python":
        return passage.owner.startswith("_") or (name.startswith("_") and not name.endswith("__"))
    return _HIDDEN.match(passage.signature) is not None


def _offers_any(found: RankedPassages) -> bool:
    """Whether some passage is of what others may use and are told of, as a library has; of an application nobody calls
    anything."""
    return bool((found.features[:, _HOW_TO] > found.features[:, _PROSE]).any())


def _is_offered(passage: Passage, *, is_seen: bool) -> bool:
    """Whether a passage begins what the product offers to others and tells them of in a comment."""
    is_told = bool(passage.doc) and not passage.goes_before
    return is_told and is_seen and non_product_code(passage.evidence.path) is None


_GENERATED = re.compile(
    r"(?:^|/)(?:generated|__generated__|gen)/|\.(?:g|generated|designer|gen|pb)\.\w+$|_pb2(?:_grpc)?\.pyi?$",
    re.IGNORECASE,
)
"""What a tool writes of something else, which says it better."""


def _is_beside(path: str) -> bool:
    return non_product_code(path) is not None or is_tooling(path) or _GENERATED.search(path) is not None


def _is_of_data(passage: Passage) -> bool:
    """Whether a passage is a record: of a file of them by its path, or of so long a file of JSON or XML that it holds
    no settings; what an API offers is told at length too."""
    path, language = passage.evidence.path, passage.evidence.language
    is_long = language in ("json", "xml") and passage.line_start > _MOST_OF_SETTINGS
    return (is_long and not _OF_AN_API.search(path)) or non_product_code(path) is BesideProduct.DATA


_STYLES = re.compile(r"\.(?:css|less|sass|scss|styl)$", re.IGNORECASE)
_OF_STYLES = roots_of(
    "alignment animation background border breakpoint button color colour css dark design font highlighted icon layout"
    " light look margin palette responsive rounded scss size style styles styled stylesheet theme themes width z-index"
)
_OF_HOSTS = re.compile(r"\.(?:github|gitlab)/(?!workflows/).+\.ya?ml$", re.IGNORECASE)
_OF_HOSTING = roots_of(
    "assignee automated bug changelog code coverage dependabot dependencies draft form funding github gitlab issue"
    " label owner pull release renovate report request reviewer sponsor stale template update updates version workflow"
)


def _is_beside_it(passage: Passage, words: Sequence[QueryTerm]) -> bool:
    """Whether a passage is of a style sheet, or of what a host of repositories reads, and the question of neither: its
    words mean other things there."""
    path, said = passage.evidence.path, {word.root for word in words}
    is_styled, is_hosted = _STYLES.search(path), _OF_HOSTS.match(path)
    return bool((is_styled and said.isdisjoint(_OF_STYLES)) or (is_hosted and said.isdisjoint(_OF_HOSTING)))


def _fills_tables(passage: Passage) -> bool:
    """Whether a passage gives tables their first rows: what is in them says little of how a program works."""
    return passage.evidence.language == "sql" and len(_INSERTS.findall(passage.code)) >= _FEWEST_INSERTS


def name_scores(
    question: str, words: Sequence[QueryTerm], names: Sequence[str], model: StaticEmbedder | None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How well each of some names answers by its words and its meaning, weighed as those of passages, and the share of
    the question's weight that it says."""
    texts = _TextRuns.of(names)
    read = texts.by(model)
    expressions = expressions_in(question)
    said = _said(_credits(words, texts, read, model, expressions), words)
    meaning = _meanings(question, words, read, model, expressions, len(names))
    return WEIGHTS.words * said + WEIGHTS.meaning * meaning, said


_NAMES = [one.name for one in fields(PassageWeights)]
_WORDS, _MEANING, _HIDDEN_AT, _HOW_TO, _PROSE = map(_NAMES.index, ("words", "meaning", "hidden", "how_to", "prose"))


def _read_of(known: Evidence) -> Sequence[Passage]:
    """The excerpts of a piece, of code without those that are little but the terms of a licence, as a script prints."""
    found = excerpts_of(known)
    return [
        one
        for one in found
        if one.is_prose or len(_TERMS.sub("", one.code)) * _LEAST_BESIDE_TERMS >= len(one.code) or len(found) == 1
    ]


def _texts_read(known: Evidence) -> list[str]:
    """Each excerpt with the names of its file and section, its heading or, where that stands before it, its name; types
    with what their description says, else the first one, but not the first of some members of a long type."""
    head = f"{known.path.rpartition('/')[2]}\n{known.name}\n"
    facts = "".join(f"\n{fact.partition(': ')[2]}" for fact in known.facts)
    excerpts = _read_of(known)
    texts = [one.text if one.is_prose else _TERMS.sub("", one.text) for one in excerpts]
    texts = [_GUARDS.sub("", text) if known.language == "sql" else text for text in texts]
    is_of_first = len({one.name for one in excerpts}) == 1 or not known.members or "(" in known.symbol
    described = [facts if one.is_type or (at == 0 and is_of_first) else "" for at, one in enumerate(excerpts)]
    return [
        f"{head}{one.name if one.goes_before else one.heading}\n{text}{said}"
        for one, text, said in zip(excerpts, texts, described, strict=True)
    ]


def _shares(words: Sequence[QueryTerm]) -> NDArray[np.float32]:
    """Which share of a question each of its words is."""
    import numpy as np

    weights = np.fromiter((word.weight for word in words), np.float32, len(words))
    shares: NDArray[np.float32] = weights / np.float32(weights.sum() or 1.0)
    return shares


def _said(credit: NDArray[np.float32], words: Sequence[QueryTerm]) -> NDArray[np.float32]:
    """The share of the weight of the words that each text says."""
    import numpy as np

    said: NDArray[np.float32] = np.einsum("ij,j->i", credit, _shares(words))  # BLAS reads behind short rows
    return said


@dataclass(frozen=True, slots=True, eq=False)
class _TextRuns:
    """Texts as `lengths` of the `numbers` of their `runs` of letters, one text after the other. Texts repeat their
    identifiers, so each of these is looked into once."""

    runs: list[str]
    numbers: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> _TextRuns:
        import numpy as np

        found = list(map(runs, texts))
        flat = list(chain.from_iterable(found))
        different = list(dict.fromkeys(flat))
        number_of = dict(zip(different, range(len(different)), strict=True))
        numbers = np.fromiter(map(number_of.__getitem__, flat), np.int64, len(flat))
        return cls(different, numbers, np.fromiter(map(len, found), np.int64, len(found)))

    def by(self, model: StaticEmbedder | None) -> ReadTexts | None:
        """The texts as a model reads them."""
        return model.for_texts.read_runs(self.runs, self.numbers, self.lengths) if model is not None else None

    def best(self, of_runs: NDArray[np.float32]) -> NDArray[np.float32]:
        """(texts, n): the largest value of the runs of each text, of (n, runs); 0 for a text without any."""
        import numpy as np

        made = np.zeros((len(self.lengths), len(of_runs)), np.float32)
        filled = np.flatnonzero(self.lengths)
        if len(filled) and len(of_runs):
            begins = (np.cumsum(self.lengths) - self.lengths)[filled]
            made[filled] = np.maximum.reduceat(of_runs[:, self.numbers], begins, axis=1).T
        return made


def _credits(
    words: Sequence[QueryTerm],
    texts: _TextRuns,
    read: ReadTexts | None,
    model: StaticEmbedder | None,
    expressions: Sequence[Expression] = (),
) -> NDArray[np.float32]:
    """(texts, words): 1 where a text has a word, less where it has one that means about the same, or what one of the
    `expressions` that it is part of is called."""
    import numpy as np

    of_runs = np.zeros((len(words), len(texts.runs)), np.float32)
    if model is not None and read is not None and words:
        asked = model.embed([word.word if _has_meaning(word, model) else "" for word in words])
        of_runs = np.clip((read.closest(asked) - _UNLIKE) / (_ALIKE - _UNLIKE), 0.0, _LIKE_CREDIT)
    numbers = {word.root: at for at, word in enumerate(words)}
    instead: dict[str, dict[int, float]] = defaultdict(dict)
    for expression in expressions:
        parts = [numbers[one] for one in map(root, map(stem, expression.words)) if one in numbers]
        for word, nearness in expression.instead:
            instead[root(stem(word))] |= dict.fromkeys(parts, nearness)
    for run, text in enumerate(texts.runs):
        for one in roots_of_run(text):
            for at, nearness in instead[one].items() if one in instead else ():
                of_runs[at, run] = max(of_runs[at, run], nearness)
            if one in numbers:
                of_runs[numbers[one], run] = 1.0
    return texts.best(of_runs)


def _has_meaning(word: QueryTerm, model: StaticEmbedder) -> bool:
    """Not a word that neither the index nor the table has: its pieces mean something else, and whoever may not see the
    text that has it gets the same answer as for a word that nobody has."""
    return word.known or model.knows(word.word)


def _meanings(
    question: str,
    words: Sequence[QueryTerm],
    read: ReadTexts | None,
    model: StaticEmbedder | None,
    expressions: Sequence[Expression],
    texts: int,
) -> NDArray[np.float32]:
    """The cosine of each of the texts with the question, its expressions in the words of code too."""
    import numpy as np

    if model is None or read is None:
        return np.zeros(texts, np.float32)
    meaningless = {word.root for word in words if not _has_meaning(word, model)}
    said = [
        word
        for run in chain(runs(question), *(one.embedded for one in expressions))
        for word in identifier_words(run)
        if root(stem(word.lower())) not in meaningless
    ]
    asked = model.embed([" ".join(said)])[0]
    found: NDArray[np.float32] = read.vectors() @ asked
    return found
