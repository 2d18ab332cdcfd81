"""Retrieves and ranks: resolves the mode that an index can serve, asks the vector and keyword indexes for candidates,
and puts them in one order."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from rag_assets.contracts.retrieval import Capability, Mode, OnMissing, SearchPolicy, fallback, missing_for
from rag_assets.errors import NoEmbedderError, QueryError
from rag_assets.index.keyword.vocabulary import KeywordIndexError, KnownTerm, QueryVector, Related
from rag_assets.search.fusion import Candidate, Ranked, as_found, merged, reciprocal_ranks
from rag_assets.search.ranking import PLACED, most_promising, rank
from rag_assets.search.ranking.penalties import asked_for
from rag_assets.search.ranking.signals import (
    WITH_RELATED_WORDS,
    QueryFeatures,
    QueryType,
    declarations,
    file_signals,
    query_type,
)

if TYPE_CHECKING:
    from pathlib import Path

    from rag_assets.contracts.embedder import Embedder
    from rag_assets.index.artifacts import ArtifactStore
    from rag_assets.index.generations import Generation, Manifest
    from rag_assets.index.keyword.commit_subjects import CommitSubjects
    from rag_assets.index.keyword.expressions import Expression
    from rag_assets.index.layout import IndexHome
    from rag_assets.index.vectors.filters import SearchScope
    from rag_assets.index.vectors.vector_api import Dense, FileRef, PointReader

_log = logging.getLogger(__name__)

_DECLARING = 40
"""The best candidates for a name, whose payloads say what they declare: .04 ms each."""
_LEAST_RESCORED = 50
_RESCORED_PER_HIT = 3

_WITHOUT = {Capability.DENSE: "keyword search only", Capability.KEYWORD: "semantic search only"}

_MOST_KNOWN = 100_000
"""Sections whose file is kept: 20 MB. A store that has no table of them (a server) reads a payload
for each, 30 to 50 µs and more."""


class Keywords(Protocol):
    """What a search needs of a vocabulary; `sections` are those that the reader may see."""

    @property
    def sections(self) -> int: ...

    def find(self, term: str) -> KnownTerm | None: ...

    def starting(self, beginning: str) -> Iterable[str]: ...

    def rarity(self, term: str) -> float: ...

    def query_vector(
        self, text: str, related: Related | None = None, expressions: Sequence[Expression] = ()
    ) -> QueryVector: ...


class SearchResources(Protocol):
    """What a search reads: the parts of one generation, or of several as if they were one."""

    @property
    def policy(self) -> SearchPolicy: ...

    def lacking(self) -> Mapping[Capability, str]: ...

    def shard(self) -> PointReader: ...

    def vocabulary(self) -> Keywords: ...

    def past(self, label: str) -> CommitSubjects | None: ...

    def placing(self) -> PathCache: ...

    @property
    def unembedded(self) -> Set[str]:
        """Ids of the sections that have no vector, because nobody has indexed them."""

    def embedder(self) -> Future[Embedder]: ...

    def document(self, address: str) -> str: ...

    def descriptions(self, uris: Sequence[str]) -> Mapping[str, str]: ...


class LabelResources(SearchResources, Protocol):
    """What one label is searched and read by."""

    @property
    def configuration(self) -> tuple[IndexHome, Path | None]:
        """Where settings are looked for: the home, and the file that the caller named."""

    def artifacts(self) -> ArtifactStore: ...

    def close(self) -> None: ...


class OpenLabel(Protocol):
    """An open index of one label (`search.index.LabelIndex`), as far as others read it. `tenant` is what may be seen
    of the stores, whatever the index was opened to look at."""

    @property
    def label(self) -> str: ...

    @property
    def generation(self) -> Generation: ...

    @property
    def manifest(self) -> Manifest: ...

    @property
    def parts(self) -> LabelResources: ...

    @property
    def tenant(self) -> SearchScope: ...

    def may_read(self, path: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Retrieved:
    """`mode` is the one really used; it differs from the wanted one only with a warning. `terms` are what keywords were
    searched with; None where they were not."""

    ranked: list[Ranked]
    mode: Mode
    warnings: tuple[str, ...]
    candidates: dict[str, int]
    terms: QueryVector | None = None


def retrieve(
    parts: SearchResources,
    query: str,
    mode: Mode,
    scope: SearchScope,
    limit: int,
    clock: Clock,
    kept: int | None = None,
) -> Retrieved:
    """The best `kept` (by default `limit`) sections of the scope, of the candidates that `limit` hits are chosen from.
    SEMANTIC is the vector search (D13), with a second look at its candidates where the model is quick
    (`passage_scores`), SEMANTIC_RERANK puts them in order with keyword scores (D14); BM25 and a blended HYBRID rank
    (`search.ranking`), one by `rrf` goes by ranks (D16). A mode that the index cannot serve is answered by another one
    or refused, as the policy says: raises QueryError then (D15, D17)."""
    resolved = resolve_mode(parts, query, mode, clock)
    kept = kept or limit
    mode, policy, shard = resolved.mode, parts.policy, parts.shard()
    dense: Sequence[Candidate] = ()
    keyword: Sequence[Candidate] = ()
    terms: QueryVector | None = None
    if resolved.vector is not None:
        wide = widened(limit) if mode is Mode.SEMANTIC_RERANK else max(limit, policy.dense_candidates)
        with clock.step("dense"):
            dense = shard.dense(resolved.vector, scope, wide)
    if mode is Mode.SEMANTIC:
        with clock.step("passages"):
            ranked = _nearest(parts, query, resolved.vector, dense, scope)[:kept]
    elif mode is Mode.SEMANTIC_RERANK:
        from rag_assets.search.reranking import rescored  # start-up budget: needs a library of its own

        with clock.step("rescore"):
            payloads = shard.retrieve([one.id for one in dense], scope)
            ranked = rescored(query, dense, payloads, kept, alpha=policy.alpha, beta=policy.beta)
    else:
        wide = policy.keyword_candidates
        if resolved.vector is None:  # more of them than are placed could not get ahead of these
            wide = min(wide, PLACED)
        with clock.step("bm25"):
            related = _related(parts, query, resolved.vector)
            expressions = expressions_of(query) if related is not None else ()
            terms = parts.vocabulary().query_vector(query, related, expressions)
            keyword = shard.sparse(terms.indices, terms.values, scope, max(limit, wide))
        with clock.step("rank"):
            if mode is Mode.HYBRID and policy.fusion == "rrf":
                ranked = reciprocal_ranks(dense, keyword, kept, parts.unembedded)
            else:
                kind = query_type(query, is_name=terms.is_name)
                asked = QueryFeatures(kind, terms.weights, bool(dense), asked_for(query), terms.forms)
                found = most_promising(merged(dense, keyword, parts.unembedded), asked, limit)
                places = parts.placing().of([one.id for one in found], shard, scope)

                def declared() -> Mapping[FileRef, float]:
                    best = sorted(found, key=lambda one: -one.bm25_scaled)[:_DECLARING]
                    ids = [one.id for one in best if one.id in places]
                    return declarations(query, places, shard.retrieve(ids, scope))

                evidence = file_signals(places.values(), asked, parts.past, parts.vocabulary().rarity, declared)
                ranked = rank(found, places, evidence, asked, kept)
    return Retrieved(ranked, mode, resolved.warnings, {"dense": len(dense), "bm25": len(keyword)}, terms)


def _related(parts: SearchResources, query: str, vector: Dense | None) -> Related | None:
    """What knows words that mean about the same as those of the query; None where that does not help, and where the
    model that embedded it does not know words."""
    if vector is None or parts.policy.fusion == "rrf" or query_type(query, is_name=False) not in WITH_RELATED_WORDS:
        return None
    return getattr(parts.embedder().result(), "related", None)


def expressions_of(query: str) -> Sequence[Expression]:
    """Those of a question. Documentation says less with them (doc summaries .729 → .725), and who says what is to be
    done nothing."""
    if query_type(query, is_name=False) is not QueryType.QUESTION:
        return ()
    from rag_assets.index.keyword.expressions import expressions_in  # start-up budget: not of a keyword search

    return expressions_in(query)


def _nearest(
    parts: SearchResources, query: str, vector: Dense | None, dense: Sequence[Candidate], scope: SearchScope
) -> list[Ranked]:
    """The candidates of the vector search, by their passages where the model is quick enough to read them."""
    texts = getattr(parts.embedder().result(), "for_texts", None)
    if texts is None or vector is None:
        return as_found(dense)
    from rag_assets.search.passage_scores import by_passages, sources_of  # start-up budget: of this mode alone

    payloads = parts.shard().retrieve([one.id for one in dense], scope)
    return by_passages(vector, dense, payloads, sources_of(payloads, parts.document), texts, asked_for(query))


def widened(limit: int) -> int:
    """How many candidates semantic_rerank chooses `limit` hits from: max(50, 3 · limit) (D14)."""
    return max(_LEAST_RESCORED, _RESCORED_PER_HIT * limit)


class Clock:
    """Seconds per step of one search, and in total."""

    def __init__(self) -> None:
        self._started = perf_counter()
        self._steps: dict[str, float] = {}

    def step(self, name: str) -> _Step:
        """Measures what is done within it."""
        return _Step(self, name)

    def add(self, name: str, seconds: float) -> None:
        """A step that was measured elsewhere."""
        self._steps[name] = self._steps.get(name, 0.0) + seconds

    def seconds(self) -> dict[str, float]:
        return {**self._steps, "total": perf_counter() - self._started}


class _Step:  # a generator as a context manager takes five times as long, and a search has six steps
    __slots__ = ("_begun", "_clock", "_name")

    def __init__(self, clock: Clock, name: str) -> None:
        self._clock = clock
        self._name = name

    def __enter__(self) -> None:
        self._begun = perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._clock.add(self._name, perf_counter() - self._begun)


@dataclass(frozen=True, slots=True)
class ResolvedMode:
    """A search with all open that its mode needs; `vector` is that of the question, None for keywords alone. `warnings`
    say why the mode is not the wanted one."""

    mode: Mode
    vector: Dense | None
    warnings: tuple[str, ...]


def resolve_mode(parts: SearchResources, query: str, wanted: Mode, clock: Clock) -> ResolvedMode:
    """Opens what the mode needs; what turns out to be missing on the way is treated as if it had never been built.
    Raises QueryError where the policy is to fail, or nothing is left to search with."""
    lacking = dict(parts.lacking())
    while True:  # at most once for each capability
        mode = answerable(wanted, lacking, parts.policy.on_missing)
        try:
            vector = _opened(parts, query, mode, clock)
        except NoEmbedderError as error:
            lacking[Capability.DENSE] = str(error)
        except KeywordIndexError as error:
            lacking[Capability.KEYWORD] = str(error)
        else:
            return ResolvedMode(mode, vector, _warnings(wanted, mode, lacking))


def answerable(wanted: Mode, lacking: Mapping[Capability, str], on_missing: OnMissing) -> Mode:
    """The wanted mode, or the one that answers for it: keywords, else embeddings. `lacking` says why. Raises QueryError
    where none may or can."""
    built = set(Capability) - lacking.keys()
    missing = missing_for(wanted, built)
    if not missing:
        return wanted
    instead = fallback(built)
    if instead is None or on_missing == "fail":
        why = "; ".join(lacking[part] for part in missing)
        hint = (
            "" if instead is None else f"; {instead} search is possible, and answers with search.on_missing: fall_back"
        )
        raise QueryError(f"{wanted} search is not possible: {why}{hint}")
    return instead


def _opened(parts: SearchResources, query: str, mode: Mode, clock: Clock) -> Dense | None:
    """Raises NoEmbedderError or KeywordIndexError."""
    loading = None if mode is Mode.BM25 else parts.embedder()  # goes on while the rest is opened
    with clock.step("open"):
        parts.shard()
        if mode in (Mode.BM25, Mode.HYBRID):
            parts.vocabulary()
    if loading is None:
        return None
    with clock.step("embed"):
        embedder = loading.result()
        if getattr(embedder, "related", None) is not None:
            query = " ".join((query, *chain.from_iterable(one.embedded for one in expressions_of(query))))
        vector: Dense = embedder.embed([query])[0]
        if not vector.any():
            raise NoEmbedderError(f"{embedder.model_id} knows no word of the question")
        return vector


def _warnings(wanted: Mode, mode: Mode, lacking: Mapping[Capability, str]) -> tuple[str, ...]:
    if mode is wanted:
        return ()
    missing = missing_for(wanted, set(Capability) - lacking.keys())
    warnings = tuple(f"{_WITHOUT[part]}: {lacking[part]}" for part in missing)
    _log.info("%s search answered by %s: %s", wanted, mode, "; ".join(warnings))
    return warnings


class PathCache:
    """The files of sections that searches have met. Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: dict[str, FileRef] = {}

    def of(self, ids: Sequence[str], shard: PointReader, scope: SearchScope) -> dict[str, FileRef]:
        """id → file of candidates that a search within `scope` has found; without those whose payload the store does
        not give out."""
        known = self._known
        found = {identifier: known[identifier] for identifier in ids if identifier in known}
        new = [identifier for identifier in ids if identifier not in found]
        if new:
            read = shard.places(new, scope)
            if len(known) + len(read) > _MOST_KNOWN:
                self._known = known = {}
            known.update(read)
            found |= read
        return found
