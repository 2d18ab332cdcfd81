"""Stage `embeddings`: one vector per section, computed once per (model, text) for all labels and generations."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rag_assets.models import LEXICAL_ONLY, Metered
from rag_assets.stages.build import BuildError, IndexBuild, StageReport
from rag_assets.stages.parts import Part, PartsOf, keep_part, part_key, recorded, reused_parts
from rag_assets.stages.progress import Progress
from rag_assets.stages.rows import embeddings_schema
from rag_assets.stages.versions import stage_version
from rag_assets.stores.cache import Cache, cache_key
from rag_assets.stores.columns import matrix, numbers
from rag_assets.stores.tables import read_part, write_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag_assets.models import BatchEmbedder

STAGE = "embeddings"
_NORM_TOLERANCE = 1e-3  # float32 rounding of a 384-term norm stays far below


def embed_sections(build: IndexBuild, embedder: BatchEmbedder, progress: Progress) -> StageReport:
    """Embeds every section text that no earlier build has embedded with this model.

    Vectors go to the cache batch by batch, so a killed run loses one batch at most. Raises BuildError for a
    model that returns a wrong dimension, non-finite or non-normalised vectors.
    """
    inputs = build.inputs_of(STAGE, "summary_sections")
    done = build.finished(STAGE, inputs)
    if done is not None:
        return done
    totals: Counter[str] = Counter()
    parts: list[Part[EmbeddedBucket]] = []
    progress.begin(STAGE, build.required("summary_sections").counts["sections"], "sections")
    keys = embedding_part_keys(build, embedder.model_id, embedder.dimension)
    known = reused_parts(build, PARTS, keys)
    for bucket in build.buckets:
        if bucket in known:
            part = known[bucket]
            progress.advance(part.result.vectors)
        else:
            part = embed_bucket(build, bucket, embedder, keys[bucket], progress)
        embedded = 0 if part.reused else part.result.embedded
        totals.update(vectors=part.result.vectors, embedded=embedded, from_cache=part.result.vectors - embedded)
        totals["milliseconds"] += 0 if part.reused else part.result.milliseconds
        parts.append(part)
    has_model = embedder.model_id != LEXICAL_ONLY
    counted = f"{totals['embedded']} embedded, {totals['from_cache']} from cache"
    progress.end(counted if has_model else "nothing embedded: there is no model")
    report = StageReport(
        stage=STAGE,
        version=stage_version(STAGE),
        inputs=inputs,
        **recorded(STAGE, parts),
        counts={"vectors": totals["vectors"], "dimension": embedder.dimension},
        work={**{name: totals[name] for name in ("embedded", "from_cache", "milliseconds")}, **spent_by(embedder)},
    )
    return build.finish(report)


@dataclass(frozen=True, slots=True)
class EmbeddedBucket:
    """What embedding one bucket gave; `milliseconds` is what the model took for those `embedded`."""

    vectors: int
    embedded: int
    milliseconds: int = 0


def embedding_part_keys(build: IndexBuild, model_id: str, dimension: int) -> list[str]:
    """By bucket. The dimension counts: a server may be asked for another one of the same model."""
    space = f"{model_id}@{dimension}"
    return [part_key(STAGE, space, sections) for sections in build.required("summary_sections").parts]


def embed_bucket(
    build: IndexBuild, bucket: int, embedder: BatchEmbedder, key: str, progress: Progress
) -> Part[EmbeddedBucket]:
    """Writes the vectors of one bucket and keeps them under `key`."""
    texts = read_part(build.directory, "summary_sections", bucket, ["finder_snippet"]).column(0).to_pylist()
    started = time.monotonic()
    with Cache(build.home.cache, STAGE) as cache:
        vectors, embedded = _vectors(texts, embedder, cache, progress)
    milliseconds = round((time.monotonic() - started) * 1_000) if embedded else 0
    write_vectors(build, bucket, vectors)
    return keep_part(build, PARTS, key, bucket, EmbeddedBucket(len(texts), embedded, milliseconds))


PARTS = PartsOf(STAGE, EmbeddedBucket, (STAGE,))


def _vectors(
    texts: list[str], embedder: BatchEmbedder, cache: Cache, progress: Progress
) -> tuple[NDArray[np.float32], int]:
    """One row per text, and how many different texts were not in the cache: these are embedded, each once."""
    keys = [embedding_key(embedder.model_id, text) for text in texts]
    width = embedder.dimension * 4
    known = {key: value for key, value in cache.get_many(list(dict.fromkeys(keys))).items() if len(value) == width}
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    progress.advance(sum(key in known for key in keys))
    waiting, wanted = list(missing), list(missing.values())
    repeats = Counter(keys)
    for rows, batch in embedder.embed_batches(wanted):
        check_vectors(batch, embedder.dimension, embedder.model_id)
        made = [(waiting[row], batch[i].tobytes()) for i, row in enumerate(rows)]
        cache.put_many(made)
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
    """Where the cache has the vector of a text."""
    return cache_key(STAGE, model_id, text)


def check_vectors(vectors: NDArray[np.float32], dimension: int, model_id: str) -> None:
    """Raises BuildError unless `vectors` is (n, dimension), finite and of unit length."""
    if vectors.ndim != 2 or vectors.shape[1] != dimension:
        raise BuildError(f"{model_id} returned vectors of shape {vectors.shape}, expected (n, {dimension})")
    if not np.isfinite(vectors).all():
        raise BuildError(f"{model_id} returned a vector with NaN or infinity; run: rag-assets doctor")
    norms = np.linalg.norm(vectors, axis=1)
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
