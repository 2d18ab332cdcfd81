"""What kind of question it is, and how much each signal counts for it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rag_assets.stores.keyword.terms import runs


class Asking(StrEnum):
    """What a question looks like to the ranking."""

    NAME = "name"  # one identifier, as it is written or split into words
    TASK = "task"  # what somebody wants to change: "fix …", "added support for …"
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
    Asking.PROSE: Weights(dense=0.41, file_name=0.2, name_words=0.3, past=0.3),
}

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
    first = next(iter(runs(text)), "").lower()
    return Asking.TASK if _is_change(first) else Asking.PROSE


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
