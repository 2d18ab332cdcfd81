"""Stage `embeddings`: one vector per section, computed once per (model, text) for all labels and generations.

The local model computes in this process, with a thread per core, or on the workers of a Dask cluster, a bucket at a
time. A server is asked from here: to wait for it takes threads, not machines.
"""

from __future__ import annotations

import os
import platform
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from rag_assets.contracts.embedder import BatchEmbedder
from rag_assets.contracts.identity import cache_key
from rag_assets.index.parquet_parts import matrix, numbers, read_file, read_part, write_part
from rag_assets.models import open_embedder, told_dimension
from rag_assets.models.lexical_only import MODEL_ID as LEXICAL_ONLY
from rag_assets.models.minilm.embedder import MiniLmEmbedder
from rag_assets.models.openai_compat.usage import Metered
from rag_assets.pipeline.build import BuildError, IndexBuild, StageReport, read_spec
from rag_assets.pipeline.memo import (
    BucketMemo,
    CachedBucket,
    ItemMemo,
    Items,
    recorded,
    stage_memo,
)
from rag_assets.pipeline.progress import Progress, Silent
from rag_assets.pipeline.schemas import embeddings_schema
from rag_assets.pipeline.workers.worker_pool import as_completed, cluster_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag_assets.settings import EmbedderSettings

STAGE = "embeddings"
UNKNOWN = "without_known_words"
"""The count of vectors of zeros: texts of whose words the model knows none."""

_NORM_TOLERANCE = 1e-3  # float32 rounding of a 384-term norm stays far below

WORTH_SPREADING = 200
"""New texts: five seconds of one core. Each worker loads the model first, which takes one."""


def embed_sections(build: IndexBuild, embedder: BatchEmbedder, progress: Progress) -> StageReport:
    """Embeds every section text that no earlier build has embedded with this model.

    Vectors go to the cache batch by batch, so a killed run loses one batch at most. Raises BuildError for a
    model that returns a wrong dimension, non-finite or non-normalised vectors, ClusterError for a Dask cluster that
    cannot do it.
    """
    elsewhere: dict[int, _EmbeddedElsewhere] = {}
    report = _embed_sections(build, embedder, progress, elsewhere)
    return replace(report, tables=_workers_of(elsewhere.values()))  # of this run, so not part of what is finished


@stage_memo(STAGE, "summary_sections")
def _embed_sections(
    build: IndexBuild, embedder: BatchEmbedder, progress: Progress, elsewhere: dict[int, _EmbeddedElsewhere]
) -> StageReport:
    totals: Counter[str] = Counter()
    parts: list[CachedBucket[EmbeddedBucket]] = []
    progress.begin(STAGE, build.required("summary_sections").counts["sections"], "sections")
    keys = embedding_part_keys(build, embedder.model_id, embedder.dimension)
    known = BUCKETS.cached(build, keys)
    missing = [bucket for bucket in build.buckets if bucket not in known]
    with VECTORS.open(build.home) as vectors:
        if isinstance(embedder, MiniLmEmbedder):
            elsewhere |= _embedded_elsewhere(build, missing, embedder, keys, vectors, progress)
        for bucket in build.buckets:
            if bucket in known:
                part = known[bucket]
                progress.advance(part.result.vectors)
            elif bucket in elsewhere:
                part = elsewhere[bucket].part
            else:
                part = embed_bucket(build, bucket, embedder, keys[bucket], vectors, progress)
            embedded = 0 if part.reused else part.result.embedded
            totals.update(vectors=part.result.vectors, embedded=embedded, from_cache=part.result.vectors - embedded)
            totals["unknown"] += part.result.unknown
            totals["milliseconds"] += 0 if part.reused else part.result.milliseconds
            parts.append(part)
    has_model = embedder.model_id != LEXICAL_ONLY
    counted = f"{totals['embedded']} embedded, {totals['from_cache']} from cache"
    if totals["unknown"]:
        counted = f"{counted}, {totals['unknown']} found by keywords only: the model knows none of their words"
    progress.end(counted if has_model else "nothing embedded: there is no model")
    return StageReport(
        **recorded(STAGE, parts),
        counts={
            "vectors": totals["vectors"] if has_model else 0,
            "dimension": told_dimension(embedder.model_id, embedder.dimension),
            **({UNKNOWN: totals["unknown"]} if totals["unknown"] else {}),
        },
        work={**{name: totals[name] for name in ("embedded", "from_cache", "milliseconds")}, **spent_by(embedder)},
    )


@dataclass(frozen=True, slots=True)
class EmbeddedBucket:
    """What embedding one bucket gave; `milliseconds` is what the model took for those `embedded`, `unknown` are those
    whose words it does not know."""

    vectors: int
    embedded: int
    milliseconds: int = 0
    unknown: int = 0


