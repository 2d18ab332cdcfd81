"""What can be asked of a home: each operation takes a request and who asks, and gives a reply that can be written as
text for a model within a budget (`text`), and as an object for a program (`as_object`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rag_assets.closeable import Closeable
from rag_assets.errors import RagAssetsError
from rag_assets.graph.artifact import GraphError
from rag_assets.index.generation_refs import ACTIVE
from rag_assets.index.generations import Manifest
from rag_assets.qa.services import nobody_listens
from rag_assets.search.graph_context import counts_of
from rag_assets.search.index import LabelIndex, Searchable
from rag_assets.serving.access import Caller
from rag_assets.serving.index_age import AgesOf, IndexAge, IndexAges
from rag_assets.serving.index_pool import IndexPool, one_label
from rag_assets.serving.local_paths import checkouts, inside, without_places
from rag_assets.serving.operations.ask import AskReply, ask
from rag_assets.serving.operations.compare import CompareReply, compare
from rag_assets.serving.operations.graph import GraphReply, walk
from rag_assets.serving.operations.impact import ImpactReply
from rag_assets.serving.operations.overview import overview
from rag_assets.serving.operations.read import ReadReply, SourceReply, read, source
from rag_assets.serving.operations.search import SearchReply, search
from rag_assets.serving.operations.status import LabelStatus, StatusReply, status_of
from rag_assets.serving.operations.symbol import SymbolReply, symbol
from rag_assets.serving.operations.work_tree import as_now
from rag_assets.serving.requests import (
    AskRequest,
    GraphRequest,
    ReadRequest,
    SearchRequest,
    StatusRequest,
    SymbolRequest,
)

if TYPE_CHECKING:
    from rag_assets.evaluation.report import Report
    from rag_assets.serving.operations.history import GenerationRow


def _not_asked(target: Searchable) -> tuple[str, ...]:
    """That a question is not answered from what the work tree has changed."""
    overlay = next((index.overlay for index in target.members.values()), None)
    if overlay is None:
        return ()
    return (f"{overlay.counted} of the work tree are not asked as they are now; search, symbol and read see them",)


T = TypeVar("T")
R = TypeVar("R", SearchRequest, ReadRequest, GraphRequest)
_PLACES = ("place", "start", "to", "paths")
"""Arguments that may name a file."""


class OperationReply(Protocol):
    """What an operation found."""

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
        is_named = request.label is not None

        def found(opened: Searchable) -> SearchReply:
            ages, asked = self._ages_of(opened, caller), self._inside(request, opened, caller)
            result, offset, has_more = search(as_now(opened, caller, is_named=is_named), asked)
            result = replace(result, warnings=self._all_told(result.warnings, caller))
            return SearchReply(asked, result, self._known(ages, caller), offset, has_more)

        return self._on(self.pool.labels(caller, request.label), caller, found)

    def read(self, request: ReadRequest, caller: Caller) -> ReadReply:
        def found(index: LabelIndex, age: Callable[[], IndexAge]) -> ReadReply:
            asked = self._inside(request, index, caller)
            return ReadReply(asked, read(index, asked), age())

        return self._on_one(request.label, caller, found, now=True)

    def symbol(self, request: SymbolRequest, caller: Caller) -> SymbolReply:
        return self._on_one(
            request.label,
            caller,
            lambda index, age: SymbolReply(index.label, symbol(index, request), age()),
            now=True,
        )

    def graph(self, request: GraphRequest, caller: Caller) -> GraphReply | ImpactReply:
        """Around a start, as it is indexed; or with `since` what the changes after that commit touch."""
        return self.walk(request, caller) if request.since is None else self.impact(request, request.since, caller)

    def walk(self, request: GraphRequest, caller: Caller) -> GraphReply:
        def found(index: LabelIndex, age: Callable[[], IndexAge]) -> GraphReply:
            asked = self._inside(request, index, caller)
            return GraphReply(asked, index.label, walk(index, asked), age())

        return self._on_one(request.label, caller, found, now=True)

    def impact(self, request: GraphRequest, since: str, caller: Caller) -> ImpactReply:
        from rag_assets.search.change_impact import change_impact  # an agent waits for the start of its server

        return self._on_one(
            request.label,
            caller,
            lambda index, age: ImpactReply(change_impact(index, since, only=request.only, limit=request.limit), age()),
            now=True,
        )

    def ask(
        self,
        request: AskRequest,
        caller: Caller,
        on_text: Callable[[str], None] = nobody_listens,
        *,
        session: str = "",
    ) -> AskReply:
        """`on_text` receives the lines of a model as they come; they are not checked yet. With a `session` the
        question follows those that the caller asked in it."""
        label = one_label(self.pool.labels(caller, request.label))
        with self._telling(caller), self.pool.answering(label, caller) as (index, answerer):
            ages = self._ages_of(index, caller)
            answer, turn_id = ask(answerer, request, caller, on_text, session)
            warnings, notes = self._all_told(answer.warnings, caller), self._all_told(answer.notes, caller)
            if answer.abstained or answer.unsure:
                notes += _not_asked(as_now(index, caller, is_named=request.label is not None))
            answer = replace(answer, warnings=warnings, notes=notes)
            return AskReply(answer, turn_id, self._known(ages, caller))

    def status(self, request: StatusRequest, caller: Caller) -> StatusReply | CompareReply:
        """What there is; with `compare` what differs from another generation."""
        if request.compare is not None:
            return self.compare(request.label, request.compare, ACTIVE, caller)
        return self.indexes(request, caller)

    def indexes(self, request: StatusRequest, caller: Caller) -> StatusReply:
        """The indexes that the caller sees."""
        is_one = request.label is not None
        labels = self.pool.labels(caller, request.label) if is_one else list(self.pool.manifests(caller))
        found = [self._on([label], caller, lambda target: self._status(target, caller)) for label in labels]
        return StatusReply(tuple(found), is_one=is_one, nothing=self.pool.nothing_for(caller))

    def overview(self, label: str, caller: Caller) -> str:
        """What an index is about."""
        return self._on_one(label, caller, lambda index, age: self._told(overview(index, age()), caller))

    def manifests(self, caller: Caller) -> Mapping[str, Manifest]:
        """What is served of the labels that the caller may see, by label."""
        return self.pool.manifests(caller)

    def kinds(self, label: str | Sequence[str] | None, caller: Caller) -> Mapping[str, int]:
        """The kinds of files in some labels, with the number of their sections, the most first."""

        def found(target: Searchable) -> Counter[str]:
            counted: Counter[str] = Counter()
            for index in target.members.values():
                counted.update(index.parts.shard().values("Kind", index.scope()))
            return counted

        return dict(self._on(self.pool.labels(caller, label), caller, found).most_common())

    def source(self, request: ReadRequest, caller: Caller) -> SourceReply:
        """A place with the file around it, and the generation that both are of."""

        def found(index: LabelIndex, age: Callable[[], IndexAge]) -> SourceReply:
            asked, around = source(index, request)
            return SourceReply(asked, around, index.manifest, age())

        return self._on_one(request.label, caller, found)

    def hubs(self, label: str | None, caller: Caller) -> list[tuple[str, str]]:
        """The most connected nodes of a label, to begin a walk at, with their kinds; none without a graph."""

        def found(index: LabelIndex, _: Callable[[], IndexAge]) -> list[tuple[str, str]]:
            try:
                return [(hub.key, hub.kind) for hub in counts_of(index).hubs]
            except GraphError:
                return []

        return self._on_one(label, caller, found)

    def generations(self, label: str, caller: Caller) -> tuple[GenerationRow, ...]:
        from rag_assets.serving.operations.history import generations  # evaluation is no part of an agent's server

        with self._telling(caller):
            return generations(self.pool.home, one_label(self.pool.labels(caller, label)), caller)

    def compare(self, label: str | None, old: str, new: str, caller: Caller) -> CompareReply:
        """What came and went between two generations of a label, by id, commit, tag, `active` or `previous`."""
        with self._telling(caller):
            return compare(self.pool.home, one_label(self.pool.labels(caller, label)), old, new, caller)

    def evaluation(self, label: str, generation: str, caller: Caller) -> Report:
        """What is known of how well a generation answers. Raises NothingMeasured."""
        from rag_assets.serving.operations.history import evaluation

        with self._telling(caller):
            return evaluation(self.pool, one_label(self.pool.labels(caller, label)), generation, caller)

    def close(self) -> None:
        self._ages.close()
        self.pool.close()

    def _inside(self, request: R, target: Searchable, caller: Caller) -> R:
        """The request with the paths of this machine as those of the repository."""
        if not caller.knows_paths:
            return request
        roots = [one for label in target.members for one in checkouts(self.pool.home, label, caller.folder)]
        given = {name: value for name in _PLACES if (value := getattr(request, name, None))}
        changed = {
            name: inside(value, roots) if isinstance(value, str) else [inside(one, roots) for one in value]
            for name, value in given.items()
        }
        return request.model_copy(update=changed) if changed != given else request

    def _status(self, opened: Searchable, caller: Caller) -> LabelStatus:
        (index,) = opened.members.values()
        age = self._known(self._ages_of(opened, caller), caller)[index.label]
        found = status_of(index, age)
        return replace(found, problem=self._told(found.problem, caller))

    def _on_one(
        self,
        label: str | None,
        caller: Caller,
        found: Callable[[LabelIndex, Callable[[], IndexAge]], T],
        *,
        now: bool = False,
    ) -> T:
        """`now`: with the files of the client's work tree as they are now, where it is in one."""

        def on_index(opened: Searchable) -> T:
            (index,) = opened.members.values()
            ages = self._ages_of(opened, caller)
            target = as_now(index, caller, is_named=label is not None) if now else index
            assert isinstance(target, LabelIndex)
            return found(target, lambda: self._known(ages, caller)[index.label])

        return self._on([one_label(self.pool.labels(caller, label))], caller, on_index)

    def _on(self, labels: list[str], caller: Caller, found: Callable[[Searchable], T]) -> T:
        """What an operation finds in the generations that are served now. One that was pruned while it was read is
        read again as the one that took its place."""
        for is_last in (False, True):
            with self._telling(caller), self.pool.opened(labels, caller) as opened:
                try:
                    return found(opened)
                except (RagAssetsError, OSError):
                    if is_last or not any(map(self.pool.has_moved_on, opened.members.values())):
                        raise
        raise AssertionError

    def _ages_of(self, opened: Searchable, caller: Caller) -> dict[str, Future[IndexAge]]:
        return {label: self._ages.ask(manifest, caller.clearance) for label, manifest in opened.manifests.items()}

    def _known(self, ages: Mapping[str, Future[IndexAge]], caller: Caller) -> AgesOf:
        known = {label: age.result() for label, age in ages.items()}
        return {
            label: replace(age, freshness=replace(age.freshness, reason=self._told(age.freshness.reason, caller)))
            for label, age in known.items()
        }

    @contextmanager
    def _telling(self, caller: Caller) -> Iterator[None]:
        """Errors as the caller may have them."""
        try:
            yield
        except RagAssetsError as error:
            if not caller.knows_paths:
                error.args = (self._told(str(error), caller),)
            raise

    def _told(self, message: str, caller: Caller) -> str:
        if caller.knows_paths or not message:
            return message
        return without_places(message, self.pool.home, self.pool.config)

    def _all_told(self, messages: Sequence[str], caller: Caller) -> tuple[str, ...]:
        return tuple(self._told(one, caller) for one in messages)
