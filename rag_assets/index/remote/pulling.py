"""Pulling what a label serves into a local home, where it is served too.

Blocks that the local active generation has are copied from there, whatever built it. The generation
is put together in the label's trash, which a killed pull may leave to `rag-assets gc`, and moved to its place when it
is whole; every byte has been checked by then.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rag_assets.index.blobs import BlobStore
from rag_assets.index.disk_files import discard
from rag_assets.index.generations import active_pointer, generation_directory, is_finished, promote
from rag_assets.index.layout import IndexHome, write_record
from rag_assets.index.remote.manifests import (
    PublishedGeneration,
    documents_in,
    published_ids,
    published_labels,
    published_manifest,
    read_published,
    read_published_pointer,
)
from rag_assets.index.remote.objects import (
    AT_A_TIME,
    BLOCK_BYTES,
    ContentBlock,
    ObjectMissing,
    ObjectStore,
    PackedFile,
    RemoteError,
    blocks_by_name,
    read_block,
    unpacked_path,
)

_DIGITS = 10


class NothingPublished(RemoteError):
    """A label or a commit that the store does not know."""


@dataclass(frozen=True, slots=True)
class PublishedCommit:
    """A published generation and the commit that it was built of."""

    label: str
    generation_id: str
    commit_sha: str
    commit_date: str

    def __str__(self) -> str:
        return f"{self.commit_sha[:_DIGITS]} of {self.commit_date[:10]} ({self.label})"


def published_commits(store: ObjectStore, label: str | None) -> tuple[list[PublishedCommit], list[str]]:
    """Every published generation, of one label or of all, the newest first, and what is wrong with those that cannot be
    read. Raises RemoteError, NothingPublished where there is none."""
    found: list[PublishedCommit] = []
    problems: list[str] = []
    for known in published_labels(store) if label is None else [label]:
        for generation_id in published_ids(store, known):
            try:
                manifest = published_manifest(store, read_published(store, known, generation_id))
            except RemoteError as error:
                problems.append(str(error))
                continue
            found.append(PublishedCommit(known, generation_id, manifest.commit_sha, manifest.commit_date))
    if not found and not problems:
        raise nothing_published(store, label)
    return sorted(found, key=lambda one: (one.commit_date, one.generation_id), reverse=True), problems


def nothing_published(store: ObjectStore, label: str | None) -> NothingPublished:
    there = ", ".join(published_labels(store)) or "none"
    of_label = "" if label is None else f" of label {label!r}"
    return NothingPublished(
        f"{store.url}: nothing{of_label} is published; published labels: {there}; "
        "publish it where it was built: rag-assets publish LABEL"
    )


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a pull fetched (objects, and bytes before compression), and what is served now: another generation where a
    person had moved the label away from this one."""

    label: str
    generation_id: str
    serving: str
    fetched: int
    fetched_bytes: int
    unchanged: bool = False


def pull(home: IndexHome, label: str, store: ObjectStore, generation_id: str = "") -> Pulled:
    """Fetches a published generation of `label`, by default the one that it serves in the store, and serves it; the
    caller holds the label.

    Raises RemoteError; then nothing that is served here has changed.
    """
    found = read_published(store, label, generation_id) if generation_id else _served(store, label)
    unchanged = is_finished(home, label, found.generation_id)
    fetcher = _Fetcher(store, None if unchanged else _local(home, label))
    if not unchanged:
        fetcher.documents(BlobStore(home.blobs), found.documents)
        _fetch_directory(home, found, fetcher)
        remembered = home.label(label) / "label.json"
        if not remembered.exists():
            write_record(remembered, found.repository)
        home.keep_out_of_git()
    serving = promote(home, label, found.generation_id, "").generation_id
    return Pulled(label, found.generation_id, serving, fetcher.fetched, fetcher.fetched_bytes, unchanged)


def _served(store: ObjectStore, label: str) -> PublishedGeneration:
    """What the label serves; once more where it was withdrawn between two requests."""
    for again in (False, True):
        pointer = read_published_pointer(store, label)
        if pointer is None:
            raise nothing_published(store, label)
        try:
            found = read_published(store, label, pointer.generation_id)
        except ObjectMissing:
            if again:
                raise
            continue
        if (found.label, found.generation_id) != (label, pointer.generation_id):
            raise RemoteError(f"{store.url}: the pointer of {label} leads to {found.generation_id} of {found.label}")
        return found
    raise AssertionError("the second attempt returns or raises")


def _fetch_directory(home: IndexHome, found: PublishedGeneration, fetcher: _Fetcher) -> None:
    target = generation_directory(home, found.label, found.generation_id)
    if target.parent != generation_directory(home, found.label, "x").parent or target.name != found.generation_id:
        raise RemoteError(f"{found.generation_id!r} is not the id of a generation")
    making = home.trash(found.label) / f"{found.generation_id}.{uuid.uuid4().hex}"
    try:
        for file in found.files:
            fetcher.file(making, file)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():  # a build that was given up: we hold the label
            discard(target, home.trash(found.label))
        making.replace(target)
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


def _local(home: IndexHome, label: str) -> Path | None:
    """The generation that is served here: most of a new one is in it."""
    pointer = active_pointer(home, label)
    return generation_directory(home, label, pointer.generation_id) if pointer is not None else None


class _Fetcher:
    def __init__(self, store: ObjectStore, local: Path | None) -> None:
        self._store = store
        self._here = blocks_by_name(local) if local is not None and local.is_dir() else {}
        self._counting = threading.Lock()
        self.fetched = self.fetched_bytes = 0

    def file(self, directory: Path, file: PackedFile) -> None:
        """Writes one file; what is no block is a hole."""
        path = unpacked_path(directory, file.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as target, ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="remote") as pool:
            target.truncate(file.size)
            for start in range(0, len(file.blocks), AT_A_TIME):
                batch = file.blocks[start : start + AT_A_TIME]
                for block, data in zip(batch, pool.map(partial(self._block, file), batch), strict=True):
                    target.seek(block.offset)
                    target.write(data)
        for block in file.blocks:  # many small files of a shard are alike
            self._here.setdefault(block.name, (path, block.offset))

    def documents(self, blobs: BlobStore, listings: Sequence[str]) -> None:
        """Puts every text that is not here into the blob store; its address is its name."""
        with ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="remote") as pool:
            for listing in listings:
                missing = [text for text in documents_in(self._store, listing) if not blobs.has(text)]
                for start in range(0, len(missing), AT_A_TIME):
                    for data in pool.map(self._fetched, missing[start : start + AT_A_TIME]):
                        blobs.put(data.decode())

    def _block(self, file: PackedFile, block: ContentBlock) -> bytes:
        length = min(BLOCK_BYTES, file.size - block.offset)
        known = self._here.get(block.name)
        data = read_block(*known, length) if known is not None else b""
        if hashlib.sha256(data).hexdigest() != block.name:  # not here, or changed since we looked
            data = self._fetched(block.name)
        if block.offset < 0 or len(data) != length:
            raise RemoteError(f"{self._store.url}: block {block.name} does not fit into {file.path}")
        return data

    def _fetched(self, name: str) -> bytes:
        data = self._store.get(name)
        with self._counting:
            self.fetched += 1
            self.fetched_bytes += len(data)
        return data
