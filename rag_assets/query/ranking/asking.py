"""What kind of question it is, and how much each signal counts for it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from rag_assets.stores.keyword.terms import FUNCTION_WORDS, runs, word_terms


class Asking(StrEnum):
    """What a question looks like to the ranking."""

    NAME = "name"  # one identifier, as it is written or split into words
    TASK = "task"  # what somebody wants to change: "fix …", "added support for …"
    DESCRIPTION = "description"  # at length, as documentation says what something is or does
    PROSE = "prose"


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares of the score of a file. `dense` of the embedding, the rest is of words; of the words, `file_name` is
    added to the best of 1 where the question says the name of the file, up to `name_words` for how much of it, and up
    to `past` for what past commits say of it."""

    dense: float
    file_name: float
    name_words: float
    past: float


WEIGHTS = {  # what each is worth: `query.ranking.files`; .1 more or less costs below .006 of the mean
    Asking.NAME: Weights(dense=0.17, file_name=0.0, name_words=0.0, past=0.0),
    Asking.TASK: Weights(dense=0.41, file_name=0.0, name_words=0.0, past=0.5),
    Asking.DESCRIPTION: Weights(dense=0.41, file_name=0.1, name_words=0.3, past=0.2),
    Asking.PROSE: Weights(dense=0.41, file_name=0.2, name_words=0.3, past=0.3),
}

WITHOUT_EMBEDDING = {Asking.TASK: replace(WEIGHTS[Asking.TASK], name_words=0.15)}
"""Where words have to do it alone. Of 17 repositories (643 commit subjects that do not spell the name of an answer, 221
that do, 886 doc summaries) with .05, .1, .15 and .2: subjects that do not +.002 +.002 +.002 -.001, that do +.009 +.012
+.018 +.024, summaries that begin like a task, of all, +.001 +.002 +.003 +.004. With an embedding it costs: .2 takes
commit subjects from .560 to .555."""

LONG = 10
"""Distinct words, function words aside, with which prose is a description: it also names what is beside the thing that
is meant, and few commits are described at such length. So names that are said and past commits count less: doc
summaries of 17 repositories +.004, better in nine, worse in five, all else as it was. 8 to 12 are alike within .005;
commit subjects have 7 of these words at the median, summaries 8."""

_CHANGES = frozenset(
    verb
    for line in (
        "add adjust allow apply avoid bump change clean convert correct create delete deprecate disable disallow drop",
        "emit enable ensure expand expose extend extract fix handle implement improve include introduce limit make",
        "merge migrate move optimise optimize prevent preserve protect refactor reduce remove rename reorganise",
        "reorganize replace require restore revert rewrite simplify skip split stop support switch tidy tweak unify",
        "update upgrade use",
    )
    for verb in line.split()
)
"""Verbs that begin the subject of a commit or the title of a ticket."""
_ENDINGS = ("", "s", "es", "d", "ed", "ing")


def asking(text: str, *, is_name: bool) -> Asking:
    """`is_name` as in `QuestionTerms`."""
    if is_name:
        return Asking.NAME
    written = runs(text)
    if _is_change(next(iter(written), "").lower()):
        return Asking.TASK
    words = {term for run in written for term in word_terms(run)} - FUNCTION_WORDS
    return Asking.PROSE if len(words) < LONG else Asking.DESCRIPTION


def _is_change(word: str) -> bool:
    """Whether a word is a form of a verb of change: `fix`, `fixes`, `fixed`, `fixing`, `removing`, `dropped`."""
    for ending in _ENDINGS:
        stem = word.removesuffix(ending) if ending else word
        if ending and stem == word:
            continue
        undoubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
        if not _CHANGES.isdisjoint((stem, stem + "e", undoubled)):
            return True
    return False
