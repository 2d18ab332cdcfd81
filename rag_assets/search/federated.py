"""Several labels searched as if they were one index: one ranking with comparable scores.

Dense scores are cosines in one embedding space; labels of different models are never mixed, keywords rank them then.
Keyword weights of a section hardly know their label, because the idf belongs to the query: here it is that of all
labels together, so a term that is rare in one repository and common in another weighs the same in both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import Future
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality
from rag_assets.contracts.identity import parse_uri
from rag_assets.errors import NoEmbedderError, QueryError
from rag_assets.index.keyword.vocabulary import KnownTerm, QueryVector, Related, rarity_of, weighted_query
from rag_assets.index.vectors.filters import NO_FILTERS, SearchFilters, SearchScope
from rag_assets.search import Hit
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.search.retrieve import PathCache

if TYPE_CHECKING:
    from rag_assets.contracts.embedder import Embedder
    from rag_assets.contracts.retrieval import Capability, SearchPolicy
    from rag_assets.index.generations import Manifest
    from rag_assets.index.keyword.commit_subjects import CommitSubjects
    from rag_assets.index.keyword.expressions import Expression
    from rag_assets.index.vectors.vector_api import Dense, FileRef, ScoredPoint


class FederatedIndex(Searchable):
    """Open indexes of one organisation and one clearance. Safe to use from several threads; closing it closes them."""

    def __init__(self, indexes: Sequence[LabelIndex]) -> None:
        """Raises QueryError for none, for two of one label, of two organisations or of two clearances."""
        self.indexes = {index.label: index for index in indexes}
        if not indexes or len(self.indexes) < len(indexes):
            raise QueryError("a search over several labels needs different labels, one at least")
        organisations = sorted({index.manifest.org_id for index in indexes})
        if len(organisations) > 1:  # the isolation boundary: nobody is in two of them
            raise QueryError(f"labels of several organisations ({', '.join(organisations)}) are never searched at once")
        if len({index.clearance for index in indexes}) > 1:
            raise QueryError("the indexes were opened with different clearances")
        self._parts = FederatedResources(indexes)

    @classmethod
    def open(
        cls,
        labels: Sequence[str],
        *,
        home: str | Path | None = None,
        config: str | Path | None = None,
        clearance: Confidentiality | str = DEFAULT_LEVEL,
        view: SearchFilters = NO_FILTERS,
        org_id: str | None = None,
    ) -> Self:
        """The active generations of several labels of one organisation, open for reading; arguments and errors as of
        `LabelIndex.open`. Raises QueryError for no label, and for labels of two organisations."""
        with ExitStack() as stack:
            group = cls(
                [
                    stack.enter_context(
                        LabelIndex.open(label, home=home, config=config, clearance=clearance, view=view, org_id=org_id)
                    )
                    for label in dict.fromkeys(labels)
                ]
            )
            stack.pop_all()
            return group

    @property
    def parts(self) -> FederatedResources:
        return self._parts

    @property
    def manifests(self) -> dict[str, Manifest]:
        return {label: index.manifest for label, index in self.indexes.items()}

    @property
    def members(self) -> dict[str, LabelIndex]:
        return self.indexes

    @property
    def overlaid(self) -> dict[str, int]:
        return {label: count for index in self.indexes.values() for label, count in index.overlaid.items()}

    def scope(self) -> SearchScope:
        """That of any of them without its label; each is searched within its own tenant (`FederatedReader`)."""
        return replace(next(iter(self.indexes.values())).scope(), label="")

    def narrowed(self, required: Sequence[SearchFilters], excluded: SearchFilters) -> FederatedIndex:
        made = copy(self)
        made.indexes = {label: index.narrowed(required, excluded) for label, index in self.indexes.items()}
        return made

    def index_of(self, hit: Hit) -> LabelIndex:
        """The index that a hit is from, to read what is behind it."""
        return self.indexes[hit.label]

    def close(self) -> None:
        for index in self.indexes.values():
            index.close()


class FederatedResources:
    """The parts of several generations as those of one (`search.retrieve.SearchResources`), searched by the
    policy of the first of them."""

    def __init__(self, indexes: Sequence[LabelIndex]) -> None:
        self._indexes = tuple(indexes)
        self._vocabulary = FederatedVocabulary(self._indexes)
        self._placing = PathCache()
        self._reader = FederatedReader(self._indexes, self._vocabulary)

    @property
    def policy(self) -> SearchPolicy:
        return self._indexes[0].parts.policy

    def lacking(self) -> Mapping[Capability, str]:
        """What one of the labels lacks, all lack: their scores would not compare."""
        found: dict[Capability, str] = {}
        for index in self._indexes:
            for part, why in index.parts.lacking().items():
                found.setdefault(part, f"{index.label}: {why}")
        return found

    def shard(self) -> FederatedReader:
        for index in self._indexes:
            index.parts.shard()
        return self._reader

    def vocabulary(self) -> FederatedVocabulary:
        """Raises KeywordIndexError where that of one label cannot be read: its terms would be missing."""
        for index in self._indexes:
            index.parts.vocabulary()
        return self._vocabulary

    @property
    def unembedded(self) -> Set[str]:
        return frozenset[str]().union(*(index.parts.unembedded for index in self._indexes))

    def placing(self) -> PathCache:
        return self._placing

    def past(self, label: str) -> CommitSubjects | None:
        return next((index.parts.past(label) for index in self._indexes if index.label == label), None)

    def document(self, address: str) -> str:
        for index in self._indexes:
            if index.overlay is not None and index.overlay.has_text(address):
                return index.parts.document(address)
        return self._indexes[0].parts.document(address)  # one home, one store of documents for all labels

    def descriptions(self, uris: Sequence[str]) -> Mapping[str, str]:
        """Raises ArtifactError and TableDamaged."""
        found: dict[str, str] = {}
        for index in self._indexes:
            found |= index.parts.descriptions([uri for uri in uris if parse_uri(uri).label == index.label])
        return found

    def embedder(self) -> Future[Embedder]:
        """The model of all labels. The future raises NoEmbedderError where they do not have one in common."""
        spaces = {(index.manifest.embedding_model, index.manifest.dimension) for index in self._indexes}
        if len(spaces) == 1:
            return self._indexes[0].parts.embedder()
        models = ", ".join(sorted(model for model, _ in spaces))
        refused: Future[Embedder] = Future()
        refused.set_exception(
            NoEmbedderError(f"the labels were embedded with different models ({models}), whose scores do not compare")
        )
        return refused


class FederatedVocabulary:
    """The vocabularies of several labels: a term has the sections of all of them.

    A term can have another index in each label, so terms have numbers of their own here.
    """

    def __init__(self, indexes: Sequence[LabelIndex]) -> None:
        self._indexes = tuple(indexes)
        self._numbers: dict[str, int] = {}  # bounded by the vocabularies: only known terms have one
        self._terms: list[str] = []

    @property
    def sections(self) -> int:
        return sum(index.parts.vocabulary().sections for index in self._indexes)

    def find(self, term: str) -> KnownTerm | None:
        known = [found for index in self._indexes if (found := index.parts.vocabulary().find(term)) is not None]
        return KnownTerm(self._number(term), sum(found.sections for found in known)) if known else None

    def starting(self, beginning: str) -> list[str]:
        known = (index.parts.vocabulary().starting(beginning) for index in self._indexes)
        return sorted(set(chain.from_iterable(known)))

    def rarity(self, term: str) -> float:
        return rarity_of(term, self, self.sections)

    def query_vector(
        self, text: str, related: Related | None = None, expressions: Sequence[Expression] = ()
    ) -> QueryVector:
        return weighted_query(text, self, self.sections, related, expressions)

    def in_label(
        self, index: LabelIndex, numbers: Sequence[int], values: Sequence[float]
    ) -> tuple[list[int], list[float]]:
        """A query of this vocabulary in the indices of one label; terms that the label does not have are left out."""
        found = []
        for number, value in zip(numbers, values, strict=True):
            known = index.parts.vocabulary().find(self._terms[number])
            if known is not None:
                found.append((known.index, value))
        found.sort()
        return [at for at, _ in found], [value for _, value in found]

    def _number(self, term: str) -> int:
        number = self._numbers.get(term)
        if number is None:
            self._terms.append(term)
            # Two threads may both add the term; either number leads to it.
            number = self._numbers.setdefault(term, len(self._terms) - 1)
        return number


class FederatedReader:
    """The points of several generations (`index.vectors.vector_api.PointReader`), each searched within its own tenant
    and label; the scope says what else must hold."""

    def __init__(self, indexes: Sequence[LabelIndex], vocabulary: FederatedVocabulary) -> None:
        self._indexes = tuple(indexes)
        self._vocabulary = vocabulary

    def count(self, scope: SearchScope | None = None) -> int:
        return sum(index.parts.shard().count(_of(index, scope)) for index in self._indexes)

    def dense(self, vector: Dense, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        return self._best(lambda index: index.parts.shard().dense(vector, _of(index, scope), limit), limit)

    def sparse(
        self, indices: Sequence[int], values: Sequence[float], scope: SearchScope, limit: int
    ) -> list[ScoredPoint]:
        def search(index: LabelIndex) -> list[ScoredPoint]:
            at, weights = self._vocabulary.in_label(index, indices, values)
            return index.parts.shard().sparse(at, weights, _of(index, scope), limit)

        return self._best(search, limit)

    def retrieve(self, ids: Sequence[str], scope: SearchScope) -> dict[str, dict[str, Any]]:
        return self._joined(lambda index: index.parts.shard().retrieve(ids, _of(index, scope)))

    def places(self, ids: Sequence[str], scope: SearchScope) -> dict[str, FileRef]:
        return self._joined(lambda index: index.parts.shard().places(ids, _of(index, scope)))

    def vector(self, identifier: str) -> Dense | None:
        found = (index.parts.shard().vector(identifier) for index in self._indexes)
        return next((vector for vector in found if vector is not None), None)

    def ids(self, scope: SearchScope | None = None) -> dict[str, str]:
        return self._joined(lambda index: index.parts.shard().ids(_of(index, scope)))

    def values(self, key: str, scope: SearchScope) -> dict[str, int]:
        counts: dict[str, int] = {}
        for index in self._indexes:
            for value, count in index.parts.shard().values(key, _of(index, scope)).items():
                counts[value] = counts.get(value, 0) + count
        return dict(sorted(counts.items()))

    def _best(self, search: Callable[[LabelIndex], list[ScoredPoint]], limit: int) -> list[ScoredPoint]:
        found = [hit for index in self._indexes for hit in search(index)]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _joined(self, read: Callable[[LabelIndex], Mapping[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for index in self._indexes:
            made.update(read(index))
        return made


def _of(index: LabelIndex, scope: SearchScope | None) -> SearchScope:
    """What a search over all labels may see of one of them."""
    own = index.scope()
    if scope is None:
        return own
    return replace(scope, org_id=own.org_id, project_id=own.project_id, label=own.label, clearance=own.clearance)
