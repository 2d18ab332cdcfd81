"""The files behind an index, opened when they are first needed and only once."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag_assets.contracts.retrieval import DEFAULT_POLICY, Capability, SearchPolicy
from rag_assets.query.embedding import NoEmbedderError, start_loading
from rag_assets.query.ranking.placing import Placing
from rag_assets.stores.generations import Generation, GenerationError
from rag_assets.stores.home import Home

if TYPE_CHECKING:
    from rag_assets.contracts.section import Embedder
    from rag_assets.stores.artifacts import ArtifactStore
    from rag_assets.stores.blobs import BlobStore
    from rag_assets.stores.keyword.past import Past
    from rag_assets.stores.keyword.vocabulary import KnownTerm, QueryVector, Vocabulary
    from rag_assets.stores.points import VectorReader


_BUILT_WITHOUT = {
    Capability.DENSE: "this index was built without an embedding model",
    Capability.KEYWORD: "this index was built without keywords; run: rag-assets index --force",
}


class Keywords(Protocol):
    """What a search needs of a vocabulary."""

    def find(self, term: str) -> KnownTerm | None: ...

    def starting(self, beginning: str) -> Iterable[str]: ...

    def rarity(self, term: str) -> float: ...

    def query_vector(self, text: str) -> QueryVector: ...


class SearchParts(Protocol):
    """What a search reads: the parts of one generation, or of several as if they were one."""

    @property
    def policy(self) -> SearchPolicy: ...

    def lacking(self) -> Mapping[Capability, str]: ...

    def shard(self) -> VectorReader: ...

    def vocabulary(self) -> Keywords: ...

    def past(self, label: str) -> Past | None: ...

    def placing(self) -> Placing: ...

    def embedder(self) -> Future[Embedder]: ...

    def document(self, address: str) -> str: ...


class IndexParts:
    """Shard, vocabulary, artifacts and embedding model of one generation. Safe to use from several threads."""

    def __init__(
        self,
        home: Home,
        generation: Generation,
        config: Path | None = None,
        *,
        embedder: Embedder | None = None,
        policy: SearchPolicy = DEFAULT_POLICY,
    ) -> None:
        """Arguments as of `Index`. Raises GenerationError where the generation has no points."""
        self._home = home
        self._config = config
        self._generation = generation
        self._lock = threading.Lock()
        self._shard: VectorReader | None = None
        self._vocabulary: Vocabulary | None = None
        self._past: Past | None = None
        self._placing = Placing()
        self._artifacts: ArtifactStore | None = None
        self._blobs: BlobStore | None = None
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
    def configuration(self) -> tuple[Home, Path | None]:
        """Where settings are looked for: the home, and the file that the caller named."""
        return self._home, self._config

    def lacking(self) -> Mapping[Capability, str]:
        """What the generation was built without, and why that is so. What it should have and has not shows when it is
        opened."""
        built = self._generation.capabilities
        return {part: why for part, why in _BUILT_WITHOUT.items() if part not in built}

    def shard(self) -> VectorReader:
        """Raises VectorStoreError where it cannot be read or does not hold what the manifest says."""
        with self._lock:
            if self._shard is None:
                from rag_assets.stores.points import VectorStoreError
                from rag_assets.stores.vector_store import open_vectors

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
        """Raises KeywordIndexError."""
        with self._lock:
            if self._vocabulary is None:
                from rag_assets.stores.keyword.vocabulary import Vocabulary

                self._vocabulary = Vocabulary(self._generation.keyword)
            return self._vocabulary

    def past(self, label: str) -> Past | None:
        """What past commits say of the files of a label; None of one that is not searched here."""
        if label != self._generation.manifest.index_label:
            return None
        with self._lock:
            if self._past is None:
                from rag_assets.stores.keyword.past import Past

                self._past = Past(self._generation.keyword)
            return self._past

    def placing(self) -> Placing:
        return self._placing

    def artifacts(self) -> ArtifactStore:
        with self._lock:
            if self._artifacts is None:
                from rag_assets.stores.artifacts import ArtifactStore

                self._artifacts = ArtifactStore(self._home, self._generation)
            return self._artifacts

    def document(self, address: str) -> str:
        """The text of a document by its sha256. Raises BlobError."""
        with self._lock:
            if self._blobs is None:
                from rag_assets.stores.blobs import BlobStore

                self._blobs = BlobStore(self._home.blobs)
        return self._blobs.get(address)

    def embedder(self) -> Future[Embedder]:
        """The model that made the vectors; it goes on loading while the caller opens other parts. The future raises
        NoEmbedderError."""
        with self._lock:
            if self._embedder is None:
                manifest = self._generation.manifest
                if manifest.lexical_only:
                    self._embedder = Future()
                    self._embedder.set_exception(NoEmbedderError(_BUILT_WITHOUT[Capability.DENSE]))
                elif self._given_embedder is not None:
                    self._embedder = Future()
                    self._embedder.set_result(self._given_embedder)
                else:
                    self._embedder = start_loading(manifest, self._home, self._config)
            return self._embedder

    def close(self) -> None:
        with self._lock:
            if self._shard is not None:
                self._shard.close()
                self._shard = None
