"""Which texts a build would embed, and how long that takes: asks the caches and no model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rag_assets.index.gc import generation_directories
from rag_assets.index.layout import IndexHome
from rag_assets.index.tables import read_part, read_rows
from rag_assets.models import embedding_window
from rag_assets.models.openai_compat.dry_run import WOULD_ASK
from rag_assets.pipeline.build import BuildError, IndexBuild, StageReport, read_report, read_spec
from rag_assets.pipeline.embeddings import (
    BUCKETS,
    STAGE,
    VECTORS,
    EmbeddedBucket,
    embedding_key,
    embedding_part_keys,
    write_vectors,
)
from rag_assets.pipeline.memo import CachedBucket, Items, recorded

_FEWEST_TEXTS = 20
"""Of fewer the rate says more about the first request, or the busy machine, than about the model."""


@dataclass(frozen=True, slots=True)
class PlannedTexts:
    """How many different texts have no vector yet, and their tokens as the model of the settings counts them;
    `incomplete` are the buckets that have such texts."""

    texts: int
    tokens: int
    incomplete: frozenset[int]


def plan_texts(build: IndexBuild, dimension: int | None, *, for_points: bool) -> PlannedTexts:
    """The texts of all sections whose vectors neither a part nor the cache has, as `embed_sections` would find.

    Texts that a language model would be asked about count too: what it says is not known, and so not embedded.
    `dimension` is None where only a server knows it. `for_points` leaves a part of vectors for each bucket, with one
    that no text has where it is not known, so that points can be compared; parts without gaps are kept for the build.
    """
    model = build.spec.embedding_model
    count = embedding_window(build.settings.embedder, build.home.cache).count
    unsettled = [_unsettled(build, bucket) for bucket in build.buckets]
    keys: list[str | None] = [None] * len(build.buckets)
    if dimension is not None:
        keys = list(embedding_part_keys(build, model, dimension))
    parts = BUCKETS.cached(build, [None if unsettled[at] else key for at, key in enumerate(keys)])
    counted: set[bytes] = set()
    incomplete: set[int] = set()
    tokens = 0
    with VECTORS.open(build.home) as memo:
        for bucket in build.buckets:
            if bucket in parts:
                continue
            texts = _texts(build, bucket, memo, dimension, unsettled[bucket])
            new = {text.key: text.text for text in texts if text.vector is None and text.key not in counted}
            tokens += sum(count(list(new.values())))
            counted |= new.keys()
            if any(text.vector is None for text in texts):
                incomplete.add(bucket)
            if for_points:
                parts[bucket] = _part(build, bucket, texts, dimension, keys[bucket])
    if for_points:
        in_order = [parts[bucket] for bucket in build.buckets]
        build.finish(StageReport(**recorded(STAGE, in_order)))
    return PlannedTexts(len(counted), tokens, frozenset(incomplete))


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a section and the vector that the cache has of it."""

    key: bytes
    text: str
    vector: bytes | None


def _texts(
    build: IndexBuild, bucket: int, memo: Items[bytes], dimension: int | None, unsettled: frozenset[int]
) -> list[_Text]:
    sections = read_part(build.directory, "summary_sections", bucket, ["finder_snippet", "description_row"])
    texts, rows = (sections.column(name).to_pylist() for name in ("finder_snippet", "description_row"))
    keys = [embedding_key(build.spec.embedding_model, text) for text in texts]
    found = _of_dimension(memo.known(list(dict.fromkeys(keys))), dimension)
    return [
        _Text(key, text, None if row in unsettled else found.get(key))
        for key, text, row in zip(keys, texts, rows, strict=True)
    ]


def _part(
    build: IndexBuild, bucket: int, texts: list[_Text], dimension: int | None, key: str | None
) -> CachedBucket[EmbeddedBucket]:
    """Writes the vectors of a bucket; kept where all are known. Without a dimension all are gaps."""
    vectors = np.zeros((len(texts), dimension or 1), np.float32)
    vectors[:, 0] = 1.0  # of unit length, as a point needs it
    for row, text in enumerate(texts):
        if text.vector is not None and dimension is not None:
            vectors[row] = np.frombuffer(text.vector, np.float32)
    write_vectors(build, bucket, vectors)
    made = EmbeddedBucket(len(texts), 0)
    if key is None or any(text.vector is None for text in texts):
        return BUCKETS.unkept(build, bucket, made)
    return BUCKETS.keep(build, bucket, key, made)


def _unsettled(build: IndexBuild, bucket: int) -> frozenset[int]:
    """The rows of descriptions that an answer of a language model may change."""
    if build.settings.llm.provider == "none":
        return frozenset()
    rows = read_rows(build.directory, "descriptions", bucket, ["messages"])
    return frozenset(
        number for number, row in enumerate(rows) if any(text.startswith(f"{WOULD_ASK}:") for text in row["messages"])
    )


def _of_dimension(found: dict[bytes, bytes], dimension: int | None) -> dict[bytes, bytes]:
    """Vectors of another dimension of the same model are no use."""
    return {key: value for key, value in found.items() if dimension is None or len(value) == dimension * 4}


def texts_per_second(home: IndexHome, model: str) -> float | None:
    """How fast the last build of any label embedded with `model`; None where none is known."""
    latest: tuple[float, float] | None = None
    for directory in generation_directories(home):
        try:
            spec, report = read_spec(directory), read_report(directory, STAGE)
            at = (directory / "stages" / f"{STAGE}.json").stat().st_mtime
        except (FileNotFoundError, BuildError):
            continue
        work = report.work if report is not None else {}
        embedded, milliseconds = work.get("embedded", 0), work.get("milliseconds", 0)
        if spec.embedding_model == model and embedded >= _FEWEST_TEXTS and milliseconds > 0:
            latest = max(latest or (at, 0.0), (at, embedded / milliseconds * 1_000))
    return latest[1] if latest else None
