"""Open indexes: search them, look points up, read the texts behind them.

`Searchable` is what can be searched: one label (`LabelIndex`), or several as one (`search.federated`). The files behind
a label (`IndexResources`) are opened when they are first needed, and only once.
"""

from __future__ import annotations

import re
import threading
import uuid
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import Future
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rag_assets.closeable import Closeable
from rag_assets.contracts.confidentiality import DEFAULT_LEVEL, Confidentiality, known_level
from rag_assets.contracts.identity import parse_uri, point_id
from rag_assets.contracts.retrieval import DEFAULT_POLICY, Capability, Mode, SearchPolicy
from rag_assets.errors import NoEmbedderError, NoWorkTree, QueryError, WrongQuestion
from rag_assets.index.freshness import changed_since, folder_in_repository, remembered_repository
from rag_assets.index.generations import Generation, GenerationError, Manifest, active_generation
from rag_assets.index.keyword.vocabulary import Vocabulary
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors import open_vectors
from rag_assets.index.vectors.filters import NO_FILTERS, ScopeError, SearchFilters, SearchScope
from rag_assets.index.vectors.vector_api import VectorReader, VectorStoreError
from rag_assets.search import Hit, Question, SearchResult
from rag_assets.search.retrieve import LabelResources, PathCache, SearchResources
from rag_assets.search.search import search
from rag_assets.settings.config_file import config_of, config_path, is_configured, resolve_home

if TYPE_CHECKING:
    from rag_assets.contracts.embedder import Embedder
    from rag_assets.graph.csr_graph import Graph
    from rag_assets.index.artifacts import ArtifactStore
    from rag_assets.index.blobs import BlobStore
    from rag_assets.index.keyword.commit_subjects import CommitSubjects
    from rag_assets.search.overlay import LaidOver, Overlay
    from rag_assets.search.source_lines import SourceLines
    from rag_assets.settings import SearchSettings

_ID_PREFIX = re.compile(r"[0-9a-f-]{4,36}")  # fewer digits are ambiguous in any real index
_SHOWN = 5
_KEPT_DOCUMENTS = 64
"""Documents whose text is kept, 1 MB of usual ones: a search reads that of every hit (`search.members`)."""

_MOST_CHECKOUTS = 8
"""Whose work trees are kept beside one index: clients of a server may work in several."""

_BUILT_WITHOUT = {
    Capability.DENSE: "this index was built without an embedding model",
    Capability.KEYWORD: "this index was built without keywords; run: rag-assets index --force",
}


