"""Search: ranked places with the members that answer, and a cursor to what comes after them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rag_assets.errors import WrongQuestion
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets.search import Hit, SearchResult
from rag_assets.search.index import Searchable
from rag_assets.search.outline import (
    Detail,
    Page,
    asked_stems,
    counts_by_folder,
    place_of,
    plain_text,
    within,
)
from rag_assets.search.query_parser import understand
from rag_assets.search.result_objects import search_object
from rag_assets.serving.budget import clipped, cost_of
from rag_assets.serving.index_age import AgesOf
from rag_assets.serving.requests import SearchRequest

MOST_HITS = 100
"""Over all pages: who has read that many wants another question."""
_CURSOR = re.compile(r"(?P<offset>\d{1,3}):(?P<digest>[0-9a-f]{4})")


@dataclass(frozen=True, slots=True)
class SearchReply:
    """The hits of one page; `offset` hits came before, `has_more` says whether others follow."""

    request: SearchRequest
    result: SearchResult
    ages: AgesOf
    offset: int
    has_more: bool

    @property
    def cursor(self) -> str:
        """For the hits after these; '' where there are none."""
        if not self.has_more:
            return ""
        return f"{self.offset + len(self.result.hits)}:{_digest(self.request, self.result)}"

    def as_object(self) -> dict[str, Any]:
        page = Page(self.request.detail, self.request.max_tokens)
        freshness = {label: age.freshness for label, age in self.ages.items()}
        return search_object(self.result, freshness, page, first_rank=self.offset + 1) | {"cursor": self.cursor or None}

    def text(self, max_tokens: int) -> str:
        hits, asked = self.result.hits, asked_stems(self.result.question)
        head = [*(self._age(label) for label in self.ages), *self.result.warnings]
        if not hits:
            return clipped("\n".join([*head, "nothing found; use other words, or fewer filters"]), max_tokens)
        if not self.result.known_words:
            head.append("no word of the question is in this index; these are near by meaning alone")
        more = f"more with cursor {self.cursor} · " if self.cursor else ""
        foot = [f"next: {more}read a place for its lines"]

        @cache  # a budget asks for the same ones again
        def lines(at: int, detail: Detail) -> str:
            rank = self.offset + at + 1
            text = plain_text(hits[at], rank, detail, asked)
            return f"{hits[at].label}: {text.strip()}" if not self.result.label else text

        room = max_tokens - cost_of("\n".join([*head, *foot]))
        details = within(room, len(hits), self.request.detail, lambda at, detail: cost_of(lines(at, detail)))
        if details is not None:
            body = [lines(at, detail) for at, detail in enumerate(details)]
        else:
            pages = (_bare(hits, count) for count in range(len(hits), 0, -1))
            body = next((page for page in pages if cost_of("\n".join(page)) <= room), _bare(hits, 1))
        return clipped("\n".join([*head, *body, *foot]), max_tokens)

    def _age(self, label: str) -> str:
        now = self.result.overlaid.get(label, 0)
        said = f"; {now} file{'s' * (now != 1)} as in the work tree now" if now else ""
        return f"{self.ages[label].line(label)}{said}"


def _bare(hits: Sequence[Hit], count: int) -> list[str]:
    """The places of the first hits alone, and in which folders the others are."""
    others = (f"{more} more in {folder}/" for folder, more in counts_by_folder(hits[count:]))
    return [*map(place_of, hits[:count]), *others]


def search(target: Searchable, request: SearchRequest) -> tuple[SearchResult, int, bool]:
    """The hits of the page that is asked for, how many came before, and whether others follow. Raises WrongQuestion for
    a cursor of another question or of another generation, and what a search raises."""
    offset = 0
    if request.cursor:
        found = _CURSOR.fullmatch(request.cursor)
        if found is None:
            raise WrongQuestion(f"{request.cursor!r} is no cursor; give the one of the last answer, or leave it out")
        offset = int(found["offset"])
    wanted = min(offset + request.limit + 1, MOST_HITS)
    filters = SearchFilters(paths=tuple(request.paths), kinds=tuple(request.kinds))
    question = understand(request.query)
    if question.only_place is not None:
        result = target.similar(question, filters=filters, limit=wanted, by_symbol=True)
    else:
        result = target.search(question, filters=filters, limit=wanted, by_symbol=True)
    if request.cursor and not request.cursor.endswith(_digest(request, result)):
        raise WrongQuestion("the cursor is of another question, or the index has changed since; search without it")
    kept = result.hits[offset : offset + request.limit]
    return replace(result, hits=kept), offset, len(result.hits) > offset + request.limit


def _digest(request: SearchRequest, result: SearchResult) -> str:
    """What a cursor holds for: the same words and filters in the same generations."""
    said = (request.query, request.paths, request.kinds, [source.generation_id for source in result.sources])
    return hashlib.sha256(repr(said).encode("utf-8", "replace")).hexdigest()[:4]
