"""Embedding shared out: a plan makes groups, each is embedded on its own, perhaps elsewhere, and the stage gathers.

What is exchanged are files in the label's folder, written once and whole: the texts that a group wants, and their
vectors. So workers need neither the caches, whose database is for one machine at a time, nor the label, and may be
on other machines that see the same home. What a group made is in the shared cache before the ordinary stage runs,
which then finds everything there; what no group made it makes itself. Losing an exchange costs time, nothing else.

labels/{label}/fan_out/{generation}/
  buckets-000-015.texts.parquet    what buckets 0 to 15 want, each text once
  {content key}.npy                the vectors of CHUNK_TEXTS of them, named by model and texts: a worker of a run that
                                   everybody believes dead can do no harm
  buckets-000-015.done.json        who made them (GroupWork)
"""

from __future__ import annotations

import contextlib
import io
import os
import platform
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rag_assets.models import Metered
from rag_assets.stages.build import IndexBuild
from rag_assets.stages.embeddings import STAGE, check_vectors, embedding_key
from rag_assets.stores.cache import Cache, cache_key
from rag_assets.stores.home import Home, write_atomically
from rag_assets.stores.tables import read_file, read_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag_assets.models import BatchEmbedder

CHUNK_TEXTS = 1_000
"""Ten seconds of the local model: what a killed worker loses at most; 1.5 MB of vectors in a file."""

_FOLDER = "fan_out"
_TEXTS, _DONE = ".texts.parquet", ".done.json"


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive buckets that are embedded together, `last` included; `texts` is how many texts they want."""

    first: int
    last: int
    texts: int

    @property
    def buckets(self) -> range:
        return range(self.first, self.last + 1)

    @property
    def name(self) -> str:
        return f"buckets-{self.first:03d}-{self.last:03d}"


@dataclass(frozen=True, slots=True)
class GroupWork:
    """Who embedded a group. `texts` were embedded by this process, `found` by an earlier one that was cut off;
    `spent` is what a server was asked for. `error` says why the rest was left to the stage."""

    group: str
    texts: int
    found: int
    process: int
    host: str
    seconds: float
    spent: dict[str, int] = field(default_factory=dict)
    error: str = ""


def exchange_folder(home: Home, label: str, generation_id: str) -> Path:
    """Where the groups of one build exchange files. Raises ValueError for a label or id that could leave it."""
    if Path(generation_id).name != generation_id:
        raise ValueError(f"not a generation id: {generation_id!r}")
    return home.label(label) / _FOLDER / generation_id


def plan_groups(build: IndexBuild, model_id: str, *, most: int, least: int) -> list[Group]:
    """At most `most` groups of at least `least` texts that no earlier build has embedded, and the files they start
    from. What an earlier attempt has made is gathered first; other exchanges of the label are removed. The caller
    holds the label. No groups: the stage is quicker alone.
    """
    if build.finished(STAGE, build.inputs_of(STAGE, "summary_sections")) is None:
        gather(build, model_id)
    folder = exchange_folder(build.home, build.spec.index_label, build.spec.generation_id)
    shutil.rmtree(folder.parent, ignore_errors=True)  # a worker of a dead run may still be writing there
    if build.finished(STAGE, build.inputs_of(STAGE, "summary_sections")) is not None:
        return []
    with Cache(build.home.cache, STAGE) as cache:
        sizes = [len(_wanted(build, [bucket], model_id, cache)) for bucket in build.buckets]
        groups = shared_out(sizes, most=most, least=least)
        for group in groups:
            _write_texts(folder / f"{group.name}{_TEXTS}", _wanted(build, group.buckets, model_id, cache))
    return groups


def shared_out(texts: list[int], *, most: int, least: int) -> list[Group]:
    """Consecutive buckets in groups of about equal size, from the number of texts of each bucket. Pure.

    Buckets at either end without texts belong to no group; one group is none, as it would only be a detour.
    """
    count = min(most, sum(texts) // least)
    if count < 2:
        return []
    groups: list[Group] = []
    first, inside, before, total = 0, 0, 0, sum(texts)
    for bucket, size in enumerate(texts):
        if not inside:
            first = bucket
        inside += size
        if inside and before + inside >= total * (len(groups) + 1) / count:
            groups.append(Group(first, bucket, inside))
            before, inside = before + inside, 0
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
    work = GroupWork(name, made, len(texts) - made, os.getpid(), platform.node(), seconds, _spent(embedder))
    write_atomically(folder / f"{name}{_DONE}", msgspec.json.encode(work))
    return work


def leave_group(folder: Path, name: str, error: str) -> None:
    """Notes why a group was not embedded; the stage does it, or fails for the same reason."""
    if folder.is_dir():  # else the build is gone, and so is whoever would read this
        left = GroupWork(name, 0, 0, os.getpid(), platform.node(), 0.0, error=error)
        write_atomically(folder / f"{name}{_DONE}", msgspec.json.encode(left))


def gather(build: IndexBuild, model_id: str) -> list[GroupWork]:
    """Takes the vectors of all groups into the shared cache, and says who made them. Also those of groups that were
    cut off."""
    folder = exchange_folder(build.home, build.spec.index_label, build.spec.generation_id)
    with Cache(build.home.cache, STAGE) as cache:
        for path in sorted(folder.glob(f"*{_TEXTS}")):
            for chunk in _chunks(read_file(path).column(0).to_pylist()):
                vectors = _vectors_of(_vectors_path(folder, model_id, chunk), len(chunk))
                keys = [embedding_key(model_id, text) for text in chunk[: len(vectors)]]
                cache.put_many([(key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True)])
    done = sorted(folder.glob(f"*{_DONE}"))
    return [msgspec.json.decode(path.read_bytes(), type=GroupWork) for path in done]


def forget_exchange(build: IndexBuild) -> None:
    """After the stage: everything is in its tables."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(exchange_folder(build.home, build.spec.index_label, build.spec.generation_id))


def _spent(embedder: BatchEmbedder) -> dict[str, int]:
    """What a server was asked by this process; named as in the report of the stage, which adds them up."""
    if not isinstance(embedder, Metered):
        return {}
    used = embedder.usage()
    spent = {"requests": used.requests, "retries": used.retries, "tokens": used.tokens}
    return spent | ({} if used.cost is None else {"cost_millionths": round(used.cost * 1_000_000)})


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
    pq.write_table(pa.table({"text": pa.array(texts, pa.string())}), file, compression="zstd")
    write_atomically(path, file.getvalue())


def _chunks(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), CHUNK_TEXTS):
        yield texts[start : start + CHUNK_TEXTS]


def _vectors_path(folder: Path, model_id: str, chunk: list[str]) -> Path:
    return folder / f"{cache_key(_FOLDER, model_id, *chunk).hex()}.npy"


def _vectors_of(path: Path, texts: int) -> NDArray[np.float32]:
    """The vectors of a chunk; none where nobody has made them, or on a file system that lost a part of the file."""
    with contextlib.suppress(FileNotFoundError, ValueError, EOFError):
        vectors: NDArray[np.float32] = np.load(path, allow_pickle=False)
        if vectors.ndim == 2 and len(vectors) == texts and vectors.dtype == np.float32:
            return vectors
    return np.empty((0, 0), np.float32)
