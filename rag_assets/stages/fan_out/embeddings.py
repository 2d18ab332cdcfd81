"""Embedding shared out. What is exchanged: the texts that a group wants (`.texts.parquet`), each once, and their
vectors (`.npy`), named by model and texts."""

from __future__ import annotations

import contextlib
import io
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.stages.build import IndexBuild, StageReport
from rag_assets.stages.embeddings import STAGE, check_vectors, embed_sections, embedding_key, spent_by
from rag_assets.stages.fan_out.exchange import (
    Group,
    GroupWork,
    folder_of,
    forget_exchange,
    forget_exchanges,
    free_work_file,
    note_work,
    shared_out,
    with_groups,
    work_of,
)
from rag_assets.stages.progress import Progress
from rag_assets.stores.cache import Cache, cache_key
from rag_assets.stores.columns import table
from rag_assets.stores.home import write_atomically
from rag_assets.stores.tables import read_file, read_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag_assets.models import BatchEmbedder

CHUNK_TEXTS = 1_000
"""Ten seconds of the local model: what a killed worker loses at most; 1.5 MB of vectors in a file."""

_KEYS = "fan_out"
_TEXTS = ".texts.parquet"


def plan_groups(build: IndexBuild, model_id: str, *, most: int, least: int) -> list[Group]:
    """At most `most` groups of at least `least` texts that no earlier build has embedded, and the files they start
    from. What an earlier attempt has made is gathered first; other exchanges of the label are removed. The caller
    holds the label. No groups: the stage is quicker alone.
    """
    finished = build.finished(STAGE, build.inputs_of(STAGE, "summary_sections")) is not None
    if not finished:
        gather(build, model_id)
    forget_exchanges(build, STAGE)
    if finished:
        return []
    folder = folder_of(build, STAGE)
    with Cache(build.home.cache, STAGE) as cache:
        sizes = [len(_wanted(build, [bucket], model_id, cache)) for bucket in build.buckets]
        groups = shared_out(sizes, most=most, least=least)
        for group in groups:
            _write_texts(folder / f"{group.name}{_TEXTS}", _wanted(build, group.members, model_id, cache))
    return groups


def embed_group(folder: Path, name: str, embedder: BatchEmbedder) -> GroupWork:
    """Embeds what the group `name` wants, a file per CHUNK_TEXTS; those of an earlier attempt stay.

    Raises BuildError for vectors that cannot be, FileNotFoundError where the build was taken over by another, and what
    the embedder raises.
    """
    started = time.monotonic()
    texts: list[str] = read_file(folder / f"{name}{_TEXTS}").column(0).to_pylist()
    made = 0
    for chunk in _chunks(texts):
        path = _vectors_path(folder, embedder.model_id, chunk)
        if path.exists():
            continue
        found: dict[int, NDArray[np.float32]] = {}
        for rows, batch in embedder.embed_batches(chunk):
            check_vectors(batch, embedder.dimension, embedder.model_id)
            found.update(zip(rows, batch, strict=True))
        file = io.BytesIO()
        np.save(file, np.stack([found[row] for row in range(len(chunk))]), allow_pickle=False)
        write_atomically(path, file.getvalue())
        made += len(chunk)
    seconds = round(time.monotonic() - started, 3)
    work = GroupWork(name, made, len(texts) - made, seconds=seconds, spent=dict(spent_by(embedder)))
    note_work(free_work_file(folder, name), work)
    return work


def gather(build: IndexBuild, model_id: str) -> list[GroupWork]:
    """Takes the vectors of all groups into the shared cache, and says who made them. Also those of groups that were
    cut off."""
    folder = folder_of(build, STAGE)
    with Cache(build.home.cache, STAGE) as cache:
        for path in sorted(folder.glob(f"*{_TEXTS}")):
            for chunk in _chunks(read_file(path).column(0).to_pylist()):
                vectors = _vectors_of(_vectors_path(folder, model_id, chunk), len(chunk))
                keys = [embedding_key(model_id, text) for text in chunk[: len(vectors)]]
                cache.put_many([(key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True)])
    return work_of(folder)


def embed_gathered(build: IndexBuild, embedder: BatchEmbedder, progress: Progress) -> StageReport:
    """The ordinary stage after all groups; work numbers are those of the run in all."""
    groups = gather(build, embedder.model_id)
    report = embed_sections(build, embedder, progress)
    forget_exchange(build, STAGE)
    more: Counter[str] = Counter()
    for group in groups:
        more.update({"embedded": group.texts, "from_cache": -group.texts} | group.spent)
    return with_groups(report, groups, more)


def _wanted(build: IndexBuild, buckets: range | list[int], model_id: str, cache: Cache) -> list[str]:
    """The texts of buckets that the cache has no vector of, each once, in table order."""
    texts: dict[bytes, str] = {}
    for bucket in buckets:
        column = read_part(build.directory, "summary_sections", bucket, ["finder_snippet"]).column(0)
        texts |= {embedding_key(model_id, text): text for text in column.to_pylist()}
    known = cache.get_many(list(texts))
    return [text for key, text in texts.items() if key not in known]


def _write_texts(path: Path, texts: list[str]) -> None:
    file = io.BytesIO()
    pq.write_table(table({"text": texts}, pa.schema([("text", pa.string())])), file, compression="zstd")
    write_atomically(path, file.getvalue())


def _chunks(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), CHUNK_TEXTS):
        yield texts[start : start + CHUNK_TEXTS]


def _vectors_path(folder: Path, model_id: str, chunk: list[str]) -> Path:
    return folder / f"{cache_key(_KEYS, model_id, *chunk).hex()}.npy"


def _vectors_of(path: Path, texts: int) -> NDArray[np.float32]:
    """The vectors of a chunk; none where nobody has made them, or on a file system that lost a part of the file."""
    with contextlib.suppress(FileNotFoundError, ValueError, EOFError):
        vectors: NDArray[np.float32] = np.load(path, allow_pickle=False)
        if vectors.ndim == 2 and len(vectors) == texts and vectors.dtype == np.float32:
            return vectors
    return np.empty((0, 0), np.float32)
