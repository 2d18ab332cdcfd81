"""What the ranking knows of a question (its type, and how much each signal weighs for it), and of files beside the
scores of their sections. Pure.

People name files after what is in them. A name that is said whole is told apart from one that is said in part:
`JsonReader.cs` and `JsonTextReader.cs` for "what does the json reader do". A part counts as much as it tells: the rarer
its words, and the less of the name is left. A past commit is a sentence about the files it changed, in the words of the
people who will ask.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rag_assets.identifiers import word_set
from rag_assets.index.keyword.terms import FUNCTION_WORDS, runs, word_terms
from rag_assets.index.vectors.vector_api import FileRef
from rag_assets.search.ranking.penalties import BesideProduct, older_versions

if TYPE_CHECKING:
    from rag_assets.index.keyword.commit_subjects import CommitSubjects


class QueryType(StrEnum):
    """What a question looks like to the ranking."""

    NAME = "name"  # one identifier, as it is written or split into words
    TASK = "task"  # what somebody wants to change: "fix …", "added support for …"
    QUESTION = "question"  # a sentence that asks: "how are refunds limited", "… who gets it then?"
    DESCRIPTION = "description"  # at length, as documentation says what something is or does
    PROSE = "prose"


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """Shares of the score of a file. `dense` of the embedding, the rest is of words; of the words, `file_name` is
    added to the best of 1 where the question says the name of the file, up to `name_words` for how much of it, up to
    `past` for what past commits say of it, up to `declares` where it declares what the question names, and `breadth`
    for the natural logarithm of 1 + the number of its sections that were found."""

    dense: float
    file_name: float = 0.0
    name_words: float = 0.0
    past: float = 0.0
    declares: float = 0.0
    breadth: float = 0.0


_BREADTH = 0.07
"""A file of which many sections were found is more often the answer, and a long one that was cut into many is not
behind a short one. Only where there are more candidates than are placed: else the number says how long a file is.
nDCG@10 of 24 repositories in four languages (commit subjects that do not spell the name of an answer / doc summaries)
.565 .805 → .567 .806, of the visible ones .550 .724 → .551 .731, annotators of C# .918 → .930, of other languages .829
→ .846. Half of it gains half, twice as much costs .01 of doc summaries."""


WEIGHTS = {  # what each is worth: `search.ranking`; `dense` .2 costs .002 of the mean, .41 costs .006
    QueryType.NAME: SignalWeights(dense=0.0, declares=0.2),
    QueryType.TASK: SignalWeights(dense=0.3, past=0.5, breadth=_BREADTH),
    QueryType.DESCRIPTION: SignalWeights(dense=0.3, file_name=0.1, name_words=0.3, past=0.2, breadth=_BREADTH),
    QueryType.PROSE: SignalWeights(dense=0.3, file_name=0.2, name_words=0.3, past=0.3, breadth=_BREADTH),
    QueryType.QUESTION: SignalWeights(dense=0.3, name_words=0.3, past=0.5, breadth=_BREADTH),
}

WITH_RELATED_WORDS = frozenset({QueryType.QUESTION, QueryType.PROSE})
"""What is also searched with words that mean about the same."""

WITHOUT_EMBEDDING = {QueryType.TASK: replace(WEIGHTS[QueryType.TASK], name_words=0.15)}
"""Where words have to do it alone. Of 17 repositories (643 commit subjects that do not spell the name of an answer, 221
that do, 886 doc summaries) with .05, .1, .15 and .2: subjects that do not +.002 +.002 +.002 -.001, that do +.009 +.012
+.018 +.024, summaries that begin like a task, of all, +.001 +.002 +.003 +.004. With an embedding it costs: .2 takes
commit subjects from .560 to .555."""

LONG = 10
"""Distinct words, function words aside, with which prose is a description: it also names what is beside the thing that
is meant, and few commits are described at such length. So names that are said and past commits count less: doc
summaries of 17 repositories +.004, better in nine, worse in five, all else as it was. 8 to 12 are alike within .005;
commit subjects have 7 of these words at the median, summaries 8."""

_ASKS = word_set(
    "how what where which why when who whom whose is are was were am do does did can could should would will has",
    "have had may must",
)
"""Words that begin a question."""

_CHANGES = word_set(
    "add adjust allow apply avoid bump change clean convert correct create delete deprecate disable disallow drop",
    "emit enable ensure expand expose extend extract fix handle implement improve include introduce limit make",
    "merge migrate move optimise optimize prevent preserve protect refactor reduce remove rename reorganise",
    "reorganize replace require restore revert rewrite simplify skip split stop support switch tidy tweak unify",
    "update upgrade use",
)
"""Verbs that begin the subject of a commit or the title of a ticket."""
_ENDINGS = ("", "s", "es", "d", "ed", "ing")


def query_type(text: str, *, is_name: bool) -> QueryType:
    """`is_name` as in `QuestionTerms`."""
    if is_name:
        return QueryType.NAME
    if is_question(text):
        return QueryType.QUESTION
    written = runs(text)
    if _is_change(next(iter(written), "").lower()):
        return QueryType.TASK
    words = {term for run in written for term in word_terms(run)} - FUNCTION_WORDS
    return QueryType.PROSE if len(words) < LONG else QueryType.DESCRIPTION


def is_question(text: str) -> bool:
    """Whether a text asks something: by how it begins, or how it ends. One word is none."""
    written = runs(text)
    return len(written) > 1 and (written[0].lower() in _ASKS or text.rstrip().endswith("?"))


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


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """What the ranking knows of a question: its kind, its terms with their weights, whether it has a vector, which code
    beside the product it is for, and which terms are other forms of its words: form → word."""

    kind: QueryType
    terms: Mapping[str, float]
    has_dense: bool
    sides: Set[BesideProduct] = frozenset()
    forms: Mapping[str, str] = field(default_factory=dict)

    @property
    def said(self) -> dict[str, str]:
        """The words of the question and their other forms: term → word."""
        return {word: word for word in self.words} | dict(self.forms)

    @property
    def words(self) -> Set[str]:
        """What the question says itself, without function words and guessed names."""
        return {term for term, weight in self.terms.items() if weight >= 1.0}

    @property
    def weights(self) -> SignalWeights:
        known = WEIGHTS[self.kind]
        return known if self.has_dense else WITHOUT_EMBEDDING.get(self.kind, known)

    @property
    def dense_share(self) -> float:
        """Without an embedding words are everything."""
        return self.weights.dense if self.has_dense else 0.0


@dataclass(frozen=True, slots=True)
class FileSignals:
    """What is known of files beside the scores of their sections, as shares (0 to 1) of the best of them: what past
    commits say of them, how much of the question their names say, and whether they declare what it names: 1 as a type
    of its own, half of it as a member. A file without any is absent. `named` are those whose whole name the question
    says, `older` what those of an older version of what was found too lose."""

    past: Mapping[FileRef, float] = field(default_factory=dict)
    names: Mapping[FileRef, float] = field(default_factory=dict)
    named: Set[FileRef] = frozenset()
    declared: Mapping[FileRef, float] = field(default_factory=dict)
    older: Mapping[FileRef, float] = field(default_factory=dict)


def file_signals(
    places: Collection[FileRef],
    asked: QueryFeatures,
    past_of: Callable[[str], CommitSubjects | None],
    rarity: Callable[[str], float],
    declared: Callable[[], Mapping[FileRef, float]],
) -> FileSignals:
    """The evidence for the files of candidates, as far as it counts for this kind of question. Only files that were
    found already: of what somebody may not see, nothing is compared. `declared` is asked where it counts."""
    files, weights = dict.fromkeys(places), asked.weights
    words, said = asked.words, asked.said
    telling = may_say(files, said) if weights.name_words or weights.file_name else []
    return FileSignals(
        past=past_shares(past_of, files, asked.terms) if weights.past else {},
        names=name_shares(telling, said, rarity) if weights.name_words else {},
        named={place for place in telling if is_named(place.path, words)} if weights.file_name else frozenset(),
        declared=declared() if weights.declares else {},
        older=older_versions(files, asked.terms),
    )


def declarations(
    name: str, places: Mapping[str, FileRef], payloads: Mapping[str, Mapping[str, Any]]
) -> dict[FileRef, float]:
    """File → how it declares `name`, in whatever spelling: `order service` is `OrderService`. As in `FileSignals`."""
    wanted = _letters(name)
    found: dict[FileRef, float] = {}
    for identifier, payload in payloads.items():
        artifact = str(payload.get("Artifact", "")).rpartition(".")[2].partition("`")[0]
        if _letters(artifact) == wanted:
            share = 1.0
        elif wanted in map(_letters, payload.get("DeclaredNames", ())):
            share = 0.5
        else:
            continue
        place = places[identifier]
        found[place] = max(share, found.get(place, 0.0))
    return found


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


_CACHED_PATHS = 1 << 14  # of a large repository those that searches meet
_SAID_POWER = 2
"""Of the share of a name that is said; 1 and 2 are alike within .002 of the mean, without it long names win."""


def may_say(places: Iterable[FileRef], terms: Iterable[str]) -> list[FileRef]:
    """The files whose names have the letters of one of the terms; names of others have no such term. To see that takes
    a tenth of the time of taking a name apart, and of the candidates of a question few have any."""
    names = {place: place.path.rpartition("/")[2].lower() for place in places}
    together = "\n".join(names.values())
    # The term of a word is the word, or its beginning, but for `query` of `queries` (`terms.stem`).
    seen = [start for start in {term.removesuffix("y") for term in terms} if start in together]
    # Letters that are not ASCII may be composed, or lowered to several.
    return [place for place, name in names.items() if not name.isascii() or any(start in name for start in seen)]


def is_named(path: str, asked: Set[str]) -> bool:
    """Whether all words of the name of a file are terms of the question."""
    words = _words(path)
    return bool(words) and words <= asked


def name_shares(
    places: Iterable[FileRef], said: Mapping[str, str], rarity: Callable[[str], float]
) -> dict[FileRef, float]:
    """File → how much of the question its name says, as a share of the best of these files; files whose names say
    nothing are left out. `said` are the words of the question and their other forms: term → word. `rarity` is the idf
    of a term."""
    told = {place: _told(_words(place.path), said, rarity) for place in places}
    best = max(told.values(), default=0.0)
    return {place: value / best for place, value in told.items() if value > 0}


def _told(words: Set[str], said: Mapping[str, str], rarity: Callable[[str], float]) -> float:
    found = sorted(words & said.keys())
    if not found:
        return 0.0
    covered = sum(rarity(said[word]) for word in found)
    whole = sum(rarity(word) for word in sorted(words))
    return covered * (covered / whole) ** _SAID_POWER


@lru_cache(maxsize=_CACHED_PATHS)
def _words(path: str) -> frozenset[str]:
    """The terms of the name of a file, without its ending and the `I` of interfaces."""
    name = path.rpartition("/")[2].rpartition(".")[0]
    return frozenset(term for run in runs(name) for term in _without_prefix(run, word_terms(run)))


def _without_prefix(run: str, terms: tuple[str, ...]) -> tuple[str, ...]:
    return terms[1:] if len(terms) > 1 and terms[0] == "i" and run[0] == "I" else terms


def past_shares(
    past_of: Callable[[str], CommitSubjects | None], places: Iterable[FileRef], terms: Mapping[str, float]
) -> dict[FileRef, float]:
    """File → its BM25 score over past subjects as a share of the best of these files; files without any are left out.

    Only files that were found already: whoever may not see a file learns nothing of its past.
    """
    paths: dict[str, dict[str, FileRef]] = {}
    for place in places:
        paths.setdefault(place.label, {})[place.path] = place
    scores: dict[FileRef, float] = {}
    for label in sorted(paths):
        past = past_of(label)
        if past is not None:
            found = past.scores(terms, sorted(paths[label]))
            scores |= {paths[label][path]: score for path, score in found.items() if score > 0}
    best = max(scores.values(), default=0.0)
    return {place: score / best for place, score in scores.items()}