class Searchable(Closeable):
    """Generations that are searched together. Safe to use from several threads; close it, or use it in a `with`."""

    @property
    @abstractmethod
    def parts(self) -> SearchResources:
        """What a search reads."""

    @property
    @abstractmethod
    def manifests(self) -> Mapping[str, Manifest]:
        """The manifests of the generations that are searched, by label."""

    @property
    @abstractmethod
    def members(self) -> Mapping[str, LabelIndex]:
        """The open indexes that are searched, by label."""

    @property
    @abstractmethod
    def overlaid(self) -> Mapping[str, int]:
        """How many files of a work tree lie over the index of a label; no label without any."""

    @abstractmethod
    def scope(self) -> SearchScope:
        """What may be seen of the stores."""

    @abstractmethod
    def narrowed(self, required: Sequence[SearchFilters], excluded: SearchFilters) -> Searchable:
        """The same, of which nothing may be seen but what these filters let through. Closing this one closes it."""

    def search(
        self,
        query: str | Question,
        *,
        filters: SearchFilters = NO_FILTERS,
        limit: int | None = None,
        mode: Mode | str | None = None,
        explain: bool = False,
        literal: bool = False,
        by_symbol: bool = False,
        members: bool = True,
    ) -> SearchResult:
        """The best `limit` sections for a question or for identifiers, within the tenant, project and clearance; those
        of several labels in one ranking.

        The query may hold filters and phrases (`search.query_parser`), unless it is `literal`; a Question was parsed
        before. `filters` and those of the query must all hold, and the engine applies them before the top k (R17).
        `limit` and `mode` are by default those of the policy (settings `search`). Where the index cannot serve a mode,
        another mode answers and `warnings` says so, or the search raises QueryError, as the policy says (D15, D17).
        `explain` fills `terms` and `candidates` of the result. `by_symbol`: a symbol has one hit in a file, which has
        the members of its other sections too; else every section is a hit. Without `members`, whose choice reads the
        documents of the hits, a hit has the lines of its section alone.

        Raises QueryError, ScopeError, PeriodError, VectorStoreError or KeywordIndexError.
        """
        return search(
            query,
            self.parts,
            self.manifests,
            self.scope(),
            filters=filters,
            limit=limit,
            mode=mode,
            explain=explain,
            literal=literal,
            by_symbol=by_symbol,
            members=members,
            overlaid=self.overlaid,
        )

    def similar(
        self,
        place: str | Question,
        *,
        filters: SearchFilters = NO_FILTERS,
        limit: int | None = None,
        explain: bool = False,
        by_symbol: bool = False,
    ) -> SearchResult:
        """The best `limit` sections that are like the one at a file and line (`src/Orders.cs:42`), by the cosine of
        their vectors and without itself; `similar_to` of the result is that section. `place` may hold filters, which
        hold for what is found. Where the section has no vector, its words are searched and a warning says so.

        Raises what `search` raises; WrongQuestion for anything but one place.
        """
        return search(
            place,
            self.parts,
            self.manifests,
            self.scope(),
            filters=filters,
            limit=limit,
            mode=None,
            explain=explain,
            similar=True,
            by_symbol=by_symbol,
            overlaid=self.overlaid,
        )


