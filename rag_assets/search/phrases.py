"""Quoted phrases: the points in whose text they occur as they are written, in any letter case.

As in code search tools a phrase is a condition and no hint. The keyword index names the sections that have all its
words; their snippets and source slices are read to see which have them in a row, so that what is found can be a filter
of the engine and k results stay k.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rag_assets.errors import QueryError
from rag_assets.index.keyword.terms import runs, word_terms
from rag_assets.index.vectors.filters import SearchScope
from rag_assets.search.ranking.penalties import TEXTS_DEMOTION, demotion
from rag_assets.search.retrieve import SearchResources
from rag_assets.search.section_source import section_source

MOST_READ = 4_000
"""Sections that are read for one phrase: 0.4 s. Only phrases of a few very common words have more of them."""

_MOST_QUOTING = {True: 20, False: 200}
"""Sections that are read for a message, and for a name or a piece of code, that may stand somewhere: 3 ms, and for few
searches 10 times that. A message has words that few share."""
_RAREST = 3  # words whose sections are intersected: more of them leave out hardly anything
_BATCH = 500  # payloads in memory


@dataclass(frozen=True, slots=True)
class PhraseMatches:
    """`ids` are the points that have all phrases. `cut` are phrases with more candidates than were read."""

    ids: frozenset[str]
    cut: tuple[str, ...] = ()


def points_with(phrases: Iterable[str], parts: SearchResources, scope: SearchScope) -> PhraseMatches:
    """The points of the scope in which every phrase occurs. Raises QueryError, VectorStoreError, KeywordIndexError, or
    BlobError where a document has gone."""
    found: frozenset[str] | None = None
    cut: list[str] = []
    for phrase in phrases:
        candidates = points_saying(phrase, parts, scope if found is None else replace(scope, ids=found))
        cut += candidates.cut
        found = _having(_pattern(phrase), sorted(candidates.ids), parts, scope)
    if found is None:
        raise QueryError("points_with needs a phrase")
    return PhraseMatches(found, tuple(cut))


def quoting(text: str, parts: SearchResources, scope: SearchScope, *, begins: bool = False) -> list[str]:
    """The points of the product, of the likeliest, that have a message in quotes, or one that `begins` so, or a name
    alone, in its own letters. Raises as `points_with` does."""
    inner, is_message = _pattern(text).pattern, len(text.split()) > 1
    before = "" if begins else "[^\\n]{0,200}?"
    of_message = re.compile(f"[\"'`>]{before}{inner}", re.IGNORECASE)
    written = of_message if is_message else re.compile(f"[\"'`>]{inner}[\"'`<]")
    likely = points_saying(text, parts, scope, _MOST_QUOTING[is_message]).ids
    found = _having(written, sorted(likely), parts, scope)
    places = parts.shard().places(sorted(found), scope)
    return [identifier for identifier, file in places.items() if demotion(file.path, ()) >= TEXTS_DEMOTION]


def writing(text: str, parts: SearchResources, scope: SearchScope) -> dict[str, bool]:
    """The points, of the likeliest, that have a piece of code as it is written; whether each is of the product. Raises
    as `points_with` does."""
    found = _having(_pattern(text), sorted(points_saying(text, parts, scope, _MOST_QUOTING[False]).ids), parts, scope)
    places = parts.shard().places(sorted(found), scope)
    return {identifier: demotion(file.path, ()) >= TEXTS_DEMOTION for identifier, file in places.items()}


def occurs(phrase: str, text: str) -> bool:
    """Whether a phrase occurs in a text: whole words at both ends, any blanks between, any letter case."""
    return _pattern(phrase).search(text) is not None


def _pattern(phrase: str) -> re.Pattern[str]:
    inner = r"\s+".join(re.escape(word) for word in phrase.split())
    start = r"(?<!\w)" if re.match(r"\w", phrase) else ""
    end = r"(?!\w)" if re.search(r"\w$", phrase) else ""
    return re.compile(f"{start}{inner}{end}", re.IGNORECASE)


def points_saying(phrase: str, parts: SearchResources, scope: SearchScope, most: int | None = None) -> PhraseMatches:
    """The points that have the words of a phrase, in any order; of more than `most` (None: MOST_READ) the likeliest.
    Raises as `points_with` does."""
    most = MOST_READ if most is None else most
    terms = dict.fromkeys(term for run in runs(phrase) for term in word_terms(run))
    known = {term: parts.vocabulary().find(term) for term in terms}
    entries = sorted((entry.sections, entry.index) for entry in known.values() if entry is not None)
    if not entries or len(entries) < len(terms):
        return PhraseMatches(frozenset())
    shard = parts.shard()
    limit = shard.count()  # the vocabulary counts texts as fewer sections than they are, where they outnumber code
    having, narrowed = frozenset[str](), scope
    for _, term in entries[:_RAREST]:
        having = frozenset(hit.id for hit in shard.sparse([term], [1.0], narrowed, limit))
        if not having:
            return PhraseMatches(having)
        limit, narrowed = len(having), replace(scope, ids=having)
    if len(having) <= most:
        return PhraseMatches(having)
    best = parts.vocabulary().query_vector(phrase)
    likeliest = frozenset(hit.id for hit in shard.sparse(best.indices, best.values, narrowed, most))
    return PhraseMatches(likeliest, (phrase,))


def _having(written: re.Pattern[str], ids: list[str], parts: SearchResources, scope: SearchScope) -> frozenset[str]:
    document = cache(parts.document)
    return frozenset(
        identifier
        for identifier, payload in payloads_of(ids, parts, scope)
        if written.search(payload.get("FinderSnippet", "")) or written.search(section_source(payload, document))
    )


def payloads_of(ids: Sequence[str], parts: SearchResources, scope: SearchScope) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each point of the scope with its payload, of which a few hundred are in memory."""
    for start in range(0, len(ids), _BATCH):
        yield from parts.shard().retrieve(ids[start : start + _BATCH], scope).items()