def embedding_part_keys(build: IndexBuild, model_id: str, dimension: int) -> list[str]:
    """By bucket. The dimension counts: a server may be asked for another one of the same model."""
    space = f"{model_id}@{dimension}"
    return [BUCKETS.key(space, sections) for sections in build.required("summary_sections").parts]


class VectorMemo(Protocol):
    """Vectors as bytes, by `embedding_key`."""

    def known(self, keys: Sequence[bytes]) -> dict[bytes, bytes]: ...

    def keep(self, values: Iterable[tuple[bytes, bytes]]) -> None: ...


def embed_bucket(
    build: IndexBuild, bucket: int, embedder: BatchEmbedder, key: str, memo: VectorMemo, progress: Progress
) -> CachedBucket[EmbeddedBucket]:
    """Writes the vectors of one bucket and keeps them under `key`."""
    started = time.monotonic()
    made, embedded = _vectors(_texts(build, bucket), embedder, memo, progress)
    unknown = len(made) - int(made.any(axis=1).sum())
    milliseconds = round((time.monotonic() - started) * 1_000) if embedded else 0
    write_vectors(build, bucket, made)
    return BUCKETS.keep(build, bucket, key, EmbeddedBucket(len(made), embedded, milliseconds, unknown))


def _texts(build: IndexBuild, bucket: int) -> list[str]:
    texts: list[str] = read_part(build.directory, "summary_sections", bucket, ["finder_snippet"]).column(0).to_pylist()
    return texts


@dataclass(frozen=True, slots=True)
class _EmbeddedElsewhere:
    """A bucket whose vectors a worker wrote; `new` are those that the cache has not."""

    part: CachedBucket[EmbeddedBucket]
    new: list[tuple[bytes, bytes]]
    host: str
    process: int