class LabelIndex(Searchable):
    """One generation of one label. Safe to use from several threads; close it, or use it in a `with`.

    It goes on reading its own generation when another one becomes active.
    """

    _parts: LabelResources

    def __init__(
        self,
        home: IndexHome,
        generation: Generation,
        config: str | Path | None = None,
        *,
        embedder: Embedder | Future[Embedder] | None = None,
        clearance: Confidentiality | str = DEFAULT_LEVEL,
        view: SearchFilters = NO_FILTERS,
        policy: SearchPolicy = DEFAULT_POLICY,
    ) -> None:
        """`config`, `clearance` and `view` as in `open`; with an `embedder`, which must be the one that made the
        vectors and may be still loading, `config` is not needed. `policy` is how it is searched. Raises GenerationError
        where the generation has no points, or ScopeError."""
        self.generation = generation
        self.manifest = generation.manifest
        self.label = generation.manifest.index_label
        self.clearance = _clearance(clearance)
        self._asked_view = view
        self._required: tuple[SearchFilters, ...] = ()
        self._excluded = NO_FILTERS
        self._parts = IndexResources(
            home, generation, config_path(config), clearance=self.clearance, embedder=embedder, policy=policy
        )
        self._work_trees = threading.Lock()
        self._looks: dict[Path, _Look] = {}  # the latest last
        self._folder: str | None = None
        self._graphs = threading.Lock()
        self._graph: Graph | None = None

    @classmethod
    def open(
        cls,
        label: str,
        *,
        home: str | Path | None = None,
        config: str | Path | None = None,
        clearance: Confidentiality | str = DEFAULT_LEVEL,
        view: SearchFilters = NO_FILTERS,
        org_id: str | None = None,
        project_id: str | None = None,
    ) -> Self:
        """The active generation of a label, open for reading.

        Without `home` it is found as every command finds it. `config` is the configuration file that says where model
        and vector servers are and how to search; without it, it is found too. Nothing above `clearance` can be found or
        read, and nothing outside of `view` can be found. With `org_id` or `project_id`, a label of another tenant does
        not exist.

        Raises GenerationError where the label has no usable index, naming the labels there are and the command that
        makes one; ScopeError for an unknown clearance; ConfigError for unusable settings of the search.
        """
        config = config_path(config)
        found = IndexHome(resolve_home(home, config=config))
        try:
            generation = active_generation(found, label)
        except ValueError as error:  # not a label at all
            raise GenerationError(str(error)) from error
        manifest = generation.manifest
        for wanted, owner in ((org_id, manifest.org_id), (project_id, manifest.project_id)):
            if wanted is not None and wanted != owner:
                raise GenerationError(f"{label} has no index of this organisation and project; see: rag-assets status")
        return cls(found, generation, config, clearance=clearance, view=view, policy=load_policy(found, config))

    @property
    def parts(self) -> LabelResources:
        return self._parts

    @property
    def overlay(self) -> Overlay | None:
        """What of a work tree is searched and read instead of what is indexed of it; None without one, or where nothing
        differs."""
        return None

    @property
    def overlaid(self) -> dict[str, int]:
        return {} if self.overlay is None else {self.label: self.overlay.count}

    def with_work_tree(self, folder: str | Path | None = None) -> LabelIndex:
        """This index with what a checkout of its repository has now: what differs from the indexed commit, staged or
        not, and is not ignored, is searched and read as it is, what is deleted is not found. `folder` is in that
        checkout; without it, it is the repository that the label was indexed from.

        This index itself where nothing differs. Looks at the work tree each time, a few milliseconds of git, and makes
        the sections of changed files only when it has changed since the last call. Threads that ask at the same time
        share one look. The result stays what it is while the work tree goes on; closing it is not needed.

        Raises NoWorkTree where there is no such checkout, WorkTreeError where too much of it differs.
        """
        asked = monotonic()
        place = Path(self._repository_location() if folder is None else folder).absolute()
        with self._work_trees:
            look = self._looks.pop(place, None)
            if look is None or look.begun < asked:
                look = _Look(monotonic(), self._laid_over_by(place, look))
            self._looks[place] = look
            if len(self._looks) > _MOST_CHECKOUTS:
                del self._looks[next(iter(self._looks))]
            return look.found

    def _laid_over_by(self, place: Path, look: _Look | None) -> LabelIndex:
        prefix = self._indexed_folder()
        changed = changed_since(place, self.manifest.commit_sha, prefix)
        if isinstance(changed, str):
            raise NoWorkTree(f"{self.label}: {changed}")
        if not changed.paths:
            return self
        # start-up budget: most work trees are as they were indexed
        from rag_assets.search.overlay import fingerprint_of, laid_over

        seen, known = fingerprint_of(changed), look.found if look is not None else None
        before = known.laid_over if isinstance(known, WorkTreeIndex) else None
        if before is None or before.overlay.root != changed.root:
            return WorkTreeIndex(self, laid_over(self, changed, prefix, seen, None))
        if known is not None and before.seen == seen:
            return known
        return WorkTreeIndex(self, laid_over(self, changed, prefix, seen, before))

    def _repository_location(self) -> str:
        location = str(remembered_repository(self.parts.configuration[0], self.label).get("location", ""))
        if not self.manifest.is_git or not Path(location).is_absolute() or not Path(location).is_dir():
            raise NoWorkTree(
                f"{self.label} was not indexed from a checkout that is here; run the command in a checkout of its "
                "repository, or with --no-overlay"
            )
        return location

    def _indexed_folder(self) -> str:
        """The folder of the repository that was indexed, '' for all of it."""
        if self._folder is None:
            location = str(remembered_repository(self.parts.configuration[0], self.label).get("location", ""))
            self._folder = folder_in_repository(location)
        return self._folder

    def read(self, place: str, *, commit: str = "", work_tree: bool = False, max_tokens: int = 0) -> SourceLines:
        """The numbered lines of a place: a file, `src/A.cs:12-40`, a symbol, or a point; with the symbol around them.

        As they are indexed, or as the work tree has them that lies over the index; at a `commit` of the repository; or
        in its `work_tree`. `max_tokens`, unless 0, is kept as `SourceLines.within` says. Raises PlaceError for a place
        that is not there, naming near ones; WrongQuestion, ArtifactError, SourceError or ConfigError.
        """
        from rag_assets.search.source_lines import SourceReader  # start-up budget: a search reads no file

        found = SourceReader(self).read(place, commit=commit, work_tree=work_tree)
        return found.within(max_tokens) if max_tokens else found

    @property
    def manifests(self) -> dict[str, Manifest]:
        return {self.label: self.manifest}

    @property
    def members(self) -> dict[str, LabelIndex]:
        return {self.label: self}

    def get(self, identifier: str) -> dict[str, Any]:
        """The payload of a point, by its id, by a unique beginning of it, or by its SemanticId.

        Raises QueryError where there is none, or, naming the candidates, where the beginning is ambiguous.
        """
        shard, scope = self.parts.shard(), self.scope()
        wanted = identifier.strip().lower()
        if ":" in wanted:
            found = shard.retrieve([self.point_id_of(wanted)], scope)
        elif _is_uuid(wanted):
            found = shard.retrieve([wanted], scope)
        elif _ID_PREFIX.fullmatch(wanted):
            ids = sorted(known for known in shard.ids(scope) if known.startswith(wanted))
            if len(ids) > 1:
                shown = ", ".join(ids[:_SHOWN])
                raise QueryError(f"{identifier!r} is the beginning of {len(ids)} points: {shown}; give more digits")
            found = shard.retrieve(ids, scope)
        else:
            raise WrongQuestion(f"not a point id (4 hex digits or more) or semantic id: {identifier!r}")
        for payload in found.values():
            return payload
        raise QueryError(f"no point {identifier!r} in {self.label} (generation {self.manifest.generation_id})")

    def scope(self) -> SearchScope:
        """What may be seen of the stores: the tenant, the project, the label, up to the clearance, within the view."""
        return replace(self.tenant.narrowed(self.view, *self._required), excluded=self._excluded)

    def narrowed(self, required: Sequence[SearchFilters], excluded: SearchFilters) -> LabelIndex:
        def kinds() -> Mapping[str, int]:
            return self.parts.shard().values("Kind", self.tenant)

        made = copy(self)
        made._required = tuple(known.normalized(kinds) for known in required if known)
        made._excluded = excluded.normalized(kinds)
        return made

    @property
    def unfiltered(self) -> LabelIndex:
        """The same with all that the clearance reaches: that nothing does something is claimed against all that may."""
        made = self.narrowed((), NO_FILTERS)
        made._asked_view = NO_FILTERS
        made.__dict__.pop("view", None)
        return made

    @property
    def is_narrowed(self) -> bool:
        """Whether something of what the clearance reaches may not be seen."""
        return any((self.view, self._excluded, *self._required))

    @cached_property
    def view(self) -> SearchFilters:
        """What the index was opened to look at, as the stores spell it. Raises WrongQuestion for an unknown kind."""
        return self._asked_view.normalized(lambda: self.parts.shard().values("Kind", self.tenant))

    @property
    def tenant(self) -> SearchScope:
        """What the index may see of the stores, whatever it was opened to look at."""
        manifest = self.manifest
        return SearchScope(
            org_id=manifest.org_id, project_id=manifest.project_id, label=self.label, clearance=self.clearance
        )

    def may_read(self, path: str) -> bool:
        """Whether the clearance reaches for a file of the repository."""
        return self.manifest.levels.visible(path, self.clearance)

    def source_slice(self, hit: Hit | str) -> str:
        """The source text behind a hit, or behind a slice URI. Raises ArtifactError."""
        return self.resolve(hit if isinstance(hit, str) else hit.slice_uri)

    def description(self, hit: Hit | str) -> str:
        """The description (markdown) behind a hit, or behind a description URI. Raises ArtifactError."""
        return self.resolve(hit if isinstance(hit, str) else hit.description_uri)

    def resolve(self, uri: str) -> str:
        """The text of any artifact URI of this generation that the clearance reaches for. Raises ArtifactError."""
        # start-up budget: a search reads no artifact
        from rag_assets.index.artifacts import ArtifactError

        try:
            path = parse_uri(uri).path
        except ValueError as error:
            raise ArtifactError(str(error)) from error
        if not self.may_read(path):
            raise ArtifactError(f"{path} is not in the index of {self.label}, or not for a reader of {self.clearance}")
        return self.parts.artifacts().resolve(uri)

    def kept_graph(self, opened: Callable[[], Graph]) -> Graph:
        """The graph, opened once: it maps three dozen files, which stay open as long as anybody has it."""
        with self._graphs:
            if self._graph is None:
                self._graph = opened()
            return self._graph

    def close(self) -> None:
        self._graph = None
        self.parts.close()

    def point_id_of(self, semantic_id: str) -> str:
        """The id of the point of a SemanticId, whether there is one or not."""
        known = self.manifest
        return point_id(known.org_id, known.project_id, known.repository_id, self.label, semantic_id)


