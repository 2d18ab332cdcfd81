"""Files whose names a question says: people name files after what is in them. Pure.

A name that is said whole is told apart from one that is said in part: `JsonReader.cs` and `JsonTextReader.cs` for "what
does the json reader do". A part counts as much as it tells: the rarer its words, and the less of the name is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from functools import lru_cache

from rag_assets.stores.keyword.terms import runs, word_terms
from rag_assets.stores.points import Place

_CACHED_PATHS = 1 << 14  # of a large repository those that searches meet
_SAID_POWER = 2
"""Of the share of a name that is said; 1 and 2 are alike within .002 of the mean, without it long names win."""


def may_say(places: Iterable[Place], terms: Iterable[str]) -> list[Place]:
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


def name_shares(places: Iterable[Place], said: Mapping[str, str], rarity: Callable[[str], float]) -> dict[Place, float]:
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
