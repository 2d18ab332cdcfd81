"""Publishing a generation: its objects, then what it is made of, then the pointer; after that what nobody needs goes.

A publish that is cut off leaves objects that nothing names: the next one finds them there. Objects are deleted only
when they have been without a reference for GRACE_SECONDS, so a publish or pull that takes less never loses one to
another machine's clean-up. Two publishers of one label: each writes a whole generation, the last pointer is served.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from rag_assets.index.blobs import BlobStore
from rag_assets.index.generation_files import damaged_files, files_of
from rag_assets.index.generations import GenerationError, read_generation
from rag_assets.index.layout import IndexHome, RecordDamaged, read_record
from rag_assets.index.parquet_parts import read_file
from rag_assets.index.remote.manifests import (
    GARBAGE,
    Garbage,
    PublishedGeneration,
    PublishedPointer,
    manifest_path,
    pointer_path,
    published_ids,
    published_labels,
    read_garbage,
    read_published,
    referenced,
)
from rag_assets.index.remote.objects import (
    AT_A_TIME,
    BLOCK_BYTES,
    ObjectStore,
    PackedFile,
    RemoteError,
    object_path,
    packed_file,
)

GRACE_SECONDS = 24 * 3600.0
"""Longer than any publish or pull takes: 100 GB at 10 MB/s are three hours."""

_BATCH = 256  # transfers begun together, each with up to a block in memory


@dataclass(frozen=True, slots=True)
class Published:
    """What a publish did, or would do: objects and bytes (before compression) that were not there, objects that were,
    generations that are no longer published, and objects that were deleted. An object counts once, however often the
    generation has its content."""

    label: str
    generation_id: str
    sent: int
    sent_bytes: int
    reused: int
    withdrawn: tuple[str, ...]
    deleted: int
    deleted_bytes: int


def publish(
    home: IndexHome,
    label: str,
    generation_id: str,
    store: ObjectStore,
    *,
    run_id: str = "",
    keep: int = 1,
    force: bool = False,
    dry_run: bool = False,
    now: float | None = None,
) -> Published:
    """Publishes a finished generation of `label` and serves it; the caller holds the label.

    The `keep` newest generations of the label stay published, by commit date. `force` sends every object again, which
    repairs damaged ones. `now` (seconds since 1970) decides what is old enough to be deleted; default: the clock.
    Raises RemoteError, and GenerationError where the generation is not there any more.
    """
    at = time.time() if now is None else now
    generation = read_generation(home, label, generation_id)
    damaged = next(damaged_files(generation.directory), "")
    if damaged:
        raise GenerationError(f"{generation.directory}: {damaged}; build it again with: rag-assets index {label}")
    sender = _Sender(home, store, set() if force else _known(store, label), force, dry_run)
    try:
        files = tuple(sender.file(generation.directory, path) for path in files_of(generation.directory))
        listings = sorted(generation.directory.glob("discovered_files/part-*.parquet"))
        documents = tuple(sender.documents(path) for path in listings)
    except FileNotFoundError as error:
        raise GenerationError(
            f"generation {generation_id} of {label} was deleted while it was published ({error.filename}); run: "
            f"rag-assets publish {label}"
        ) from error
    remembered = home.label(label) / "label.json"
    try:
        repository = read_record(remembered, dict[str, Any])
    except RecordDamaged as error:
        raise GenerationError(f"{remembered} is damaged; write it again with: rag-assets index PATH_OR_URL") from error
    found = PublishedGeneration(label, generation_id, files, documents, repository)
    if not dry_run:
        store.write(manifest_path(label, generation_id), msgspec.json.encode(found))
        sender.check_condemned()
        store.write(pointer_path(label), msgspec.json.encode(PublishedPointer(generation_id, run_id)))
    withdrawn = _withdraw(store, label, generation_id, keep, dry_run)
    deleted, deleted_bytes = sweep(store, at, without={(label, known) for known in withdrawn}, dry_run=dry_run)
    return Published(
        label, generation_id, sender.sent, sender.sent_bytes, sender.reused, withdrawn, deleted, deleted_bytes
    )


def sweep(
    store: ObjectStore, now: float, *, without: Iterable[tuple[str, str]] = (), dry_run: bool = False
) -> tuple[int, int]:
    """Deletes objects that nothing has referenced for GRACE_SECONDS; (how many, their stored bytes).

    At most once in that time, because it lists everything. `without` are generations that a dry run has not
    withdrawn. Raises RemoteError, and deletes nothing, where any published generation cannot be read.
    """
    before = read_garbage(store)
    if now - before.swept_at < GRACE_SECONDS:
        return 0, 0
    gone = set(without)
    needed: set[str] = set()
    for label in published_labels(store):
        for known in published_ids(store, label):
            if (label, known) not in gone:
                needed.update(referenced(store, read_published(store, label, known)))
    unneeded = {name: size for name, size in store.names() if name not in needed}
    condemned = {name for name in unneeded if now - before.since.get(name, now) >= GRACE_SECONDS}
    if not dry_run:
        with ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="remote") as pool:
            list(pool.map(store.delete, map(object_path, sorted(condemned))))
        since = {name: before.since.get(name, now) for name in unneeded if name not in condemned}
        store.write(GARBAGE, msgspec.json.encode(Garbage(now, since), order="sorted"))
    return len(condemned), sum(unneeded[name] for name in condemned)


class _Sender:
    """Sends what is not there. With `known`, objects of published generations, nobody has to ask for them."""

    def __init__(self, home: IndexHome, store: ObjectStore, known: set[str], force: bool, dry_run: bool) -> None:
        self._blobs = BlobStore(home.blobs)
        self._store = store
        self._known = known
        self._met: set[str] = set()
        self._force = force
        self._dry_run = dry_run
        self._condemned = read_garbage(store).since
        self._relied_on: set[str] = set()
        self.sent = self.sent_bytes = self.reused = 0

    def file(self, directory: Path, path: Path) -> PackedFile:
        """Sends the blocks of a file."""
        found = packed_file(directory, path)
        wanted = [block for block in found.blocks if self._is_wanted(block.name)]
        with path.open("rb") as file:
            for start in range(0, len(wanted), _BATCH):
                batch = []
                for block in wanted[start : start + _BATCH]:
                    file.seek(block.offset)
                    batch.append((block.name, file.read(min(BLOCK_BYTES, found.size - block.offset))))
                self._send(batch)
        return found

    def documents(self, table: Path) -> str:
        """Sends the texts that one part of discovered_files names, and the list of them; returns its name."""
        column = read_file(table, ["text_sha256"]).column(0).to_pylist()
        texts = sorted({address for address in column if address})
        wanted = iter([address for address in texts if self._is_wanted(address)])
        while batch := list(islice(wanted, _BATCH)):
            self._send([(address, self._blobs.get(address).encode()) for address in batch])
        listing = msgspec.json.encode(texts)
        return self._send_one(listing)

    def check_condemned(self) -> None:
        """Another machine may have deleted what was there when we asked, if it was without a reference for long."""
        for name in sorted(self._relied_on):
            if not self._store.has(name):
                raise RemoteError(
                    f"{self._store.url}: object {name} was deleted by another publish; run the command again"
                )

    def _send_one(self, data: bytes) -> str:
        name = hashlib.sha256(data).hexdigest()
        if self._is_wanted(name):
            self._send([(name, data)])
        return name

    def _is_wanted(self, name: str) -> bool:
        """Whether an object has to be sent, or asked for. One that occurs again, in any file, is neither: it is one
        object, which is counted once."""
        if name in self._met:
            return False
        self._met.add(name)
        if name in self._known:
            self.reused += 1
            return False
        return True

    def _send(self, objects: list[tuple[str, bytes]]) -> None:
        with ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="remote") as pool:
            sent = list(pool.map(self._sent, objects))
        self.sent += sum(sent)
        self.sent_bytes += sum(len(data) for (_, data), was_sent in zip(objects, sent, strict=True) if was_sent)
        self.reused += len(sent) - sum(sent)

    def _sent(self, named: tuple[str, bytes]) -> bool:
        name, data = named
        if not self._force and self._store.has(name):
            if name in self._condemned:
                self._relied_on.add(name)
            return False
        if not self._dry_run and self._store.put(data) != name:
            raise RemoteError(f"document or block {name} changed while it was read; run: rag-assets index --force")
        return True


def _known(store: ObjectStore, label: str) -> set[str]:
    """Names of all objects that the published generations of a label reference: these are not asked for."""
    found: set[str] = set()
    for known in published_ids(store, label):
        try:
            found.update(referenced(store, read_published(store, label, known)))
        except RemoteError:  # damaged or just withdrawn: its objects are looked for one by one
            continue
    return found


def _withdraw(store: ObjectStore, label: str, serving: str, keep: int, dry_run: bool) -> tuple[str, ...]:
    """Takes back the oldest generations of a label beyond `keep`; never the one that is served."""
    others = [known for known in published_ids(store, label) if known != serving]
    gone = tuple(others[: max(0, len(others) - (keep - 1))])
    if not dry_run:
        for known in gone:
            store.delete(manifest_path(label, known))
    return gone