class WorkTreeIndex(LabelIndex):
    """An index with what a work tree has now. Closing it leaves the index open that it is of."""

    def __init__(self, base: LabelIndex, laid_over: LaidOver) -> None:
        self.generation, self.manifest, self.label = base.generation, base.manifest, base.label
        self.clearance, self._asked_view = base.clearance, base._asked_view
        self._required, self._excluded = base._required, base._excluded
        self._parts = laid_over.parts
        self.laid_over = laid_over
        self._base = base

    @property
    def overlay(self) -> Overlay:
        return self.laid_over.overlay

    def with_work_tree(self, folder: str | Path | None = None) -> LabelIndex:
        """The same index with the work tree as it is by now."""
        return self._base.with_work_tree(folder)

    def kept_graph(self, opened: Callable[[], Graph]) -> Graph:
        return self._base.kept_graph(opened)

    def close(self) -> None:
        """The index that this one is of is closed by whoever opened it."""


class _Look(NamedTuple):
    """A look at a work tree: when it was begun, and the index that it gave."""

    begun: float
    found: LabelIndex


def _clearance(level: Confidentiality | str) -> Confidentiality:
    try:
        return known_level(level)
    except ValueError as error:
        raise ScopeError(str(error)) from error


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


class IndexResources:
    """Shard, vocabulary, artifacts and embedding model of one generation. Safe to use from several threads."""

    def __init__(
        self,
        home: IndexHome,
        generation: Generation,
        config: Path | None = None,
        *,
        clearance: Confidentiality = DEFAULT_LEVEL,
        embedder: Embedder | Future[Embedder] | None = None,
        policy: SearchPolicy = DEFAULT_POLICY,
    ) -> None:
        """Arguments as of `Index`. Raises GenerationError where the generation has no points."""
        self._keyword = generation.seen_by(clearance, generation.keyword)
        self._home = home
        self._config = config
        self._generation = generation
        self._lock = threading.Lock()
        self._shard: VectorReader | None = None
        self._vocabulary: Vocabulary | None = None
        self._past: CommitSubjects | None = None
        self._placing = PathCache()
        self._artifacts: ArtifactStore | None = None
        self._blobs: BlobStore | None = None
        self._unreadable: dict[str, str] = {}
        self._documents = lru_cache(maxsize=_KEPT_DOCUMENTS)(self._read_document)
        self._given_embedder = embedder
        self._embedder: Future[Embedder] | None = None
        self._policy = policy
        if not generation.vectors.is_dir():
            raise GenerationError(
                f"generation {generation.manifest.generation_id} of {generation.manifest.index_label}: "
                f"{generation.vectors} is missing; run: rag-assets index --force"
            )

    @property
    def policy(self) -> SearchPolicy:
        return self._policy

    @property
    def configuration(self) -> tuple[IndexHome, Path | None]:
        """Where settings are looked for: the home, and the file that the caller named."""
        return self._home, self._config

    def lacking(self) -> Mapping[Capability, str]:
        """What the generation was built without, and why that is so. What it should have and has not shows when it is
        opened."""
        built = self._generation.manifest.capabilities
        return {part: why for part, why in _BUILT_WITHOUT.items() if part not in built}

    def shard(self) -> VectorReader:
        """Raises VectorStoreError where it cannot be read or does not hold what the manifest says."""
        with self._lock:
            if self._shard is None:
                opened = open_vectors(self._generation.vectors)
                declared = self._generation.manifest.counts.get("points")
                if declared is not None and opened.count() != declared:
                    found = opened.count()
                    opened.close()
                    raise VectorStoreError(
                        f"the vector store of {self._generation.vectors} holds {found} of {declared} points; "
                        "run: rag-assets index --force"
                    )
                self._shard = opened
            return self._shard

    def vocabulary(self) -> Vocabulary:
        """Of what the clearance reaches. Raises KeywordIndexError."""
        with self._lock:
            if self._vocabulary is None:
                self._vocabulary = Vocabulary(self._keyword)
            return self._vocabulary

    def past(self, label: str) -> CommitSubjects | None:
        """What past commits say of the files of a label; None of one that is not searched here."""
        if label != self._generation.manifest.index_label:
            return None
        with self._lock:
            if self._past is None:
                from rag_assets.index.keyword.commit_subjects import CommitSubjects

                self._past = CommitSubjects(self._keyword)
            return self._past

    @property
    def unembedded(self) -> Set[str]:
        return frozenset()

    def placing(self) -> PathCache:
        return self._placing

    def artifacts(self) -> ArtifactStore:
        with self._lock:
            if self._artifacts is None:
                from rag_assets.index.artifacts import ArtifactStore

                self._artifacts = ArtifactStore(self._home, self._generation)
            return self._artifacts

    def document(self, address: str) -> str:
        """The text of a document by its sha256. Raises BlobError."""
        return self._documents(address)

    def _read_document(self, address: str) -> str:
        from rag_assets.index.blobs import BlobError, BlobStore

        with self._lock:
            if self._blobs is None:
                self._blobs = BlobStore(self._home.blobs)
        if address in self._unreadable:
            raise BlobError(self._unreadable[address])
        try:
            return self._blobs.get(address)
        except BlobError as error:  # a damaged document is removed when it is first read: all who ask hear the same
            self._unreadable[address] = str(error)
            raise

    def descriptions(self, uris: Sequence[str]) -> Mapping[str, str]:
        """As of `ArtifactStore.descriptions`."""
        return self.artifacts().descriptions(uris)

    def embedder(self) -> Future[Embedder]:
        """The model that made the vectors; it goes on loading while the caller opens other parts. The future raises
        NoEmbedderError."""
        with self._lock:
            if self._embedder is None:
                manifest = self._generation.manifest
                if manifest.lexical_only:
                    self._embedder = Future()
                    self._embedder.set_exception(NoEmbedderError(_BUILT_WITHOUT[Capability.DENSE]))
                elif isinstance(self._given_embedder, Future):
                    self._embedder = self._given_embedder
                elif self._given_embedder is not None:
                    self._embedder = Future()
                    self._embedder.set_result(self._given_embedder)
                else:
                    # start-up budget: a search by keywords loads no model
                    from rag_assets.search.query_embedding import start_loading

                    self._embedder = start_loading(manifest, self._home, self._config)
            return self._embedder

    def close(self) -> None:
        with self._lock:
            if self._shard is not None:
                self._shard.close()
                self._shard = None


def load_policy(home: IndexHome, config: Path | None) -> SearchPolicy:
    """The `search` settings of `config`, else of the file found from here or from the home, with those of the
    environment. Raises ConfigError."""
    path = config_of(home.root, config)
    if not is_configured("search", path):
        return DEFAULT_POLICY
    from rag_assets.settings import load_settings  # start-up budget: costs a search a third of its time

    return opened_policy(load_settings(path).search)


def opened_policy(search: SearchSettings) -> SearchPolicy:
    """The policy of these settings, with its reranker opened. Raises ConfigError."""
    from rag_assets.models.openai_compat.reranker import HttpReranker

    return replace(search.policy(), reranker=HttpReranker.of(search.reranker))