class _VectorsInMemory:
    """What the cache knows of a bucket, for a worker that does not open the cache, and what is new."""

    def __init__(self, known: dict[bytes, bytes]) -> None:
        self._known = known
        self.new: list[tuple[bytes, bytes]] = []

    def known(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {key: self._known[key] for key in keys if key in self._known}

    def keep(self, values: Iterable[tuple[bytes, bytes]]) -> None:
        self.new += values


def _embedded_elsewhere(
    build: IndexBuild,
    missing: Sequence[int],
    embedder: MiniLmEmbedder,
    keys: Sequence[str],
    vectors: Items[bytes],
    progress: Progress,
) -> dict[int, _EmbeddedElsewhere]:
    """The buckets with new texts, by the workers of the Dask cluster where there is one; each is in the cache as soon
    as it is made."""
    if build.settings.execution.workers != "dask" or len(missing) < 2:
        return {}

    def known_of(bucket: int) -> tuple[int, dict[bytes, bytes]]:
        wanted = {embedding_key(embedder.model_id, text) for text in _texts(build, bucket)}
        found = vectors.known(list(wanted))
        return len(wanted) - len(found), found

    new = {bucket: known_of(bucket)[0] for bucket in missing}
    wanted = [bucket for bucket in missing if new[bucket]]
    cluster = cluster_of(build) if sum(new.values()) >= WORTH_SPREADING and len(wanted) > 1 else None
    if cluster is None:
        return {}
    settings = build.settings.embedder
    if not settings.threads:
        settings = settings.model_copy(update={"threads": cluster.threads_of_a_task})
    tasks = (partial(_embed_elsewhere, build, bucket, settings, keys[bucket], known_of(bucket)[1]) for bucket in wanted)
    found: dict[int, _EmbeddedElsewhere] = {}
    for number, made in as_completed(cluster, tasks, at_once=2 * cluster.size):
        vectors.keep(made.new)
        found[wanted[number]] = replace(made, new=[])
        progress.advance(made.part.result.vectors)
    return found


def _embed_elsewhere(
    build: IndexBuild, bucket: int, settings: EmbedderSettings, key: str, known: dict[bytes, bytes]
) -> _EmbeddedElsewhere:
    """Runs in a worker process."""
    vectors = _VectorsInMemory(known)
    part = embed_bucket(build, bucket, _embedder_of(settings, build.home.cache), key, vectors, Silent())
    return _EmbeddedElsewhere(part, vectors.new, platform.node(), os.getpid())


@cache
def _embedder_of(settings: EmbedderSettings, folder: Path) -> BatchEmbedder:
    """Loaded once per worker process."""
    return open_embedder(settings, folder)


def _workers_of(made: Iterable[_EmbeddedElsewhere]) -> dict[str, list[dict[str, Any]]]:
    """Who embedded how many texts, for people."""
    texts: Counter[tuple[str, int]] = Counter()
    for bucket in made:
        texts[bucket.host, bucket.process] += bucket.part.result.embedded
    rows = [{"host": host, "process": process, "texts": count} for (host, process), count in sorted(texts.items())]
    return {"workers": rows} if rows else {}


BUCKETS = BucketMemo(STAGE, EmbeddedBucket, (STAGE,))


def _vectors(
    texts: list[str], embedder: BatchEmbedder, memo: VectorMemo, progress: Progress
) -> tuple[NDArray[np.float32], int]:
    """One row per text, and how many different texts were not in the cache: these are embedded, each once."""
    if embedder.is_instant:
        vectors = embedder.embed(texts)
        check_vectors(vectors, embedder.dimension, embedder.model_id, may_be_zero=embedder.may_be_zero)
        progress.advance(len(texts))
        return vectors, len(set(texts))
    keys = [embedding_key(embedder.model_id, text) for text in texts]
    width = embedder.dimension * 4
    known = {key: value for key, value in memo.known(list(dict.fromkeys(keys))).items() if len(value) == width}
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    progress.advance(sum(key in known for key in keys))
    waiting, wanted = list(missing), list(missing.values())
    repeats = Counter(keys)
    for rows, batch in embedder.embed_batches(wanted):
        check_vectors(batch, embedder.dimension, embedder.model_id, may_be_zero=embedder.may_be_zero)
        made = [(waiting[row], batch[i].tobytes()) for i, row in enumerate(rows)]
        memo.keep(made)
        known.update(made)
        progress.advance(sum(repeats[key] for key, _ in made))
    stacked = b"".join(known[key] for key in keys)
    return np.frombuffer(stacked, dtype=np.float32).reshape(len(texts), embedder.dimension), len(missing)


def spent_by(embedder: BatchEmbedder) -> dict[str, int]:
    """What a server was asked for this build; `cost_millionths` are of the currency of `embedder.price`."""
    if not isinstance(embedder, Metered):
        return {}
    used = embedder.usage()
    spent = {"requests": used.requests, "retries": used.retries, "tokens": used.tokens}
    return spent | ({} if used.cost is None else {"cost_millionths": round(used.cost * 1_000_000)})


def embedding_key(model_id: str, text: str) -> bytes:
    """The key of the vector of a text in `VECTORS`."""
    return cache_key(STAGE, model_id, text)


def _used_vectors(directory: Path) -> Iterator[bytes]:
    model = read_spec(directory).embedding_model
    for part in sorted(directory.glob("summary_sections/part-*.parquet")):
        for text in read_file(part, ["finder_snippet"]).column(0).to_pylist():
            yield embedding_key(model, text)


VECTORS = ItemMemo(STAGE, bytes, _used_vectors, batch=1)
"""Vectors as the bytes of float32, by `embedding_key`; a batch of the model is kept as soon as it is there."""


def check_vectors(vectors: NDArray[np.float32], dimension: int, model_id: str, *, may_be_zero: bool) -> None:
    """Raises BuildError unless `vectors` is (n, dimension), finite and of unit length; or zero where the model has such
    vectors."""
    if vectors.ndim != 2 or vectors.shape[1] != dimension:
        raise BuildError(f"{model_id} returned vectors of shape {vectors.shape}, expected (n, {dimension})")
    if not np.isfinite(vectors).all():
        raise BuildError(f"{model_id} returned a vector with NaN or infinity; run: rag-assets doctor")
    norms = np.linalg.norm(vectors, axis=1)
    if may_be_zero:
        norms = norms[norms > 0]
    if len(norms) and float(np.abs(norms - 1.0).max()) > _NORM_TOLERANCE:
        raise BuildError(f"{model_id} returned a vector of length {float(norms.max()):.3f}, expected 1")


def write_vectors(build: IndexBuild, bucket: int, vectors: NDArray[np.float32]) -> None:
    """Writes the vectors of a bucket, (n, dimension), in the order of its sections."""
    dimension = vectors.shape[1]
    column = pa.FixedSizeListArray.from_arrays(numbers(vectors.reshape(-1), pa.float32()), dimension)
    schema = embeddings_schema(dimension)
    write_part(build.directory, STAGE, bucket, schema, {"vector": column}, vectors=("vector",))


def read_vectors(build: IndexBuild, bucket: int) -> NDArray[np.float32]:
    """The vectors of a bucket, (n, dimension), in the order of its sections."""
    return matrix(read_part(build.directory, STAGE, bucket, ["vector"]).column("vector").combine_chunks())
