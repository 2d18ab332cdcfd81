"""What can be asked of a home: each operation takes a request and who asks, and gives a reply that can be written as
text for a model within a budget (`text`), and as an object for a program (`as_object`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from rag_assets.api import Index, IndexGroup
from rag_assets.closeable import Closeable
from rag_assets.errors import RagAssetsError
from rag_assets.qa.services import nobody_listens
from rag_assets.serving.access import Caller
from rag_assets.serving.index_age import AgesOf, IndexAge, IndexAges
from rag_assets.serving.index_pool import IndexPool, one_label
from rag_assets.serving.operations.ask import AskReply, ask
from rag_assets.serving.operations.graph import GraphReply, walk
from rag_assets.serving.operations.overview import overview
from rag_assets.serving.operations.read import ReadReply, read
from rag_assets.serving.operations.search import SearchReply, search
from rag_assets.serving.operations.status import LabelStatus, StatusReply, status_of
from rag_assets.serving.operations.symbol import SymbolReply, symbol
from rag_assets.serving.requests import (
    AskRequest,
    GraphRequest,
    ReadRequest,
    SearchRequest,
    StatusRequest,
    SymbolRequest,
)

T = TypeVar("T")


class OperationReply(Protocol):
    """What an operation found."""

    @property
    def is_empty(self) -> bool:
        """Nothing was found, or the answer is a refusal."""

    def text(self, max_tokens: int) -> str:
        """As a model or a person reads it, in at most so many tokens."""

    def as_object(self) -> dict[str, Any]:
        """As JSON has it."""


class Operations(Closeable):
    """The operations on the indexes of a home. Safe to use from several threads; every one raises RagAssetsError for
    what its caller can repair."""

    def __init__(self, pool: IndexPool) -> None:
        self.pool = pool
        self._ages = IndexAges(pool.home)

    def search(self, request: SearchRequest, caller: Caller) -> SearchReply:
        def found(target: Index | IndexGroup) -> SearchReply:
            ages = self._ages_of(target, caller)
            result, offset, has_more = search(target, request)
            return SearchReply(request, result, _known(ages), offset, has_more)

        return self._on(self.pool.labels(caller, request.label), caller, found)

    def read(self, request: ReadRequest, caller: Caller) -> ReadReply:
        return self._on_one(request.label, caller, lambda index, age: ReadReply(request, read(index, request), age()))

    def symbol(self, request: SymbolRequest, caller: Caller) -> SymbolReply:
        return self._on_one(
            request.label, caller, lambda index, age: SymbolReply(request, index.label, symbol(index, request), age())
        )

    def graph(self, request: GraphRequest, caller: Caller) -> GraphReply:
        return self._on_one(
            request.label, caller, lambda index, age: GraphReply(request, index.label, walk(index, request), age())
        )

    def ask(self, request: AskRequest, caller: Caller, on_text: Callable[[str], None] = nobody_listens) -> AskReply:
        """`on_text` receives the lines of a model as they come; they are not checked yet."""
        label = one_label(self.pool.labels(caller, request.label))
        with self.pool.index(label, caller) as index, self.pool.answerer(label, caller) as answerer:
            ages = self._ages_of(index, caller)
            answer, turn_id = ask(answerer, request, caller, on_text)
            return AskReply(request, answer, turn_id, _known(ages))

    def status(self, request: StatusRequest, caller: Caller) -> StatusReply:
        if request.label is None and not self.pool.manifests(caller):
            return StatusReply((), is_one=False)
        labels = self.pool.labels(caller, request.label) if request.label else list(self.pool.manifests(caller))
        found = [self._on([label], caller, lambda target: self._status(target, caller)) for label in labels]
        return StatusReply(tuple(found), is_one=request.label is not None)

    def overview(self, label: str, caller: Caller) -> str:
        """What an index is about."""
        return self._on_one(label, caller, lambda index, age: overview(index, age()))

    def close(self) -> None:
        self._ages.close()
        self.pool.close()

    def _status(self, target: Index | IndexGroup, caller: Caller) -> LabelStatus:
        (index,) = target.members.values()
        assert isinstance(index, Index)
        return status_of(index, self._ages.ask(index.manifest, caller.clearance).result())

    def _on_one(self, label: str | None, caller: Caller, found: Callable[[Index, Callable[[], IndexAge]], T]) -> T:
        def on_index(target: Index | IndexGroup) -> T:
            assert isinstance(target, Index)
            age = self._ages.ask(target.manifest, caller.clearance)
            return found(target, age.result)

        return self._on([one_label(self.pool.labels(caller, label))], caller, on_index)

    def _on(self, labels: list[str], caller: Caller, found: Callable[[Index | IndexGroup], T]) -> T:
        """What an operation finds in the generations that are served now. One that was pruned while it was read is
        read again as the one that took its place."""
        for is_last in (False, True):
            with self.pool.opened(labels, caller) as target:
                try:
                    return found(target)
                except (RagAssetsError, OSError):
                    indexes = [index for index in target.members.values() if isinstance(index, Index)]
                    if is_last or not any(map(self.pool.has_moved_on, indexes)):
                        raise
        raise AssertionError

    def _ages_of(self, target: Index | IndexGroup, caller: Caller) -> dict[str, Future[IndexAge]]:
        return {label: self._ages.ask(manifest, caller.clearance) for label, manifest in target.manifests.items()}


def _known(ages: Mapping[str, Future[IndexAge]]) -> AgesOf:
    return {label: age.result() for label, age in ages.items()}
